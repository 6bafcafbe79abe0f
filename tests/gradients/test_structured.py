"""The structured projection: each of its maps is the linear map it says it is, unbiased and as good as the lemma."""

import numpy as np
import pytest
import torch
from jacobians import features, jacobian
from networks import KINDS, make
from torch import nn

from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.projections.maps import Convolved, Filtered, Fold, Formed, choose
from dntk_core.gradients.projections.structured import Structured
from dntk_core.gradients.rules import MatrixOperation
from dntk_core.gradients.stream import projector

CPU = torch.device("cpu")
MAPS = {"fold": None, "formed": Formed, "filtered": Filtered, "convolved": Convolved}


def fold_matrix(fold: Fold) -> torch.Tensor:
    """(p, k): coordinate i goes to bucket i + offset (mod k) with its sign."""
    p = len(fold.signs)
    g = torch.zeros(p, fold.k)
    g[torch.arange(p), (torch.arange(p) + fold.offset) % fold.k] = fold.signs
    return g


def map_matrix(sketch, k: int) -> torch.Tensor:
    """The map of a parameter's gradient as a matrix (p, k)."""
    if isinstance(sketch, Fold):
        return fold_matrix(sketch)
    if isinstance(sketch, Formed):
        return fold_matrix(sketch.fold)
    if isinstance(sketch, Filtered):
        groups = sketch.filters.reshape(sketch.g, -1, sketch.i)
        blocks = [torch.kron(torch.eye(sketch.o), F.T.contiguous()) for F in groups]
        return torch.block_diag(*blocks) @ fold_matrix(sketch.fold)
    (h_o, s_o), (h_i, s_i) = sketch.rows, sketch.columns
    g = torch.zeros(sketch.o * sketch.i, k)
    g[torch.arange(len(g)), ((h_o[:, None] + h_i) % k).flatten()] = (s_o[:, None] * s_i).flatten()
    return g


def whole_matrix(structured: Structured) -> torch.Tensor:
    """The structured projection of all P parameters as a matrix (P, k), in the module's own order."""
    return torch.cat([map_matrix(structured.maps[name], structured.k) for name in structured.network.sizes])


def force(way, monkeypatch):
    """Sketch every matrix by one map, where that map can take it."""

    def forced(calls, k, classes):
        matrices = calls and all(isinstance(call.operation, MatrixOperation) for call in calls)
        if not matrices or len({call.leaves["weight"].shape for call in calls}) > 1:
            return None
        groups, _, _ = calls[0].operation.matrix_shape(calls[0])
        if way == "formed" and not all(call.operation.by_products(call) for call in calls):
            return None
        return None if groups > 1 and way == "convolved" else MAPS[way]

    monkeypatch.setattr("dntk_core.gradients.projections.structured.choose", forced)


@pytest.mark.parametrize("way", MAPS)
@pytest.mark.parametrize("kind", KINDS)
def test_sketching_from_signals_equals_the_linear_map_of_the_jacobian(kind, way, monkeypatch):
    """Fast and general path, kind by kind: one estimator; a gradient that is formed gives the same."""
    force(way, monkeypatch)
    module, x, _ = make(kind)
    structured = projector(prepare(module, x), ProjectionSpec("structured", k=40), CPU)
    J = jacobian(module, x)
    expected = J @ whole_matrix(structured)
    torch.testing.assert_close(features(module, x, ProjectionSpec("structured", k=40)), expected, rtol=1e-3, atol=1e-4)
    parts = dict(zip(structured.network.sizes, J[0].split(list(structured.network.sizes.values()), dim=1), strict=True))
    torch.testing.assert_close(structured.project(structured.begin(()), (), parts), expected[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("way", ("formed", "filtered"))
@pytest.mark.parametrize("kind", KINDS)
def test_products_by_onednn_give_the_same(kind, way, monkeypatch):
    """Products of any size: signals of linear maps, and gradients one input after the other."""
    force(way, monkeypatch)
    module, x, _ = make(kind)
    spec = ProjectionSpec("structured", k=40)
    usual = features(module, x, spec)
    monkeypatch.setattr("dntk_core.gradients.rules.products.WORTH_A_CALL", 0)
    monkeypatch.setattr("dntk_core.gradients.rules.products.WIDE", 0)
    monkeypatch.setattr("dntk_core.gradients.rules.products.wider", lambda: True)
    torch.testing.assert_close(features(module, x, spec), usual, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("way", MAPS)
def test_the_mean_over_seeds_converges_to_the_exact_kernel(way, monkeypatch):
    force(way, monkeypatch)
    monkeypatch.setattr("dntk_core.gradients.projections.maps.FILTERS", 8)
    module, x, _ = make("norms")
    J = jacobian(module, x)[0]
    exact, seeds, network = (J @ J.T).double().numpy(), 400, prepare(module, x)
    total = np.zeros_like(exact)
    for seed in range(seeds):
        projected = (J @ whole_matrix(Structured(network, seed, 24, CPU))).double().numpy()
        total += projected @ projected.T
    assert relative_error(total / seeds, exact) < 3.0 * expected_error(exact, 24) / np.sqrt(seeds)


def test_the_error_on_a_residual_network_is_the_expected_one():
    from torchvision.models import resnet18

    torch.manual_seed(0)
    module, x = resnet18(num_classes=3).eval(), torch.randn(6, 3, 32, 32)
    network = prepare(module, x)
    from dntk_core.gradients.stream import exact_kernels, project_batch

    exact = exact_kernels(network, x).numpy()
    kinds, errors = set(), []
    for seed in range(3):
        through = projector(network, ProjectionSpec("structured", 1024, seed), CPU)
        kinds |= {type(sketch) for sketch in through.maps.values()}
        Phi = project_batch(network, through, x)[0].double().numpy()
        errors += [relative_error(F @ F.T, K) ** 2 for F, K in zip(Phi, exact, strict=True)]
    assert kinds == {Fold, Formed, Filtered, Convolved}
    expected = np.mean([expected_error(K, 1024) for K in exact])
    assert np.sqrt(np.mean(errors)) < 1.3 * expected


def chosen(module: nn.Module, x: torch.Tensor) -> type | None:
    network = prepare(nn.Sequential(module, nn.Flatten()), x)
    return choose(network.calls, 2048, 10)


def test_the_choice_follows_the_shape():
    torch.manual_seed(0)
    assert chosen(nn.Conv2d(128, 128, 3), torch.randn(2, 128, 10, 10)) is Filtered
    assert chosen(nn.Linear(2048, 2048), torch.randn(2, 2048)) is Convolved
    assert chosen(nn.Linear(512, 10), torch.randn(2, 512)) is Formed
    assert chosen(nn.BatchNorm2d(64), torch.randn(2, 64, 8, 8)) is None
    assert chosen(nn.Conv2d(64, 64, 3, groups=64), torch.randn(2, 64, 8, 8)) is None
