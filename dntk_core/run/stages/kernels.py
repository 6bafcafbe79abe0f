"""The class kernels, and all that the live part needs beside them."""

import numpy as np

from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.kernels.class_kernels import LARGEST_DENSE, Kernels, kernels_by_size
from dntk_core.run.work import Sizes, Work


def build(work: Work) -> Contents:
    """Form the class kernels; of many inputs the features are kept instead."""
    features, inputs = work.made["features"], work.made["inputs"]
    kernels = kernels_by_size(features["features"], features["test_features"])
    contents = {"train": kernels.train, "cross": kernels.cross} if isinstance(kernels, Kernels) else {}
    contents |= {
        "targets": features["outputs"].astype(np.float64),
        "test_logits": features["test_outputs"].astype(np.float64),
        "train_labels": np.array(inputs["train_labels"]),
        "test_labels": np.array(inputs["test_labels"]),
    }
    work.report(Progress("kernels", 1, 1))
    return contents, {"dense": kernels.dense}


def disk(sizes: Sizes) -> int:
    """Bytes of the kernels where they are formed."""
    return 8 * sizes.C * sizes.m * (sizes.m + sizes.t) if sizes.m <= LARGEST_DENSE else 0
