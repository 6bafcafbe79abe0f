"""Warnings given before a run is computed."""

import warnings
from dataclasses import replace

import pytest

from dntk_core import RunSpec, load_or_build
from dntk_core.base.spec import DatasetSpec, InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.run.cautions import cautions

SMALL = RunSpec(model=ModelSpec(epochs=0), inputs=InputSpec(kernel=40, test=10), projection=ProjectionSpec(k=40))


def test_k_near_m_is_warned_of_with_what_to_do():
    (sentence,) = cautions(SMALL, 10)
    assert "at least 160 or at most 20" in sentence and "leave-one-out" in sentence
    assert not cautions(RunSpec.default(), 10)
    assert not cautions(replace(SMALL, projection=ProjectionSpec("identity", 40)), 10)


def test_of_a_distilled_run_its_distilled_images_count():
    distilled = replace(SMALL, dataset=DatasetSpec("wmdd", per_class=1))
    assert not cautions(distilled, 10) and cautions(distilled, 30)


def test_it_is_said_before_anything_is_computed_and_not_of_a_cached_run(tmp_path):
    store = Store(tmp_path / "cache")
    with warnings.catch_warnings(action="error"), pytest.raises(UserWarning, match="k = 40 is so near the 40 kernel"):
        load_or_build(SMALL, store=store)
    assert not store.root.exists()
    with pytest.warns(UserWarning, match="so near"):
        load_or_build(SMALL, store=store)
    with warnings.catch_warnings(action="error"):
        load_or_build(SMALL, store=store)
