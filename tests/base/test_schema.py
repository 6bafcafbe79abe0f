"""Dataclasses from JSON: what does not fit is refused in one sentence that names the field."""

from dataclasses import dataclass, field

import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.base.schema import read, require_lines, require_one_of


@dataclass(frozen=True)
class Inner:
    count: int = 1
    rate: float = 0.5


@dataclass(frozen=True)
class Outer:
    name: str = "x"
    inner: Inner = field(default_factory=Inner)


def test_missing_fields_take_their_defaults():
    assert read(Outer, {}, "spec") == Outer()
    assert read(Outer, {"inner": {"count": 3, "rate": 2}}, "spec") == Outer(inner=Inner(3, 2.0))
    assert type(read(Inner, {"rate": 2}, "spec").rate) is float


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], "spec must be an object, got list"),
        ({"other": 1}, "spec has no field 'other'; known: name, inner"),
        ({"name": 3}, "spec.name must be str, got 3"),
        ({"inner": {"count": True}}, "spec.inner.count must be int, got True"),
        ({"inner": {"count": 1.5}}, "spec.inner.count must be int"),
        ({"inner": {"rate": 2**53}}, "spec.inner.rate must be a smaller number"),
        ({"inner": 3}, "spec.inner must be an object"),
    ],
)
def test_what_does_not_fit_is_refused(value, says):
    with pytest.raises(DNTKError) as caught:
        read(Outer, value, "spec")
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_text_must_be_one_line_at_any_depth():
    require_lines(Outer("fine"))
    with pytest.raises(DNTKError, match="name must be one line of text"):
        require_lines(Outer("a\nb"))


def test_choices_are_named():
    with pytest.raises(DNTKError, match="colour must be one of red, blue, got 'green'"):
        require_one_of("colour", "green", ("red", "blue"))
