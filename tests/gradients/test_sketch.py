"""Random sums of the classes against all classes: unbiased, an error that falls as 1/√q, exact in the end."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from dntk_core import study
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec, SketchSpec
from dntk_core.cache.store import Store
from dntk_core.gradients.extraction import narrowed
from dntk_core.gradients.johnson_lindenstrauss import relative_error
from dntk_core.gradients.sketch import combinations, signs, spread, sufficient_sketch
from dntk_core.kernels.class_kernels import Kernels, kernels_from_features
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.shared import SharedKernels
from dntk_core.kernels.shared_features import SharedFeatures
from dntk_core.kernels.together import Alone
from dntk_core.readout.problem import Problem
from dntk_core.run.analyses import analyse, live_of
from dntk_core.run.doubt import DISTILLED, FULL, Doubt
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run


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


SIZES = {"classes": [f"class {c}" for c in range(12)], "kernel_inputs": 40, "test_inputs": 30, "k": 10**6}


def given() -> tuple:
    """A network of 12 classes and its data."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 12))
    x, y = torch.randn(120, 6), torch.arange(120) % 12
    return network, (x[:80], y[:80]), (x[80:], y[80:])


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Run, Run]:
    """One network of 12 classes, every class by itself, and all 16 sums with two exact classes beside them."""
    store = Store(tmp_path_factory.mktemp("cache"))
    plain = study(*given(), **SIZES, store=store)
    return plain, study(*given(), **SIZES, class_sketch=16, classes_exact=(3, 7), store=store)


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


def test_kept_as_features_the_shared_kernel_answers_as_the_array_does(both, tmp_path, monkeypatch):
    """The same run as of very many inputs: all that pages ask, before and after its analyses."""
    _, run = both
    monkeypatch.setattr("dntk_core.kernels.feature_kernels.LARGEST_DENSE", 39)
    store = Store(tmp_path)
    many = study(*given(), **SIZES, class_sketch=16, classes_exact=(3, 7), store=store)
    assert isinstance(many.kernels, SharedFeatures) and not many.dense and not many.kernels.dense
    ahead = live_of(many, store=store)
    assert analyse(many, [4], Alone(), store=store) == ["whole", "4"]
    analysed = live_of(many, store=store)
    assert analysed.problem.kernels.known and not ahead.problem.kernels.known
    theirs = everything(run, Live(run.problem))
    for live in (ahead, analysed):
        for name, value in everything(many, live).items():
            assert_allclose(value, theirs[name], rtol=2e-4, atol=1e-6, err_msg=name)


def everything(run: Run, live: Live) -> dict[str, np.ndarray | float]:
    """What pages show of readouts, spectra, clusters, attributions and doubt."""
    mixing, insight, kernels = live.local_global(4, 0.8, 0.9), Insight(run, live), live.problem.kernels
    doubt = Doubt(insight, mixing)
    return {
        "spectrum": live.spectrum().values[:20],
        "class": live.spectrum(7).values[:10],
        "labels": live.labels(4),
        "scale": kernels.scale,
        "paper": live.scores(mixing, 1e-2).mse,
        "nystrom": live.scores(mixing, 1e-2, "nystrom").mse,
        "full": live.scores(None, 1e-2).mse,
        "grid": live.grid([4], [0.7], [0.5, 0.9], 1e-2).mse,
        "pca": live.size_curve("kernel PCA", [2, 5], 1e-2).scores["mse"],
        "ranks": live.rank_curve([3, 20], 1e-2).scores["mse"],
        "solve": kernels.solve(run.targets, 0.1),
        "left out": live.leave_one_out([1e-2]).mse,
        "budget": live.error_budget(1e-2).approx,
        "explained": insight.explain(3, way="leave-one-out", ridge=1e-2).values,
        "distilled": insight.explain(3, mixing=mixing, ridge=1e-2).values,
        "deviation": doubt.test().deviation[FULL],
        "less sure": doubt.test().deviation[DISTILLED],
    }


def test_leading_pairs_alone_read_out_nearly_as_all_do(monkeypatch):
    """q·k features of more inputs than are ever formed: the solver's pairs hold 99.5 % of the trace."""
    rng = np.random.default_rng(1)
    decay = 2.0 ** -np.arange(40)[:, None] / np.sqrt(400)
    shared = [np.linalg.qr(rng.standard_normal((60, 40)))[0].T * decay for _ in range(4)]
    z = rng.standard_normal((700, 40))
    sums = np.stack([z @ each for each in shared]).astype(np.float32)
    targets = z[:, :3] @ rng.standard_normal((3, 5))
    parts = sums[:, :600], sums[:, 600:]
    theirs = FeatureKernels(sums[:0, :600], sums[:0, 600:])
    monkeypatch.setattr("dntk_core.kernels.features.FEW", 100)
    monkeypatch.setattr("dntk_core.kernels.features.FORMED", 100)
    monkeypatch.setattr("dntk_core.kernels.krylov.BLOCK", 4)
    leading = SharedFeatures(*parts, theirs, (), 5)
    dense = kernels_from_features(*parts)
    exact = SharedKernels(
        Kernels(dense.train.mean(0, keepdims=True), dense.cross.mean(0, keepdims=True)), theirs, (), 5
    )
    assert len(leading.kernel().eigenpairs().values) < 20
    alphas = (each.solve(targets[:600], 1e-2 * exact.scale)[..., None] for each in (leading, exact))
    ours, wanted = (np.stack(list(each.predict(a))) for each, a in zip((leading, exact), alphas, strict=True))
    assert relative_error(ours, wanted) < 0.02


def test_exact_classes_are_those_that_inputs_have_among_their_largest_outputs(both, tmp_path):
    _, run = both
    often = study(*given(), **SIZES, class_sketch=16, classes_exact="top3", store=Store(tmp_path))
    top = np.argsort(-run.targets, axis=1)[:, :5]
    counts = np.bincount(top.ravel(), minlength=12)
    assert often.key != run.key and often.kernels.chosen == often.exact_classes
    assert sorted(counts[list(often.exact_classes)]) == sorted(counts)[-3:]
    assert often.class_sketch["places"] == pytest.approx(counts[list(often.exact_classes)].sum() / top.size)
    c = often.exact_classes[0]
    own = study(*given(), **SIZES, class_sketch=16, classes_exact=(c,), store=Store(tmp_path))
    assert_allclose(Live(often.problem).spectrum(c).values, Live(own.problem).spectrum(c).values, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("wrong", ["top", "top0", "top5,3", "often"])
def test_what_names_no_classes_is_refused(wrong):
    with pytest.raises(DNTKError, match="exact classes must be numbers"):
        RunSpec(sketch=SketchSpec(4, exact=wrong))


def test_more_exact_classes_than_there_are_is_refused(tmp_path):
    with pytest.raises(DNTKError, match="there are 12 classes to take exact ones from, got top13"):
        study(*given(), **SIZES, class_sketch=16, classes_exact="top13", store=Store(tmp_path))


def test_the_number_of_sums_follows_from_a_stated_error(both, tmp_path):
    plain, _ = both
    assert sufficient_sketch(spread(np.asarray(plain.features)), 0.2, 12) <= 16
