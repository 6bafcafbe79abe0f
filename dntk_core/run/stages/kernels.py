"""The class kernels, and all that the live part needs beside them."""

import numpy as np

from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Artifact, Contents
from dntk_core.kernels.class_kernels import Kernels, kernels_from_features
from dntk_core.kernels.feature_kernels import FeatureKernels, kernels_by_size
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Form the class kernels; of many inputs the features are kept instead."""
    features, inputs = work.made["features"], work.made["inputs"]
    kernels = _kernels(features, work.spec.sketch.used)
    contents = {"train": kernels.train, "cross": kernels.cross} if isinstance(kernels, Kernels) else {}
    contents |= {
        "targets": features["outputs"].astype(np.float64),
        "test_logits": features["test_outputs"].astype(np.float64),
        "train_labels": np.array(inputs["train_labels"]),
        "test_labels": np.array(inputs["test_labels"]),
    }
    work.report(Progress("kernels", 1, 1))
    right = contents["test_logits"].argmax(1) == contents["test_labels"]
    return contents, {"dense": kernels.dense, "test_accuracy": float(right.mean())}


def _kernels(features: Artifact, sketched: bool) -> Kernels | FeatureKernels:
    """The kernels of every class; of sketched ones K̄, the mean over all sums, and then those of the exact classes.

    Of many inputs only what says so: their features are read where they are.
    """
    train, test = features.rows("features"), features.rows("test_features")
    if not sketched:
        return kernels_by_size(train, test)
    q = features.note["class_sketch"]["q"]
    sums = kernels_by_size(train[:q], test[:q])
    if not isinstance(sums, Kernels):
        return sums
    exact = kernels_from_features(train[q:], test[q:])
    means = sums.train.mean(axis=0, keepdims=True), sums.cross.mean(axis=0, keepdims=True)
    return Kernels(*(np.concatenate(pair) for pair in zip(means, (exact.train, exact.cross), strict=True)))
