"""Weights from files, without ever running code from them."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError
from pickletools import genops
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import at_most
from dntk_core.data.archives import check_zip

SUFFIXES = (".safetensors", ".pth", ".pt")
# Bytes that reading a checkpoint may take beside a few times its size.
ROOM = 2**28


def load_weights(module: nn.Module, path: Path, without: tuple[str, ...] = ()) -> None:
    """Load a state dict into a network; keys and shapes must match exactly, but for parts that it is built without."""
    state = {name.removeprefix("module."): value for name, value in read_state(path).items()}
    state = {name: value for name, value in state.items() if not name.startswith(without)}
    own = module.state_dict()
    missing = [name for name in own if name not in state and not name.endswith("num_batches_tracked")]
    unexpected = [name for name in state if name not in own]
    reshaped = [
        f"{name} {tuple(state[name].shape)} for {tuple(own[name].shape)}"
        for name in own
        if name in state and state[name].shape != own[name].shape
    ]
    if missing or unexpected or reshaped:
        differences = [
            f"{what} {_some(names)}"
            for what, names in (("missing", missing), ("unknown", unexpected), ("of another shape", reshaped))
            if names
        ]
        cut = (
            ""
            if missing or unexpected
            else "; if only its head is larger, name the outputs to keep (--classes 0,217,…)"
        )
        raise DNTKError(f"{path} holds weights of another architecture: {'; '.join(differences)}{cut}")
    module.load_state_dict({name: value.to(own[name].dtype) for name, value in state.items()}, strict=False)


def read_state(path: Path) -> dict[str, Tensor]:
    """Read a state dict from .safetensors, or from .pth/.pt with weights_only=True."""
    if path.suffix not in SUFFIXES:
        raise DNTKError(f"weights must be a {', '.join(SUFFIXES)} file, got {path.name!r}")
    if not path.is_file():
        raise DNTKError(f"there is no weights file {path}")
    try:
        state: dict[str, Any] = load_file(path) if path.suffix == ".safetensors" else _read_torch(path)
    except DNTKError:
        raise
    # A reader may raise anything at a file that was made to break it.
    except Exception as error:
        raise DNTKError(f"{path} cannot be read as weights: {str(error).partition(chr(10))[0]}") from None
    for wrapper in ("state_dict", "model"):
        if isinstance(wrapped := state.get(wrapper), dict):
            state = wrapped
    tensors = {name: value for name, value in state.items() if isinstance(name, str) and isinstance(value, Tensor)}
    if not tensors:
        raise DNTKError(f"{path} holds no tensors; save a state dict: torch.save(model.state_dict(), …)")
    if not all(map(_owns_its_numbers, tensors.values())):
        raise DNTKError(f"{path} holds a tensor that claims more numbers than it has")
    return tensors


def _owns_its_numbers(value: Tensor) -> bool:
    """Whether a tensor holds all its numbers: with strides of zero a few bytes look like petabytes."""
    plain = value.layout == torch.strided and value.device.type == "cpu"
    return plain and value.untyped_storage().nbytes() >= value.numel() * value.element_size()


def _read_torch(path: Path) -> dict[str, Any]:
    check_zip(path)
    _check_allocations(path)
    try:
        with at_most(ROOM + 4 * path.stat().st_size):
            state = torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:
        raise _greedy(path) from None
    except UnpicklingError:
        raise DNTKError(
            f"{path} holds more than tensors (a whole pickled module, or code) and was not loaded; convert it where "
            "you trust it: load it there and torch.save(model.state_dict(), 'weights.pth')"
        ) from None
    if not isinstance(state, dict):
        raise DNTKError(f"{path} holds a {type(state).__name__}, not a state dict")
    return state


def _check_allocations(path: Path) -> None:
    """Refuse a pickle that asks for memory by number: `weights_only` lets bytearray(n) pass, whatever n is."""
    with open(path, "rb") as file:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                pickles = [archive.read(name) for name in archive.namelist() if name.endswith(".pkl")]
        else:
            file.seek(0)
            pickles = [file.read()]
    for pickled in pickles:
        if any(isinstance(name, str) and name.endswith("bytearray") for name in _said(pickled)):
            raise _greedy(path)


def _greedy(path: Path) -> DNTKError:
    return DNTKError(f"{path} asks for memory that no weights need, and was not loaded; save a state dict")


def _said(pickled: bytes) -> Iterator[Any]:
    """The arguments of all instructions of the pickles at a file's start; an older file has several, then numbers."""
    stream = io.BytesIO(pickled)
    with suppress(ValueError, UnicodeDecodeError):
        while stream.tell() < len(pickled):
            for _, argument, _ in genops(stream):
                yield argument


def _some(names: list[str], shown: int = 3) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
