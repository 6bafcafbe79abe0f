"""The exact kernel of a few inputs, by which all that is read off projected features can be checked."""

import numpy as np

from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.data.batch import to
from dntk_core.data.inputs import opened
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import exact_batch, exact_kernels
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen
from dntk_core.run.work import Work

# Kernel inputs, spread evenly, whose exact kernel is computed.
PROBED = 24


def build(work: Work) -> Contents:
    """Compute K^c of some kernel inputs without a projection: exact (C, q, q), index (q,)."""
    inputs, device = work.made["inputs"], resolve_device(work.compute.device)
    x = Seen(work.data, opened(inputs, inputs.note))
    index = np.unique(np.linspace(0, len(x) - 1, min(len(x), PROBED)).round().astype(int))
    some = to(x[index], device)
    network = prepare(load_network(work.spec, work.data, work.network, work.compute), some, work.spec.outputs)
    exact = exact_kernels(network, some, exact_batch(network, work.compute)).numpy()
    work.report(Progress("probed", 1, 1))
    return {"index": index, "exact": exact}, {}
