"""The structured projection: each of its maps is the linear map it says it is, unbiased and as good as the lemma."""

import numpy as np
import pytest
import torch
from gradients.test_stream import features, jacobian
from networks import KINDS, make
from torch import nn

from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.gradients.network import Layer, prepare
from dntk_core.gradients.sketch import Convolved, Direct, Fold, Projected, Structured, choose
from dntk_core.gradients.stream import projector

CPU = torch.device("cpu")
MAPS = {"direct": Direct, "projected": Projected, "convolved": Convolved}


def fold_matrix(fold: Fold) -> torch.Tensor:
    """(p, k): coordinate i goes to bucket i + offset (mod k) with its sign."""
    p = len(fold.signs)
    g = torch.zeros(p, fold.k)
    g[torch.arange(p), (torch.arange(p) + fold.offset) % fold.k] = fold.signs
    return g


def weight_matrix(sketch, k: int) -> torch.Tensor:
    """The map of a weight's gradient (flattened g·o·i) as a matrix (g·o·i, k)."""
    if isinstance(sketch, Direct):
        return fold_matrix(sketch.folds["weight"])
    if isinstance(sketch, Projected):
        groups = sketch.filters.reshape(sketch.g, -1, sketch.i)
        blocks = [torch.kron(torch.eye(sketch.o), F.T.contiguous()) for F in groups]
        return torch.block_diag(*blocks) @ fold_matrix(sketch.fold)
    (h_o, s_o), (h_i, s_i) = sketch.rows, sketch.columns
    g = torch.zeros(sketch.o * sketch.i, k)
    g[torch.arange(len(g)), ((h_o[:, None] + h_i) % k).flatten()] = (s_o[:, None] * s_i).flatten()
    return g


def whole_matrix(structured: Structured) -> torch.Tensor:
    """The structured projection of all P parameters as a matrix (P, k), in the module's own order."""
    blocks = {name: fold_matrix(fold) for name, fold in structured.rest.items()}
    for layer, sketch in zip(structured.network.layers, structured.sketches, strict=True):
        for attr, name in layer.parameters.items():
            if attr == "weight" and type(layer.module) in (nn.Linear, nn.Conv2d):
                blocks[name] = weight_matrix(sketch, structured.k)
            else:
                blocks[name] = fold_matrix(sketch.folds[attr] if isinstance(sketch, Direct) else sketch.bias)
    return torch.cat([blocks[name] for name in structured.network.sizes])


@pytest.mark.parametrize("way", MAPS)
@pytest.mark.parametrize("kind", KINDS)
def test_sketching_from_signals_equals_the_linear_map_of_the_jacobian(kind, way, monkeypatch):
    """Fast and general path, layer kind by layer kind: one estimator."""

    def forced(layer: Layer, k: int, classes: int) -> type:
        depthwise = getattr(layer.module, "groups", 1) > 1 and way == "convolved"
        return MAPS[way] if type(layer.module) in (nn.Linear, nn.Conv2d) and not depthwise else Direct

    monkeypatch.setattr("dntk_core.gradients.sketch.choose", forced)
    module, x, _ = make(kind)
    structured = projector(prepare(module, x), ProjectionSpec("structured", k=40), CPU)
    expected = jacobian(module, x) @ whole_matrix(structured)
    torch.testing.assert_close(features(module, x, ProjectionSpec("structured", k=40)), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("way", MAPS)
def test_the_mean_over_seeds_converges_to_the_exact_kernel(way, monkeypatch):
    monkeypatch.setattr(
        "dntk_core.gradients.sketch.choose",
        lambda layer, k, C: MAPS[way] if type(layer.module) is nn.Linear else Direct,
    )
    monkeypatch.setattr("dntk_core.gradients.sketch.FILTERS", 8)
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
        kinds |= {type(sketch) for sketch in through.sketches}
        Phi = project_batch(network, through, x)[0].double().numpy()
        errors += [relative_error(F @ F.T, K) ** 2 for F, K in zip(Phi, exact, strict=True)]
    assert kinds == {Direct, Projected, Convolved}
    expected = np.mean([expected_error(K, 1024) for K in exact])
    assert np.sqrt(np.mean(errors)) < 1.3 * expected


def test_the_choice_follows_the_shape():
    def layer(module, *shape):
        return Layer(module, {"weight": "x"}, shape)

    assert choose(layer(nn.Conv2d(128, 128, 3), 128, 8, 8), 2048, 10) is Projected
    assert choose(layer(nn.Linear(2048, 2048), 2048), 2048, 10) is Convolved
    assert choose(layer(nn.Linear(512, 10), 10), 2048, 10) is Direct
    assert choose(layer(nn.BatchNorm2d(64), 64, 8, 8), 2048, 10) is Direct
    assert choose(layer(nn.Conv2d(64, 64, 3, groups=64), 64, 8, 8), 2048, 10) is Direct
