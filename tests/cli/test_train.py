"""A network trained alone."""

import numpy as np
from safetensors.numpy import load_file

from dntk_core import open_run
from dntk_core.base.spec import ModelSpec
from dntk_core.cli.main import main
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
    # Built with these weights, a run on all test inputs has the accuracy that was printed, one on some its own.
    short = ("--weights", path, "--kernel-inputs", 20, "--k", 90)
    assert call("build", *short, "--test-inputs", 500)["test_accuracy"] == result["test_accuracy"]
    few = open_run(call("build", *short, "--test-inputs", 10)["key"])
    assert few.test_accuracy == np.mean(few.test_logits.argmax(1) == few.test_labels) != result["test_accuracy"]
    # Unless the accuracy on all is asked for, which makes it no other run.
    asked = call("build", *short, "--test-inputs", 10, "--test-accuracy", "all")
    assert asked["test_accuracy"] == result["test_accuracy"] and asked["key"] == few.key


def test_training_asks_for_no_kernel_inputs(call, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    images, labels = np.zeros((8, 1, 8, 8), np.uint8), np.arange(8) % 2
    arrays = {
        f"{part}_{name}": value
        for part in ("train", "test")
        for name, value in (("images", images), ("labels", labels))
    }
    np.savez(tmp_path / "tiny.npz", **arrays)
    # Eight images are fewer than the kernel inputs that a run takes by default.
    words = ("train", "--data", "npz", "--path", tmp_path / "tiny.npz", "--epochs", 1)
    assert call(*words, "--out", tmp_path / "weights.safetensors")["test_accuracy"] == 0.5
    assert main([*map(str, words), "--out", "x.safetensors", "--kernel-inputs", "4"]) == 2
    assert "unrecognized arguments: --kernel-inputs" in capsys.readouterr().err
