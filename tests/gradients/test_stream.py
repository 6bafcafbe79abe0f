"""Per-sample per-logit gradients against finite differences, jacrev and Gram matrices of full Jacobians."""

import pytest
import torch
from networks import KINDS, make
from torch import nn
from torch.func import functional_call, jacrev

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.network import prepare
from dntk_core.gradients.stream import exact_kernels, project_batch, projector, stream

CPU = torch.device("cpu")
IDENTITY = ProjectionSpec("identity")


def jacobian(module: nn.Module, x: torch.Tensor, outputs: str = "logits") -> torch.Tensor:
    """Full Jacobians by torch.func.jacrev, one input at a time: (C, b, P)."""
    theta = {name: p.detach() for name, p in module.named_parameters() if p.requires_grad}

    def f(theta, x_i):
        y = functional_call(module, theta, (x_i.unsqueeze(0),))[0]
        return y.log_softmax(-1) if outputs == "log_softmax" else y

    each = [jacrev(f)(theta, x_i) for x_i in x]
    return torch.stack([torch.cat([j[name].flatten(1) for name in theta], dim=1) for j in each], dim=1)


def features(module, x, spec=IDENTITY, outputs="logits", **how) -> torch.Tensor:
    network = prepare(module, x, outputs)
    return project_batch(network, projector(network, spec, CPU), x, **how)[0]


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


def test_a_vision_transformer_is_fast_throughout():
    from torchvision.models import VisionTransformer

    torch.manual_seed(0)
    module, x = VisionTransformer(8, 4, 2, 2, 8, 16, num_classes=3).eval(), torch.randn(4, 3, 8, 8)
    nn.init.normal_(module.heads.head.weight)
    assert prepare(module, x).rest == ()
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


def test_attention_that_is_more_than_plain_takes_the_general_path():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
            self.head = nn.Linear(6, 3)

        def forward(self, x):
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
            return self.head(self.attention(x, x, x, attn_mask=mask)[0].mean(1))

    torch.manual_seed(0)
    module, x = Masked().eval(), torch.randn(4, 5, 6)
    assert prepare(module, x).rest[:2] == ("attention.in_proj_weight", "attention.in_proj_bias")
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


def test_preparing_leaves_the_network_as_it_was():
    module, x, _ = make("tokens")
    kinds, parameters = [type(part) for part in module.modules()], dict(module.named_parameters())
    before = module(x)
    network = prepare(module, x)
    assert [type(part) for part in module.modules()] == kinds and list(module.named_parameters()) == [
        *parameters.items()
    ]
    assert torch.equal(module(x), before)
    # The equivalent has the same parameters, not copies of them.
    with torch.no_grad():
        module.mix.weight.mul_(2.0)
    torch.testing.assert_close(project_batch(network, projector(network, IDENTITY, CPU), x)[1], module(x))


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
    whole, _ = project_batch(network, through, x)
    bits = torch.cat([f for f, _ in stream(network, through, x, Compute("cpu", batch=3))], dim=1)
    turned, _ = project_batch(network, through, x.flip(0))
    torch.testing.assert_close(bits, whole, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(turned.flip(1), whole, rtol=1e-5, atol=1e-5)


def test_out_of_memory_halves_the_batch(monkeypatch):
    module, x, _ = make("convolutions", b=8)
    network = prepare(module, x)
    through = projector(network, IDENTITY, CPU)
    whole, _ = project_batch(network, through, x)
    tried = []

    def scarce(network, through, part, batched, precision):
        tried.append(len(part))
        if len(part) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return project_batch(network, through, part, batched, precision)

    monkeypatch.setattr("dntk_core.gradients.stream.project_batch", scarce)
    streamed = torch.cat([f for f, _ in stream(network, through, x, Compute("cpu", batch=8))], dim=1)
    assert tried == [8, 4, 2, 2, 2, 2]
    torch.testing.assert_close(streamed, whole)


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


def test_a_network_that_vmap_cannot_take_is_taken_input_by_input():
    class Branch(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 6))

        def forward(self, x):
            scale = 2.0 if x.sum().item() > 1e9 else 1.0
            return torch.tanh(x @ self.weight.T) * scale

    module, x = Branch(), torch.randn(4, 6)
    network = prepare(module, x)
    assert network.rest == ("weight",) and not network.vmapped
    torch.testing.assert_close(features(module, x), jacobian_by_autograd(module, x), rtol=1e-4, atol=1e-5)


class Plain(nn.Linear):
    """A kind of its own that does what it derives from does."""


class Clamped(nn.Linear):
    """Idle on small inputs, such as an example may be."""

    def forward(self, x):
        return super().forward(x).clamp(-3, 3)


class Adapted(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.low = nn.Parameter(torch.randn(sizes[0]))

    def forward(self, x):
        return super().forward(x * self.low)


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


def test_a_derived_layer_is_fast_only_if_it_inherits_what_it_computes():
    torch.manual_seed(0)
    norm = nn.Sequential(nn.Unflatten(1, (2, 3)), ChannelNorm(2), nn.Flatten())
    weighed = torch.nn.utils.parametrizations.weight_norm(nn.Linear(5, 5))
    module = nn.Sequential(Clamped(6, 6), Plain(6, 6), norm, Adapted(6, 5), weighed, nn.Linear(5, 3))
    x = torch.randn(5, 6) * torch.tensor([1, 1, 1, 20, 20])[:, None]
    assert {name.split(".")[0] for name in prepare(module, x).rest} == {"0", "2", "3", "4"}
    assert "4.bias" not in prepare(module, x).rest
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


def test_a_network_may_refuse_other_shapes_of_its_parameters():
    class Strict(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 6))

        def forward(self, x):
            assert self.weight.shape == (3, 6)
            return x @ self.weight.T

    x = torch.randn(4, 6)
    assert prepare(Strict(), x).rest == ("weight",)


def jacobian_by_autograd(module, x):
    rows = [
        torch.stack([torch.autograd.grad(y[c], module.weight, retain_graph=True)[0].flatten() for c in range(len(y))])
        for y in (module(x_i[None])[0] for x_i in x)
    ]
    return torch.stack(rows, dim=1)


def refusal(module, x, spec=IDENTITY) -> str:
    with pytest.raises(DNTKError) as caught:
        features(module, x, spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_bad_networks_are_refused_in_one_sentence():
    x = torch.randn(4, 6)
    assert "C = 1" in refusal(nn.Linear(6, 1), x)
    assert "no parameter" in refusal(nn.Linear(6, 3).requires_grad_(False), x)
    assert "(batch, C)" in refusal(nn.Sequential(nn.Linear(6, 4), nn.Unflatten(1, (2, 2))), x)
    assert "running statistics" in refusal(
        nn.Sequential(nn.BatchNorm1d(6, track_running_stats=False), nn.Linear(6, 3)), x
    )


def test_k_must_fit_the_parameters():
    module, x = nn.Linear(6, 3), torch.randn(4, 6)
    for name in ("orthonormal", "hadamard", "sparse", "structured"):
        assert "P = 21" in refusal(module, x, ProjectionSpec(name, k=22))
    assert "unknown projection" in refusal(module, x, ProjectionSpec("dense", k=2))


@pytest.mark.parametrize("name", ["identity", "structured"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_gradients_that_are_not_finite_are_named(name, value):
    module, x, _ = make("convolutions")
    module.body[4].running_var[0] = value if value != value else 0.0
    module.body[4].eps = 0.0
    message = refusal(module, x, ProjectionSpec(name, k=16))
    assert "not finite" in message and "'body." in message


def test_unknown_device():
    with pytest.raises(DNTKError, match="available"):
        resolve_device("abacus")
    assert resolve_device("cpu") == CPU
