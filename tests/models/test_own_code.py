"""A user's own code is known by what it says."""

import importlib
import shutil
import sys

import pytest
import torch
from torch import nn

from dntk_core.base.own_functions import import_named
from dntk_core.models.own_code import changed, code_fingerprint, sources, state_fingerprint

PARTS = """
from torch import nn
import nets.layers

def make(classes):
    from nets.extra import scale  # imported when it is called
    return nn.Sequential(nets.layers.Layer(scale), nn.Linear(4, classes))
"""
LAYERS = """
import torch
from torch import nn
from .functions import act

class Layer(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        return act(self.k * x)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of a user's, with parts that import each other."""
    folder = tmp_path / "nets"
    folder.mkdir()
    files = {"__init__": "", "parts": PARTS, "layers": LAYERS, "extra": "scale = 2\n"}
    files["functions"] = "import torch\n\ndef act(x):\n    return torch.relu(x)\n"
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "unused.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    forget()


def forget():
    for name in [name for name in sys.modules if name.partition(".")[0] == "nets"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def fingerprint():
    """As another process would see it."""
    forget()
    torch.manual_seed(0)
    network = import_named("nets.parts:make", "a factory")(3)
    return code_fingerprint(network, "nets.parts")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("parts", "nn.Linear(4, classes)", "nn.Linear(4, classes, bias=False)"),
        ("layers", "self.k * x", "self.k + x"),
        ("functions", "relu", "tanh"),
        ("extra", "2", "3"),
    ],
)
def test_every_edit_of_what_is_computed_is_seen(package, file, old, new):
    before = fingerprint()
    assert fingerprint() == before
    path = package / f"{file}.py"
    path.write_text(path.read_text().replace(old, new))
    assert fingerprint() != before


def test_comments_other_files_and_places_make_no_difference(package, tmp_path_factory, monkeypatch):
    before = fingerprint()
    path = package / "layers.py"
    path.write_text(path.read_text().replace("return act", "# a remark\n        return  act"))
    (package / "unused.py").write_text("x = 1\n")
    assert fingerprint() == before
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(package, elsewhere / "nets")
    monkeypatch.syspath_prepend(elsewhere)
    assert fingerprint() == before


def test_changed_files_are_named_without_importing_them(package):
    network = import_named("nets.parts:make", "a factory")(3)
    files = sources(network, "nets.parts")
    assert {path.rpartition("/")[2] for path in files} >= {"parts.py", "layers.py", "functions.py", "extra.py"}
    assert not any("site-packages" in path for path in files) and changed(files) == []
    (package / "layers.py").write_text("raise SystemExit")
    (package / "extra.py").unlink()
    assert {path.rpartition("/")[2] for path in changed(files)} == {"layers.py", "extra.py"}


def test_weights_are_known_by_their_content():
    one = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(torch.bfloat16)
    before = state_fingerprint(one)
    assert state_fingerprint(one) == before
    one[1].running_mean[0] += 1
    assert state_fingerprint(one) != before
