"""Stages as the table has them: a new one is a module and a row, and each gets what its key holds."""

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from dntk_core import DNTKError, Progress, RunSpec, load_or_build
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.base.stage import Stage
from dntk_core.base.stages import STAGES
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.run import pipeline
from dntk_core.run.work import builder

SMALL = RunSpec(model=ModelSpec(epochs=1), inputs=InputSpec(kernel=20, test=10), projection=ProjectionSpec(k=80))


@pytest.fixture
def toy(monkeypatch):
    """A stage after the kernels: their traces, times the inputs' seed."""
    module = ModuleType("toy")

    def build(work):
        work.report(Progress("toy", 1, 1))
        assert "model" in work.made and work.network is work.made["model"]
        return {"traces": np.trace(work.made["kernels"]["train"], axis1=1, axis2=2)}, {"n": len(work.data.train_labels)}

    module.build = build
    monkeypatch.setitem(sys.modules, "toy", module)
    row = Stage("toy", 1, lambda run: {"kernels": "kernels"}, lambda run: {"seed": run.inputs.seed}, "toy")
    monkeypatch.setitem(STAGES, "toy", row)
    return module


def test_a_new_stage_is_a_module_and_a_row(tmp_path, toy, monkeypatch):
    store, events = Store(tmp_path), []
    run = load_or_build(SMALL, lambda event: events.append(event.stage), store=store)
    assert run.spec.stages[-1] == "toy" == events[-1]
    np.testing.assert_allclose(run.artifacts["toy"]["traces"], run.kernels.traces)
    assert run.artifacts["toy"].note["n"] == 1297 and run.seconds["toy"] >= 0
    # Cached from then on, and its cost is part of the estimate.
    events.clear()
    assert load_or_build(SMALL, lambda event: events.append(event.stage), store=store).key == run.key and not events
    monkeypatch.setitem(STAGES, "toy", replace(STAGES["toy"], writes=lambda sizes: 2**62))
    with pytest.raises(DNTKError, match="of disk"):
        load_or_build(SMALL, store=Store(tmp_path / "other"))


def test_a_builder_gets_only_what_its_key_holds(tmp_path, toy):
    toy.build = lambda work: ({}, {"made": sorted(work.made)})
    assert load_or_build(SMALL, store=Store(tmp_path)).artifacts["toy"].note["made"] == [
        "features",
        "inputs",
        "kernels",
        "model",
    ]


@pytest.mark.parametrize("stage", STAGES)
def test_every_row_names_a_module_that_builds(stage):
    assert callable(builder(stage).build)


def test_data_are_loaded_once_in_a_build(tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(pipeline, "load_data", lambda spec, own=False: loaded.append(spec) or load_data(spec, own))
    for module in map(builder, STAGES):
        assert not hasattr(module, "load_data")
    load_or_build(SMALL, store=Store(tmp_path))
    assert len(loaded) == 1
