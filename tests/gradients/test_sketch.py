"""Random sums of the classes against all classes: unbiased, an error that falls as 1/√q, exact in the end."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from dntk_core import study
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import InputSpec, RunSpec, SketchSpec
from dntk_core.cache.store import Store
from dntk_core.gradients.extraction import narrowed
from dntk_core.gradients.johnson_lindenstrauss import relative_error
from dntk_core.gradients.sketch import combinations, signs, spread, sufficient_sketch
from dntk_core.kernels.shared import SharedKernels
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run
from dntk_core.run.stages.kernels import check_sketchable


def features(C: int = 40, b: int = 6, k: int = 30) -> np.ndarray:
    """Gradients of classes that have something in common."""
    rng = np.random.default_rng(3)
    return rng.standard_normal((1, b, k)) + rng.standard_normal((C, b, k))


def mean_kernel(every: np.ndarray) -> np.ndarray:
    return np.einsum("cik,cjk->ij", every, every) / len(every)


def sketched(every: np.ndarray, q: int, seed: int) -> np.ndarray:
    sums = combinations(len(every), q, seed, ())
    return mean_kernel(np.einsum("qc,cik->qik", sums, every))


def test_it_is_unbiased_over_seeds():
    every = features()
    exact, drawn = mean_kernel(every), np.array([sketched(every, 2, seed) for seed in range(400)])
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - exact) < 5 * error).all()


def test_its_error_is_what_is_foretold_and_falls_as_one_over_the_root_of_q():
    every = features(C=64)
    exact = mean_kernel(every)
    for q in (4, 16):
        errors = [relative_error(sketched(every, q, seed), exact) for seed in range(60)]
        # Rows of one Hadamard matrix are drawn without replacement: a little better than independent signs.
        expected = spread(every) * np.sqrt((1 - q / 64) / q)
        assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("C", [8, 40])
def test_all_rows_of_the_hadamard_matrix_are_exact(C):
    every = features(C)
    q = 2 ** int(np.ceil(np.log2(C)))
    assert_allclose(sketched(every, q, 1), mean_kernel(every), rtol=1e-10)
    assert sufficient_sketch(spread(every), 1e-6, C) == q
    with pytest.raises(DNTKError, match=f"1 to {q}"):
        signs(C, q + 1, 0)


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Run, Run]:
    """One network of 12 classes, every class by itself, and all 16 sums with two exact classes beside them."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 12))
    x = torch.randn(120, 6)
    y = torch.arange(120) % 12
    parts, store = (
        dict(train=(x[:80], y[:80]), test=(x[80:], y[80:]), kernel_inputs=40, test_inputs=30),
        Store(tmp_path_factory.mktemp("cache")),
    )
    names = [f"class {c}" for c in range(12)]
    plain = study(network, **parts, classes=names, k=10**6, store=store)
    return plain, study(network, **parts, classes=names, k=10**6, class_sketch=16, classes_exact=(3, 7), store=store)


def test_a_run_of_all_sums_has_the_mean_kernel_and_the_exact_classes_of_the_run_without(both):
    plain, shared = both
    assert isinstance(shared.kernels, SharedKernels) and shared.key != plain.key
    assert shared.class_sketch["q"] == 16 and shared.class_sketch["measured"] < 1e-6
    assert_allclose(shared.kernels.kernel().rows(np.arange(40)), plain.kernels.kernel().rows(np.arange(40)), rtol=1e-4)
    for c in (3, 7):
        ours, theirs = (Live(run.problem).spectrum(c).values for run in both[::-1])
        assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    assert_allclose(shared.targets, plain.targets, atol=1e-5)
    with pytest.raises(DNTKError, match="class 4 has no kernel of its own"):
        Live(shared.problem).spectrum(4)
    with pytest.raises(DNTKError, match="--class-sketch"):
        _ = shared.features


def test_every_class_is_read_out_through_the_shared_kernel(both):
    """All that a page asks of the readouts equals the same on an array of C equal kernels."""
    from dntk_core.kernels.class_kernels import Kernels
    from dntk_core.readout.problem import Problem

    _, run = both
    shared = run.kernels
    repeated = Kernels(np.repeat(shared.mean.train, 12, axis=0), np.repeat(shared.mean.cross, 12, axis=0))
    alike = Live(Problem(repeated, run.targets, run.test_logits, run.test_labels, run.train_labels))
    live = Live(run.problem)
    for by in ("paper", "nystrom"):
        ours, theirs = (each.scores(each.local_global(4, 0.8, 0.9), 1e-3, by) for each in (live, alike))
        assert ours.mse == pytest.approx(theirs.mse, rel=1e-9) and ours.fidelity == theirs.fidelity
    mixing = live.local_global(4, 0.8, 0.9)
    for ours, theirs in (
        (live.scores(None, 1e-3).mse, alike.scores(None, 1e-3).mse),
        (live.size_curve("kernel PCA", [2, 5], 1e-3).mse, alike.size_curve("kernel PCA", [2, 5], 1e-3).mse),
        (live.ridge_curve(mixing, [1e-3, 1.0]).mse, alike.ridge_curve(mixing, [1e-3, 1.0]).mse),
        (live.conditioning(mixing, 1e-3)[0], alike.conditioning(mixing, 1e-3)[0]),
        (live.grid([4], [0.7], [0.5, 0.9], 1e-3).mse, alike.grid([4], [0.7], [0.5, 0.9], 1e-3).mse),
        (shared.solve(run.targets, 0.1), repeated.solve(run.targets, 0.1)),
        (live.leave_one_out([1e-3]).mse, alike.leave_one_out([1e-3]).mse),
    ):
        assert_allclose(ours, theirs, rtol=1e-7)


@pytest.mark.parametrize(("kept", "near"), [("float16", 1e-3), ("bfloat16", 8e-3)])
def test_half_as_many_bits_take_half_the_bytes_and_say_their_error(tmp_path, kept, near):
    """Halves of a float have 11 bits, or 8: an error of some 2^-12 or 2^-9 for each number."""
    network, x, y = nn.Linear(6, 3), torch.randn(60, 6), torch.arange(60) % 3
    parts = dict(train=(x[:40], y[:40]), test=(x[40:], y[40:]), kernel_inputs=30, test_inputs=20, store=Store(tmp_path))
    wide, narrow = (study(network, **parts, k=8, kept=bits) for bits in ("float32", kept))
    narrow_files, wide_files = (run.artifacts["features"].folder.glob("features*.npy") for run in (narrow, wide))
    assert sum(map(_content, narrow_files)) * 2 == sum(map(_content, wide_files)) > 0 and narrow.key != wide.key
    assert 0 < narrow.projection_error["kept"] < near and "kept" not in wide.projection_error
    assert 0 < relative_error(narrow.kernels.train, wide.kernels.train) < near


def _content(path):
    return np.load(path).nbytes


def test_gradients_too_large_for_few_bits_are_refused():
    with pytest.raises(DNTKError, match="too large for float16"):
        narrowed(np.array([1e6]), "float16")


def test_more_inputs_than_a_shared_kernel_is_formed_of_are_refused_at_once():
    with pytest.raises(DNTKError, match="at most 4,000 kernel inputs"):
        check_sketchable(RunSpec(inputs=InputSpec(kernel=4001), sketch=SketchSpec(q=8)))
    check_sketchable(RunSpec(inputs=InputSpec(kernel=4001)))


def test_the_number_of_sums_follows_from_a_stated_error(both, tmp_path):
    plain, _ = both
    assert sufficient_sketch(spread(np.asarray(plain.features)), 0.2, 12) <= 16
