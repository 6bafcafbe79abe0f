"""A network trained alone."""

from safetensors.numpy import load_file

from dntk_core.base.spec import ModelSpec
from dntk_core.models.architectures import build_model


def test_train_writes_weights_that_the_network_loads(call, tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "weights.safetensors"
    result = call("train", "--epochs", 1, "--out", path)
    assert 0.1 < result["test_accuracy"] <= 1 and result["weights"] == str(path)
    network = build_model(ModelSpec(weights=str(path)), 1, tuple("0123456789"))
    assert {name: value.shape for name, value in load_file(path).items()} == {
        name: tuple(value.shape) for name, value in network.state_dict().items()
    }
    # Built with these weights, the run has the accuracy that was printed.
    built = call("build", "--weights", path, "--kernel-inputs", 20, "--test-inputs", 10, "--k", 90)
    assert built["test_accuracy"] == result["test_accuracy"]
