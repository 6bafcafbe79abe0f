"""The test inputs themselves, for people to look at."""

import numpy as np

from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.data.inputs import kept
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Keep the test inputs as the kernel inputs are kept."""
    found = kept(work.data.kind, work.data.test_inputs, np.array(work.made["inputs"]["test_index"]))
    work.report(Progress("test_inputs", 1, 1))
    return found
