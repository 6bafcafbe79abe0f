"""Features met with the eigenvectors that Algorithm 1 takes its rows from, once for all its settings."""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np

from dntk_core.distill.local_global import Lifted
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.rotated import Rotated
from dntk_core.readout.compressed import Compressed
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import compress, compress_rotated
from dntk_core.run.known import Known

# Shares of variance up to which features are met at once: what smaller ones need is then at hand.
SHARES = (0.8, 0.9, 0.95, 1.0)


class Rememberer(Protocol):
    """What of a live object is needed here."""

    problem: Problem
    ahead: Known | None

    def remember(self, key: Hashable, compute: Callable[[], Any]) -> Any: ...
    def decomposition(self, H: int) -> Decomposition: ...


def applied(live: Rememberer, mixing: Mixing, by: str) -> Compressed:
    """Apply a mixing to a live object's problem, by rows at hand where features are kept and the rows are its own."""
    problem = live.problem
    if isinstance(mixing, Lifted) and by == "paper" and (rotated := _rotated(live, mixing)) is not None:
        return compress_rotated(rotated, _whole(live, mixing), problem.targets, mixing)
    return compress(problem.kernels, problem.targets, mixing, by)


def _rotated(live: Rememberer, mixing: Lifted) -> Rotated | None:
    setting = mixing.setting
    if setting is None or mixing.parts.labels is not (own := live.decomposition(setting.H)).labels:
        return None
    share, known = _share(mixing), live.ahead

    def find() -> Rotated | None:
        kept = known.rotated(setting.H, own, share) if known else None
        return kept or live.problem.kernels.rotate(own, share)

    return live.remember(("rotated", setting.H, share), find)


def _whole(live: Rememberer, mixing: Lifted) -> np.ndarray:
    """Rows of the global eigenvectors that may be gaps; no H changes them."""
    share, spectrum = _share(mixing), mixing.parts.spectrum
    rank = mixing.parts.by("gradients").global_rank(1.0 - share)
    found = live.problem.kernels.rotate_whole
    return live.remember(("whole rows", share), lambda: found(spectrum.vectors[:, :rank]))


def _share(mixing: Lifted) -> float:
    """The share of λ that holds a mixing's rows; the same share of λ² takes no more directions."""
    assert mixing.setting is not None
    return next(share for share in SHARES if share >= mixing.setting.tau_v)
