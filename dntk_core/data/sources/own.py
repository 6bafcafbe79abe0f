"""A user's own data: `package.module:factory` returns loaders, datasets or arrays for training and testing."""

import importlib
from functools import lru_cache

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.sources.source import RawDataset


def load(spec: DataSpec) -> RawDataset:
    """Call the factory: (train, test) or (train, test, class names), read as `study` reads them."""
    return _called(spec.name, spec.kind)


@lru_cache(maxsize=1)
def _called(name: str, kind: str) -> RawDataset:
    """Once for a run: its content is hashed before it is used."""
    # Loading torch takes seconds; other sources do without.
    from dntk_core.data.loaders import read_data

    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)()
    except DNTKError:
        raise
    # Their code may raise anything.
    except Exception as error:
        raise DNTKError(
            f"{name!r} must name a function without arguments that returns (train, test) or (train, test, names): "
            f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        ) from error
    if not isinstance(found, tuple | list) or len(found) not in (2, 3):
        raise DNTKError(f"{name!r} must return (train, test) or (train, test, class names), not {type(found).__name__}")
    train, test, *names = found
    return read_data(train, test, names[0] if names else None, kind=kind)
