"""Real images chosen by every selection, class by class."""

import numpy as np

from dntk_core.base.progress import Progress
from dntk_core.base.selections import SELECTIONS
from dntk_core.cache.artifact import Contents
from dntk_core.dataset.classes import Classes
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Choose images by the network trained on real ones: index and weights, (selections, m) each."""
    classes = Classes(work.spec, work.data, work.made["model"], work.compute)
    C, names = len(classes), list(SELECTIONS)
    shards = []
    for i, name in enumerate(names):
        for c in range(C):
            shards.append(work.bench.shard(f"{name}-{c}", lambda name=name, c=c: vars(classes.choose(name, c))))
            note = f"{name}, class {work.data.class_names[c]}"
            work.report(Progress("selected", i * C + c + 1, len(names) * C, note))
    contents = {
        part: np.stack([shard[part] for shard in shards]).reshape(len(names), -1) for part in ("index", "weights")
    }
    return contents, {"names": names}
