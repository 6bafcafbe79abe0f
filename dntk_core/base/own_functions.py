"""A user's own functions, `package.module:function`: imported by name, their faults told in one sentence."""

import importlib
import inspect
import site
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dntk_core.base.errors import Cancelled, DNTKError

PLACES = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
INSTALLED = {Path(place).resolve() for place in (*PLACES, *site.getsitepackages())}
OURS = Path(__file__).resolve().parents[1]


def import_named(name: str, what: str) -> Callable[..., Any]:
    """Import `package.module:function`; `what` says what the function must be."""
    module, _, function = name.partition(":")
    with as_sentence(f"{module!r} could not be imported"):
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name and f"{module}.".startswith(f"{error.name}."):
                raise DNTKError(f"there is no module {module!r} to import; {name!r} must name {what}") from None
            raise
    if not callable(called := getattr(found, function, None)):
        raise DNTKError(f"{module!r} has no function {function!r}; {name!r} must name {what}")
    return called


def takes(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether a function can be called with these arguments; one that does not tell is believed to.

    >>> takes(lambda classes: classes, 10), takes(lambda: 0, 10)
    (True, False)
    """
    try:
        inspect.signature(function).bind(*arguments)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


@contextmanager
def as_sentence(what: str) -> Iterator[None]:
    """Turn whatever a user's code raises into one sentence, with the file and line of that code."""
    try:
        yield
    except (DNTKError, Cancelled):
        raise
    except Exception as error:
        words = str(error).strip().partition("\n")[0]
        raise DNTKError(f"{what}: {type(error).__name__}{f': {words}' if words else ''}{_place(error)}") from error


def is_own(path: Path) -> bool:
    """Whether a file is a user's: neither installed nor ours."""
    return not any(path.is_relative_to(place) for place in (*INSTALLED, OURS))


def _place(error: BaseException) -> str:
    """Where in a user's own code an error arose, the innermost such line."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.endswith(".py") and is_own(Path(frame.filename).resolve())]
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
