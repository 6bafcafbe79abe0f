"""What a readout is fitted to and judged on."""

from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.class_kernels import ClassKernels


@dataclass(frozen=True)
class Problem:
    """Kernels, what they are fitted to, and what the fit is judged by.

    kernels: ClassKernels  C classes, m kernel inputs, t test inputs
    targets: (m, C)   Y, the network's logits at the kernel inputs
    logits:  (t, C)   the network's logits at the test inputs
    labels:  (t,)     true classes of the test inputs, 0..C-1; not every class need occur
    classes: (m,)     classes of the kernel inputs, by which they are drawn evenly; the network's choice if not given
    """

    kernels: ClassKernels
    targets: np.ndarray
    logits: np.ndarray
    labels: np.ndarray
    classes: np.ndarray | None = None

    def __post_init__(self):
        C, t, m = self.kernels.shape
        if self.classes is None:
            object.__setattr__(self, "classes", self.targets.argmax(axis=1))
        for name, wanted in (("targets", (m, C)), ("logits", (t, C)), ("labels", (t,)), ("classes", (m,))):
            if getattr(self, name).shape != wanted:
                raise DNTKError(f"{name} must be {wanted} to fit the kernels, got {getattr(self, name).shape}")
        if t == 0 or self.labels.min() < 0 or self.labels.max() >= C:
            raise DNTKError(f"labels must be at least one class in 0..{C - 1}, got {np.unique(self.labels)}")
