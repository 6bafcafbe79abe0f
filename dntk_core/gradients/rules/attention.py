"""Attention with several heads as the operations it is made of, each of which has a rule of its own."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None] | None:
    """Compute `multi_head_attention_forward` of (T, b, D) sequences; None for what is not decomposed.

    `is_causal` only says of a mask what it looks like.
    """
    more = any(part is not None for part in (bias_k, bias_v, static_k, static_v))
    if more or add_zero_attn or training or query.ndim != 3:
        return None
    batch = [t.transpose(0, 1) for t in (query, key, value)]
    separate = q_proj_weight, k_proj_weight, v_proj_weight
    if query is key is value and in_proj_weight is not None:
        q, k, v = F.linear(batch[0], in_proj_weight, in_proj_bias).chunk(3, dim=-1)
    else:
        weights = separate if in_proj_weight is None else in_proj_weight.chunk(3)
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (F.linear(x, w, b) for x, w, b in zip(batch, weights, biases, strict=True) if w is not None)
    q, k, v = (t.unflatten(-1, (num_heads, -1)).transpose(1, 2) for t in (q, k, v))
    mask = _mask(key_padding_mask, attn_mask, q, k)
    if need_weights:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        weights = (scores if mask is None else scores + mask).softmax(-1)
        mixed = weights @ v
    else:
        weights, mixed = None, F.scaled_dot_product_attention(q, k, v, mask)
    joined = mixed.transpose(1, 2).flatten(2)
    out = F.linear(joined, out_proj_weight, out_proj_bias).transpose(0, 1)
    return out, weights.mean(1) if weights is not None and average_attn_weights else weights


def _mask(padding: Tensor | None, mask: Tensor | None, q: Tensor, k: Tensor) -> Tensor | None:
    """What is added to the scores (b, heads, T, S): -∞ where a mask is True."""
    total = None
    for part, shape in ((padding, (len(k), 1, 1, -1)), (mask, (-1, *q.shape[1:3], k.shape[2]))):
        if part is not None:
            # A mask (T, S) serves all inputs and heads, one (b·heads, T, S) each its own.
            part = part if part.ndim == 2 and part is mask else part.reshape(shape)
            if part.dtype == torch.bool:
                part = torch.zeros_like(part, dtype=q.dtype).masked_fill_(part, -math.inf)
            total = part if total is None else total + part
    return total
