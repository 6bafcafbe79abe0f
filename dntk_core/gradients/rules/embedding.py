"""Tables: y = W[token], so row v of ∂f/∂W = Σ_{positions with token v} δ."""

from typing import Any

from torch import Tensor

from dntk_core.gradients.rules.operation import Arguments, Call, Operation


class LookUp(Operation):
    """∂f/∂W (b, V, D): weighted δ summed into the rows of its tokens."""

    def tokens(self, call: Call) -> Tensor:
        """Rows that were looked up, (b, T)."""
        return call.x.reshape(call.b, -1)

    def rows(self, call: Call, delta: Tensor) -> Tensor:
        """What every row looked up gets, (b, T, D)."""
        raise NotImplementedError

    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        V, D = call.leaves["weight"].shape[0], call.leaves["weight"].shape[1:].numel()
        index = self.tokens(call).unsqueeze(2).expand(-1, -1, D)
        return {"weight": delta.new_zeros(call.b, V, D).scatter_add_(1, index, self.rows(call, delta))}


class Embedding(LookUp):
    """`embedding`; a padding row gets no gradient."""

    def bind(
        self,
        input: Tensor,
        weight: Tensor,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Arguments | None:
        if max_norm is not None or scale_grad_by_freq:
            return None
        if padding_idx is not None and padding_idx < 0:
            padding_idx += len(weight)
        return Arguments(input, {"weight": weight}, padding_idx)

    def rows(self, call: Call, delta: Tensor) -> Tensor:
        tokens = self.tokens(call)
        rows = delta.reshape(*tokens.shape, -1)
        return rows if call.settings is None else rows * (tokens != call.settings).unsqueeze(2)


class Indexed(Embedding):
    """W[index] with an integer tensor."""

    def bind(self, weight: Tensor, index: Any) -> Arguments | None:
        if not isinstance(index, Tensor) or index.is_floating_point() or index.element_size() == 1 or index.ndim == 0:
            return None
        return Arguments(index % len(weight), {"weight": weight}, None)


class EmbeddingBag(LookUp):
    """`embedding_bag` of bags of equal size: their sum or mean."""

    def bind(
        self,
        input: Tensor,
        weight: Tensor,
        offsets: Tensor | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        per_sample_weights: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Arguments | None:
        if input.ndim != 2 or mode not in ("sum", "mean") or max_norm is not None or scale_grad_by_freq:
            return None
        if padding_idx is not None and padding_idx < 0:
            padding_idx += len(weight)
        return Arguments(input, {"weight": weight}, (mode, per_sample_weights, padding_idx))

    def rows(self, call: Call, delta: Tensor) -> Tensor:
        mode, weights, padding = call.settings
        counted = (call.x != (-1 if padding is None else padding)).to(delta.dtype)
        shares = counted if weights is None else counted * weights.detach()
        if mode == "mean":
            shares = shares / counted.sum(1, keepdim=True).clamp(min=1)
        return (shares.unsqueeze(2) * delta.unsqueeze(1)).reshape(call.b, -1, delta.shape[-1])
