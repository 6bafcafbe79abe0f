"""Per-sample per-logit gradients of a network and their projections to R^k, streamed in batches.

`prepare` makes a Network of a PyTorch module, `projector` the map to R^k, `project_batch` brings inputs through both;
an operation is a row of `rules.OPERATIONS`, a projection one of `projections.PROJECTIONS`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dntk_core.gradients.johnson_lindenstrauss import (
    expected_error,
    guaranteed_epsilon,
    relative_error,
    sufficient_k,
)

if TYPE_CHECKING:
    from dntk_core.gradients.extraction import project_images
    from dntk_core.gradients.network import Network
    from dntk_core.gradients.preparation import prepare
    from dntk_core.gradients.projections import PROJECTIONS, Projection, Projector
    from dntk_core.gradients.stream import exact_kernels, project_batch, projector

__all__ = [
    "PROJECTIONS",
    "Network",
    "Projection",
    "Projector",
    "exact_kernels",
    "expected_error",
    "guaranteed_epsilon",
    "prepare",
    "project_batch",
    "project_images",
    "projector",
    "relative_error",
    "sufficient_k",
]


def __getattr__(name: str) -> Any:
    """Load PyTorch only when a name that needs it is asked for: the lemma above is used without it."""
    if name in __all__:
        for module in ("network", "preparation", "projections", "stream", "extraction"):
            home = import_module(f"{__name__}.{module}")
            if hasattr(home, name):
                return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
