"""The table of stages: keys that stay as they are, and hold what a stage depends on."""

from dataclasses import replace

import pytest

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.selections import SELECTIONS, Selection
from dntk_core.base.spec import DatasetSpec, DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.base.stages import all_needs

DEFAULT = RunSpec.default()
WMDD = replace(DEFAULT, dataset=DatasetSpec("wmdd"))
STUDENT = replace(DEFAULT, dataset=DatasetSpec("wmdd", base="distilled"))
FILES = RunSpec(
    DataSpec("npz", "/a.npz", fingerprint="f" * 64),
    ModelSpec("resnet18", "w.pth", fingerprint="0" * 64),
    outputs="log_softmax",
    precision="bfloat16",
)


@pytest.mark.parametrize(
    "spec, keys",
    [
        (
            DEFAULT,
            {
                "model": "60d19a5d4379f2443fc9",
                "inputs": "b22ca103581ae32a3cc8",
                "features": "e6b629df54b701a6fa7f",
                "kernels": "feb78696913148348cfa",
            },
        ),
        (
            FILES,
            {
                "model": "8c2b20c7a79a1cd9c323",
                "inputs": "30154204df70f98ba91e",
                "features": "9d554df775c5faf4300d",
                "kernels": "de03a6802e9b6733f5fc",
            },
        ),
        (
            WMDD,
            {
                "model": "60d19a5d4379f2443fc9",
                "selected": "0de06fdfd9c1a055deb6",
                "distilled": "e7273ef1046afc65da3a",
                "inputs": "d3e7773f87369b7a486d",
                "features": "14c45095d5dc2d370a0f",
                "judged": "d799415cf15c1fdc6396",
                "kernels": "7634101601a75309028b",
            },
        ),
        (
            STUDENT,
            {
                "model": "60d19a5d4379f2443fc9",
                "selected": "0de06fdfd9c1a055deb6",
                "distilled": "e7273ef1046afc65da3a",
                "student": "cf835fa84aa704482c45",
                "inputs": "d3e7773f87369b7a486d",
                "features": "a1bf6fb1a302a23fb558",
                "judged": "e5dae187b17dde0dcf27",
                "kernels": "bfbfad1a82d9244063c8",
            },
        ),
    ],
)
def test_keys_stay_as_they_are_so_that_caches_and_links_stay_good(spec, keys):
    assert {stage: spec.stage_key(stage) for stage in spec.stages} == keys
    assert spec.key == keys["kernels"]


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
    # Pictures first, what they are compared with after them.
    assert WMDD.stages == ("model", "distilled", "inputs", "features", "selected", "judged", "kernels")
    after = {"distilled", "inputs", "features", "judged", "kernels"}
    assert changed(WMDD, dataset=DatasetSpec("wmdd", iterations=5)) == after
    assert changed(WMDD, dataset=DatasetSpec("wmdd", base="distilled")) == {"features", "judged", "kernels"}
    assert changed(WMDD, inputs=InputSpec(kernel=100)) == {"judged"}
    assert changed(WMDD, projection=ProjectionSpec(k=512)) == {"selected", "features", "judged", "kernels"}
    assert STUDENT.stages[2] == "student" and STUDENT.stage_key("distilled") == WMDD.stage_key("distilled")


def test_the_settings_of_synthesis_do_not_touch_a_selection():
    random = replace(DEFAULT, dataset=DatasetSpec("random"))
    assert changed(random, dataset=DatasetSpec("random", iterations=5, rate=3.0, start="noise")) == set()
    assert random.stage_key("selected") == WMDD.stage_key("selected")
    # A network that learns from it does so in the precision that is asked for.
    student, half = (replace(DEFAULT, dataset=DatasetSpec("random", "distilled", precision=p)) for p in PRECISIONS)
    assert changed(student, dataset=half.dataset) == {"student", "features", "judged", "kernels"}


def test_a_new_selection_is_another_choice_and_another_judgement(monkeypatch):
    before = {spec: {stage: spec.stage_key(stage) for stage in spec.stages} for spec in (DEFAULT, WMDD)}
    monkeypatch.setitem(SELECTIONS, "a new one", Selection("", ""))
    after = {spec: {stage for stage in spec.stages if spec.stage_key(stage) != before[spec][stage]} for spec in before}
    assert after == {DEFAULT: set(), WMDD: {"selected", "judged"}}


@pytest.mark.parametrize("spec", [DEFAULT, WMDD, STUDENT, replace(DEFAULT, dataset=DatasetSpec("random"))])
def test_a_stage_needs_only_stages_of_its_run_that_come_before_it(spec):
    order = list(spec.stages)
    for stage in spec.stages:
        needs = all_needs(spec, stage)
        assert needs <= set(spec.stages) and all(order.index(need) < order.index(stage) for need in needs)
