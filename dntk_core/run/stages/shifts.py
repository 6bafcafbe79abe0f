"""Gradients of test inputs that were changed more and more: what the kernel says of them is known to get worse."""

import numpy as np

from dntk_core.base.device import resolve_device
from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Steps
from dntk_core.base.randomness import generator
from dntk_core.cache.artifact import Contents
from dntk_core.data.inputs import IMAGE
from dntk_core.data.kinds import KINDS
from dntk_core.data.shifts import SHIFTS, STRENGTHS
from dntk_core.gradients.extraction import project_images
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import projector
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen
from dntk_core.run.work import Work

# Test inputs that are changed, the same for every shift and strength.
CHANGED = 100
PROBED = 8


def build(work: Work) -> Contents:
    """Change some test inputs by every shift at every strength: features (C, q, k) of all, one after another."""
    data, device, t = work.data, resolve_device(work.compute.device), len(work.made["inputs"]["test_index"])
    index = np.unique(np.linspace(0, t - 1, min(t, CHANGED)).round().astype(int))
    if data.kind != IMAGE:
        raise DNTKError(f"shifts are changes of images; these are {KINDS[data.kind].many}")
    images = data.test_inputs[np.array(work.made["inputs"]["test_index"])[index]]
    changed = np.concatenate(
        [
            shift(images, strength, generator(work.spec.inputs.seed, f"{name} {strength}"))
            for name, shift in SHIFTS.items()
            for strength in STRENGTHS
        ]
    ).astype(np.float32)
    x = Seen(data, changed)
    network = prepare(
        load_network(work.spec, data, work.network, work.compute), x[:PROBED].to(device), work.spec.outputs
    )
    through = projector(network, work.spec.projection, device)
    steps = Steps(work.report, "shifts", 0, len(x))
    found = project_images(network, through, x, work.compute, work.bench, "shifted", steps)
    contents = {"index": index, "features": found.features, "outputs": found.outputs, "images": changed}
    return contents, {"names": list(SHIFTS), "strengths": list(STRENGTHS)}
