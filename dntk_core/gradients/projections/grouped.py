"""Gradients projected group by group: every group of parameters has columns of its own among the k.

K = Σ_g K_g: the product of all columns is the whole kernel, that of a group's columns the group's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from dntk_core.base.columns import share_out
from dntk_core.base.errors import DNTKError
from dntk_core.gradients.network import Network, touching
from dntk_core.gradients.projections.projection import Projection, Projector
from dntk_core.gradients.rules import Call


class Grouped:
    """g(u) = (g_1(u_1), …, g_G(u_G)): a projector for each group, side by side."""

    def __init__(
        self,
        network: Network,
        groups: Mapping[str, Sequence[str]],
        make: Mapping[bool, Projection],
        seed: int,
        k: int,
        device: torch.device,
    ):
        """make: the projection of a group, and by True the one that keeps its gradients as they are."""
        _check_whole(network, groups)
        sizes = {group: sum(network.sizes[name] for name in names) for group, names in groups.items()}
        self.columns = share_out(sizes, k)
        self.k = self.columns[-1].stop
        self.names = [set(names) for names in groups.values()]
        self.parts: list[Projector] = [
            make[columns.exact].make(_part(network, names), seed, columns.stop - columns.start, device)
            for columns, names in zip(self.columns, self.names, strict=True)
        ]
        self.kept = sum(part.kept for part in self.parts)

    def begin(self, calls: tuple[Call, ...]) -> list[tuple[list[int], Any]]:
        """Do once per batch what does not depend on the logit: which calls are a group's, and what it keeps of them."""
        found = []
        for part, names in zip(self.parts, self.names, strict=True):
            own = [(place, narrowed) for place, call in enumerate(calls) for narrowed in touching((call,), names)]
            found.append(([place for place, _ in own], part.begin(tuple(call for _, call in own))))
        return found

    def project(
        self, state: list[tuple[list[int], Any]], signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]
    ) -> Tensor:
        """Project the gradients of one logit, group by group: (b, k)."""
        some = next(t for t in (*signals, *rest.values()) if t is not None)
        out = torch.zeros(len(some), self.k, device=some.device)
        for columns, part, names, (places, own) in zip(self.columns, self.parts, self.names, state, strict=True):
            deltas = tuple(signals[place] for place in places)
            other = {name: gradient for name, gradient in rest.items() if name in names}
            # A group that this logit does not depend on has a gradient of 0.
            if other or any(delta is not None for delta in deltas):
                out[:, columns.start : columns.stop] = part.project(own, deltas, other)
        return out


def _part(network: Network, names: set[str]) -> Network:
    """A network as if only these parameters were studied."""
    return replace(
        network,
        sizes={name: size for name, size in network.sizes.items() if name in names},
        calls=touching(network.calls, names),
        entered={name: count for name, count in network.entered.items() if name in names},
        rest=tuple(name for name in network.rest if name in names),
    )


def _check_whole(network: Network, groups: Mapping[str, Sequence[str]]) -> None:
    """Parameters that are made into one tensor have one gradient to be led on, and belong into one group."""
    group = {name: place for place, names in enumerate(groups.values()) for name in names}
    for call in network.calls:
        for leaf in call.leaves.values():
            if len({group[name] for name in leaf.sources}) > 1:
                raise DNTKError(f"{' and '.join(leaf.sources)} are made into one tensor; put them into one group")
