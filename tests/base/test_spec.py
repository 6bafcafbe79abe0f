"""Specs: what a key depends on, and that JSON is read strictly."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import (
    DATASET_METHODS,
    DatasetSpec,
    DataSpec,
    InputSpec,
    ModelSpec,
    ProjectionSpec,
    RunSpec,
)

DEFAULT = RunSpec.default()
lines = st.text(st.characters(exclude_categories=("Cc", "Cs")))
specs = st.builds(
    RunSpec,
    data=st.builds(DataSpec, name=lines),
    model=st.builds(ModelSpec, name=lines, epochs=st.integers(0, 10**6), seed=st.integers(0)),
    dataset=st.builds(
        DatasetSpec,
        method=st.sampled_from(DATASET_METHODS),
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


def changed(spec=DEFAULT, **parts) -> set[str]:
    """Stages whose key changes with these parts."""
    other = replace(spec, **parts)
    return {stage for stage in spec.stages if other.stage_key(stage) != spec.stage_key(stage)}


def test_each_stage_hashes_only_what_it_depends_on():
    assert changed(projection=ProjectionSpec(k=512)) == {"features", "kernels"}
    assert changed(outputs="log_softmax") == {"features", "kernels"}
    assert changed(inputs=InputSpec(kernel=100)) == {"inputs", "features", "kernels"}
    assert changed(model=ModelSpec(seed=1)) == {"model", "features", "kernels"}
    assert changed(data=DataSpec("other")) == set(DEFAULT.stages)


def test_a_run_without_distillation_knows_nothing_of_it():
    assert DEFAULT.stages == ("model", "inputs", "features", "kernels")
    assert replace(DEFAULT, dataset=DatasetSpec(per_class=3, base="distilled")).key == DEFAULT.key


def test_the_stages_of_a_distilled_run_hash_what_they_depend_on():
    real = replace(DEFAULT, dataset=DatasetSpec("wmdd"))
    assert real.stages == ("model", "selected", "distilled", "inputs", "features", "judged", "kernels")
    after = {"distilled", "inputs", "features", "judged", "kernels"}
    assert changed(real, dataset=DatasetSpec("wmdd", iterations=5)) == after
    assert changed(real, dataset=DatasetSpec("wmdd", base="distilled")) == {"features", "judged", "kernels"}
    assert changed(real, inputs=InputSpec(kernel=100)) == {"judged"}
    assert changed(real, projection=ProjectionSpec(k=512)) == {"selected", "features", "judged", "kernels"}
    student = replace(DEFAULT, dataset=DatasetSpec("wmdd", base="distilled"))
    assert student.stages[3] == "student" and student.stage_key("distilled") == real.stage_key("distilled")


def test_the_settings_of_synthesis_do_not_touch_a_selection():
    random = replace(DEFAULT, dataset=DatasetSpec("random"))
    assert changed(random, dataset=DatasetSpec("random", iterations=5, rate=3.0, start="noise")) == set()
    assert random.stage_key("selected") == replace(DEFAULT, dataset=DatasetSpec("wmdd")).stage_key("selected")


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
        ('{"distill": {"method": "magic"}}', "dataset method must be one of none, wmdd"),
        ("1" * 5000, "JSON"),
        ('{"data": {"name": "\\ud800"}}', "name must be one line of text"),
        ('{"data": {"path": "a\\u0000b"}}', "path must be one line of text"),
        ('{"distill": {"rate": 1' + "0" * 400 + "}}", "rate must be a smaller number"),
        ('{"distill": {"rate": "fast"}}', "distill.rate must be float"),
        ('{"distill": {"rate": 0}}', "rate must be a positive number"),
        ('{"distill": {"rate": NaN}}', "rate must be a positive number"),
        ('{"distill": {"per_class": 0}}', "images per class must be at least 1"),
    ],
)
def test_bad_specs_say_what_is_wrong(text, says):
    with pytest.raises(DNTKError, match=says):
        RunSpec.from_json(text)
