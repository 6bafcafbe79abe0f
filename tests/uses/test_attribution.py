"""Attributions against refits, sums and gradients that are formed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.class_kernels import ClassKernels, Kernels
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.shared import SharedKernels
from dntk_core.kernels.spectrum import spectrum
from dntk_core.readout.ridge import READOUTS, predict
from dntk_core.uses.attribution import ATTRIBUTIONS, Evidence, attribution, strongest
from dntk_core.uses.fit import fit
from dntk_core.uses.goals import difference, logit, margins, one_hot
from dntk_core.uses.tangents import tangents
from tests.synthetic import Drawn, draw, examples, seeds

RIDGE = 1e-2
WAYS = [None, *READOUTS]


def as_features(drawn: Drawn) -> FeatureKernels:
    """The same kernels, never formed."""
    return FeatureKernels(drawn.features, drawn.test_features)


def mixing_of(drawn: Drawn, by: str | None, s: int = 6) -> Mixing | None:
    return None if by is None else kernel_pca(spectrum(drawn.kernels.kernel()), s)


def evidence_of(drawn: Drawn, by: str | None, kernels: ClassKernels | None = None, labels: bool = False) -> Evidence:
    kernels, problem = kernels or drawn.kernels, drawn.problem
    assert problem.classes is not None
    targets = one_hot(problem.classes, 3) if labels else problem.targets
    found = fit(kernels, targets, absolute_ridge(kernels, RIDGE), mixing_of(drawn, by), by or "paper")
    features = drawn.features.astype(np.float32), drawn.test_features.astype(np.float32)
    made = tangents(*features, problem.targets, problem.classes)
    return Evidence(found, lambda: replace(made, mixing=mixing_of(drawn, by)))


@pytest.mark.parametrize("kept", [False, True], ids=["dense", "features"])
@pytest.mark.parametrize("by", WAYS)
def test_contributions_sum_to_the_prediction(by, kept):
    drawn = draw(3)
    evidence = evidence_of(drawn, by, as_features(drawn) if kept else None)
    predicted = predict(drawn.kernels, drawn.problem.targets, mixing_of(drawn, by), RIDGE, by or "paper")
    goal, every = difference(2, 0, 3), np.arange(17)
    split = ATTRIBUTIONS["contribution"].function(evidence, every, np.tile(goal, (17, 1)))
    assert split.shape == (17, 24)
    own = np.stack([f[:, 0] for f in evidence.fit.kernels.predict(evidence.fit.alpha[..., None])], axis=1)
    np.testing.assert_allclose(split.sum(axis=1), own @ goal, rtol=1e-9, atol=1e-9)
    # Mixed features are kept in single precision.
    np.testing.assert_allclose(own @ goal, predicted @ goal, rtol=1e-6, atol=1e-6 if kept else 1e-9)


@examples
@given(seeds, st.booleans())
def test_the_full_kernel_s_effect_is_that_of_a_refit_without_the_input(seed, kept):
    drawn = draw(seed)
    targets, lam = drawn.problem.targets, absolute_ridge(drawn.kernels, RIDGE)
    evidence = evidence_of(drawn, None, as_features(drawn) if kept else None)
    goal, index = difference(0, 1, 3), np.array([4, 9])
    effect = ATTRIBUTIONS["leave-one-out"].function(evidence, index, np.tile(goal, (2, 1)))
    for i in (0, 11, 23):
        rest, change = np.delete(np.arange(24), i), np.zeros(2)
        for c, w in enumerate(goal):
            K, cross = drawn.kernels.train[c], drawn.kernels.cross[c][index]
            whole = np.linalg.solve(K + lam * np.eye(24), targets[:, c])
            without = np.linalg.solve(K[np.ix_(rest, rest)] + lam * np.eye(23), targets[rest, c])
            change += w * (cross @ whole - cross[:, rest] @ without)
        np.testing.assert_allclose(effect[:, i], change, rtol=1e-5, atol=1e-7)


def test_one_ridge_is_fitted_by_factors_as_by_eigenvectors():
    kernels, targets = draw(5).kernels, draw(5).problem.targets
    lam, index = absolute_ridge(kernels, RIDGE), np.array([2, 7])
    factored, decomposed = fit(kernels, targets, lam), fit(kernels, targets, lam, modes=kernels.modes(targets))
    assert type(factored) is not type(decomposed)
    for one, other in (
        (factored.alpha, decomposed.alpha),
        (factored.left_out, decomposed.left_out),
        (factored.smoothing(1, index), decomposed.smoothing(1, index)),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("way", ["contribution", "leave-one-out"])
def test_a_kernel_that_classes_share_attributes_as_copies_of_it_do(way, by):
    drawn = draw(5)
    train, cross = drawn.kernels.mean[None], drawn.kernels.cross.mean(axis=0, keepdims=True)
    shared = SharedKernels(Kernels(train, cross), Kernels(train[:0], cross[:0]), (), 3)
    copies = Kernels(np.repeat(train, 3, axis=0), np.repeat(cross, 3, axis=0))
    goals, index = margins(drawn.problem.logits, drawn.problem.labels), np.arange(17)
    found = [ATTRIBUTIONS[way].function(evidence_of(drawn, by, each), index, goals) for each in (shared, copies)]
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("by", READOUTS)
def test_a_distilled_readout_s_effect_is_that_of_a_target_replaced_by_its_own_prediction(by):
    drawn = draw(5)
    targets, mixing = drawn.problem.targets, mixing_of(drawn, by)
    effect = ATTRIBUTIONS["leave-one-out"].function(
        evidence_of(drawn, by), np.arange(17), np.tile(logit(1, 3), (17, 1))
    )
    inputs = type(drawn.kernels)(drawn.kernels.train, drawn.kernels.train)
    before = predict(drawn.kernels, targets, mixing, RIDGE, by)[:, 1]
    for i in (2, 20):
        changed = targets.copy()
        # f(x_i) is affine in y_i: two values give the y_i that is its own prediction.
        values = []
        for value in (0.0, 1.0):
            changed[i, 1] = value
            values.append(predict(inputs, changed, mixing, RIDGE, by)[i, 1])
        changed[i, 1] = values[0] / (1.0 - (values[1] - values[0]))
        after = predict(drawn.kernels, changed, mixing, RIDGE, by)[:, 1]
        np.testing.assert_allclose(effect[:, i], before - after, rtol=1e-6, atol=1e-9)


def test_with_all_targets_seen_that_is_a_refit_on_the_same_span_without_the_input():
    drawn, lam = draw(6), absolute_ridge(draw(6).kernels, RIDGE)
    mixing, y = mixing_of(drawn, "nystrom"), drawn.problem.targets[:, 0]
    assert mixing is not None
    effect = ATTRIBUTIONS["leave-one-out"].function(evidence_of(drawn, "nystrom"), np.array([0]), logit(0, 3)[None])
    basis = np.linalg.qr((mixing.matrix @ drawn.features[0]).T)[0]
    F, own = drawn.features[0] @ basis, drawn.test_features[0, 0] @ basis

    def fitted(rows: np.ndarray) -> float:
        return float(own @ np.linalg.solve(F[rows].T @ F[rows] + lam * np.eye(6), F[rows].T @ y[rows]))

    changes = [fitted(np.arange(24)) - fitted(np.delete(np.arange(24), i)) for i in range(24)]
    np.testing.assert_allclose(effect[0], changes, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("m", [24, 60], ids=["m < k", "m > k"])
def test_trak_is_its_formula_on_the_gradients_of_margins(m):
    drawn = draw(1, m=m)
    problem = drawn.problem
    assert problem.classes is not None
    goals = margins(problem.logits, problem.labels)
    found = ATTRIBUTIONS["trak"].function(evidence_of(drawn, None), np.arange(17), goals)
    p = np.exp(problem.targets - np.logaddexp.reduce(problem.targets, axis=1, keepdims=True))
    Phi = np.einsum("ic,cik->ik", margins(problem.targets, problem.classes), drawn.features)
    test = np.einsum("ic,cik->ik", goals, drawn.test_features)
    lam = np.mean(np.sum(Phi**2, axis=1))
    expected = test @ np.linalg.solve(Phi.T @ Phi + lam * np.eye(40), Phi.T) * (1 - p[np.arange(m), problem.classes])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5 * np.abs(expected).max())
    cosine = ATTRIBUTIONS["cosine"].function(evidence_of(drawn, None), np.arange(17), goals)
    lengths = np.linalg.norm(test, axis=1)[:, None] * np.linalg.norm(Phi, axis=1)
    np.testing.assert_allclose(cosine, test @ Phi.T / lengths, atol=1e-5)


@pytest.mark.parametrize("way", ["leave-one-out", "trak"])
def test_distilled_attributions_with_as_many_gradients_as_inputs_are_the_full_ones(way):
    drawn = draw(2)
    full = evidence_of(drawn, None, labels=True)
    whole = Evidence(
        fit(drawn.kernels, full.fit.targets, absolute_ridge(drawn.kernels, RIDGE), mixing_of(drawn, "paper", 24)),
        lambda: replace(full.tangents(), mixing=mixing_of(drawn, "paper", 24)),
    )
    goals = margins(drawn.problem.logits, drawn.problem.labels)
    one, other = (ATTRIBUTIONS[way].function(each, np.arange(17), goals) for each in (full, whole))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * np.abs(one).max())


def test_a_margin_s_weights_are_its_gradient_with_respect_to_the_logits():
    f, y, step = np.array([[1.0, -0.5, 0.3, 2.0]]), np.array([3]), 1e-6

    def margin(f: np.ndarray) -> float:
        p = np.exp(f[0]) / np.exp(f[0]).sum()
        return float(np.log(p[3] / (1 - p[3])))

    slopes = [(margin(f + step * e) - margin(f - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(margins(f, y)[0], slopes, atol=1e-6)


@pytest.mark.parametrize("at_once", [2, 64])
def test_the_strongest_are_the_ends_of_the_whole_matrix(monkeypatch, at_once):
    monkeypatch.setattr("dntk_core.uses.attribution.AT_ONCE", at_once)
    evidence, goals = evidence_of(draw(4), None), np.tile(logit(0, 3), (5, 1))
    whole = ATTRIBUTIONS["contribution"].function(evidence, np.arange(5), goals)
    found = strongest(evidence, "contribution", np.arange(5), goals, 3)
    np.testing.assert_array_equal(found.up, np.argsort(-whole, axis=1)[:, :3])
    np.testing.assert_array_equal(found.down, np.argsort(whole, axis=1)[:, :3])
    np.testing.assert_allclose(found.down_values, np.sort(whole, axis=1)[:, :3])


def test_what_cannot_be_explained_is_refused_in_one_sentence():
    with pytest.raises(DNTKError, match=r"class must lie in 0\.\.2, got 3"):
        logit(3, 3)
    with pytest.raises(DNTKError, match="class 1 twice"):
        difference(1, 1, 3)
    with pytest.raises(DNTKError, match="contribution, leave-one-out, trak"):
        attribution("captum")
    with pytest.raises(DNTKError, match="targets must be"):
        fit(draw().kernels, np.zeros((3, 3)), 1.0)
