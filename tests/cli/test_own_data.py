"""Data that a user's own code returns, from the command line."""

import sys

import numpy as np
import pytest

from dntk_core import DNTKError, RunSpec, load_or_build
from dntk_core.base.spec import DataSpec
from dntk_core.data.sources import own

CODE = """
import numpy as np
from torch import nn
def data():
    x = np.random.default_rng({seed}).standard_normal((30, 4)).astype("float32")
    return (x, np.arange(30) % 2), (x, np.arange(30) % 2), ["no", "yes"]
def network(classes):
    return nn.Linear(4, classes)
def broken():
    raise OSError("the disk is gone")
def half():
    return 7
"""
WORDS = "build --data mine:data --model mine:network --epochs 0 --projection identity --kernel-inputs 9 --test-inputs 6"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Write the user's module, as it is at first or after an edit."""
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(seed):
        sys.modules.pop("mine", None)
        own._called.cache_clear()
        (tmp_path / "mine.py").write_text(CODE.format(seed=seed))

    write(0)
    yield write
    sys.modules.pop("mine", None)
    own._called.cache_clear()


def test_a_factory_of_data_beside_one_of_a_network(mine, call):
    built = call(*WORDS.split())
    assert built["parameters"] == 10 and call(*WORDS.split())["key"] == built["key"]
    mine(1)
    assert call(*WORDS.split())["key"] != built["key"]


@pytest.mark.parametrize(
    "name, says",
    [("broken", r"OSError: the disk is gone \(.*mine\.py, line 10\)$"), ("half", "not int"), ("nope", "nope")],
)
def test_what_it_does_wrong_is_one_sentence(mine, name, says):
    with pytest.raises(DNTKError, match=says):
        own.load(DataSpec(f"mine:{name}"))


def test_it_lies_in_the_folder_where_the_command_is_given(mine, call, tmp_path, monkeypatch):
    """An installed program's `sys.path` begins with its own folder, not with this one."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(tmp_path))])
    monkeypatch.chdir(tmp_path)
    assert call(*WORDS.split())["parameters"] == 10


def test_the_web_page_may_not_run_it(mine):
    with pytest.raises(DNTKError, match="on the command line only"):
        load_or_build(RunSpec(DataSpec("mine:data")))
    assert not np.isin("mine", list(sys.modules))
