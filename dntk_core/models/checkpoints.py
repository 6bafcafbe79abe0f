"""Weights from files, without ever running code from them."""

from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.data.archives import check_zip

SUFFIXES = (".safetensors", ".pth", ".pt")


def load_weights(module: nn.Module, path: Path) -> None:
    """Load a state dict into a network; keys and shapes must match exactly."""
    state = {name.removeprefix("module."): value for name, value in read_state(path).items()}
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
        raise DNTKError(f"{path} holds weights of another architecture: {'; '.join(differences)}")
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
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError:
        raise DNTKError(
            f"{path} holds more than tensors (a whole pickled module, or code) and was not loaded; convert it where "
            "you trust it: load it there and torch.save(model.state_dict(), 'weights.pth')"
        ) from None
    if not isinstance(state, dict):
        raise DNTKError(f"{path} holds a {type(state).__name__}, not a state dict")
    return state


def _some(names: list[str], shown: int = 3) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
