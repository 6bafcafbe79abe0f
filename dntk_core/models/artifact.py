"""A network as a run keeps it: rebuilt from its spec and the weights of its artifact."""

import torch
from safetensors.torch import load as load_tensors

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.cache.artifact import Artifact
from dntk_core.data.dataset import Dataset
from dntk_core.models.architectures import rebuild_model
from dntk_core.models.own_code import changed
from dntk_core.models.parameters import narrow
from dntk_core.models.seen import example


def load_network(spec: RunSpec, data: Dataset, model: Artifact, compute: Compute) -> torch.nn.Module:
    """Rebuild the network from its artifact; DNTKError if its own code says something else by now."""
    if edited := changed(model.note.get("code", {})):
        raise DNTKError(f"{', '.join(edited)} changed since the network was made; build the run anew")
    network = rebuild_model(spec.model, data.channels, data.class_names, compute.own_code, example(data))
    network.load_state_dict(load_tensors(model.read("weights.safetensors")))
    return narrow(network, spec.projection.parameters).to(resolve_device(compute.device)).eval()
