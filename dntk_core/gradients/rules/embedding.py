"""Embeddings: y = W[token], so row v of ∂f/∂W = Σ_{positions with token v} δ."""

from torch import Tensor, nn

from dntk_core.gradients.rules.rule import Rule


class EmbeddingRule(Rule):
    """∂f/∂W (b, V, D): δ summed into the rows of its tokens."""

    def supports(self, module: nn.Embedding) -> bool:
        plain = not module.scale_grad_by_freq and not module.sparse
        return plain and module.padding_idx is None and module.max_norm is None

    def gradients(self, module: nn.Embedding, side: Tensor, delta: Tensor) -> tuple[Tensor, None]:
        b, D = len(side), module.embedding_dim
        rows = delta.new_zeros(b, module.num_embeddings, D)
        index = side.reshape(b, -1, 1).expand(-1, -1, D)
        return rows.scatter_add_(1, index, delta.reshape(b, -1, D)), None
