"""What one more input in a batch of gradients costs in memory: the one formula by which batches are chosen, and runs
that would not fit are refused beforehand."""

from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.network import Network
from dntk_core.gradients.projections import PROJECTIONS

# Forward and backward passes of an input, in outputs of operations with parameters: 3 to 4.3 were measured.
PASSES = 6


def input_bytes(network: Network, kept: int, whole_gradients: bool, k: int) -> int:
    """Estimate 4 · (6·activations + kept + 4·formed + (C + 4)·k) bytes for one input.

    kept: numbers of the operations' inputs that are kept while all logits are taken
    whole_gradients: whether all parameters of a gradient are formed at once, or one after the other
    """
    activations = sum(call.size for call in network.calls)
    formed = network.P if whole_gradients else max(network.sizes.values())
    formed += sum(network.sizes[name] for name in network.rest)
    return 4 * (PASSES * activations + kept + 4 * formed + (network.classes + 4) * k)


def expected_input_bytes(network: Network, spec: ProjectionSpec, k: int) -> int:
    """The same before the projection to k dimensions is made: making it takes memory of its own."""
    projection = PROJECTIONS[spec.name]
    return input_bytes(network, projection.kept(network, k), projection.whole_gradients, k)
