"""A network comes back from its artifact as it was."""

import torch
from safetensors.torch import save

from dntk_core.base.compute import Compute
from dntk_core.base.spec import RunSpec
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.models.architectures import build_model
from dntk_core.models.artifact import load_network


def test_the_weights_are_those_of_the_artifact_in_eval_mode(tmp_path):
    spec = RunSpec.default()
    data = load_data(spec.data)
    trained = build_model(spec.model, data.channels, data.class_names)
    with torch.no_grad():
        trained.head.bias.add_(1.0)
    contents = {"weights.safetensors": save(trained.state_dict())}
    artifact = Store(tmp_path).load_or_build("model", "k", "{}", lambda bench: (contents, {}))
    network = load_network(spec, data, artifact, Compute("cpu"))
    assert not network.training
    for name, value in trained.state_dict().items():
        assert torch.equal(network.state_dict()[name], value), name
