"""Networks by name: published, of timm, a user's own; heads cut to the data's classes."""

import sys

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ModelSpec
from dntk_core.gradients.preparation import prepare
from dntk_core.models.architectures import build_model, rebuild_model, restrict_head, weight_transforms

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
    assert "no last layer with more than 1001" in refused(ModelSpec(spec.name, weights=spec.weights, classes="1,1001"))
    assert "of another architecture" in refused(spec, 3)


@pytest.mark.parametrize("head", [nn.Linear(6, 5), nn.Linear(6, 5, bias=False), nn.Conv2d(6, 5, 1)])
def test_a_head_of_any_kind_is_cut(head):
    x = torch.randn(2, 6) if isinstance(head, nn.Linear) else torch.randn(2, 6, 1, 1)
    network = nn.Sequential(nn.Identity(), head)
    wanted = network(x)[:, [3, 1]]
    restrict_head(network, 5, [3, 1])
    torch.testing.assert_close(network(x), wanted)


def test_a_network_without_such_a_layer_cannot_be_cut():
    with pytest.raises(DNTKError, match="no last layer"):
        restrict_head(nn.Sequential(nn.Conv2d(1, 3, 3)), 3, [0, 1])


OWN = """
import torch
from torch import nn

def imagenet(classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 1000))

def nineteen(classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 19))

def lazy(classes):
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(5), nn.LazyBatchNorm1d(), nn.LazyLinear(classes))

def broken(classes):
    raise RuntimeError("out of ideas")

def picky(classes):
    return nn.Linear(13, classes)

def spread(classes):
    return nn.Conv2d(3, classes, 1)

def hidden(classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 20), Padded())

class Padded(nn.Module):
    def forward(self, y):
        return nn.functional.pad(y, (0, 20 - y.shape[1]))
"""
X = torch.randn(2, 3, 2, 2)


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_networks.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda name: f"own_networks:{name}"
    sys.modules.pop("own_networks", None)


def test_any_thousand_way_head_is_restricted(own):
    names = ("a", "b")
    whole = build_model(ModelSpec(own("imagenet")), 3, tuple(map(str, range(1000))), own_code=True, example=X)
    by_number = build_model(ModelSpec(own("imagenet"), classes="5,3"), 3, names, own_code=True, example=X)
    torch.testing.assert_close(by_number(X), whole(X)[:, [5, 3]])
    by_name = build_model(ModelSpec(own("imagenet")), 3, WNIDS, own_code=True, example=X)
    torch.testing.assert_close(by_name(X), whole(X)[:, [0, 217, 701]])
    # Rebuilt for kept weights, it has the same shape.
    again = rebuild_model(ModelSpec(own("imagenet"), classes="5,3"), 3, names, own_code=True, example=X)
    again.load_state_dict(by_number.state_dict())
    torch.testing.assert_close(again(X), by_number(X))


def test_lazy_layers_take_their_shape_from_the_data(own):
    network = build_model(ModelSpec(own("lazy")), 3, ("a", "b"), own_code=True, example=X)
    assert network(X).shape == (2, 2) and network[1].weight.shape == (5, 12)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (ModelSpec("own_networks:imagenet"), r"has 1000 outputs, the data 2 classes .*--classes 0,217"),
        (ModelSpec("own_networks:nineteen"), r"has 19 outputs, the data 2 classes"),
        (ModelSpec("own_networks:nineteen", classes="hello"), "2 different output numbers .* got 'hello'"),
        (ModelSpec("own_networks:nineteen", classes="1,30"), "no last layer with more than 30"),
        (ModelSpec("own_networks:hidden", classes="1,2"), "20 outputs of 'own_networks:hidden' are not those"),
        (ModelSpec("own_networks:broken"), r"failed: RuntimeError: out of ideas \(.*own_networks\.py, line 15\)"),
        (ModelSpec("own_networks:picky"), r"does not take inputs of shape \(3, 2, 2\): RuntimeError: mat1 and mat2"),
        (ModelSpec("own_networks:spread"), r"must return \(batch, C\), got \(2, 2, 2, 2\)"),
        (ModelSpec("mobilenet_v3_small", classes="hello"), "2 different output numbers"),
        (ModelSpec("mobilenet_v3_small", classes="1,0"), "leave --classes out"),
        (ModelSpec("small_resnet", classes="1,0"), "leave --classes out"),
        (ModelSpec("timm:vit_tiny_patch16_224"), r"does not take inputs of shape .*Input height \(2\)"),
        (ModelSpec("timm:resnet10t_with_wings"), "timm has no model 'resnet10t_with_wings'"),
    ],
    ids=lambda value: f"{value.name} {value.classes}" if isinstance(value, ModelSpec) else "",
)
def test_what_does_not_fit_the_data_is_refused_before_anything_is_computed(own, spec, says):
    with pytest.raises(DNTKError, match=says) as caught:
        build_model(spec, 3, ("a", "b"), own_code=True, example=X)
    assert "\n" not in str(caught.value)


def test_networks_for_images_are_not_given_other_inputs():
    assert "takes images" in refused(ModelSpec("resnet18"), channels=0)


def test_heads_for_training_alone_are_left_out(tmp_path, monkeypatch):
    import torchvision.models

    # Truncated normal weights of so many layers take seconds to draw.
    monkeypatch.setattr(torch.nn.init, "trunc_normal_", lambda tensor, **how: tensor)
    name = "googlenet"
    theirs = torchvision.models.get_model(name, weights=None, num_classes=2, init_weights=True)
    torch.save(theirs.state_dict(), tmp_path / "w.pth")
    network = build_model(ModelSpec(name, weights=str(tmp_path / "w.pth")), 3, ("a", "b"))
    x = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        torch.testing.assert_close(network.eval()(x), theirs.eval()(x))
    assert isinstance(network.train()(x), torch.Tensor)
    # Published weights have their inputs scaled by the network, also when it is rebuilt.
    assert rebuild_model(ModelSpec(name, weights="DEFAULT"), 3, ("a", "b")).transform_input


def test_published_weights_say_size_and_scale():
    wanted = weight_transforms(ModelSpec("resnet18", weights="IMAGENET1K_V1"))
    assert wanted.crop_size == [224] and wanted.resize_size == [256]
    assert weight_transforms(ModelSpec("resnet18", weights="file.pth")) is None


def test_own_code_only_where_it_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from torch import nn\n"
        "def make(classes):\n    return nn.Sequential(nn.Flatten(), nn.Linear(12, classes))\n"
        "def headed():\n    return nn.Sequential(nn.Linear(3, 5))\n"
        "def wrong(classes):\n    return 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    network = build_model(ModelSpec("mine:make"), 3, ("a", "b"), own_code=True)
    assert network(torch.zeros(1, 3, 2, 2)).shape == (1, 2)
    # A factory that asks for nothing has a head of its own.
    of_five, example = ModelSpec("mine:headed", classes="4,0"), torch.ones(2, 3)
    assert build_model(of_five, 0, ("a", "b"), own_code=True, example=example)(example).shape == (2, 2)
    assert "command line only" in refused(ModelSpec("mine:make"))
    assert "not a torch.nn.Module" in refused(ModelSpec("mine:wrong"), own_code=True)
    assert "must name a function, of the number of classes or of nothing" in refused(
        ModelSpec("mine:gone"), own_code=True
    )


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
