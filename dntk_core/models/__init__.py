"""Networks: architectures by name, weights from files without running code from them, training.

`build_model` makes a network from its spec, `train` trains it, `load_network` rebuilds the one of a run;
`Seen` are a dataset's images as a network sees them.
"""

from dntk_core.models.architectures import build_model, restrict_head, weight_transforms
from dntk_core.models.artifact import load_network
from dntk_core.models.checkpoints import load_weights, read_state
from dntk_core.models.seen import Seen
from dntk_core.models.training import accuracy, label_objective, train

__all__ = [
    "Seen",
    "accuracy",
    "build_model",
    "label_objective",
    "load_network",
    "load_weights",
    "read_state",
    "restrict_head",
    "train",
    "weight_transforms",
]
