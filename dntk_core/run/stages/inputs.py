"""Which inputs the kernels are computed on, and what is shown of them."""

import json

import numpy as np

from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.data.dataset import choose_inputs
from dntk_core.data.inputs import kept
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Choose test inputs, and kernel inputs unless there are distilled ones: indices, labels, the kernel inputs."""
    data, distilled = work.data, work.made.get("distilled")
    kernel, test = choose_inputs(data, work.spec.inputs)
    if distilled is None:
        labels = data.train_labels[kernel]
        shown, how = kept(data.kind, data.train_inputs, kernel)
    else:
        kernel, labels = np.array(distilled["origin"]), np.array(distilled["labels"])
        shown, how = {"images": np.array(distilled["images"])}, {}
    words = {"vocabulary.json": json.dumps(data.vocabulary).encode()} if data.vocabulary else {}
    contents = {
        "kernel_index": kernel,
        "test_index": test,
        "train_labels": labels,
        "test_labels": data.test_labels[test],
        **shown,
        **words,
    }
    work.report(Progress("inputs", 1, 1))
    note = {"class_names": list(data.class_names), "n": len(data.train_labels), "skipped": list(data.skipped)}
    note["preprocessing"] = data.preprocessing
    return contents, note | how
