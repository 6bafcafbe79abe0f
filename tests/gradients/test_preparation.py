"""What a network is prepared to: its fast layers, the rest, and what cannot be prepared."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from jacobians import CPU, IDENTITY, by_autograd, features, refusal
from networks import make
from torch import nn

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import exact_kernels, project_batch, projector, stream


def test_preparing_leaves_the_network_as_it_was():
    module, x, _ = make("tokens")
    kinds, parameters = [type(part) for part in module.modules()], dict(module.named_parameters())
    before = module(x)
    network = prepare(module, x)
    assert [type(part) for part in module.modules()] == kinds and list(module.named_parameters()) == [
        *parameters.items()
    ]
    assert torch.equal(module(x), before)
    # Its parameters are the module's own, not copies of them.
    with torch.no_grad():
        module.mix.weight.mul_(2.0)
    torch.testing.assert_close(project_batch(network, projector(network, IDENTITY, CPU), x)[1], module(x))


def test_a_network_that_vmap_cannot_take_is_taken_input_by_input():
    class Branch(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 6))

        def forward(self, x):
            scale = 2.0 if x.sum().item() > 1e9 else 1.0
            return torch.atan2(x, self.weight.mean(0))[:, :3] * scale

    module, x = Branch(), torch.randn(4, 6)
    network = prepare(module, x)
    assert network.rest == ("weight",) and not network.vmapped
    torch.testing.assert_close(features(module, x), by_autograd(module, x), rtol=1e-4, atol=1e-5)


def test_a_network_may_look_at_its_parameters():
    class Strict(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 6))

        def forward(self, x):
            assert self.weight.shape == (3, 6)
            return x @ self.weight.T

    x = torch.randn(4, 6)
    assert prepare(Strict(), x).rest == ()


def test_bad_networks_are_refused_in_one_sentence():
    x = torch.randn(4, 6)
    assert "one output" in refusal(nn.Linear(6, 1), x)
    assert "no parameter" in refusal(nn.Linear(6, 3).requires_grad_(False), x)
    assert "(batch, C)" in refusal(nn.Sequential(nn.Linear(6, 4), nn.Unflatten(1, (2, 2))), x)
    assert "running statistics" in refusal(
        nn.Sequential(nn.BatchNorm1d(6, track_running_stats=False), nn.Linear(6, 3)), x
    )


def test_outputs_that_depend_on_the_batch_are_refused():
    class Centred(nn.Linear):
        def forward(self, x):
            return super().forward(x - x.mean(0))

    class Exit(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            return y if x.abs().max() > 3 else torch.tanh(y)

    torch.manual_seed(0)
    x = torch.randn(8, 6)
    assert "change with the batch" in refusal(Centred(6, 3), x)
    x[6] = 5.0
    assert "change with the batch" in refusal(Exit(6, 3), x)


def test_a_batch_that_changes_the_way_of_its_inputs_is_refused_when_it_comes():
    class Exit(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            return torch.tanh(y) if x.abs().max() > 3 else torch.tanh(super().forward(y @ torch.ones(3, 6)))

    torch.manual_seed(0)
    module, x = Exit(6, 3), 0.1 * torch.randn(8, 6)
    network = prepare(module, x)
    x[5] = 5.0
    with pytest.raises(DNTKError, match="change with the batch"):
        project_batch(network, projector(network, IDENTITY, CPU), x)


class Answer(nn.Linear):
    """Returns its outputs as told to."""

    def forward(self, x):
        return self.dress(super().forward(x))


@pytest.mark.parametrize(
    "dress, said",
    [
        (lambda y: (y, y), "from the tuple"),
        (lambda y: {"other": None, "logits": y}, "from the dict"),
        (lambda y: SimpleNamespace(logits=y), "from the SimpleNamespace"),
        (lambda y: y[:, :, None, None], "outputs (3, 1, 1) taken as 3 logits"),
    ],
)
def test_logits_are_found_in_what_a_network_returns(dress, said):
    torch.manual_seed(0)
    module, x = Answer(6, 3), torch.randn(4, 6)
    module.dress = lambda y: y
    expected = features(module, x)
    assert prepare(module, x).taken == ""
    module.dress = dress
    assert said in prepare(module, x).taken
    torch.testing.assert_close(features(module, x), expected)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(9, 6), nn.Linear(6, 3)

    def forward(self, ids, mask):
        return self.head((self.words(ids) * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True))


@pytest.mark.parametrize("tree", [dict, lambda parts: tuple(parts.values())])
@pytest.mark.parametrize("general", [False, True])
def test_inputs_of_several_tensors_go_through_the_whole_stream(tree, general, monkeypatch):
    if general:
        monkeypatch.setattr("dntk_core.gradients.recording.OPERATIONS", {})
    torch.manual_seed(0)
    ids, mask = torch.randint(0, 9, (5, 4)), torch.ones(5, 4).tril(2)
    module, x = Bag(), tree({"ids": ids, "mask": mask})
    network = prepare(module, x)
    assert (network.rest == ()) == (not general)
    through = projector(network, IDENTITY, CPU)
    found = torch.cat([f for f, _ in stream(network, through, x, Compute("cpu", batch=2))], dim=1)
    rows = [by_autograd(partial(module, mask=mask[i : i + 1]), ids[i : i + 1], module.parameters()) for i in range(5)]
    torch.testing.assert_close(found, torch.cat(rows, dim=1), rtol=1e-4, atol=1e-5)
    K = torch.cat(rows, dim=1).double()
    torch.testing.assert_close(exact_kernels(network, x, batch=2), K @ K.mT, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype, near", [(torch.bfloat16, 0.03), (torch.float16, 0.01), (torch.float64, 1e-5)])
def test_networks_of_other_precisions(dtype, near):
    module, x, _ = make("convolutions")
    exact = features(module, x)
    module = module.to(dtype)
    assert prepare(module, x).rest == ()
    found = features(module, x)
    assert found.dtype == torch.float32 and (found - exact).norm() < near * exact.norm()


def test_scripted_and_lazy_networks():
    torch.manual_seed(0)
    x = torch.randn(4, 6)
    plain = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    expected = features(plain, x)
    torch.testing.assert_close(features(torch.jit.script(plain), x), expected, rtol=1e-4, atol=1e-5)
    lazy = nn.Sequential(nn.LazyLinear(5), nn.Tanh(), nn.LazyLinear(3))
    assert prepare(lazy, x).rest == () and prepare(lazy, x).P == prepare(plain, x).P


class Old(torch.autograd.Function):
    """x·w, written the old way: forward takes the context, which vmap does not know."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, *grads):
        x, w = ctx.saved_tensors
        return grads[0] * w, (grads[0] * x).sum(0)


def test_functions_of_the_old_style_and_packed_sequences_are_taken_input_by_input():
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.body, self.head = (
                nn.Parameter(torch.randn(6)),
                nn.GRU(6, 5, batch_first=True),
                nn.Linear(5, 3),
            )

        def forward(self, x):
            lengths = (x[:, :, 0] > 0).sum(1).clamp(min=1).cpu()
            x = Old.apply(x, self.scale)
            x = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            return self.head(self.body(x)[1][0])

    torch.manual_seed(0)
    module, x = Network().eval(), torch.randn(4, 5, 6)
    network = prepare(module, x)
    assert not network.vmapped and not {"head.weight", "head.bias"} & set(network.rest)
    torch.testing.assert_close(features(module, x), by_autograd(module, x), rtol=1e-4, atol=1e-5)


class Kinked(nn.Module):
    """One number of input 1 lies so near a ReLU's kink that rounding has it elsewhere when the input is alone."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 200), nn.Linear(200, 3)

    def forward(self, x):
        gate = torch.ones(len(x), 200)
        gate[:, 0] = (x[:, 0] != 1) | (len(x) == 3)
        z = self.first(x)
        # Next to nothing itself, but for its gradient.
        z = torch.cat([z[:, :1] - z[:, :1].detach() + 1e-8, z[:, 1:]], dim=1)
        return self.last(gate * z)


def test_a_kink_that_rounding_crosses_does_not_cost_the_fast_path():
    torch.manual_seed(0)
    x = torch.randn(3, 6)
    x[1, 0] = 1
    module = Kinked()
    module.last.weight.data[:, 0] *= 20
    assert not prepare(module, x).rest
