"""Warnings about a run, given before it is computed."""

from dntk_core.base.spec import RunSpec
from dntk_core.gradients.johnson_lindenstrauss import dimension_warning


def cautions(spec: RunSpec, classes: int) -> tuple[str, ...]:
    """Sentences on what a run's user may want to change first; `classes` is how many the data have."""
    sentences = []
    # The exact kernel has no projection that could be too small.
    if spec.projection.name != "identity":
        sentences.append(dimension_warning(kernel_inputs(spec, classes), spec.projection.k))
    return tuple(filter(None, sentences))


def kernel_inputs(spec: RunSpec, classes: int) -> int:
    """m, the number of kernel inputs."""
    return spec.dataset.per_class * classes if spec.distilled else spec.inputs.kernel
