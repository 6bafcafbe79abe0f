"""The network's accuracy on all test inputs that the data have, not only on those that a run takes."""

from dntk_core.cache.artifact import Contents
from dntk_core.models.artifact import load_network
from dntk_core.models.training import test_accuracy
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Measure it, unless training has: a note."""
    known = work.network.note.get("test_accuracy")
    if known is None:
        network = load_network(work.spec, work.data, work.network, work.compute)
        known = test_accuracy(network, work.data, work.report)
    return {}, {"test_accuracy": known}
