"""The test inputs themselves, for people to look at."""

from typing import cast

import numpy as np

from dntk_core.cache.artifact import Contents
from dntk_core.data.images import Images
from dntk_core.data.inputs import IMAGE, kept
from dntk_core.data.pictures import thumbnails
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Keep the test inputs: images small and in 8 bits, others as the kernel inputs are kept."""
    data, index = work.data, np.array(work.made["inputs"]["test_index"])
    if data.kind == IMAGE:
        return {"images": thumbnails(cast(Images, data.test_inputs), index)}, {}
    return kept(data.kind, data.test_inputs, index)
