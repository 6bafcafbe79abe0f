"""The images that stand for all: synthesised by WMDD, or those of one selection."""

import numpy as np

from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.dataset.classes import Classes
from dntk_core.dataset.wmdd import wmdd
from dntk_core.models.seen import tensor
from dntk_core.run.work import Work

# Real images per class that the map of feature space shows.
SHOWN = 60


def build(work: Work) -> Contents:
    """Distil the training images, class by class, or take those of a selection.

    images (m, channels, height, width) in [0, 1], labels (m,), weights (m,) that sum to 1 in each class,
    soft_labels (m, C) raw logits, origin (m,) training index or -1, features (m, d) of the images, points (m, d) the
    barycenters they stand for, losses (iterations, C, 2), real_features (q, d) and real_labels (q,) of some real images
    """
    spec, classes = work.spec.dataset, Classes(work.spec, work.data, work.made["model"], work.compute)
    if spec.method == "wmdd":
        contents, note = wmdd(classes, work.report, work.bench)
    else:
        contents, note = _chosen(classes, work), {}
    features, logits = classes.encode(tensor(work.data.normalise(contents["images"])))
    real = np.concatenate([classes.members(c)[:SHOWN] for c in range(len(classes))])
    contents = {
        "features": features,
        "points": features,
        "soft_labels": logits,
        "labels": np.repeat(np.arange(len(classes)), spec.per_class),
        "real_features": classes.encode(classes.images(real))[0],
        "real_labels": work.data.train_labels[real],
        "losses": np.empty((0, len(classes), 2)),
    } | contents
    return contents, note | {"batch_norm_layers": len(classes.encoder.channels)}


def _chosen(classes: Classes, work: Work) -> dict[str, np.ndarray]:
    """The real images of one selection."""
    name, shards = classes.spec.dataset.method, []
    for c, of_class in enumerate(classes.data.class_names):
        shards.append(work.bench.shard(f"{name}-{c}", lambda c=c: vars(classes.choose(name, c))))
        work.report(Progress("distilled", c + 1, len(classes), f"{name}, class {of_class}"))
    index, weights = (np.concatenate([shard[part] for shard in shards]) for part in ("index", "weights"))
    return {"images": classes.data.train_inputs[index], "weights": weights, "origin": index}
