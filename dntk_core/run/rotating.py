"""Features met with the eigenvectors that Algorithm 1 takes its rows from, once for all its settings."""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np

from dntk_core.distill.local_global import Lifted
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.rotated import Rotated
from dntk_core.kernels.spectrum import Spectrum
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
    if isinstance(mixing, Lifted) and by == "paper" and mixing.setting is not None:
        own = live.decomposition(mixing.setting.H)
        if mixing.parts.labels is own.labels and (whole := _whole(live, mixing)) is not None:
            return compress_rotated(_rotated(live, mixing, own, whole), whole, problem.targets, mixing)
    return compress(problem.kernels, problem.targets, mixing, by)


def _whole(live: Rememberer, mixing: Lifted) -> np.ndarray | None:
    """Rows of the global eigenvectors that may be gaps; no H changes them."""
    share, known, spectrum = _share(mixing), live.ahead, mixing.parts.spectrum

    def find() -> np.ndarray | None:
        if known and (kept := known.rows(share)) is not None:
            return kept
        return live.problem.kernels.rotate_whole(spectrum.vectors[:, : leading(spectrum, share)])

    return live.remember(("whole rows", share), find)


def _rotated(live: Rememberer, mixing: Lifted, own: Decomposition, whole: np.ndarray) -> Rotated:
    share, known, H = _share(mixing), live.ahead, own.H

    def find() -> Rotated:
        kept = known.rotated(H, own, share) if known else None
        return kept or live.problem.kernels.rotate(own, share, whole)

    return live.remember(("rotated", H, share), find)


def leading(spectrum: Spectrum, share: float) -> int:
    """How many eigenvectors hold a share of the gradients' energy, or are known where these are less."""
    return min(int(spectrum.by("gradients").rank(1.0 - share).high), len(spectrum.values))


def _share(mixing: Lifted) -> float:
    """The share of λ that holds a mixing's rows; the same share of λ² takes no more directions."""
    assert mixing.setting is not None
    return next(share for share in SHARES if share >= mixing.setting.tau_v)
