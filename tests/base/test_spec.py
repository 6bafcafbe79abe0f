"""Specs: what a key depends on, and that JSON is read strictly."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import (
    DatasetSpec,
    DataSpec,
    InputSpec,
    ModelSpec,
    ProjectionSpec,
    RunSpec,
    dataset_methods,
)

DEFAULT = RunSpec.default()
lines = st.text(st.characters(exclude_categories=("Cc", "Cs")))
specs = st.builds(
    RunSpec,
    data=st.builds(DataSpec, name=lines),
    model=st.builds(ModelSpec, name=lines, epochs=st.integers(0, 10**6), seed=st.integers(0)),
    dataset=st.builds(
        DatasetSpec,
        method=st.sampled_from(dataset_methods()),
        base=st.sampled_from(["real", "distilled"]),
        per_class=st.integers(1),
        rate=st.floats(1e-6, 1e6),
        bn_weight=st.floats(0, 1e6),
    ),
    inputs=st.builds(InputSpec, kernel=st.integers(1), test=st.integers(1), seed=st.integers(0)),
    projection=st.builds(ProjectionSpec, name=lines, k=st.integers(1), seed=st.integers(0)),
    outputs=st.sampled_from(["logits", "log_softmax"]),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["data", "model", "k"]), inner),
)


@given(specs)
def test_round_trip(spec):
    again = RunSpec.from_json(spec.to_json())
    assert again == spec and again.key == spec.key and hash(again) == hash(spec)


@given(json_values)
def test_any_other_json_is_refused_softly(value):
    try:
        spec = RunSpec.from_json(json.dumps(value))
    except DNTKError:
        return
    assert isinstance(spec, RunSpec)


def test_specs_with_former_field_names_are_read():
    old = '{"distill": {"method": "herding", "per_class": 3}}'
    assert RunSpec.from_json(old) == RunSpec(dataset=DatasetSpec("herding", per_class=3))


@pytest.mark.parametrize(
    "text, says",
    [
        ("{", "JSON"),
        ("[]", "object"),
        ('{"extra": 1}', "'extra'"),
        ('{"projection": {"k": "512"}}', "projection.k must be int"),
        ('{"projection": {"k": true}}', "projection.k must be int"),
        ('{"projection": {"k": 0}}', "at least 1"),
        ('{"inputs": {"kernel": 0}}', "at least 1"),
        ('{"outputs": "probabilities"}', "outputs must be one of"),
        ('{"dataset": {"method": "magic"}}', "dataset method must be one of none, wmdd"),
        ("1" * 5000, "JSON"),
        ('{"data": {"name": "\\ud800"}}', "name must be one line of text"),
        ('{"data": {"path": "a\\u0000b"}}', "path must be one line of text"),
        ('{"dataset": {"rate": 1' + "0" * 400 + "}}", "rate must be a smaller number"),
        ('{"dataset": {"rate": "fast"}}', "dataset.rate must be float"),
        ('{"distill": {"rate": "fast"}}', "dataset.rate must be float"),
        ('{"distill": {}, "dataset": {}}', "has dataset twice, also under its former name distill"),
        ('{"dataset": {"rate": 0}}', "rate must be a positive number"),
        ('{"dataset": {"rate": NaN}}', "rate must be a positive number"),
        ('{"dataset": {"per_class": 0}}', "images per class must be at least 1"),
    ],
)
def test_bad_specs_say_what_is_wrong(text, says):
    with pytest.raises(DNTKError, match=says):
        RunSpec.from_json(text)
