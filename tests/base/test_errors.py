"""Refusals are one sentence, however much of a hostile file they quote."""

from dntk_core.base.errors import LONGEST, DNTKError


def test_the_middle_of_a_long_refusal_is_left_out():
    said = str(DNTKError(f"unknown dataset {'x' * 10_000!r}; known: digits"))
    assert len(said) <= LONGEST + 3 and said.startswith("unknown dataset") and said.endswith("known: digits")
    assert str(DNTKError("short")) == "short"
