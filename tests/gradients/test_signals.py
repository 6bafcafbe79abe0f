"""Signals of some logits that go together through a network's narrow end are those of each logit alone."""

from functools import partial

import pytest
import torch
from jacobians import features, jacobian
from networks import KINDS, make
from torch import nn

from dntk_core.gradients import signals
from dntk_core.gradients.network import run
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.signals import narrow_end, signals_of_logits


class Residual(nn.Module):
    """Blocks with a sum around them, few pixels and many weights at the end; `across`: a path past all of that."""

    def __init__(self, across: bool = False):
        super().__init__()
        self.across = across
        self.stem, self.norm = nn.Conv2d(2, 12, 3, padding=1), nn.BatchNorm2d(12)
        self.down, self.same = nn.Conv2d(12, 24, 3, 3), nn.Conv2d(24, 24, 3, padding=1)
        self.inner, self.head = nn.BatchNorm2d(24), nn.Linear(24, 4)

    def forward(self, x):
        begun = self.stem(x)
        y = torch.relu_(self.inner(self.down(torch.relu(self.norm(begun)))))
        y = y + torch.relu(self.same(y))
        return self.head(y.mean((2, 3)) + (begun.mean((2, 3)).repeat(1, 2) if self.across else 0))


class Unbatchable(torch.autograd.Function):
    """The identity, whose way back looks at numbers."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, delta):
        return delta * (1.0 if float(delta.sum()) < torch.inf else 0.0)


class Looking(Residual):
    def forward(self, x):
        return self.head(Unbatchable.apply(torch.tanh(self.same(self.down(self.stem(x)))).mean((2, 3))))


class Barrier(torch.autograd.Function):
    """The identity, which lets no signal pass."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, delta):
        return None


class Barred(Residual):
    """The last layers see a picture that tells them nothing of what came before."""

    def forward(self, x):
        x = self.down(torch.relu(self.stem(x)))
        return self.head(Barrier.apply(x.mean((2, 3))) * 1.0)


def images(b: int = 3) -> torch.Tensor:
    return torch.randn(b, 2, 9, 9, generator=torch.Generator().manual_seed(1))


def made(network: nn.Module) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for p in network.parameters():
            nn.init.normal_(p, std=0.3)
    return network.eval()


def taped(network: nn.Module, x: torch.Tensor):
    return run(prepare(network, x), x)


def names_inside(network: nn.Module, x: torch.Tensor, count: int = 4) -> set[str]:
    tape = taped(network, x)
    end = narrow_end(tape, count)
    inside = end.inside if end else (False,) * len(tape.calls)
    return {name for call, here in zip(tape.calls, inside, strict=True) if here for name in call.names}


@pytest.mark.parametrize("network", [Residual, partial(Residual, True), Barred])
@pytest.mark.parametrize("batched", [False, True])
def test_signals_together_are_those_of_each_logit_alone(network, batched):
    x = images()
    tape = taped(made(network()), x)
    found = list(signals_of_logits(tape, batched))
    assert len(found) == 4
    for cotangent, together in found:
        for ours, alone in zip(together, tape.signals(cotangent), strict=True):
            assert (ours is None) == (alone is None)
            if ours is not None:
                torch.testing.assert_close(ours, alone, rtol=1e-5, atol=1e-6)


def test_the_end_begins_where_all_signals_pass_one_place():
    x = images()
    norm = {"norm.weight", "norm.bias"}
    end = names_inside(made(Residual()), x)
    assert {"down.weight", "same.weight", "head.weight", "inner.weight"} <= end and not norm & end
    # A sum around the end leads signals past its beginning: only the head is behind one place.
    assert names_inside(made(Residual(across=True)), x) == {"head.weight", "head.bias"}


def test_an_end_is_narrow():
    # More logits at once than its signals leave room for, and so many inputs that they outnumber its weights.
    assert names_inside(made(Residual()), images(), count=10**4) == set()
    assert "same.weight" not in names_inside(made(Residual()), images(200))


@pytest.mark.parametrize("kind", [*KINDS, "residual", "residual, across"])
def test_features_are_those_of_the_jacobian_however_few_rows_suffice(kind, monkeypatch):
    module, x = (made(Residual("across" in kind)), images()) if "residual" in kind else make(kind)[:2]
    found = []
    for rows in (0, 2 * len(x), 10**6):
        monkeypatch.setattr(signals, "ROWS", rows)
        found.append(features(module, x))
        torch.testing.assert_close(found[-1], jacobian(module, x), rtol=1e-4, atol=1e-5)


def test_what_cannot_go_together_goes_one_by_one():
    x = images()
    network = made(Looking())
    assert "head.weight" in names_inside(network, x)
    tape = taped(network, x)
    for cotangent, ours in signals_of_logits(tape, False):
        for one, other in zip(ours, tape.signals(cotangent), strict=True):
            torch.testing.assert_close(one, other)


class Pointwise(nn.Module):
    """1 × 1 convolutions with and without a norm behind them, grouped, strided, and one whose output is used twice."""

    def __init__(self):
        super().__init__()
        self.wide, self.norm = nn.Conv2d(2, 32, 1, bias=False), nn.BatchNorm2d(32)
        self.narrow, self.grouped = nn.Conv2d(32, 16, 1), nn.Conv2d(16, 32, 1, groups=2)
        self.strided, self.head = nn.Conv2d(32, 16, 1, stride=2), nn.Linear(16, 4)

    def forward(self, x):
        x = self.narrow(torch.relu(self.norm(self.wide(x))))
        y = torch.tanh(self.strided(torch.relu(self.grouped(x))))
        return self.head(y.mean((2, 3)) + x.mean((2, 3)))


@pytest.mark.parametrize("rows", [0, 10**6])
@pytest.mark.parametrize("wider", [False, True])
def test_pixels_by_themselves_go_back_alike_by_either_library(wider, rows, monkeypatch):
    for module in ("products", "convolution"):
        monkeypatch.setattr(f"dntk_core.gradients.rules.{module}.wider", lambda: wider)
    monkeypatch.setattr("dntk_core.gradients.rules.products.WORTH_A_CALL", 0)
    monkeypatch.setattr(signals, "ROWS", rows)
    network, x = made(Pointwise()), images()
    torch.testing.assert_close(features(network, x), jacobian(network, x), rtol=1e-4, atol=1e-5)
