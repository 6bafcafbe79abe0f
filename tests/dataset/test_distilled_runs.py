"""Distilled runs end to end: through every method and both networks, killed and resumed, and bad data refused."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from dntk_core import Compute, DNTKError, RunSpec, collect_garbage, load_or_build, runs
from dntk_core.base.selections import SELECTIONS
from dntk_core.base.spec import DatasetSpec, DataSpec, InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import check_distillable, load_data
from dntk_core.dataset.sizes import evenly_sized
from dntk_core.dataset.student import taught
from dntk_core.models.architectures import build_model
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import tensor
from dntk_core.models.training import accuracy, label_objective, train
from dntk_core.readout.ridge import evaluate
from dntk_core.run.pipeline import load_or_build_kernels
from dntk_core.run.stages import distilled
from dntk_core.run.work import Work
from tests.kills import kill_at

PER_CLASS = 30
SMALL = RunSpec(
    data=DataSpec("npz"),
    model=ModelSpec(epochs=20),
    dataset=DatasetSpec("wmdd", per_class=3, iterations=60),
    inputs=InputSpec(kernel=60, test=40),
    projection=ProjectionSpec(k=128),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("distilled"))


def save_digits(path, change=lambda arrays: None):
    """Thirty digits a class as a file."""
    digits = load_data(DataSpec())
    some = np.concatenate([np.flatnonzero(digits.train_labels == c)[:PER_CLASS] for c in range(10)])
    arrays = {
        "train_images": digits.train_inputs[some],
        "train_labels": digits.train_labels[some],
        "test_images": digits.test_inputs,
        "test_labels": digits.test_labels,
        "class_names": np.array(digits.class_names),
    }
    change(arrays)
    np.savez(path, **arrays)
    return replace(SMALL, data=DataSpec("npz", path=str(path)))


@pytest.fixture(scope="module")
def small(store, tmp_path_factory):
    """A run on distilled images, of the network trained on real ones."""
    return load_or_build(save_digits(tmp_path_factory.mktemp("data") / "digits.npz"), store=store)


def but(run, **settings):
    """A run's spec with other settings of its distillation."""
    return replace(run.spec, dataset=replace(run.spec.dataset, **settings))


def test_kernels_are_those_of_the_distilled_images(small):
    made = small.distillation
    assert small.kernels.train.shape == (10, 30, 30) and small.kernels.cross.shape == (10, 40, 30)
    images = np.asarray(small.images)
    assert np.array_equal(images, made["images"]) and 0 <= images.min() <= images.max() <= 1
    assert small.train_labels.tolist() == [c for c in range(10) for _ in range(3)]
    np.testing.assert_allclose(made["weights"].reshape(10, 3).sum(axis=1), 1)
    # Soft labels are the network's own logits, and so the kernels' targets.
    np.testing.assert_allclose(made["soft_labels"], small.targets, rtol=1e-4, atol=1e-4)
    assert made["losses"].shape == (60, 10, 2) and made["points"].shape == made["features"].shape
    assert evaluate(small.problem, None, 1e-4).fidelity > 0.8


def test_every_selection_is_judged_beside_it(small):
    assert [each.name for each in small.judgements] == ["wmdd", *SELECTIONS]
    for each in small.judgements:
        assert each.classes.rank == 300 and 0 < each.classes.energy < 1 <= each.classes.relative
        assert each.kernel.error <= each.kernel.bound
        # 300 stacked gradients fill half of 128 dimensions and more.
        assert each.stacked is None and each.step is None
    assert small.artifacts["judged"].note["chain_rule_error"] < 1e-4
    assert small.artifacts["selected"]["index"].shape == (5, 30)


def test_with_enough_dimensions_the_stacked_subspace_is_judged_too(small, store):
    run = load_or_build(replace(but(small, per_class=1, iterations=5), projection=ProjectionSpec(k=256)), store=store)
    for each in run.judgements:
        assert each.stacked.rank == 100 and each.stacked.relative >= 1 and each.step.residual <= each.step.gradient
        assert each.step.regret >= 0 and each.step.residual >= each.step.tail


def test_a_network_of_distilled_images_alone(small, store):
    student = load_or_build(but(small, base="distilled"), store=store)
    assert np.array_equal(student.images, small.images) and not np.allclose(student.targets, small.targets, atol=0.1)
    assert 0.6 < student.test_accuracy
    for run in (small, student):
        curve = evenly_sized(run.problem, run.train_labels, np.array(run.distillation["weights"]), 1e-4)
        assert curve.x.tolist() == [10, 20, 30] and curve.fidelity[-1] > curve.fidelity[0] - 0.1


def test_a_network_learns_from_few_images_in_half_precision_as_well(small, store):
    usual, half = (
        load_or_build_kernels(but(small, method="herding", base="distilled", precision=precision), store=store)
        for precision in ("float32", "bfloat16")
    )
    assert usual.spec.stage_key("distilled") == half.spec.stage_key("distilled")
    assert np.array_equal(usual.images, half.images) and not np.array_equal(usual.targets, half.targets)
    assert half.test_accuracy > usual.test_accuracy - 0.1 > 0.5


def test_a_selection_runs_through_the_same_stages(small, store):
    run = load_or_build(but(small, method="herding"), store=store)
    assert np.array_equal(run.images, run.distillation["images"])
    assert np.array_equal(run.train_labels, load_data(run.spec.data).train_labels[run.distillation["origin"]])
    assert run.judgements[0].name == "herding" and len(run.judgements) == 5


def distil(run, folder, report=lambda event: None, compute=None, **settings):
    """The distilled stage alone, with a run's network."""
    spec = replace(run.spec, dataset=replace(run.spec.dataset, **settings))
    data, compute = load_data(spec.data), compute or Compute("cpu")
    return distilled.build(Work(spec, data, run.artifacts, compute, report, Workbench(folder)))[0]


@pytest.mark.parametrize("method", SELECTIONS)
def test_a_selection_takes_different_real_images_of_each_class(method, small, tmp_path):
    made, data = distil(small, tmp_path, method=method), load_data(small.spec.data)
    origin = made["origin"]
    assert np.array_equal(made["images"], data.train_inputs[origin]) and len(np.unique(origin)) == 30
    assert np.array_equal(made["labels"], data.train_labels[origin])


def test_memory_bounds_how_many_classes_are_made_at_once(small, tmp_path):
    """Two classes at a time, or all ten: the same images up to rounding, which Adam enlarges."""
    events = []
    two_classes = Compute("cpu", memory=6 * 700_000)
    every = distil(small, tmp_path / "ten", iterations=10)
    found = distil(small, tmp_path / "two", events.append, two_classes, iterations=10)
    assert np.mean(np.abs(found["images"] - every["images"])) < 0.01
    np.testing.assert_allclose(found["losses"][0], every["losses"][0], rtol=1e-3)
    assert [event.done for event in events] == [*range(1, 11), *range(12, 111, 2)]
    last = events[-1]
    assert last.done == last.total and "feature loss" in last.note and "batch-norm loss" in last.note


def test_killed_again_and_again_it_ends_with_the_same_images(small, tmp_path):
    folder = small.artifacts["model"].folder
    shutil.copytree(folder, tmp_path / "artifacts" / folder.name)
    kill_at(small.spec, tmp_path, "distilled", 4)
    kill_at(small.spec, tmp_path, "distilled", 300)
    third = kill_at(small.spec, tmp_path, "distilled", 430)
    # The barycenters of 10 classes, then 10 a step: 25 steps make a checkpoint, from which the third process went on.
    assert third[:11] == [*range(1, 11), 270]
    # Selections to compare with come after the pictures.
    kill_at(small.spec, tmp_path, "selected", 22)
    kill_at(small.spec, tmp_path, "judged", 65)
    run = load_or_build(small.spec, store=Store(tmp_path))
    assert np.array_equal(run.images, small.images)
    assert np.array_equal(run.distillation["losses"], small.distillation["losses"])
    assert np.array_equal(run.kernels.train, small.kernels.train)
    assert run.judgements == small.judgements


def test_garbage_collection_keeps_the_stages_of_distilled_runs(small, store):
    assert small.key in [info.key for info in runs(store)]
    collect_garbage(store)
    assert load_or_build(small.spec, store=store, report=None).key == small.key


def refused(folder, spec):
    """The error of a run that must not leave anything behind."""
    with pytest.raises(DNTKError) as error:
        load_or_build(spec, store=Store(folder))
    assert not folder.exists()
    return str(error.value)


@pytest.mark.parametrize("method", ["wmdd", "herding"])
def test_more_images_per_class_than_there_are_is_refused(method, small, tmp_path):
    message = refused(tmp_path / "cache", but(small, method=method, per_class=31))
    assert "31 images per class asked for, but class '0' has only 30; ask for fewer per class" in message


@pytest.mark.parametrize("wrong", [255.0, np.nan, -0.5])
def test_images_outside_the_valid_range_are_refused(wrong, tmp_path):
    def spoil(arrays):
        arrays["train_images"][7, 0, 3, 3] = wrong

    assert "must lie in [0, 1]" in refused(tmp_path / "cache", save_digits(tmp_path / "digits.npz", spoil))
    digits = load_data(DataSpec())
    images = digits.train_inputs.copy()
    images[7, 0, 3, 3] = wrong
    with pytest.raises(DNTKError, match=r"finite numbers in \[0, 1\].*scale them"):
        check_distillable(replace(digits, train_inputs=images), 10)


def test_a_class_without_images_is_refused(tmp_path):
    def empty(arrays):
        kept = arrays["train_labels"] != 4
        arrays["train_images"], arrays["train_labels"] = arrays["train_images"][kept], arrays["train_labels"][kept]

    assert "class '4' has no" in refused(tmp_path / "cache", save_digits(tmp_path / "digits.npz", empty))


def test_a_loss_that_is_not_finite_loses_nothing(small, store):
    """Settings beyond all measure end in an error; the network stays for saner ones."""
    spec = but(small, start="noise", bn_weight=1e38, iterations=5)
    with pytest.raises(DNTKError, match="not finite at iteration"):
        load_or_build(spec, store=store)
    assert store.get("model", spec.stage_key("model")) is not None


def learn(data, images, objective):
    """Test accuracy of a network trained on few images alone."""
    spec, device = ModelSpec(epochs=100), torch.device("cpu")
    model = build_model(spec, data.channels, data.class_names)
    model = train(model, tensor(data.normalise(images)), objective, spec, lambda event: None, device)
    return accuracy(model, tensor(data.normalise(data.test_inputs)), torch.from_numpy(data.test_labels))


def test_a_sixth_of_the_iterations_already_teaches_more_than_random_images(default_run, tmp_path):
    """One image a class, where it counts most; the benchmark does ten, all 300 iterations and three seeds."""
    data = load_data(DataSpec())
    from_noise = distil(default_run, tmp_path / "noise", method="wmdd", start="noise", per_class=2, iterations=100)
    total = from_noise["losses"].mean(axis=1) @ [1.0, 10.0]
    assert total[-1] < total[0] / 10
    made = distil(default_run, tmp_path / "medoids", method="wmdd", per_class=1, iterations=50)
    teacher = load_network(default_run.spec, data, default_run.artifacts["model"], Compute())
    student = learn(data, made["images"], taught(teacher, tensor(made["weights"])))

    def plain(draw):
        chosen = [np.flatnonzero(data.train_labels == c)[draw] for c in range(10)]
        labels = torch.from_numpy(data.train_labels[chosen])
        return learn(data, data.train_inputs[chosen], label_objective(labels, torch.device("cpu")))

    assert student > np.mean([plain(draw) for draw in range(3)]) + 0.03
