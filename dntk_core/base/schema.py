"""Frozen dataclasses read strictly from JSON: what does not fit is refused in one sentence."""

from dataclasses import asdict, fields, is_dataclass
from typing import Any

from dntk_core.base.errors import DNTKError
from dntk_core.base.text import is_line

# Characters in a name or a path.
LONGEST = 4096


def require(holds: bool, sentence: str) -> None:
    """Refuse with one sentence."""
    if not holds:
        raise DNTKError(sentence)


def require_one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a value that is not known, and name those that are."""
    require(value in known, f"{what} must be one of {', '.join(known)}, got {value!r}")


def require_numbers(what: str, text: str) -> None:
    """Refuse a text that is no list of numbers, commas between."""
    numbers = [number.strip() for number in text.split(",")] if text else []
    require(
        all(number.isascii() and number.isdigit() for number in numbers),
        f"{what} must be numbers of outputs separated by commas (0,217,482), got {text[:40]!r}",
    )


def given(part: Any, *later: str) -> dict:
    """Return the fields of a part; those that came later only where they are not as usual, so that older keys stay."""
    usual = {f.name: f.default for f in fields(part)}
    return {name: value for name, value in asdict(part).items() if name not in later or value != usual[name]}


def without(parts: dict, *names: str) -> dict:
    """Leave names out."""
    return {key: value for key, value in parts.items() if key not in names}


def read(cls: type[Any], value: Any, where: str) -> Any:
    """Build dataclass `cls` from JSON `value`; missing fields take their defaults, all else must fit exactly.

    A field is also read under the name it formerly had, if its metadata say so.
    """
    require(isinstance(value, dict), f"{where} must be an object, got {type(value).__name__}")
    known = {f.name: f for f in fields(cls)}
    value = _by_present_names(known, value, where)
    unknown = sorted(set(value) - set(known))
    require(not unknown, f"{where} has no field {_short(', '.join(unknown))}; known: {', '.join(known)}")
    return cls(**{name: _read_field(known[name].type, item, f"{where}.{name}") for name, item in value.items()})


def _by_present_names(known: dict[str, Any], value: dict[str, Any], where: str) -> dict[str, Any]:
    present = {f.metadata["formerly"]: name for name, f in known.items() if "formerly" in f.metadata}
    for old, new in present.items():
        require(not {old, new} <= set(value), f"{where} has {new} twice, also under its former name {old}")
    return {present.get(name, name): item for name, item in value.items()}


def require_lines(part: Any) -> None:
    """Every text is one that a page can show and a system can open: no half characters, no NUL."""
    for f in fields(part):
        value = getattr(part, f.name)
        if is_dataclass(value):
            require_lines(value)
        elif isinstance(value, str):
            require(is_line(value, LONGEST), f"{f.name} must be one line of text, at most {LONGEST:,} characters")


def _short(item: Any) -> str:
    return repr(item)[:80]


def _read_field(kind: Any, item: Any, where: str) -> Any:
    if kind is float and type(item) is int:
        require(abs(item) < 2**53, f"{where} must be a smaller number")
        return float(item)
    if kind in (int, float, str):
        # bool is an int to isinstance, never to a person.
        require(type(item) is kind, f"{where} must be {kind.__name__}, got {_short(item)}")
        return item
    return read(kind, item, where)
