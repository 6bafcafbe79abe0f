"""What a run writes to disk and keeps in memory, from its sizes alone: known before anything is loaded or computed."""

from dntk_core.base.spec import RunSpec
from dntk_core.base.stage import Sizes
from dntk_core.base.stages import STAGES
from dntk_core.kernels.feature_kernels import LARGEST_DENSE
from dntk_core.run.cautions import kernel_inputs

# Analyses keep decompositions beside the kernels, about as large as these.
LIVE = 2


def sizes_of(spec: RunSpec, C: int, k: int) -> Sizes:
    """The sizes of a run on data of C classes, or sums of them, whose gradients are kept as k numbers."""
    m = kernel_inputs(spec, C)
    C = min(C, spec.sketch.q + spec.sketch.beside) if spec.sketch.q else C
    width = 4 if spec.kept == "float32" else 2
    return Sizes(C, m, spec.inputs.test, k, spec.inputs.kernel, m <= LARGEST_DENSE, width)


def disk(spec: RunSpec, sizes: Sizes) -> int:
    """Bytes that all stages of a run write."""
    return sum(STAGES[stage].writes(sizes) for stage in spec.stages)


def live_bytes(sizes: Sizes) -> int:
    """Memory of the kernels and what is kept beside them."""
    return LIVE * STAGES["kernels"].writes(sizes)
