"""Networks by name and weights from files: exact keys, no code run, heads cut to the data's classes."""

import pickle
import sys
import zipfile

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ModelSpec
from dntk_core.gradients.network import prepare
from dntk_core.models.architectures import build_model, restrict_head, weight_transforms
from dntk_core.models.checkpoints import load_weights, read_state
from tests.hostile import Planted

WNIDS = ("n01440764", "n02102040", "n03888257")


def refused(spec, channels=3, names=("a", "b"), **how) -> str:
    with pytest.raises(DNTKError) as caught:
        build_model(spec, channels, names, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_torchvision_networks_by_name():
    network = build_model(ModelSpec("mobilenet_v3_small"), 3, ("a", "b", "c"))
    assert network.eval()(torch.zeros(1, 3, 32, 32)).shape == (1, 3)
    grey = build_model(ModelSpec("mobilenet_v3_small"), 1, ("a", "b", "c"))
    assert grey.eval()(torch.zeros(1, 1, 32, 32)).shape == (1, 3)
    assert "unknown model 'nope'" in refused(ModelSpec("nope"))


def test_the_seed_decides_the_weights():
    one, same, other = (build_model(ModelSpec(seed=seed), 1, ("a", "b")).head.weight for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)


@pytest.mark.parametrize("suffix", [".safetensors", ".pth", ".pt"])
def test_weights_from_a_file(tmp_path, suffix):
    trained = build_model(ModelSpec(seed=5), 1, ("a", "b"))
    path = tmp_path / f"w{suffix}"
    save_file(trained.state_dict(), path) if suffix == ".safetensors" else torch.save(trained.state_dict(), path)
    network = build_model(ModelSpec(weights=str(path)), 1, ("a", "b"))
    assert torch.equal(network.head.weight, trained.head.weight)


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


def test_a_thousand_classes_restricted_to_the_datas(tmp_path):
    whole = build_model(ModelSpec("mobilenet_v3_small", seed=1), 3, tuple(map(str, range(1000)))).eval()
    torch.save(whole.state_dict(), tmp_path / "w.pth")
    spec = ModelSpec("mobilenet_v3_small", weights=str(tmp_path / "w.pth"))
    x = torch.randn(2, 3, 32, 32)
    by_name = build_model(spec, 3, WNIDS).eval()
    torch.testing.assert_close(by_name(x), whole(x)[:, [0, 217, 701]])
    by_number = build_model(ModelSpec(spec.name, weights=spec.weights, classes="5,3"), 3, ("a", "b")).eval()
    torch.testing.assert_close(by_number(x), whole(x)[:, [5, 3]])
    assert "2 different output numbers" in refused(ModelSpec(spec.name, weights=spec.weights, classes="5"), 3)
    assert "no linear head with more than 1001" in refused(ModelSpec(spec.name, weights=spec.weights, classes="1,1001"))
    assert "of another architecture" in refused(spec, 3)


def test_restricting_needs_a_linear_head():
    with pytest.raises(DNTKError, match="no linear head"):
        restrict_head(nn.Sequential(nn.Conv2d(1, 3, 1)), [0, 1])


def test_published_weights_say_size_and_scale():
    wanted = weight_transforms(ModelSpec("resnet18", weights="IMAGENET1K_V1"))
    assert wanted.crop_size == [224] and wanted.resize_size == [256]
    assert weight_transforms(ModelSpec("resnet18", weights="file.pth")) is None


def test_own_code_only_where_it_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from torch import nn\n"
        "def make(classes):\n    return nn.Sequential(nn.Flatten(), nn.Linear(12, classes))\n"
        "def wrong(classes):\n    return 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    network = build_model(ModelSpec("mine:make"), 3, ("a", "b"), own_code=True)
    assert network(torch.zeros(1, 3, 2, 2)).shape == (1, 2)
    assert "command line only" in refused(ModelSpec("mine:make"))
    assert "not a torch.nn.Module" in refused(ModelSpec("mine:wrong"), own_code=True)
    assert "must name a function" in refused(ModelSpec("mine:gone"), own_code=True)


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


def test_timm_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    assert "timm is not installed" in refused(ModelSpec("timm:resnet10t"))
    for address in ("timm:local-dir:/etc", "timm:hf-hub:someone/model", "timm:../model"):
        assert "is an address" in refused(ModelSpec(address))


@pytest.mark.parametrize("name", ["resnet10t", "vit_tiny_patch16_224"])
def test_networks_of_timm_are_fast_throughout(name, tmp_path):
    timm = pytest.importorskip("timm")
    theirs = timm.create_model(name, num_classes=3)
    save_file(theirs.state_dict(), tmp_path / "w.safetensors")
    network = build_model(ModelSpec(f"timm:{name}", weights=str(tmp_path / "w.safetensors")), 3, ("a", "b", "c"))
    x = torch.randn(2, 3, 224, 224)
    with torch.no_grad():
        torch.testing.assert_close(network.eval()(x), theirs.eval()(x))
    assert prepare(network, x).rest == ()


def test_load_weights_keeps_the_networks_precision(tmp_path):
    network = nn.Linear(2, 2)
    torch.save({name: value.double() for name, value in network.state_dict().items()}, tmp_path / "w.pth")
    load_weights(network, tmp_path / "w.pth")
    assert network.weight.dtype == torch.float32
