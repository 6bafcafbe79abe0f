"""Networks by name: our own, torchvision's, timm's, or a user's factory; heads are cut to the data's classes."""

import importlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ModelSpec
from dntk_core.data.class_names import IMAGENET_INDEX
from dntk_core.models.checkpoints import load_weights, read_state
from dntk_core.models.small_resnet import SmallResNet

OWN = {"small_resnet": SmallResNet}


class RGB(nn.Module):
    """Feed grey images to a network that takes colour."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x.expand(-1, 3, -1, -1))


def build_model(spec: ModelSpec, channels: int, class_names: tuple[str, ...], own_code: bool = False) -> nn.Module:
    """Make the network with weights drawn from its seed, downloaded, or read from a file.

    own_code: whether a name `package.module:factory` may import and call the user's own code
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(spec.seed)
        network = _make(spec, channels, class_names, own_code)
    if channels == 1 and spec.name not in OWN and ":" not in spec.name.removeprefix("timm:"):
        return RGB(network)
    return network


def weight_transforms(spec: ModelSpec) -> Any:
    """How torchvision's published weights expect images (crop_size, resize_size, mean, std), or None."""
    if not spec.published or spec.name.startswith("timm:"):
        return None
    return _published(spec).transforms()


def restrict_head(network: nn.Module, rows: list[int]) -> None:
    """Keep only these outputs of the last linear layer, in this order; nothing is trained."""
    linear = [(name, part) for name, part in network.named_modules() if isinstance(part, nn.Linear)]
    if not linear or max(rows) >= linear[-1][1].out_features:
        raise DNTKError(f"the network has no linear head with more than {max(rows)} outputs to take the classes from")
    name, head = linear[-1]
    kept = nn.Linear(head.in_features, len(rows), bias=head.bias is not None)
    kept.weight.data = head.weight.data[rows].clone()
    if head.bias is not None:
        kept.bias.data = head.bias.data[rows].clone()
    parent, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(parent), attribute, kept)


def _make(spec: ModelSpec, channels: int, class_names: tuple[str, ...], own_code: bool) -> nn.Module:
    C = len(class_names)
    if spec.name in OWN:
        network = OWN[spec.name](channels, C)
        if spec.weights:
            load_weights(network, Path(spec.weights))
        return network
    if not spec.weights:
        return _construct(spec, C, own_code)
    if spec.published:
        network = _download(spec)
        outputs = _outputs(network)
    else:
        outputs = C if spec.classes == "" and not _known_wordnet(class_names) else _file_outputs(spec, C)
        network = _construct(spec, outputs, own_code)
        load_weights(network, Path(spec.weights))
    if outputs != C or spec.classes:
        restrict_head(network, _rows(spec, class_names, outputs))
    return network


def _construct(spec: ModelSpec, outputs: int, own_code: bool) -> nn.Module:
    name = spec.name
    if name.startswith("timm:"):
        return _timm_model(name, num_classes=outputs)
    if ":" in name:
        return _own(name, outputs, own_code)
    import torchvision.models

    if name not in torchvision.models.list_models(module=torchvision.models):
        raise DNTKError(
            f"unknown model {name!r}; known: {', '.join(OWN)}, torchvision's classifiers (resnet18, mobilenet_v2, …), "
            "timm:<name>"
        )
    # Without this, some constructors fetch backbone weights or warn about their initialisation.
    extra = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    return torchvision.models.get_model(name, weights=None, num_classes=outputs, **extra)


def _published(spec: ModelSpec) -> Any:
    """A set of weights that torchvision publishes."""
    import torchvision.models

    try:
        # An enum's members include its default under that name.
        return torchvision.models.get_model_weights(spec.name)[spec.weights]
    except (ValueError, KeyError):
        raise DNTKError(
            f"torchvision publishes no weights {spec.weights!r} for {spec.name!r}; give a file or DEFAULT"
        ) from None


def _download(spec: ModelSpec) -> nn.Module:
    import torchvision.models

    try:
        if spec.name.startswith("timm:"):
            return _timm_model(spec.name, pretrained=True)
        return torchvision.models.get_model(spec.name, weights=_published(spec))
    except (OSError, RuntimeError) as error:
        raise DNTKError(f"the weights {spec.weights} of {spec.name} could not be downloaded: {error}") from None


def _timm_model(name: str, **settings: Any) -> nn.Module:
    """A model of timm by name alone: its addresses (local-dir:…, hf-hub:…) would open any folder or host."""
    short = name.removeprefix("timm:")
    if ":" in short or "/" in short:
        raise DNTKError(f"{name!r} is an address; name a model of timm, and give its weights as a file")
    try:
        timm = importlib.import_module("timm")
    except ImportError:
        raise DNTKError("timm is not installed; `pip install timm`, or name a torchvision model") from None
    return timm.create_model(short, **settings)


def _own(name: str, outputs: int, own_code: bool) -> nn.Module:
    if not own_code:
        raise DNTKError(f"{name!r} would run your own code; that is allowed on the command line only")
    module, _, factory = name.partition(":")
    try:
        network = getattr(importlib.import_module(module), factory)(outputs)
    except (ImportError, AttributeError, TypeError) as error:
        raise DNTKError(
            f"{name!r} must name a function of the number of classes that returns a network: {error}"
        ) from None
    if not isinstance(network, nn.Module):
        raise DNTKError(f"{name!r} returned a {type(network).__name__}, not a torch.nn.Module")
    return network


def _rows(spec: ModelSpec, class_names: tuple[str, ...], outputs: int) -> list[int]:
    """Which outputs of a larger head belong to the data's classes: as given, or by WordNet id."""
    if spec.classes:
        try:
            rows = [int(part) for part in spec.classes.split(",")]
        except ValueError:
            rows = []
        if len(rows) != len(class_names) or min(rows) < 0 or len(set(rows)) != len(rows):
            raise DNTKError(
                f"classes must be {len(class_names)} different output numbers separated by commas, one per class in "
                f"alphabetical order, got {spec.classes!r}"
            )
        return rows
    if outputs == 1000 and _known_wordnet(class_names):
        return [IMAGENET_INDEX[name] for name in class_names]
    raise DNTKError(
        f"the head has {outputs} outputs, the data {len(class_names)} classes ({', '.join(class_names[:3])} …); "
        "name their outputs with classes (--classes 0,217,…)"
    )


def _known_wordnet(class_names: tuple[str, ...]) -> bool:
    return all(name in IMAGENET_INDEX for name in class_names)


def _file_outputs(spec: ModelSpec, C: int) -> int:
    """Number of outputs of the weights in a file: the rows of its last matrix."""
    matrices = [value for value in read_state(Path(spec.weights)).values() if value.ndim == 2]
    return len(matrices[-1]) if matrices else C


def _outputs(network: nn.Module) -> int:
    linear = [part for part in network.modules() if isinstance(part, nn.Linear)]
    return linear[-1].out_features if linear else 0
