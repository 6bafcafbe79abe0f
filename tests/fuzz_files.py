"""Files that a stranger may hand in, altered at random: datasets, weights, images, what is said of a run."""

import io
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from hypothesis import strategies as st
from PIL import Image
from safetensors.numpy import save as save_safetensors

from dntk_core.base.spec import DataSpec, RunSpec
from dntk_core.cache.sealed import sealed
from dntk_core.cache.store import Store
from dntk_core.data import archives, images
from dntk_core.data.images import ImageFiles
from dntk_core.data.sources import npz
from dntk_core.models import checkpoints
from dntk_core.run import notes
from tests.fuzz import Target, changed, odd, refused, softly

# Bytes put into a file's stead, and how much of it is left.
damage = st.tuples(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4), st.none() | st.integers(0, 10**6)
)
few = st.one_of(st.just(([], None)), st.just(([], None)), damage)


def damaged(content: bytes, how: tuple) -> bytes:
    changes, kept = how
    found = bytearray(content)
    for place, byte in changes:
        found[place % max(len(found), 1) : place % max(len(found), 1) + 1] = bytes([byte])
    return bytes(found[: len(found) if kept is None else kept % max(len(found), 1)])


# Datasets.
LABELS = np.array([0, 1, 0, 1])
GOOD = {
    "train_images": np.zeros((4, 1, 8, 8), np.uint8),
    "test_images": np.zeros((4, 1, 8, 8), np.uint8),
    "train_labels": LABELS,
    "test_labels": LABELS,
    "class_names": np.array(["a", "b"]),
}
kinds = st.sampled_from(["u1", "i8", "f4", "f8", "U3", "U0", "?", "c8", "M8[s]", "V3"])
sides = st.lists(st.integers(0, 8), max_size=5).map(tuple)
arrays = st.builds(np.zeros, sides, kinds) | st.builds(
    np.full, st.just(4), odd.filter(lambda x: isinstance(x, int) and abs(x) < 2**62)
)
renamed = st.sampled_from([*GOOD, "train_inputs", "test_inputs", "train_inputs.0", "test_inputs.0", "vocabulary"])
datasets = st.tuples(
    st.dictionaries(renamed, arrays | st.sampled_from([*GOOD.values()]), max_size=2),
    st.lists(st.sampled_from([*GOOD]), max_size=2),
    few,
)


def take_datasets(folder: Path) -> Callable:
    path = folder / "data.npz"

    def take(given: tuple) -> bool:
        more, without, how = given
        np.savez(buffer := io.BytesIO(), **{k: v for k, v in (GOOD | more).items() if k not in without or k in more})
        path.write_bytes(damaged(buffer.getvalue(), how))
        return softly(lambda: npz.load(DataSpec("npz", str(path))))

    return take


# Weights.
STATE = {"a.weight": torch.ones(2, 3), "b": torch.zeros(1)}


class Asks:
    """Asks for memory by number."""

    def __reduce__(self):
        return (bytearray, (10**12,))


odd_states = st.sampled_from(
    [
        STATE,
        STATE,
        {"state_dict": STATE},
        {"model": STATE, "epoch": 3},
        {"w": torch.zeros(1).expand(10**9)},
        {"x": Asks()},
        {"epoch": 3},
        [1, 2],
        torch.nn.Linear(2, 2),
        {"s": torch.eye(2).to_sparse()},
    ]
)


def take_torch(folder: Path) -> Callable:
    path, made = folder / "w.pth", {}

    def content(state: object, zipped: bool) -> bytes:
        if (id(state), zipped) not in made:
            torch.save(state, buffer := io.BytesIO(), _use_new_zipfile_serialization=zipped)
            made[id(state), zipped] = buffer.getvalue()
        return made[id(state), zipped]

    def take(given: tuple) -> bool:
        state, zipped, how = given
        path.write_bytes(damaged(content(state, zipped), how))
        return softly(lambda: checkpoints.read_state(path))

    return take


HEADER_BYTES = save_safetensors({name: value.numpy() for name, value in STATE.items()})
LENGTH = struct.unpack("<Q", HEADER_BYTES[:8])[0]
HEADER, NUMBERS = json.loads(HEADER_BYTES[8 : 8 + LENGTH]), HEADER_BYTES[8 + LENGTH :]


def take_safetensors(folder: Path) -> Callable:
    path = folder / "w.safetensors"

    def take(given: tuple) -> bool:
        header, how = given
        text = header.encode(errors="replace")
        numbers = NUMBERS if text != b"{}" else b""
        path.write_bytes(damaged(struct.pack("<Q", len(text)) + text + numbers, how))
        return softly(lambda: checkpoints.read_state(path))

    return take


# Images.
def _image(mode: str, format: str, **how) -> bytes:
    size = 16 if mode != "F" else 12
    Image.new(mode, (size, 12)).save(buffer := io.BytesIO(), format, **how)
    return buffer.getvalue()


PICTURES = [
    _image("RGB", "JPEG"),
    _image("RGB", "JPEG", progressive=True),
    _image("L", "PNG"),
    _image("I;16", "PNG"),
    _image("P", "GIF"),
    _image("RGB", "BMP"),
    _image("F", "TIFF"),
    _image("I", "TIFF"),
    _image("RGBA", "WEBP"),
    _image("RGB", "JPEG", progressive=True)[:-2] + b"\xff\xda\x00\x02" * 200,
]
# Sizes that a header may claim: of a PNG at bytes 16-24, a checksum at 29-33.
claims = st.none() | st.just((9000, 9000)) | st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))


def take_images(folder: Path) -> Callable:
    path = folder / "x.jpg"
    files = ImageFiles((path,), 8, 10)

    def take(given: tuple) -> bool:
        content, claim, how = given
        if claim is not None and content.startswith(b"\x89PNG"):
            header = content[12:16] + struct.pack(">II", *claim) + content[24:29]
            content = content[:12] + header + struct.pack(">I", zlib.crc32(header)) + content[33:]
        path.write_bytes(damaged(content, how))
        softly(lambda: images.check_header(path))
        return softly(lambda: files.decode(0))

    return take


# What is said of a run.
SAID = {"name": "x", "tags": ["a"], "note": "", "star": True, "views": {"v": {"H": "5"}}}


def take_notes(folder: Path) -> Callable:
    store, key = Store(folder), RunSpec.default().key
    (folder / "notes").mkdir(exist_ok=True)

    def take(given: tuple) -> bool:
        text, seal = given
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        if seal and isinstance(document, dict):
            text = json.dumps(sealed({name: value for name, value in document.items() if name != "sealed"}))
        (folder / "notes" / f"{key}.json").write_bytes(text.encode(errors="surrogatepass"))
        found = notes.read_notes(key, store)
        if found == notes.Notes():
            return refused("not JSON" if document is None else "another form" if seal else "not sealed")
        return True

    return take


weights_parser = (checkpoints.read_state, checkpoints._owns_its_numbers)
FILES = {
    "dataset .npz": Target(
        datasets,
        take_datasets,
        (npz.load, npz._check_complete, npz._names, npz._split, archives.read_npz, archives._members, archives._read),
    ),
    "weights .safetensors": Target(
        st.tuples(st.sampled_from([json.dumps(HEADER), "{}"]) | changed(HEADER), few), take_safetensors, weights_parser
    ),
    "weights .pth": Target(
        st.tuples(odd_states, st.booleans(), few),
        take_torch,
        (*weights_parser, checkpoints._read_torch, checkpoints._check_allocations, checkpoints._said),
    ),
    "image": Target(
        st.tuples(st.sampled_from(PICTURES) | st.binary(max_size=40), claims, few),
        take_images,
        (ImageFiles.decode, images._check_pixels, images._check_scans, images._eight_bits, images._resize_and_crop),
    ),
    "notes": Target(
        st.tuples(st.just(json.dumps(SAID)) | changed(SAID), st.sampled_from([True, True, True, False])),
        take_notes,
        (notes.read_notes, notes._parsed, notes.Notes.__post_init__),
    ),
}
