"""What a run will take of memory and disk, before it is computed."""

from dataclasses import replace

import pytest
import torch

from dntk_core import RunSpec, load_or_build
from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import bytes_per_input, projector
from dntk_core.models.architectures import build_model
from dntk_core.models.seen import Seen
from dntk_core.run.estimate import estimate

SMALL = RunSpec(model=ModelSpec(epochs=1), inputs=InputSpec(120, 110), projection=ProjectionSpec(k=256))


@pytest.mark.parametrize(
    "spec, compute, free, says",
    [
        (replace(SMALL, inputs=InputSpec(1200, 500)), Compute(), 10**8, r"kernels .* fewer kernel or test inputs"),
        (SMALL, Compute(batch=10**6), 10**9, "one batch of gradients .* smaller --batch"),
        (replace(SMALL, projection=ProjectionSpec("sparse", 256)), Compute(), 10**6, "memory"),
    ],
)
def test_a_run_that_would_not_fit_in_memory_is_refused(tmp_path, monkeypatch, spec, compute, free, says):
    monkeypatch.setattr("dntk_core.run.estimate.available_bytes", lambda: free)
    with pytest.raises(DNTKError, match=says):
        load_or_build(spec, compute=compute, store=Store(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def test_the_estimate_is_near_what_is_written(default_run):
    spec, data = default_run.spec, load_data(default_run.spec.data)
    expected = estimate(spec, data, build_model(spec.model, data.channels, data.class_names), Compute())
    arrays = [path for path in default_run.artifacts["kernels"].folder.glob("*.npy") if path.stem in ("train", "cross")]
    kernels = sum(path.stat().st_size for path in arrays)
    features = sum(path.stat().st_size for path in default_run.artifacts["features"].folder.glob("*features.*.npy"))
    assert expected.kernels == pytest.approx(2 * kernels, rel=0.01)
    assert expected.disk == pytest.approx(features + kernels, rel=0.01)


@pytest.mark.parametrize("projection", ["structured", "sparse"])
def test_one_formula_estimates_a_batch_before_the_run_and_chooses_it_during_the_run(projection):
    spec, data = replace(SMALL, projection=ProjectionSpec(projection, 256)), load_data(SMALL.data)
    model = build_model(SMALL.model, data.channels, data.class_names)
    network = prepare(model, Seen(data, data.train_inputs)[:2])
    through = projector(network, spec.projection, torch.device("cpu"))
    expected = estimate(spec, data, model, Compute(batch=7)).batch
    assert expected == 7 * bytes_per_input(network, through) + 4 * network.P
