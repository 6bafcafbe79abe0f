"""What people send is kept if it is what it should be, within bounds; of anything else nothing is left."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from safetensors.torch import save

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.dashboard.server import uploads
from dntk_core.dashboard.server.uploads import receive
from dntk_core.data import archives, images
from dntk_core.data.dataset import load_data
from dntk_core.models.checkpoints import read_state
from tests import hostile


@pytest.fixture
def place(tmp_path):
    (tmp_path / "uploads").mkdir()
    return tmp_path / "uploads"


def dataset(**changes) -> bytes:
    """An .npz file with two classes."""
    arrays = {"train_images": np.zeros((4, 1, 8, 8), np.uint8), "train_labels": np.arange(4) % 2}
    arrays |= {"test_images": np.zeros((2, 1, 8, 8), np.uint8), "test_labels": np.arange(2)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays | changes)
    return buffer.getvalue()


def picture(size=(8, 8)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, "PNG")
    return buffer.getvalue()


def packed(files: dict[str | zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def photos(top: str = "") -> dict[str, bytes]:
    return {f"{top}{part}/{name}/0.png": picture() for part in ("train", "val") for name in ("cat", "dog")}


def kept(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir() if path.name != ".lock")


def refused(place: Path, name: str, content: bytes, says: str) -> None:
    with pytest.raises(DNTKError, match=says) as caught:
        receive(name, content, place)
    assert str(place) not in str(caught.value) and "\n" not in str(caught.value)
    assert kept(place) == []


def test_arrays_weights_and_folders_are_kept_and_can_be_opened(place):
    data = receive("digits.npz", dataset(), place)
    assert load_data(DataSpec("npz", str(data))).class_names == ("0", "1")
    found = receive("pets.zip", packed(photos("pets/") | {"pets/README.txt": b"hello"}), place)
    assert load_data(DataSpec("folder", str(found), size=8)).class_names == ("cat", "dog")
    assert not [*found.rglob("README.txt")]
    weights = receive("net.safetensors", save({"w": torch.ones(3)}), place)
    assert kept(place) == sorted(path.name for path in (data, found, weights))


def test_the_same_file_is_kept_once_and_another_of_its_name_beside_it(place):
    one, again = (receive("digits.npz", dataset(), place) for _ in range(2))
    other = receive("digits.npz", dataset(test_labels=np.array([1, 0])), place)
    assert one == again and kept(place) == sorted([one.name, other.name])


@pytest.mark.parametrize(
    "name", ["../x.npz", "/x.npz", "a/b.npz", ".npz", "", "a\nb.npz", "a\0.npz", "x" * 60 + ".npz"]
)
def test_names_that_are_no_plain_file_names(place, name):
    refused(place, name, dataset(), "one line of at most 60 letters")


@pytest.mark.parametrize("name", ["x.pkl", "x.py", "x", "x.npz.exe", "x.tar", "x.pth", "x.pt"])
def test_other_kinds_of_files(place, name):
    refused(place, name, b"hello", "must end in one of")


def test_what_is_not_what_it_says(place):
    refused(place, "x.npz", b"hello", "cannot be read as .npz")
    refused(place, "x.npz", dataset(train_labels=np.arange(3)), "x.npz must be 4 integers")
    refused(place, "x.zip", b"hello", "cannot be unpacked")
    refused(place, "x.zip", packed({"notes.txt": b""}), "holds no images below train")
    refused(place, "x.zip", packed({"train/cat/0.png": picture()}), "has no folder val")
    refused(place, "x.safetensors", b"hello", "cannot be read as weights")


def array(header: str, numbers: bytes = b"") -> bytes:
    """An .npy file with any header."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers


def test_arrays_that_no_reader_expects(place):
    for dtype in ("U5", "V4", "M8[s]", "c8", [("a", "i4")]):
        refused(place, "x.npz", dataset(train_images=np.zeros((4, 1, 8, 8), dtype)), "must be numbers|cannot be read")
    refused(place, "x.npz", dataset(train_images=np.zeros((4, 1, 0, 0))), "must be images \\(n, 1, 3 or 4")
    refused(place, "x.npz", dataset(class_names=np.zeros((10**12, 0))), "list of names")
    refused(place, "x.npz", dataset(class_names=np.array(["a"] * 5)), "list of names")
    for descr in ("()", "('<i4',)", "'<i4' * 9", "1"):
        header = array(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}\n")
        refused(place, "x.npz", packed({"train_images.npy": header}), "cannot be read as .npz")
    refused(place, "x.npz", packed({"a.npy": array("x" * 20_000)}), "cannot be read as .npz")


def two_directories(real: bytes, decoy: bytes) -> bytes:
    """A decoy for readers that go by its place, and another archive for those that go by the offset at the end."""
    end, offset = decoy.rfind(b"PK\5\6"), real.index(b"PK\1\2")
    return real + decoy[: end + 16] + struct.pack("<LH", offset, 0)


def test_an_archive_that_readers_read_differently(place):
    """What is checked must be what is read: torch goes by offsets, zipfile by places."""
    buffer = io.BytesIO()
    torch.save({"w": torch.ones(3)}, buffer)
    (place / "x.pth").write_bytes(two_directories(buffer.getvalue(), packed({"a": b""})))
    with pytest.raises(DNTKError, match="more than one archive"):
        read_state(place / "x.pth")
    (place / "x.pth").unlink()
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    plain = packed({"a": b""})
    end = plain.rfind(b"PK\5\6")
    for name in ("x.zip", "x.npz"):
        refused(place, name, plain[:end] + locator + plain[end:], "two directories|damaged|unpacked|read as")


def test_an_archive_whose_files_are_larger_than_they_say(place):
    """A bzip2 member of 913 bytes that says 100 and holds a gigabyte: such packing is not taken at all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("train/cat/0.png", bytes(2**20))
    for name in ("x.zip", "x.npz"):
        refused(place, name, buffer.getvalue(), "packed in an unusual way")


def test_names_in_an_archive_that_are_no_text(place):
    content = packed(photos() | {"train/cat/é.png": b""}).replace("é".encode(), b"\xff\xff")
    refused(place, "x.zip", content, "cannot be unpacked")
    refused(place, "x.npz", content, "damaged zip file")
    refused(place, "x.zip", packed(photos() | {"a/" * 9 + "0.png": picture()}), "more than 7 folders")


def test_a_folder_that_is_gone_or_closed(place):
    with pytest.raises(DNTKError, match="cannot be kept now") as caught:
        receive("x.npz", dataset(), place / "gone")
    assert str(place) not in str(caught.value)


def test_whatever_a_reader_raises_is_one_sentence(place, monkeypatch):
    def broken(path):
        raise KeyError("secret")

    monkeypatch.setattr(uploads, "_opened", broken)
    refused(place, "x.npz", dataset(), "x.npz cannot be opened as what its ending says")


def test_pickles_are_not_run(place, tmp_path):
    planted, buffer = hostile.Planted(tmp_path / "ran"), io.BytesIO()
    torch.save({"w": planted}, buffer)
    refused(place, "x.pth", buffer.getvalue(), "must end in one of .npz, .zip, .safetensors")
    refused(place, "x.npz", dataset(class_names=np.array([planted], dtype=object)), "cannot be read as .npz")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name", ["../out.png", "/out.png", "train/../../out.png", "train\\..\\out.png", "x" * 256 + ".png"]
)
def test_an_archive_that_would_write_elsewhere(place, name):
    refused(place, "x.zip", packed(photos() | {name: picture()}), "would lie outside its folder|at most 255 letters")


def test_an_archive_with_links(place):
    link = zipfile.ZipInfo("train/cat/link.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    refused(place, "x.zip", packed(photos() | {link: b"/etc/passwd"}), "holds links or devices")


def test_an_archive_with_two_files_in_one_place(place):
    refused(place, "x.zip", packed(photos() | {"train/cat": b"", "train/cat/0.png/1.png": picture()}), "the same name")


@given(st.lists(st.text(alphabet="./\\ab\n", max_size=12).map(lambda text: text + ".png"), max_size=4))
def test_no_name_in_an_archive_leads_out(tmp_path_factory, names):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.zip").write_bytes(packed(dict.fromkeys(names, b"")))
    try:
        archives.unpack(outside / "x.zip", outside / "in", images.SUFFIXES, 2**20)
    except DNTKError:
        pass
    assert {path.name for path in outside.iterdir()} <= {"x.zip", "in"}


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_size_count_ratio_and_pixels_are_bounded(place, monkeypatch):
    zeros = np.zeros((20_000, 1, 64, 64), np.uint8)
    refused(place, "x.npz", dataset(train_images=zeros, train_labels=np.zeros(20_000, int)), "200 times its size")
    refused(place, "x.zip", packed(photos() | {"val/cat/1.png": b"\0" * 2**27}), "200 times its size")
    for width, height in ((10_000, 10_000), (2**31 - 1, 2**31 - 1)):
        large = photos() | {"val/cat/1.png": hostile.png(width, height)}
        refused(place, "x.zip", packed(large), "x/val/cat/1.png has more than 80 million pixels")
    monkeypatch.setattr(uploads, "LARGEST", 100)
    refused(place, "x.zip", packed(photos()), "would unpack to")
    refused(place, "x.npz", dataset(), "would unpack to")
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MOST_FILES", 3)
    refused(place, "x.zip", packed(photos()), "holds 4 files, at most 3")


def test_so_many_uploads_and_no_more(place, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_UPLOADS", 1)
    receive("a.npz", dataset(), place)
    with pytest.raises(DNTKError, match="1 uploads already"):
        receive("b.npz", dataset(), place)
    assert receive("a.npz", dataset(), place).exists()


def test_what_a_killed_server_left_is_removed(place):
    (place / ".new-dead").mkdir()
    (place / ".new-dead" / "half.npz").write_bytes(b"x")
    receive("a.npz", dataset(), place)
    assert len(kept(place)) == 1
