"""Where a run is computed and how much memory it may take; no result depends on it beyond rounding."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Compute:
    """device: auto, cuda, mps or cpu; memory: bytes one batch may take; batch: inputs at once, 0 = as many as fit.

    own_code: whether a network named `package.module:factory` may be imported and called
    """

    device: str = "auto"
    memory: int = 2 * 2**30
    batch: int = 0
    own_code: bool = False
