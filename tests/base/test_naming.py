"""Names of runs: short for the usual one, and never shared by two."""

from dataclasses import fields, replace

import pytest
from hypothesis import given

from dntk_core.base.spec import DatasetSpec, DataSpec, ModelSpec, RunSpec
from tests.base.test_spec import DEFAULT, specs

USUAL = "digits · small_resnet · 500+500 inputs · structured k=2048"


def test_the_usual_run_has_a_short_name():
    assert DEFAULT.summary == USUAL


@pytest.mark.parametrize("start", [DEFAULT, RunSpec(dataset=DatasetSpec("wmdd"))], ids=["real", "distilled"])
def test_every_setting_that_changes_the_key_changes_the_name(start):
    """Whichever field it is: also one that is added some day."""
    found = {start.key: start.summary}
    for part in ("data", "model", "dataset", "inputs", "projection"):
        value = getattr(start, part)
        for field in fields(value):
            try:
                other = replace(start, **{part: replace(value, **{field.name: _another(getattr(value, field.name))})})
            except ValueError:
                continue
            found[other.key] = other.summary
    assert len(found) > 10 and len(set(found.values())) == len(found)


def _another(value):
    """A value that differs; text as numbers, which classes are."""
    return "3,4" if isinstance(value, str) else value + 2


@given(specs, specs)
def test_runs_of_different_keys_have_different_names(one, other):
    assert one.key == other.key or one.summary != other.summary


def test_files_are_told_apart_by_their_content():
    one, other = (
        RunSpec(
            DataSpec("npz", "/a/my.npz", fingerprint=mark * 64), ModelSpec(weights="/b/w.pth", fingerprint="c" * 64)
        )
        for mark in "ab"
    )
    assert one.summary != other.summary and "my.npz #aaaaaaaa" in one.summary and "w.pth" in one.summary
    assert "/a/" not in one.summary
