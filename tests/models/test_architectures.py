"""Networks by name: published, of timm, a user's own; heads cut to the data's classes."""

import sys

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ModelSpec
from dntk_core.gradients.preparation import prepare
from dntk_core.models.architectures import build_model, restrict_head, weight_transforms

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
