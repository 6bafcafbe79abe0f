"""The default run end to end: good enough, the same everywhere, resumable, and strict about bad input."""

from dataclasses import replace

import numpy as np
import pytest

from dntk_core import (
    Cancelled,
    Compute,
    DNTKError,
    RunSpec,
    collect_garbage,
    delete_run,
    find_run,
    load_or_build,
    open_run,
    runs,
)
from dntk_core.base.progress import ignore
from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.readout.ridge import evaluate, predict
from dntk_core.run.export import export_distilled, load_distilled
from dntk_core.run.live import Live
from tests.kills import build, started

SMALL = RunSpec(model=ModelSpec(epochs=1), inputs=InputSpec(kernel=70, test=30), projection=ProjectionSpec(k=64))


def test_the_default_run_is_a_good_network_and_its_kernel_copies_it(default_run):
    assert default_run.test_accuracy >= 0.98
    assert default_run.kernels.train.shape == (10, 500, 500) and default_run.kernels.cross.shape == (10, 500, 500)
    assert np.bincount(default_run.train_labels).tolist() == [50] * 10
    assert evaluate(default_run.problem, None, 1e-4).fidelity >= 0.99


def test_kernels_are_symmetric_to_the_last_bit_and_positive(default_run):
    K = default_run.kernels.train
    assert np.array_equal(K, K.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(K).min() > -1e-9 * default_run.kernels.scale


def test_kernels_are_products_of_the_features(default_run):
    Phi = np.asarray(default_run.features[3], dtype=np.float64)
    np.testing.assert_allclose(default_run.kernels.train[3], Phi @ Phi.T, rtol=1e-12)
    images = np.asarray(default_run.images)
    assert images.shape == (500, 1, 8, 8) and 0 <= images.min() <= images.max() <= 1


def test_the_projection_error_is_measured_and_near_what_is_expected(default_run):
    error = default_run.projection_error
    assert 0.5 < error["measured"] / error["expected"] < 1.5


def test_from_the_cache_nothing_is_computed(default_run, monkeypatch):
    monkeypatch.setattr("dntk_core.cache.store.Store.load_or_build", None)
    assert open_run(default_run.key[:6]).key == default_run.key


def test_the_same_spec_in_two_processes_with_different_batches(tmp_path):
    here = {
        batch: load_or_build(SMALL, compute=Compute(batch=batch), store=Store(tmp_path / f"{batch}")).kernels.train
        for batch in (32, 7)
    }
    started(build, SMALL, tmp_path / "other", ignore, 32).join()
    assert np.array_equal(open_run(SMALL.key, Store(tmp_path / "other")).kernels.train, here[32])
    # Another batch size blocks the same sums differently: near-identity is all that float32 allows.
    assert np.abs(here[7] - here[32]).max() <= 1e-5 * np.abs(here[32]).max()


def test_another_k_does_not_retrain(tmp_path):
    store = Store(tmp_path)
    stages = []
    load_or_build(SMALL, store=store)
    load_or_build(
        replace(SMALL, projection=ProjectionSpec(k=32)), lambda event: stages.append(event.stage), store=store
    )
    # Before anything is computed, it says what the network will see.
    assert stages[0] == "data" and set(stages) == {"data", "features", "kernels"}


def test_cancelled_and_resumed_it_goes_on_from_its_shards(tmp_path, monkeypatch):
    store, seen = Store(tmp_path), []

    def stop_half_way(event):
        if event.stage == "features" and event.done >= 50:
            raise Cancelled

    with pytest.raises(Cancelled):
        load_or_build(SMALL, stop_half_way, store=store)
    (info,) = runs(store)
    assert not info.finished and info.key == SMALL.key
    with pytest.raises(DNTKError, match="not finished"):
        open_run(SMALL.key, store)
    from dntk_core.gradients import extraction

    projected = extraction._project
    monkeypatch.setattr(extraction, "_project", lambda *args: seen.append(len(args[2])) or projected(*args))
    load_or_build(SMALL, store=store)
    # 50 of 70 kernel inputs were done; what is left is 20, 30 test inputs, and the probe of the error.
    assert seen[:2] == [20, 30]


def test_with_many_inputs_kernels_stay_features_and_say_the_same(tmp_path, monkeypatch):
    dense = load_or_build(SMALL, store=Store(tmp_path / "dense"))
    monkeypatch.setattr("dntk_core.kernels.feature_kernels.LARGEST_DENSE", 69)
    lazy = load_or_build(SMALL, store=Store(tmp_path / "lazy"))
    assert dense.dense and not lazy.dense and not list((tmp_path / "lazy").rglob("cross.npy"))
    ours, theirs = (evaluate(run.problem, None, 1e-3) for run in (lazy, dense))
    assert ours.fidelity == theirs.fidelity and ours.mse == pytest.approx(theirs.mse, rel=1e-4)
    mixing = kernel_pca(Live(lazy.problem).spectrum(), 5)
    export_distilled(lazy, mixing, tmp_path / "set.npz", 1e-3)
    wanted = predict(dense.kernels, dense.targets, mixing, 1e-3)
    for run in (lazy, dense):
        found = load_distilled(tmp_path / "set.npz").predict(run.kernels)
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


def test_runs_are_listed_found_and_deleted(tmp_path):
    store = Store(tmp_path)
    other = replace(SMALL, projection=ProjectionSpec(k=32))
    for spec in (SMALL, other):
        load_or_build(spec, store=store)
    assert {info.key for info in runs(store)} == {SMALL.key, other.key}
    with pytest.raises(DNTKError, match="2 runs"):
        find_run("", store)
    with pytest.raises(DNTKError, match="no run"):
        find_run("zzz", store)
    assert delete_run(SMALL.key, store) > 0
    assert [info.key for info in runs(store)] == [other.key]
    # The shared network stays: the other run still opens.
    assert open_run(other.key, store).parameters > 0 and collect_garbage(store) == 0


@pytest.mark.parametrize(
    "spec, says",
    [
        (replace(SMALL, data=DataSpec("nope")), "unknown dataset 'nope'"),
        (replace(SMALL, model=ModelSpec("nope")), "unknown model 'nope'"),
        (replace(SMALL, projection=ProjectionSpec("nope")), "unknown projection 'nope'"),
        (replace(SMALL, inputs=InputSpec(kernel=1298)), "has only 1,297"),
        (replace(SMALL, inputs=InputSpec(test=501)), "has only 500"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(tmp_path, spec, says):
    with pytest.raises(DNTKError, match=says):
        load_or_build(spec, store=Store(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def test_a_class_without_inputs_is_named(tmp_path, monkeypatch):
    from dntk_core.data import sources

    digits = sources.SOURCES["digits"](DataSpec())
    keep = digits.train.labels != 7
    train = sources.Split(digits.train.inputs[keep], digits.train.labels[keep])
    monkeypatch.setitem(sources.SOURCES, "digits", lambda spec: replace(digits, train=train))
    with pytest.raises(DNTKError, match="class '7' has no kernel inputs"):
        load_or_build(SMALL, store=Store(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def test_non_finite_weights_stop_the_run_and_are_named(tmp_path, monkeypatch):
    from dntk_core.run.stages import model as stage

    trained = stage.train

    def broken(model, *rest):
        model = trained(model, *rest)
        model.blocks[1].conv1.weight.data[0, 0, 0, 0] = float("nan")
        return model

    monkeypatch.setattr(stage, "train", broken)
    with pytest.raises(DNTKError, match=r"with respect to '.*' is not finite"):
        load_or_build(SMALL, store=Store(tmp_path))
    assert not list((tmp_path / "artifacts").glob("features-*"))


def test_log_softmax_outputs_are_the_targets(tmp_path):
    run = load_or_build(replace(SMALL, outputs="log_softmax"), store=Store(tmp_path))
    np.testing.assert_allclose(np.exp(run.targets).sum(axis=1), 1, rtol=1e-5)


def test_a_notebook_shows_what_the_run_is_and_takes_names_as_text(default_run):
    html = default_run._repr_html_()
    assert default_run.key in html and f"{default_run.parameters:,}" in html and "500 kernel inputs" in html
    inputs = default_run.artifacts["inputs"]
    note = inputs.note | {"class_names": ["<script>", *"123456789"]}
    inputs = replace(inputs, meta=inputs.meta | {"note": note})
    html = replace(default_run, artifacts={**default_run.artifacts, "inputs": inputs})._repr_html_()
    assert "<script>" not in html and "10: &lt;script&gt;, 1, 2" in html
