"""Networks of transformers from a folder: settings as JSON, weights as safetensors, none of its code."""

import importlib
import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from dntk_core.base.errors import DNTKError

# What an architecture's name ends in, and the class of transformers that loads all such.
TASKS = {
    "ForSequenceClassification": "AutoModelForSequenceClassification",
    "ForImageClassification": "AutoModelForImageClassification",
}


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
    return sorted(path for path in folder.glob("*") if path.name == "config.json" or path.suffix == ".safetensors")


def _task(folder: Path) -> str:
    """What the network is for, by its settings; whatever would run code of the folder is refused."""
    try:
        settings = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        raise DNTKError(f"{folder} has no config.json that can be read; name a folder of save_pretrained") from None
    if not isinstance(settings, dict) or "auto_map" in settings:
        raise DNTKError(f"{folder} wants to run code of its own (auto_map); load it yourself and give it to `study`")
    if not any(path.suffix == ".safetensors" for path in files(folder)):
        raise DNTKError(f"{folder} holds no .safetensors; save it anew: model.save_pretrained(folder)")
    named = settings.get("architectures")
    name = named[0] if isinstance(named, list) and named and isinstance(named[0], str) else ""
    for ending in TASKS:
        if name.endswith(ending):
            return ending
    raise DNTKError(f"{folder} holds {name or 'no named architecture'}; known are networks …{', …'.join(TASKS)}")
