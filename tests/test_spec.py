"""Specs: what a key depends on, and that JSON is read strictly."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.errors import DNTKError
from dntk_core.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec

DEFAULT = RunSpec.default()
specs = st.builds(
    RunSpec,
    data=st.builds(DataSpec, name=st.text()),
    model=st.builds(ModelSpec, name=st.text(), epochs=st.integers(0, 10**6), seed=st.integers(0)),
    inputs=st.builds(InputSpec, kernel=st.integers(1), test=st.integers(1), seed=st.integers(0)),
    projection=st.builds(ProjectionSpec, name=st.text(), k=st.integers(1), seed=st.integers(0)),
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


def changed(**parts) -> set[str]:
    """Stages whose key changes with these parts."""
    other = replace(DEFAULT, **parts)
    return {stage for stage in DEFAULT.stages if other.stage_key(stage) != DEFAULT.stage_key(stage)}


def test_each_stage_hashes_only_what_it_depends_on():
    assert changed(projection=ProjectionSpec(k=512)) == {"features", "kernels"}
    assert changed(outputs="log_softmax") == {"features", "kernels"}
    assert changed(inputs=InputSpec(kernel=100)) == {"inputs", "features", "kernels"}
    assert changed(model=ModelSpec(seed=1)) == {"model", "features", "kernels"}
    assert changed(data=DataSpec("other")) == set(DEFAULT.stages)


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
    ],
)
def test_bad_specs_say_what_is_wrong(text, says):
    with pytest.raises(DNTKError, match=says):
        RunSpec.from_json(text)
