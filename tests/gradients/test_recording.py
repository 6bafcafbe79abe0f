"""What a watched forward pass finds, whichever way a network uses its parameters; a new operation is one row."""

import pytest
import torch
import torch.nn.functional as F
from jacobians import CPU, IDENTITY, by_autograd, features
from networks import make
from torch import nn

from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.network import run
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.rules import OPERATIONS, Operation
from dntk_core.gradients.rules.operation import Arguments
from dntk_core.gradients.stream import exact_kernels, project_batch, projector

STRUCTURED = ProjectionSpec("structured", k=16)


class Padded(nn.Conv2d):
    """A convolution of its own kind, as networks from the wild have them."""

    def forward(self, x):
        return F.conv2d(F.pad(x, (0, 1, 0, 1)), self.weight, self.bias, self.stride, 0, self.dilation, self.groups)


class Clamped(nn.Linear):
    def forward(self, x):
        return super().forward(x).clamp(-3, 3)


class Adapted(nn.Linear):
    """A weight with a correction of low rank, merged on the fly."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.down, self.up = nn.Parameter(torch.randn(1, sizes[0])), nn.Parameter(torch.randn(sizes[1], 1))

    def forward(self, x):
        return F.linear(x, self.weight + self.up @ self.down, self.bias)


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class Tied(nn.Module):
    """One table that embeds and decodes, positions that are sliced, rows of several inputs in one axis."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 4)
        self.positions = nn.Parameter(torch.randn(1, 9, 4))
        self.mix = nn.Linear(4, 4)

    def forward(self, tokens):
        x = self.table(tokens) + self.positions[:, : tokens.shape[1]]
        x = torch.tanh(self.mix(x.flatten(0, 1))).unflatten(0, tokens.shape)
        return F.linear(x.mean(1), self.table.weight)


def images():
    weighed = nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 4, 1))
    return nn.Sequential(
        Padded(2, 4, 2), nn.Tanh(), weighed, nn.Flatten(2), ChannelNorm(4), nn.Flatten(), nn.Linear(100, 3)
    )


def vectors():
    return nn.Sequential(
        Clamped(6, 6), Adapted(6, 5), nn.Tanh(), nn.utils.parametrizations.spectral_norm(nn.Linear(5, 3))
    )


WILD = {
    "own convolutions": (images, lambda: torch.randn(5, 2, 5, 5)),
    "own layers": (vectors, lambda: torch.randn(5, 6) * torch.tensor([1, 1, 1, 20, 20])[:, None]),
    "tied": (Tied, lambda: torch.randint(0, 6, (5, 4))),
}


@pytest.mark.parametrize("kind", WILD)
def test_networks_from_the_wild_are_fast_throughout(kind):
    torch.manual_seed(0)
    module, x = (make() for make in WILD[kind])
    network = prepare(module, x)
    assert network.rest == ()
    exact = by_autograd(module, x)
    torch.testing.assert_close(features(module, x), exact, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(exact_kernels(network, x), (exact @ exact.mT).double(), rtol=1e-4, atol=1e-4)


class Normed(nn.Module):
    """Two convolutions and their norms; what comes out of a convolution is changed, or used again."""

    def __init__(self, between):
        super().__init__()
        self.between = between
        self.first, self.second = nn.Conv2d(2, 4, 3, bias=False), nn.Conv2d(4, 6, 3, groups=2)
        self.norms, self.head = nn.ModuleList([nn.BatchNorm2d(4), nn.BatchNorm2d(6)]), nn.Linear(6, 3)
        for norm in self.norms:
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.running_mean)

    def forward(self, x):
        y = F.relu(self.norms[0](self.first(x)), inplace=True)
        z = self.second(y)
        if self.between == "changed":
            z.mul_(2)
        normed = self.norms[1](z)
        return self.head((normed + z.sin() if self.between == "used again" else normed).sigmoid().mean((2, 3)))


@pytest.mark.parametrize("between", ("nothing", "changed", "used again"))
def test_a_norm_leads_signals_past_the_convolution_in_front_of_it(between):
    torch.manual_seed(0)
    module, x = Normed(between).eval(), torch.randn(5, 2, 7, 7)
    network = prepare(module, x)
    assert network.rest == ()
    torch.testing.assert_close(features(module, x, IDENTITY), by_autograd(module, x), rtol=1e-4, atol=1e-5)


def test_a_parameter_met_by_an_operation_without_a_rule_takes_the_general_path():
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.head, self.idle = nn.Parameter(torch.randn(6)), nn.Linear(6, 3), nn.Linear(6, 3)

        def forward(self, x):
            return self.head(torch.where(x > 0, x, self.gate * x)) + torch.atan2(x, self.gate)[:, :3]

    torch.manual_seed(0)
    module, x = Gated(), torch.randn(4, 6)
    # Its uses by rule do not help; a parameter that is never met costs nothing.
    assert prepare(module, x).rest == ("gate",)
    torch.testing.assert_close(features(module, x), by_autograd(module, x), rtol=1e-4, atol=1e-5)


class Forked(nn.Module):
    """Which layers an input goes through depends on the batch's numbers."""

    def __init__(self):
        super().__init__()
        self.body, self.far, self.head = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x):
        x = torch.tanh(self.body(x))
        if x.abs().max() > 0.999:
            x = torch.tanh(self.far(x))
        return self.head(x)


class Hidden(torch.autograd.Function):
    """w·x by a function that no recorder sees into."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, (g * x).sum(0)


class ForkedUnseen(Forked):
    """On some batches a weight enters by a way that no recorder sees."""

    def forward(self, x):
        x = torch.tanh(self.body(x))
        if x.abs().max() > 0.999:
            x = torch.tanh(Hidden.apply(x, self.body.bias))
        return self.head(x)


@pytest.mark.parametrize("kind", [Forked, ForkedUnseen])
@pytest.mark.parametrize("spec", [IDENTITY, STRUCTURED])
def test_a_network_that_changes_its_way_between_batches_is_still_right(kind, spec):
    torch.manual_seed(0)
    module, near = kind(), torch.randn(4, 6) * 0.1
    far = near * 300
    network = prepare(module, near)
    assert network.rest == () and run(network, near).rest == () and run(network, far).rest == tuple(network.sizes)
    through = projector(network, spec, CPU)
    whole = projector(network, IDENTITY, CPU)
    # The same linear map on both ways: what it makes of the unit vectors is known from the first.
    for x in (near, far, near):
        exact = by_autograd(module, x)
        torch.testing.assert_close(project_batch(network, whole, x)[0], exact, rtol=1e-4, atol=1e-5)
        expected = torch.stack([through.project(through.begin(()), (), split(network, g)) for g in exact])
        torch.testing.assert_close(project_batch(network, through, x)[0], expected, rtol=1e-3, atol=1e-4)
    J = torch.cat((by_autograd(module, near), by_autograd(module, far)), dim=1).double()
    both = torch.cat((near, far))
    # In blocks, one of which takes the other way.
    torch.testing.assert_close(exact_kernels(network, both, batch=4), J @ J.mT, rtol=1e-3, atol=1e-3)


def split(network, gradient):
    """Gradients (b, P) by parameter."""
    return dict(zip(network.sizes, gradient.split(list(network.sizes.values()), dim=1), strict=True))


@pytest.mark.parametrize("kind", ["convolutions", "tokens", "shared"])
def test_the_same_inputs_by_rules_and_without(kind):
    module, x, _ = make(kind)
    network = prepare(module, x)
    through = projector(network, STRUCTURED, CPU)
    by_rules, _ = project_batch(network, through, x)
    without = torch.stack([through.project(through.begin(()), (), split(network, g)) for g in by_autograd(module, x)])
    torch.testing.assert_close(by_rules, without, rtol=1e-3, atol=1e-4)


class Scale(nn.Module):
    """A toy: y = w·x + b for every input's features (b, d), by an operation without a rule."""

    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(d)), nn.Parameter(torch.randn(d))

    def forward(self, x):
        return torch.addcmul(self.bias, self.weight, x)


class ScaleRule(Operation):
    def bind(self, input, tensor1, tensor2):
        return Arguments(tensor2, {"weight": tensor1, "bias": input})

    def gradients(self, call, side, delta):
        return {"weight": side * delta, "bias": delta.clone()}


class WrongRule(ScaleRule):
    def gradients(self, call, side, delta):
        return {"weight": 2 * side * delta, "bias": delta.clone()}


def scaled():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), Scale(5), nn.Tanh(), nn.Linear(5, 3)), torch.randn(6, 4)


def test_a_new_operation_is_one_row_of_the_table(monkeypatch):
    module, x = scaled()
    assert prepare(module, x).rest == ("1.weight", "1.bias")
    monkeypatch.setitem(OPERATIONS, torch.addcmul, (ScaleRule(),))
    assert prepare(module, x).rest == ()
    torch.testing.assert_close(features(module, x), by_autograd(module, x), rtol=1e-4, atol=1e-5)
    # The structured projection takes it too.
    assert torch.isfinite(features(module, x, STRUCTURED)).all()


def test_a_rule_that_disagrees_with_autograd_is_not_used(monkeypatch):
    module, x = scaled()
    monkeypatch.setitem(OPERATIONS, torch.addcmul, (WrongRule(),))
    assert prepare(module, x).rest == ("1.weight",)
    torch.testing.assert_close(features(module, x), by_autograd(module, x), rtol=1e-4, atol=1e-5)


def test_patches_of_a_convolution_are_counted():
    wide = nn.Conv2d(4, 4, 7, groups=4, padding=3, stride=2)
    grouped = nn.Conv2d(4, 6, 3, groups=2, stride=2)
    for module, size in ((nn.Conv2d(2, 6, 3), 8), (grouped, 9), (wide, 9), (nn.Conv2d(4, 6, 1), 5)):
        x = torch.randn(3, module.in_channels, size, size)
        (call,) = prepare(nn.Sequential(module, nn.Flatten()), x).calls
        patches = call.operation.side(run(prepare(nn.Sequential(module, nn.Flatten()), x), x).calls[0])
        assert call.operation.side_numbers(call) in (0, patches.numel() // 3)
        assert bool(call.operation.side_numbers(call)) == (module.kernel_size != (1, 1))
