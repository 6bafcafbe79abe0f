"""A page opens what lies below the folders its server was started with, and nothing else."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec, ModelSpec, RunSpec
from dntk_core.dashboard.server import roots
from dntk_core.dashboard.server.roots import check, resolve


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A root with a dataset and weights, a secret beside it, and every way to lead from one to the other."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "secret.npz").write_bytes(b"secret")
    (folder / "hidden" / "train").mkdir(parents=True)
    root = folder / "root"
    (root / "photos" / "train" / "cat").mkdir(parents=True)
    (root / "photos" / "train" / "cat" / "0.png").write_bytes(b"")
    (root / "digits.npz").write_bytes(b"")
    (root / "net" / "weights.pth").parent.mkdir()
    (root / "net" / "weights.pth").write_bytes(b"")
    (root / "within.npz").symlink_to(root / "digits.npz")
    (root / "file.npz").symlink_to(folder / "secret.npz")
    (root / "relative.npz").symlink_to("../secret.npz")
    (root / "folder").symlink_to(folder / "hidden")
    (root / "loop").symlink_to(root / "loop")
    (root / "leaky" / "train").mkdir(parents=True)
    (root / "leaky" / "train" / "cat").symlink_to(folder / "hidden")
    os.mkfifo(root / "pipe.npz")
    with socket.socket(socket.AF_UNIX) as unix:
        here = os.getcwd()
        os.chdir(root)
        unix.bind("socket.npz")
        os.chdir(here)
    return folder


@pytest.fixture
def root(place):
    return place / "root"


def test_what_lies_below_a_root_is_found(root):
    assert resolve("digits.npz", [root]) == root / "digits.npz"
    assert resolve("photos", [root]) == root / "photos"
    assert resolve("net/./weights.pth", [root / "net", root]) == root / "net" / "weights.pth"
    assert resolve("within.npz", [root]) == root / "digits.npz"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("../secret.npz", "without .."),
        ("photos/../../secret.npz", "without .."),
        ("/etc/passwd", "no leading /"),
        ("~/x.npz", "no leading /"),
        ("", "plain text"),
        (".", "plain text"),
        ("a\0b", "plain text"),
        ("a\nb", "plain text"),
        ("\ud800", "plain text"),
        ("x" * 256, "characters long"),
        ("x/" * 600, "characters long"),
        ("nothing.npz", "there is no"),
        ("file.npz", "does not lie below"),
        ("relative.npz", "does not lie below"),
        ("folder", "does not lie below"),
        ("folder/train", "does not lie below"),
        ("loop", "cannot be opened"),
        ("digits.npz/x", "there is no"),
        ("pipe.npz", "neither a file nor a folder"),
        ("socket.npz", "neither a file nor a folder"),
    ],
)
def test_all_else_is_refused_in_one_sentence(root, text, says):
    with pytest.raises(DNTKError, match=says) as caught:
        resolve(text, [root])
    assert "\n" not in str(caught.value)


def test_devices_are_refused():
    with pytest.raises(DNTKError, match="neither a file nor a folder"):
        resolve("null", [Path("/dev")])


@given(st.text() | st.lists(st.sampled_from(["..", ".", "", "folder", "photos", "secret.npz", "train"])).map("/".join))
@example("folder/../secret.npz")
def test_no_text_leads_out(place, text):
    try:
        found = resolve(text, [place / "root"])
    except DNTKError:
        return
    assert found.resolve().is_relative_to(place / "root")


def test_without_roots_nothing_is_opened(root):
    with pytest.raises(DNTKError, match="there is no"):
        resolve("digits.npz", [])
    check(RunSpec.default(), [])
    with pytest.raises(DNTKError, match="on the command line"):
        check(RunSpec(data=DataSpec("npz", str(root / "digits.npz"))), [])


@pytest.mark.parametrize(
    ("data", "model", "says"),
    [
        (("npz", "secret.npz"), None, "does not lie below"),
        (("npz", "root/file.npz"), None, "does not lie below"),
        (("npz", "root/../secret.npz"), None, "does not lie below"),
        (("folder", "root/leaky"), None, "leads out of its dataset"),
        (("npz", "root/pipe.npz"), None, "neither a file"),
        (("mnist", "root/photos"), None, "is not read from"),
        (None, "secret.npz", "does not lie below"),
        (None, "nowhere.pth", "cannot be opened"),
    ],
)
def test_a_run_with_files_elsewhere_is_sent_to_the_command_line(place, data, model, says):
    spec = RunSpec.default()
    if data:
        spec = replace(spec, data=DataSpec(data[0], str(place / data[1])))
    if model:
        spec = replace(spec, model=ModelSpec(weights=str(place / model)))
    with pytest.raises(DNTKError, match=says) as caught:
        check(spec, [place / "root"])
    assert "python -m dntk_core build" in str(caught.value) and "--root" in str(caught.value)


def test_a_run_with_files_below_a_root_is_computed(root):
    weights = ModelSpec(weights=str(root / "net" / "weights.pth"))
    check(RunSpec(DataSpec("folder", str(root / "photos")), weights), [root])
    check(RunSpec(model=ModelSpec("resnet18", "IMAGENET1K_V1")), [])


def test_datasets_and_weights_are_offered_but_no_links(root, monkeypatch):
    assert roots.datasets([root]) == ["digits.npz", "leaky", "photos"]
    assert roots.weights([root]) == ["net/weights.pth"]
    assert all(roots.below(str(resolve(name, [root])), [root]) == name for name in ("digits.npz", "photos"))
    monkeypatch.setattr(roots, "MOST_OFFERED", 2)
    assert len(roots.datasets([root])) == 2


def test_a_dataset_of_too_many_files_is_refused(root, monkeypatch):
    monkeypatch.setattr(roots, "MOST_FILES", 2)
    with pytest.raises(DNTKError, match="more than 2 files"):
        check(RunSpec(data=DataSpec("folder", str(root / "photos"))), [root])
