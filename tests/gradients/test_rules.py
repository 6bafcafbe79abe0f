"""Every operation's rule gives what autograd gives, for any shapes and settings."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from jacobians import CPU, IDENTITY, by_autograd
from torch import nn

from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import project_batch, projector


class Around(nn.Module):
    """A function of data and parameters between two layers: f(x, θ) = tanh(h(x, θ)) V."""

    def __init__(self, function, shapes, outputs):
        super().__init__()
        self.function = function
        self.theta = nn.ParameterDict({name: nn.Parameter(torch.randn(shape)) for name, shape in shapes.items()})
        self.head = nn.Parameter(torch.randn(outputs, 2))

    def forward(self, x):
        return torch.tanh(self.function(x, **self.theta)).flatten(1) @ self.head


SMALL, AXES = st.integers(1, 3), st.integers(1, 3)
BOOL = st.booleans()


def with_bias(draw, size):
    return {"bias": (size,)} if draw(BOOL) else {}


def convolution(draw):
    axes, groups = draw(AXES), draw(st.integers(1, 2))
    i, o, kernel = groups * draw(SMALL), groups * draw(SMALL), [draw(SMALL) for _ in range(axes)]
    how = {"stride": draw(SMALL), "padding": draw(st.sampled_from([0, 1, "same", "valid"])), "dilation": draw(SMALL)}
    if how["padding"] == "same":
        how["stride"] = 1
    if max(kernel) == 3:
        how["dilation"] = 1
    convolve = (F.conv1d, F.conv2d, F.conv3d)[axes - 1]
    shapes = {"weight": (o, i // groups, *kernel), **with_bias(draw, o)}
    x = torch.randn(3, i, *(draw(st.integers(4, 5)) for _ in range(axes)))
    return lambda x, weight, bias=None: convolve(x, weight, bias, groups=groups, **how), shapes, x


def depthwise(draw):
    """Kernels wide enough to be taken in strips."""
    i, kernel = draw(st.integers(2, 3)), (draw(SMALL), draw(st.integers(4, 8)))
    how = {name: (draw(SMALL), draw(SMALL)) for name in ("stride", "dilation")}
    how["padding"] = draw(st.sampled_from([(0, 0), (1, 3), (2, 7), "same", "valid"]))
    if how["padding"] == "same":
        how["stride"] = 1
    shapes = {"weight": (i * draw(SMALL), 1, *kernel)}
    shapes |= with_bias(draw, shapes["weight"][0])
    x = torch.randn(3, i, *(1 + d * (size - 1) + draw(SMALL) for d, size in zip(how["dilation"], kernel, strict=True)))
    return lambda x, weight, bias=None: F.conv2d(x, weight, bias, groups=i, **how), shapes, x


def transposed_convolution(draw):
    axes, groups, stride = draw(AXES), draw(st.integers(1, 2)), draw(SMALL)
    i, o, kernel = groups * draw(SMALL), groups * draw(SMALL), [draw(st.integers(2, 3)) for _ in range(axes)]
    how = {"stride": stride, "padding": draw(st.integers(0, 1)), "output_padding": stride - 1, "groups": groups}
    convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[axes - 1]
    shapes = {"weight": (i, o // groups, *kernel), **with_bias(draw, o)}
    x = torch.randn(3, i, *(draw(st.integers(2, 3)) for _ in range(axes)))
    return lambda x, weight, bias=None: convolve(x, weight, bias, **how), shapes, x


def linear(draw):
    i, o = draw(SMALL), draw(SMALL)
    x = torch.randn(3, *(draw(SMALL) for _ in range(draw(st.integers(0, 2)))), i)
    return F.linear, {"weight": (o, i), **with_bias(draw, o)}, x


def product(draw):
    i, o = draw(st.integers(2, 3)), draw(SMALL)
    right = torch.randn(3, *(draw(SMALL) for _ in range(draw(st.integers(0, 2)))), i)
    left = torch.randn(3, i, draw(SMALL))
    return draw(
        st.sampled_from(
            [
                (lambda x, W: x @ W, {"W": (i, o)}, right),
                (lambda x, W: W @ x, {"W": (o, i)}, left),
                (lambda x, W: x @ W.T, {"W": (o, i)}, right),
                (
                    lambda x, W, b: torch.addmm(b, x.flatten(0, -2), W).unflatten(0, x.shape[:-1]),
                    {"W": (i, o), "b": (o,)},
                    right,
                ),
            ]
        )
    )


def norm(draw):
    channels, groups = draw(SMALL), draw(st.integers(1, 2))
    c, eps = channels * groups, draw(st.sampled_from([1e-5, 0.1]))
    x = torch.randn(3, c, *(draw(st.integers(2, 3)) for _ in range(draw(st.integers(1, 2)))))
    mean, var = torch.randn(c), torch.rand(c) + 0.5
    return draw(
        st.sampled_from(
            [
                (
                    lambda x, weight, bias: F.batch_norm(x, mean, var, weight, bias, eps=eps),
                    {"weight": (c,), "bias": (c,)},
                    x,
                ),
                (lambda x, weight: F.batch_norm(x, mean, var, weight, eps=eps), {"weight": (c,)}, x),
                (lambda x, weight, bias: F.group_norm(x, groups, weight, bias, eps), {"weight": (c,), "bias": (c,)}, x),
                (
                    lambda x, weight, bias: F.instance_norm(x, None, None, weight, bias),
                    {"weight": (c,), "bias": (c,)},
                    x,
                ),
                (
                    lambda x, weight, bias: F.layer_norm(x, x.shape[1:], weight, bias, eps),
                    {"weight": x.shape[1:], "bias": x.shape[1:]},
                    x,
                ),
                (lambda x, weight: F.layer_norm(x, x.shape[-1:], weight), {"weight": x.shape[-1:]}, x),
                (lambda x, weight: F.rms_norm(x, x.shape[-1:], weight, eps), {"weight": x.shape[-1:]}, x),
            ]
        )
    )


def table(draw):
    V, D = draw(st.integers(2, 5)), draw(SMALL)
    x = torch.randint(0, V, (3, draw(st.integers(1, 4))))
    padding = draw(st.sampled_from([None, 0, -1]))
    return draw(
        st.sampled_from(
            [
                (lambda x, W: F.embedding(x, W, padding_idx=padding), {"W": (V, D)}, x),
                (lambda x, W: W[x], {"W": (V, D, 2)}, x),
                (lambda x, W: W[x - V], {"W": (V, D)}, x),
                (lambda x, W: F.embedding_bag(x, W, mode="sum", padding_idx=padding), {"W": (V, D)}, x),
                (lambda x, W: F.embedding_bag(x, W, mode="mean", padding_idx=padding), {"W": (V, D)}, x),
            ]
        )
    )


def element(draw):
    shape = [draw(SMALL) for _ in range(draw(st.integers(1, 3)))]
    behind = [draw(st.sampled_from([1, size])) for size in shape]
    p = {"p": tuple(draw(st.sampled_from([behind, [1, *behind], behind[-1:]])))}
    x = torch.randn(3, *shape)
    return draw(
        st.sampled_from(
            [
                (lambda x, p: x + p, p, x),
                (lambda x, p: p + x, p, x),
                (lambda x, p: x - p, p, x),
                (lambda x, p: x * p, p, x),
                (lambda x, p: torch.mul(p, x), p, x),
                (lambda x, p: x.clone().add_(p), p, x),
                (lambda x, p: F.prelu(x, p), {"p": (shape[0],)}, x),
                (lambda x, p: F.prelu(x, p), {"p": (1,)}, x),
                (lambda x, p: torch.cat((x, p.expand(len(x), *p.shape)), 1), {"p": (2, *shape[1:])}, x),
                (lambda x, p: torch.cat((x, p.expand(len(x), -1)), 1), {"p": (1, 3)}, x.flatten(1)),
            ]
        )
    )


KINDS = {
    "convolution": convolution,
    "wide depthwise convolution": depthwise,
    "transposed convolution": transposed_convolution,
    "linear": linear,
    "product": product,
    "norm": norm,
    "table": table,
    "element": element,
}


def check(module, x):
    """All parameters are fast, and their gradients are autograd's."""
    network = prepare(module, x)
    assert network.rest == ()
    found, _ = project_batch(network, projector(network, IDENTITY, CPU), x)
    torch.testing.assert_close(found, by_autograd(module, x), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_a_rule_is_what_autograd_gives(kind, data, seed):
    torch.manual_seed(seed)
    function, shapes, x = KINDS[kind](data.draw)
    with torch.no_grad():
        outputs = function(x, **{name: torch.zeros(shape) for name, shape in shapes.items()}).flatten(1).shape[1]
    check(Around(function, shapes, outputs), x)


class Attending(nn.Module):
    """Attention of a sequence to itself or to another, perhaps masked, sequences or inputs first."""

    def __init__(self, draw):
        super().__init__()
        D, other = 4, draw(st.sampled_from([4, 3]))
        self.own, self.weights, self.padded, self.masked = (draw(BOOL) for _ in range(4))
        options = {"bias": draw(BOOL), "batch_first": draw(BOOL)}
        self.attention = nn.MultiheadAttention(D, draw(st.sampled_from([1, 2])), kdim=other, vdim=other, **options)
        self.register_buffer("mix", torch.randn(D, other))
        self.head = nn.Linear(D, 2)

    def forward(self, x):
        own = self.own and self.attention.kdim == 4
        first = self.attention.batch_first
        x = x if first else x.transpose(0, 1)
        k = x if own else torch.tanh(x @ self.mix)
        v = x if own else k
        T = x.shape[1 if first else 0]
        masks = {"key_padding_mask": torch.arange(T).expand(x.numel() // (T * 4), T) > 1 if self.padded else None}
        if self.masked:
            masks["attn_mask"] = torch.ones(T, T, dtype=torch.bool).triu(1)
        y = self.attention(x, k, v, need_weights=self.weights, **masks)[0]
        return self.head(torch.tanh(y if first else y.transpose(0, 1))).sum(1)


@given(data=st.data(), seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_attention_is_the_operations_it_is_made_of(data, seed):
    torch.manual_seed(seed)
    check(Attending(data.draw).eval(), torch.randn(3, data.draw(st.integers(1, 4)), 4))
