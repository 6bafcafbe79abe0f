"""Series of checkpoints: from initialisation on, resumed after a kill, bad ones refused in one sentence."""

import errno
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from artifacts import rewrite
from safetensors.numpy import load_file

from dntk_core import RunSpec, collect_garbage, load_or_build
from dntk_core.base.errors import DNTKError
from dntk_core.base.parts import LAST
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec, SketchSpec
from dntk_core.base.stages import STAGES
from dntk_core.cache.store import Store
from dntk_core.models.architectures import build_model
from dntk_core.models.training import save_weights
from dntk_core.run.across import build_series, open_series
from dntk_core.run.likeness import class_likeness, likeness, why_not
from dntk_core.run.pipeline import train_network
from dntk_core.run.progression import Progression
from dntk_core.run.series import (
    all_series,
    default_series,
    drop_series,
    epochs_of,
    find_series,
    keep_series,
    series_with,
    trained_series,
    weights_series,
)
from tests.kills import started

SMALL = RunSpec(model=ModelSpec(epochs=2), inputs=InputSpec(kernel=20, test=12), projection=ProjectionSpec(k=256))
EPOCHS = (0, 1, 2)


def build_until(root, label):
    """Compute the series; the process kills itself at the first gradient of the checkpoint with this label."""
    torch.set_num_threads(1)

    def report(event):
        if event.note == f"{label}: features":
            os.kill(os.getpid(), signal.SIGKILL)

    build_series(trained_series(SMALL, EPOCHS), report, store=Store(root))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A series that was killed at its second checkpoint and finished then."""
    root = tmp_path_factory.mktemp("series")
    process = started(build_until, root, "epoch 1")
    process.join()
    assert process.exitcode == -signal.SIGKILL
    store, series = Store(root), trained_series(SMALL, EPOCHS)
    kept = [store.artifact_folder(stage, series.specs[0].stage_key(stage)) for stage in ("checkpoints", "kernels")]
    before = [(folder / "meta.json").stat().st_mtime_ns for folder in kept]
    assert [each.key for each in all_series(store)] == [series.key] and open_series(series, store) is None
    events = []
    runs, across = build_series(series, events.append, store=store)
    assert [(folder / "meta.json").stat().st_mtime_ns for folder in kept] == before
    return store, series, runs, across, events


def test_a_killed_series_resumes_and_is_listed_as_one_under_one_bar(made):
    store, series, runs, across, events = made
    assert [run.key for run in runs] == list(series.keys) and series.labels == ("epoch 0", "epoch 1", "epoch 2")
    assert {event.stage for event in events} == {"series"} and len({event.total for event in events}) == 1
    done = [event.done for event in events]
    assert done == sorted(done) and done[-1] == events[-1].total
    assert series_with(runs[1].key, store) == [series]
    again = open_series(series, store)
    assert again is not None and np.array_equal(again[1].linear_error, across.linear_error)
    collect_garbage(store)
    assert open_series(series, store) is not None


def test_the_ends_are_the_network_as_drawn_and_as_training_leaves_it(made, tmp_path):
    store, _, runs, _, events = made
    drawn = build_model(SMALL.model, 1, tuple("0123456789"))
    assert runs[0].artifacts["model"].read("weights.safetensors") == save_weights(drawn)
    assert runs[-1].key == load_or_build(SMALL, store=store).key
    # What training with checkpoints left is not trained again, and is what training without them leaves.
    assert "epoch 2: model" not in {event.note for event in events}
    last, alone = runs[-1].artifacts["model"], train_network(SMALL, store=Store(tmp_path))
    assert last.read("weights.safetensors") == alone.read("weights.safetensors")
    assert last.note["test_accuracy"] == alone.note["test_accuracy"]
    assert RunSpec.from_json(runs[1].spec.to_json()) == runs[1].spec and "after epoch 1" in runs[1].spec.summary
    # No key of a run without checkpoints knows of them.
    assert ModelSpec().content == {k: v for k, v in ModelSpec().content.items() if k not in ("keep", "at")}
    assert "checkpoints" not in RunSpec.default().stages and not STAGES["checkpoints"].asked


def test_files_of_checkpoints_give_the_same_kernels(made, tmp_path):
    store, _, runs, _, _ = made
    spec = replace(SMALL, model=replace(SMALL.model, keep="0,1,2"))
    kept = train_network(spec, store=store)
    for epoch in EPOCHS:
        (tmp_path / f"net-{9 + epoch}.safetensors").write_bytes(kept.read(f"epoch-{epoch:03d}.safetensors"))
    series = weights_series(SMALL, str(tmp_path / "net-*.safetensors"))
    assert series.labels == ("net-9", "net-10", "net-11") and series.times == (9, 10, 11)
    run = load_or_build(series.specs[1], store=store)
    np.testing.assert_array_equal(
        run.kernels.kernel().rows(np.arange(20)), runs[1].kernels.kernel().rows(np.arange(20))
    )
    state = load_file(tmp_path / "net-9.safetensors")
    other = tmp_path / "net-12.safetensors"
    torch_state = {name: torch.from_numpy(value) for name, value in state.items() if name != "head.bias"}
    torch.save(torch_state, other.with_suffix(".pth"))
    with pytest.raises(DNTKError, match=r"net-12.pth holds weights of another architecture than net-9.*head.bias"):
        weights_series(SMALL, str(tmp_path / "net-*"))


def test_bad_input_is_one_sentence(tmp_path):
    with pytest.raises(DNTKError, match="no file matches"):
        weights_series(SMALL, str(tmp_path / "*.pth"))
    for keep in ("1,0", "0,3", "0;1", "0,,1"):
        with pytest.raises(DNTKError, match="kept epochs must be ascending numbers from 0 to 2"):
            replace(SMALL, model=replace(SMALL.model, keep=keep))
    with pytest.raises(DNTKError, match="after epoch 1 are not among those that are kept"):
        replace(SMALL, model=replace(SMALL.model, keep="0,2", at=1))
    with pytest.raises(DNTKError, match="was not trained here"):
        trained_series(replace(SMALL, model=ModelSpec(weights="DEFAULT")), EPOCHS)
    with pytest.raises(DNTKError, match="2 to 200 checkpoints"):
        trained_series(SMALL, (0,))
    with pytest.raises(DNTKError, match="leave --class-sketch out"):
        trained_series(replace(SMALL, sketch=SketchSpec(q=4)), EPOCHS)


def test_the_embedded_series_has_eight_checkpoints_of_the_embedded_network():
    series = default_series()
    assert len(series.specs) == 8 and series.times[0] == 0 and series.specs[-1].model.at == LAST
    assert series.specs[-1].stage_key("model") == RunSpec.default().stage_key("model")
    assert len({spec.stage_key("inputs") for spec in series.specs}) == 1
    assert epochs_of(RunSpec.default())[0] == 0 and epochs_of(RunSpec.default())[-1] == 12


def test_numbers_over_a_series_are_those_of_its_runs(made):
    _, series, runs, across, _ = made
    found = across.likeness
    assert found.cka.shape == (11, 3, 3) and np.allclose(found.cka[:, range(3), range(3)], 1)
    for t, run in enumerate(runs):
        K = run.kernels.kernel(3).rows(np.arange(20))
        np.testing.assert_allclose(found.values[t, 3], np.linalg.eigvalsh(K)[::-1].clip(0), rtol=1e-6, atol=1e-6)
    assert np.all(np.diag(found.agreement) == 1) and found.agreement[0, 2] == np.mean(
        runs[0].test_logits.argmax(1) == runs[2].test_logits.argmax(1)
    )
    assert np.all(np.diag(across.linear_error) == 0) and across.linear_error[0, 2] > 0
    assert np.all(np.diag(across.following_error) == 0) and across.following_error[0, 2] != across.linear_error[0, 2]
    assert across.trust.inputs == 20 and 0 <= across.trust.debiased < 0.3
    progression = Progression(series, runs, across)
    fits = progression.fits(1e-4)
    assert fits.own.shape == (3,) and fits.own[-1] == fits.final[-1]
    assert progression.kernel(1, None).m == 20 and len(progression.clusters(3, None)) == 20
    assert progression.velocity(None).shape == (2,) and progression.ranks(0, 0.05).max() <= 20


def test_runs_on_other_inputs_are_refused_and_why(made):
    store, _, runs, _, _ = made
    assert why_not(runs[0], runs[1]) == ""
    np.testing.assert_allclose(np.diag(class_likeness(runs[0], runs[0])), 1)
    other = load_or_build(replace(SMALL, inputs=InputSpec(kernel=20, test=12, seed=1)), store=store)
    with pytest.raises(DNTKError, match=r"on different inputs.*same data, inputs and input seed"):
        likeness((runs[-1], other))


def test_a_series_that_cannot_be_read_now_is_not_taken_for_none(tmp_path, monkeypatch):
    store, series = Store(tmp_path), trained_series(SMALL, EPOCHS)
    keep_series(series, store)

    def fail(*rest):
        raise OSError(errno.ESTALE, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", fail)
        for look in (
            all_series,
            lambda store: find_series(series.key, store),
            lambda store: keep_series(series, store),
        ):
            with pytest.raises(DNTKError, match="cannot be read now"):
                look(store)
        with pytest.raises(DNTKError, match="cannot be read now"):
            drop_series(series.key, store)
    assert all_series(store) == [series]


@pytest.mark.parametrize(
    "change", [{"created": 10**400}, {"times": [0, 1, 10**400]}, {"times": [2, 1, 0]}, {"specs": [3]}, {"labels": 3}]
)
def test_a_damaged_series_is_left_out(tmp_path, change):
    store, series = Store(tmp_path), trained_series(SMALL, EPOCHS)
    keep_series(series, store)
    rewrite(tmp_path / "series" / f"{series.key}.json", change)
    assert all_series(store) == [] and find_series(series.key, store) is None
    # And can be kept again.
    keep_series(series, store)
    assert all_series(store) == [series]


def test_a_series_is_forgotten_and_its_runs_stay(made):
    store, series, _, _, _ = made
    drop_series(series.key, store)
    assert all_series(store) == [] and open_series(series, store) is not None
