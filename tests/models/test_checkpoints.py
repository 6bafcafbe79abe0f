"""Weights from files: exact keys, no code run, nothing claimed that is not there."""

import pickle
import zipfile
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import peak_bytes
from dntk_core.base.spec import ModelSpec
from dntk_core.models import checkpoints
from dntk_core.models.architectures import build_model
from dntk_core.models.checkpoints import load_weights, read_state
from tests.hostile import Planted


def refused(spec, channels=3, names=("a", "b"), **how) -> str:
    with pytest.raises(DNTKError) as caught:
        build_model(spec, channels, names, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_wrapped_and_half_precision_weights(tmp_path):
    trained = build_model(ModelSpec(seed=5), 1, ("a", "b"))
    state = {
        f"module.{name}": value.half() if value.is_floating_point() else value
        for name, value in trained.state_dict().items()
    }
    torch.save({"state_dict": state, "epoch": 3}, tmp_path / "w.pth")
    network = build_model(ModelSpec(weights=str(tmp_path / "w.pth")), 1, ("a", "b"))
    torch.testing.assert_close(network.head.weight, trained.head.weight, rtol=1e-3, atol=1e-3)


def test_a_checkpoint_of_another_architecture_says_which_keys_differ(tmp_path):
    torch.save(nn.Linear(3, 2).state_dict(), tmp_path / "w.pth")
    message = refused(ModelSpec(weights=str(tmp_path / "w.pth")), 1)
    assert "missing stem.0.weight" in message and "unknown weight, bias" in message
    state = build_model(ModelSpec(), 1, ("a", "b", "c")).state_dict()
    torch.save(state, tmp_path / "three.pth")
    assert "head.weight (3, 64) for (2, 64)" in refused(ModelSpec(weights=str(tmp_path / "three.pth")), 1)


@pytest.mark.parametrize("suffix", [".pth", ".pt", ".safetensors"])
def test_a_pickle_in_disguise_is_not_executed(tmp_path, suffix):
    proof = tmp_path / "executed"
    path = tmp_path / f"w{suffix}"
    path.write_bytes(pickle.dumps(Planted(proof)))
    refused(ModelSpec(weights=str(path)), 1)
    torch.save({"a": Planted(proof)}, path)
    refused(ModelSpec(weights=str(path)), 1)
    assert not proof.exists()


def test_a_whole_module_is_refused_with_the_way_to_convert_it(tmp_path):
    torch.save(build_model(ModelSpec(), 1, ("a", "b")), tmp_path / "w.pth")
    assert "convert it" in refused(ModelSpec(weights=str(tmp_path / "w.pth")), 1)


def test_other_bad_weights(tmp_path):
    assert "no weights file" in refused(ModelSpec(weights=str(tmp_path / "none.pth")), 1)
    (tmp_path / "w.zip").write_bytes(b"")
    assert "must be a .safetensors" in refused(ModelSpec(weights=str(tmp_path / "w.zip")), 1)
    (tmp_path / "w.pth").write_bytes(b"garbage")
    refused(ModelSpec(weights=str(tmp_path / "w.pth")), 1)
    torch.save({"epoch": 3}, tmp_path / "w.pth")
    assert "no tensors" in refused(ModelSpec(weights=str(tmp_path / "w.pth")), 1)
    assert "publishes no weights 'NOPE'" in refused(ModelSpec("resnet18", weights="NOPE"))


def test_weights_that_claim_more_than_they_hold_are_refused(tmp_path):
    torch.save({"w": torch.zeros(1).expand(10**12)}, tmp_path / "stride.pth")
    with pytest.raises(DNTKError, match="claims more numbers"):
        read_state(tmp_path / "stride.pth")
    with zipfile.ZipFile(tmp_path / "bomb.pth", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/0", bytes(2**27))
    with pytest.raises(DNTKError, match="200 times its size"):
        read_state(tmp_path / "bomb.pth")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x02.", bytes(100), b"\x80\x02}q\x00K\x01K\x02s."])
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_files_that_are_no_weights_are_refused(tmp_path, content, suffix):
    (tmp_path / f"w{suffix}").write_bytes(content)
    with pytest.raises(DNTKError) as caught:
        read_state(tmp_path / f"w{suffix}")
    assert "\n" not in str(caught.value)


def test_load_weights_keeps_the_networks_precision(tmp_path):
    network = nn.Linear(2, 2)
    torch.save({name: value.double() for name, value in network.state_dict().items()}, tmp_path / "w.pth")
    load_weights(network, tmp_path / "w.pth")
    assert network.weight.dtype == torch.float32


@dataclass
class Bomb:
    """Asks for memory by number, which `weights_only` allows."""

    size: int = 10**12

    def __reduce__(self):
        return (bytearray, (self.size,))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_checkpoint_bomb_is_not_unpickled(tmp_path, monkeypatch, zipped):
    torch.save({"w": torch.ones(2), "x": Bomb()}, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    with monkeypatch.context() as patch, pytest.raises(DNTKError, match="asks for memory that no weights need"):
        patch.setattr(torch, "load", None)
        read_state(tmp_path / "w.pth")
    torch.save({"w": torch.ones(2)}, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    assert list(read_state(tmp_path / "w.pth")) == ["w"]


def test_a_checkpoint_bomb_that_no_look_finds_gets_no_memory(tmp_path, monkeypatch):
    """Reading it is bounded too: it takes a few times its size, not what it asks for."""
    path = tmp_path / "w.pth"
    torch.save(Bomb(3 * 10**9), path, _use_new_zipfile_serialization=False)
    monkeypatch.setattr(checkpoints, "_check_allocations", lambda path: None)
    before = peak_bytes()
    with pytest.raises(DNTKError, match="asks for memory that no weights need"):
        read_state(path)
    assert path.stat().st_size < 1000 and peak_bytes() - before < 10**8
    # What is asked for afterwards is there again.
    assert len(bytearray(2**29)) == 2**29
