"""A parameter that is added to its input, or multiplied with it, or copied for each input of a batch."""

from torch import Tensor

from dntk_core.gradients.rules.operation import Arguments, Call, Operation, by_input


class Broadcast(Operation):
    """y = p broadcast along some axes: ∂f/∂p = Σ δ·factor over these, input by input."""

    def factor(self, call: Call) -> Tensor | None:
        """What ∂y/∂p is, entry by entry; None for 1."""
        return None

    def side(self, call: Call) -> Tensor:
        factor = self.factor(call)
        return call.x if factor is None else factor

    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        values = delta if self.factor(call) is None else delta * side
        return {"weight": reduced(values, call.b, call.leaves["weight"].shape)}


class Sum(Broadcast):
    """y = x + p."""

    def bind(self, input: Tensor, other: Tensor, *, alpha: float = 1) -> Arguments | None:
        return _aligned(input, other) if alpha == 1 else None


class SumFromLeft(Sum):
    """y = p + x."""

    def bind(self, input: Tensor, other: Tensor, *, alpha: float = 1) -> Arguments | None:
        return super().bind(other, input, alpha=alpha)


class Difference(Sum):
    """y = x - p."""

    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        return {role: -gradient for role, gradient in super().gradients(call, side, delta).items()}


class Scaling(Broadcast):
    """y = x·p."""

    def bind(self, input: Tensor, other: Tensor) -> Arguments | None:
        return _aligned(input, other)

    def factor(self, call: Call) -> Tensor:
        return call.x


class ScalingFromLeft(Scaling):
    """y = p·x."""

    def bind(self, input: Tensor, other: Tensor) -> Arguments | None:
        return super().bind(other, input)


class PReLU(Broadcast):
    """y = x where it is positive, p·x elsewhere; p for each channel or for all."""

    def bind(self, input: Tensor, weight: Tensor) -> Arguments | None:
        return Arguments(input, {"weight": weight}) if input.ndim > 1 else None

    def factor(self, call: Call) -> Tensor:
        return call.x.clamp(max=0)

    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        channels = (delta * side).reshape(*delta.shape[:2], -1)
        sums = by_input(channels, call.b).sum((1, 3))
        return {"weight": sums if call.leaves["weight"].shape.numel() > 1 else sums.sum(1, keepdim=True)}


class Copies(Broadcast):
    """y = one copy of p for each input: `expand`."""

    def bind(self, input: Tensor, *sizes: object, implicit: bool = False) -> Arguments | None:
        return Arguments(input, {"weight": input})


def reduced(values: Tensor, b: int, shape: tuple[int, ...]) -> Tensor:
    """Sum values (b·n, …) over n and over all axes along which `shape` was broadcast: (b, p)."""
    values = by_input(values, b)
    behind = (1,) * (values.ndim - 1 - len(shape)) + tuple(shape)
    axes = [1, *(2 + j for j, size in enumerate(behind[1:]) if size == 1)]
    return values.sum(axes).reshape(b, -1)


def _aligned(x: Tensor, p: Tensor) -> Arguments | None:
    """A parameter that the batch's axis is broadcast along."""
    fits = isinstance(x, Tensor) and isinstance(p, Tensor) and (p.ndim < x.ndim or (p.ndim == x.ndim and len(p) == 1))
    return Arguments(x, {"weight": p}) if fits else None
