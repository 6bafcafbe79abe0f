"""Parts of a run: what keys hold of them, and which combinations are refused."""

import pytest

from dntk_core.base.dataset import DatasetSpec
from dntk_core.base.errors import DNTKError
from dntk_core.base.parts import DataSpec, InputSpec, ModelSpec, Parts, ProjectionSpec


def test_where_a_pinned_file_lies_and_what_it_is_called_in_python_do_not_count():
    here, there = (DataSpec("npz", f"/{place}/a.npz", fingerprint="f" * 64) for place in ("here", "there"))
    assert here.content == there.content != DataSpec("npz", "/here/a.npz").content
    one, two = (ModelSpec(f"python:{name}", fingerprint="0" * 64) for name in ("one", "two"))
    assert one.content == two.content


def test_given_weights_are_not_trained_so_that_epochs_and_rate_do_not_count():
    given = ModelSpec("resnet18", "w.pth")
    assert given.content == ModelSpec("resnet18", "w.pth", epochs=3, rate=0.5).content
    assert ModelSpec(epochs=3).content != ModelSpec(epochs=4).content
    assert ModelSpec().training == {} and ModelSpec(rate=0.5, augment="none").training == {
        "rate": 0.5,
        "augment": "none",
    }


@pytest.mark.parametrize(
    "spec, published, file, own",
    [
        (ModelSpec(), False, False, False),
        (ModelSpec("resnet18", "DEFAULT"), True, False, False),
        (ModelSpec("resnet18", "weights.pth"), False, True, False),
        (ModelSpec("mine:make"), False, False, True),
        (ModelSpec("timm:vit_tiny"), False, False, False),
        (ModelSpec("python:mine"), False, False, False),
        (ModelSpec("hf", "folder"), False, True, False),
    ],
)
def test_where_a_network_comes_from(spec, published, file, own):
    assert (spec.published, spec.file, spec.own) == (published, file, own)


@pytest.mark.parametrize(
    "parts, says",
    [
        ({"model": ModelSpec(classes="hello")}, "numbers of outputs"),
        ({"model": ModelSpec(epochs=-1)}, "epochs"),
        ({"model": ModelSpec(rate=0)}, "learning rate"),
        ({"model": ModelSpec("hf")}, "hf:FOLDER"),
        ({"model": ModelSpec("hf", "f"), "dataset": DatasetSpec("wmdd", base="distilled")}, "comes trained"),
        ({"data": DataSpec(size=64, resize=32)}, "resize must be at least size"),
        ({"data": DataSpec(kind="sound")}, "kind"),
        ({"inputs": InputSpec(test=0)}, "test inputs"),
        ({"projection": ProjectionSpec(k=0)}, "k must be at least 1"),
    ],
)
def test_what_makes_no_sense_together_is_refused(parts, says):
    with pytest.raises(DNTKError, match=says):
        Parts(**parts)


def test_the_network_is_that_of_the_base():
    assert Parts().network_stage == "model"
    assert Parts(dataset=DatasetSpec("wmdd", base="distilled")).network_stage == "student"
    assert Parts(dataset=DatasetSpec("none", base="distilled")).network_stage == "model"
