"""Which inputs the kernels are computed on, and what is shown of them."""

import numpy as np

from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.data.dataset import choose_inputs
from dntk_core.data.images import stored
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Choose test inputs, and kernel inputs unless there are distilled ones: indices, labels, images in [0, 1]."""
    data, distilled = work.data, work.made.get("distilled")
    kernel, test = choose_inputs(data, work.spec.inputs)
    contents = {
        "kernel_index": kernel if distilled is None else np.array(distilled["origin"]),
        "test_index": test,
        "train_labels": data.train_labels[kernel] if distilled is None else np.array(distilled["labels"]),
        "test_labels": data.test_labels[test],
        "images": stored(data.train_images, kernel) if distilled is None else np.array(distilled["images"]),
    }
    work.report(Progress("inputs", 1, 1))
    note = {"class_names": list(data.class_names), "n": len(data.train_labels), "skipped": list(data.skipped)}
    return contents, note
