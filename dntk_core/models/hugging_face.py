"""Networks of transformers from a folder: settings as JSON, weights as safetensors, none of its code."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from dntk_core.base.errors import DNTKError

# What an architecture's name ends in, and the class of transformers that loads all such.
TASKS = {
    "ForSequenceClassification": "AutoModelForSequenceClassification",
    "ForImageClassification": "AutoModelForImageClassification",
}
# What lists the files of weights that lie in several.
INDEX = ".safetensors.index.json"
# Ways to compute attention that are part of PyTorch; others are fetched and run.
ATTENTION = (None, "eager", "sdpa")


class Logits(nn.Module):
    """A network of transformers that answers with its logits alone."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, *parts: Tensor, **named: Tensor) -> Tensor:
        return self.network(*parts, **named).logits


def load(folder: Path) -> nn.Module:
    """Load a classifier of images or texts, with the weights that its folder holds."""
    task = TASKS[_task(folder)]
    try:
        transformers: Any = importlib.import_module("transformers")
    except ImportError:
        raise DNTKError('transformers is not installed; `pip install "dntk[hf]"` brings it') from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        network = getattr(transformers, task).from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    # A reader may raise anything at a folder that was made to break it.
    except Exception as error:
        words = str(error).strip().partition("\n")[0]
        raise DNTKError(f"{folder} cannot be read as a network of transformers: {words}") from error
    return Logits(network)


def files(folder: Path) -> list[Path]:
    """The files of a folder that decide what its network computes."""
    kinds = (".safetensors", INDEX)
    return sorted(path for path in folder.glob("*") if path.name == "config.json" or path.name.endswith(kinds))


def _task(folder: Path) -> str:
    """What the network is for, by its settings; whatever would run code or read files elsewhere is refused."""
    settings = _json(folder / "config.json")
    _check_settings(folder, settings)
    if not any(path.suffix == ".safetensors" for path in files(folder)):
        raise DNTKError(f"{folder} holds no .safetensors; save it anew: model.save_pretrained(folder)")
    for index in folder.glob(f"*{INDEX}"):
        _check_index(index)
    named = settings.get("architectures")
    name = named[0] if isinstance(named, list) and named and isinstance(named[0], str) else ""
    for ending in TASKS:
        if name.endswith(ending):
            return ending
    raise DNTKError(f"{folder} holds {name[:80] or 'no named architecture'}; known are networks …{', …'.join(TASKS)}")


def _json(path: Path) -> dict:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DNTKError(f"{path.parent} has no {path.name} that can be read; name a folder of save_pretrained")
    return found


def _check_settings(folder: Path, settings: dict) -> None:
    """Refuse settings by which transformers would run code, or load another file than those that are looked at."""
    if (folder / "adapter_config.json").exists():
        raise DNTKError(f"{folder} holds an adapter; merge it (merge_and_unload) and save the network")
    for name, value in _every(settings):
        if name == "auto_map":
            raise DNTKError(
                f"{folder} wants to run code of its own (auto_map); load it yourself and give it to `study`"
            )
        if name.endswith("_implementation") and value not in ATTENTION:
            raise DNTKError(f"{folder} asks for {name} {str(value)[:80]!r}, which would be fetched and run; remove it")
        if name == "transformers_weights":
            raise DNTKError(
                f"{folder} names other weights in its settings; save it anew: model.save_pretrained(folder)"
            )


def _every(settings: dict) -> Iterator[tuple[str, Any]]:
    """All settings by name, also those within others."""
    waiting: list[Any] = [settings]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from value.items()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _check_index(index: Path) -> None:
    """Refuse weights that are said to lie elsewhere, or in files of another kind."""
    listed = _json(index).get("weight_map")
    own = {path.name for path in index.parent.glob("*.safetensors")}
    if not isinstance(listed, dict) or not all(isinstance(name, str) and name in own for name in listed.values()):
        raise DNTKError(f"{index} lists other files than the .safetensors beside it; save it anew")
