"""Per-sample per-logit gradients against finite differences, jacrev and Gram matrices of full Jacobians."""

import pytest
import torch
from jacobians import CPU, IDENTITY, features, jacobian, refusal
from networks import KINDS, make
from torch import nn

from dntk_core.base.compute import Compute
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import exact_kernels, project_batch, projector, stream


@pytest.mark.parametrize("kind", KINDS)
def test_features_equal_jacrev(kind):
    module, x, general = make(kind)
    assert prepare(module, x).rest == general
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_features_equal_finite_differences(kind):
    module, x, _ = make(kind)
    exact = features(module, x).double()
    module = module.double()
    x = x.double() if x.is_floating_point() else x
    theta = nn.utils.parameters_to_vector([p for p in module.parameters() if p.requires_grad]).detach()
    rng = torch.Generator().manual_seed(3)
    for _ in range(3):
        direction = torch.randn(len(theta), generator=rng, dtype=torch.float64)
        values = []
        for step in (1e-5, -1e-5):
            nn.utils.vector_to_parameters(theta + step * direction, [p for p in module.parameters() if p.requires_grad])
            values.append(module(x).detach())
        slope = (values[0] - values[1]) / 2e-5
        torch.testing.assert_close((exact @ direction).T, slope, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_identity_kernel_is_the_gram_matrix_of_jacobians(kind):
    module, x, _ = make(kind)
    J = jacobian(module, x).double()
    network = prepare(module, x)
    torch.testing.assert_close(exact_kernels(network, x), J @ J.mT, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(exact_kernels(network, x, batch=2), J @ J.mT, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_is_float32_to_a_few_percent(kind):
    module, x, _ = make(kind)
    exact, mixed = features(module, x), features(module, x, precision="bfloat16")
    assert mixed.dtype == torch.float32 and not torch.equal(mixed, exact)
    assert (mixed - exact).norm() < 0.03 * exact.norm()


def test_log_softmax_outputs():
    module, x, _ = make("convolutions")
    ours = features(module, x, outputs="log_softmax")
    torch.testing.assert_close(ours, jacobian(module, x, "log_softmax"), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["convolutions", "tokens", "shared"])
def test_logits_back_propagated_together_or_one_by_one(kind):
    module, x, _ = make(kind)
    torch.testing.assert_close(features(module, x, batched=True), features(module, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["identity", "orthonormal", "hadamard", "sparse", "structured"])
def test_batch_size_and_order_change_only_rounding(name):
    module, x, _ = make("convolutions", b=7)
    network = prepare(module, x)
    through = projector(network, ProjectionSpec(name, k=32), CPU)
    together, _ = project_batch(network, through, x)
    bits = torch.cat([f for f, _ in stream(network, through, x, Compute("cpu", batch=3))], dim=1)
    turned, _ = project_batch(network, through, x.flip(0))
    torch.testing.assert_close(bits, together, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(turned.flip(1), together, rtol=1e-5, atol=1e-5)


def test_out_of_memory_halves_the_batch(monkeypatch):
    module, x, _ = make("convolutions", b=8)
    network = prepare(module, x)
    through = projector(network, IDENTITY, CPU)
    together, _ = project_batch(network, through, x)
    tried = []

    def scarce(network, through, part, batched, precision):
        tried.append(len(part))
        if len(part) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return project_batch(network, through, part, batched, precision)

    monkeypatch.setattr("dntk_core.gradients.stream.project_batch", scarce)
    streamed = torch.cat([f for f, _ in stream(network, through, x, Compute("cpu", batch=8))], dim=1)
    assert tried == [8, 4, 2, 2, 2, 2]
    torch.testing.assert_close(streamed, together)


def test_the_memory_setting_bounds_the_batch(monkeypatch):
    module, x, _ = make("convolutions", b=8)
    network = prepare(module, x)
    sizes = []
    monkeypatch.setattr(
        "dntk_core.gradients.stream.project_batch",
        lambda network, through, part, *how: sizes.append(len(part)) or project_batch(network, through, part),
    )
    for memory in (1, 10**5, 10**9):
        list(stream(network, projector(network, IDENTITY, CPU), x, Compute("cpu", memory=memory)))
    assert sizes[0] == 1 and sizes[-1] == 8 and sizes[:8] == [1] * 8


def test_fewer_parameters_than_k_are_kept_as_they_are():
    module, x = nn.Linear(6, 3), torch.randn(4, 6)
    for name in ("orthonormal", "hadamard", "sparse", "structured"):
        torch.testing.assert_close(features(module, x, ProjectionSpec(name, k=22)), features(module, x))
    assert "unknown projection" in refusal(module, x, ProjectionSpec("dense", k=2))


@pytest.mark.parametrize("name", ["identity", "structured"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_gradients_that_are_not_finite_are_named(name, value):
    module, x, _ = make("convolutions")
    module.body[4].running_var[0] = value if value != value else 0.0
    module.body[4].eps = 0.0
    message = refusal(module, x, ProjectionSpec(name, k=16))
    assert "not finite" in message and "'body." in message
