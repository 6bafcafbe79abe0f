"""Where a run is computed and how much memory it may take; no result depends on it beyond rounding."""

from dataclasses import dataclass

from dntk_core.base.errors import DNTKError

PRECISIONS = ("float32", "bfloat16")
# How processes share shards: each takes the next free one, by file locks; or every N-th one, where locks do not hold.
SHARING = ("locks", "static")


@dataclass(frozen=True)
class Compute:
    """device: auto, cuda, mps or cpu; memory: bytes one batch may take; batch: inputs at once, 0 = as many as fit.

    precision: of the network's own products, set by a run from its spec: it does change results, by about 1 %
    shard: one of SHARING
    own_code: whether a network named `package.module:factory` may be imported and called
    """

    device: str = "auto"
    memory: int = 2 * 2**30
    batch: int = 0
    own_code: bool = False
    precision: str = "float32"
    shard: str = "locks"

    def __post_init__(self):
        if self.precision not in PRECISIONS:
            raise DNTKError(f"precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}")
        if self.shard not in SHARING:
            raise DNTKError(f"shard must be one of {', '.join(SHARING)}, got {self.shard!r}")
