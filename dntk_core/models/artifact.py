"""A network as a run keeps it: rebuilt from its spec and the weights of its artifact."""

import torch
from safetensors.torch import load as load_tensors

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.spec import RunSpec
from dntk_core.cache.artifact import Artifact
from dntk_core.data.dataset import Dataset
from dntk_core.models.architectures import build_model


def load_network(spec: RunSpec, data: Dataset, model: Artifact, compute: Compute) -> torch.nn.Module:
    """Rebuild the network from its artifact."""
    network = build_model(spec.model.untrained, data.channels, data.class_names, compute.own_code)
    network.load_state_dict(load_tensors(model.read("weights.safetensors")))
    return network.to(resolve_device(compute.device)).eval()
