"""Networks by name: our own, torchvision's, timm's, or a user's factory; heads are cut to the data's classes."""

import copy
import importlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.own_functions import as_sentence, import_named, takes
from dntk_core.base.spec import ModelSpec
from dntk_core.data.batch import Batch, leaves, length
from dntk_core.data.class_names import IMAGENET_INDEX
from dntk_core.models import hugging_face
from dntk_core.models.calling import call
from dntk_core.models.checkpoints import load_weights, read_state
from dntk_core.models.small_resnet import SmallResNet

OWN = {"small_resnet": SmallResNet}
# Further heads that these have in training alone are left out; a weights file may have them.
WITH_HEADS_FOR_TRAINING = {"googlenet": ("aux1.", "aux2."), "inception_v3": ("AuxLogits.",)}


class RGB(nn.Module):
    """Feed grey images to a network that takes colour."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x.expand(-1, 3, -1, -1))


def build_model(
    spec: ModelSpec,
    channels: int,
    class_names: tuple[str, ...],
    own_code: bool = False,
    example: Batch | None = None,
) -> nn.Module:
    """Make the network with weights drawn from its seed, downloaded, or read from a file, with an output per class.

    channels: of the images, 0 for inputs of other kinds
    own_code: whether a name `package.module:factory` may import and call the user's own code
    example: a few inputs; the network is called on them, and refused in one sentence where it does not take them
    """
    C = len(class_names)
    file = spec.file and not spec.hugging_face
    wanted = _file_outputs(spec, C) if file and (spec.classes or _known_wordnet(class_names)) else C
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(spec.seed)
        network = _download(spec) if spec.published else _construct(spec, channels, wanted, own_code)
        seen = _seeing(network, spec, channels)
        outputs = _outputs(seen, spec, example)
    if file:
        load_weights(network, Path(spec.weights), WITH_HEADS_FOR_TRAINING.get(spec.name, ()))
    if spec.classes or outputs != C:
        restrict_head(network, outputs, _rows(spec, class_names, outputs))
        if example is not None and _outputs(seen, spec, example) != C:
            raise DNTKError(
                f"the {outputs} outputs of {spec.name!r} are not those of its last layer; cut them yourself"
            )
    return seen


def rebuild_model(
    spec: ModelSpec, channels: int, class_names: tuple[str, ...], own_code: bool = False, example: Batch | None = None
) -> nn.Module:
    """Make a network of the same architecture with weights drawn from its seed: its own come from elsewhere."""
    C = len(class_names)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(spec.seed)
        network = _construct(spec, channels, C, own_code)
        seen = _seeing(network, spec, channels)
        outputs = _outputs(seen, spec, example)
    # A factory may have a head of its own.
    if outputs != C:
        restrict_head(network, outputs, _rows(spec, class_names, outputs))
    return seen


def weight_transforms(spec: ModelSpec) -> Any:
    """How torchvision's published weights expect images (crop_size, resize_size, mean, std), or None."""
    if not spec.published or spec.name.startswith("timm:"):
        return None
    return _published(spec).transforms()


def restrict_head(network: nn.Module, outputs: int, rows: list[int]) -> None:
    """Keep only these of a network's outputs, in this order, by cutting its last layer; nothing is trained."""
    heads = [(name, part) for name, part in network.named_modules() if _width(part) == outputs]
    if not heads or max(rows) >= outputs:
        raise DNTKError(f"the network has no last layer with more than {max(rows)} outputs to take the classes from")
    name, head = heads[-1]
    kept = copy.deepcopy(head)
    setattr(kept, "out_features" if isinstance(head, nn.Linear) else "out_channels", len(rows))
    for attribute in ("weight", "bias"):
        if (value := getattr(head, attribute)) is not None:
            setattr(kept, attribute, nn.Parameter(value.data[rows].clone(), value.requires_grad))
    parent, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(parent), attribute, kept)


def _seeing(network: nn.Module, spec: ModelSpec, channels: int) -> nn.Module:
    """A network that takes images of this many channels."""
    return RGB(network) if channels == 1 and not spec.own and spec.name not in OWN else network


def _construct(spec: ModelSpec, channels: int, outputs: int, own_code: bool) -> nn.Module:
    """Make a network with weights drawn at random; an output count is only a wish to a user's own factory."""
    name = spec.name
    if spec.own:
        return _own(name, outputs, own_code)
    if spec.hugging_face:
        return hugging_face.load(Path(spec.weights))
    if not channels:
        raise DNTKError(f"the network {name!r} takes images; name one for these inputs as package.module:factory")
    if name in OWN:
        return OWN[name](channels, outputs)
    if name.startswith("timm:"):
        return _timm_model(name, num_classes=outputs)
    import torchvision.models

    if name not in torchvision.models.list_models(module=torchvision.models):
        raise DNTKError(
            f"unknown model {name!r}; known: {', '.join(OWN)}, torchvision's classifiers (resnet18, mobilenet_v2, …), "
            "timm:NAME, hf:FOLDER, package.module:factory"
        )
    if name not in WITH_HEADS_FOR_TRAINING:
        return torchvision.models.get_model(name, weights=None, num_classes=outputs)
    # Without `init_weights` the constructors warn; published weights expect images to be scaled anew by the network.
    more = {"init_weights": True, "aux_logits": False, "transform_input": spec.published}
    return torchvision.models.get_model(name, weights=None, num_classes=outputs, **more)


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
        raise DNTKError('timm is not installed; `pip install "dntk[timm]"`, or name a torchvision model') from None
    # timm raises RuntimeError for a name that it does not know, and for much else.
    if not timm.is_model(short):
        raise DNTKError(f"timm has no model {short!r}; timm.list_models() names them")
    return timm.create_model(short, **settings)


def _own(name: str, outputs: int, own_code: bool) -> nn.Module:
    if not own_code:
        raise DNTKError(f"{name!r} would run your own code; that is allowed on the command line only")
    factory = import_named(name, "a function, of the number of classes or of nothing, that returns a network")
    with as_sentence(f"{name!r} failed"):
        network = factory(outputs) if takes(factory, outputs) else factory()
    if not isinstance(network, nn.Module):
        raise DNTKError(f"{name!r} returned a {type(network).__name__}, not a torch.nn.Module")
    return network


def _rows(spec: ModelSpec, class_names: tuple[str, ...], outputs: int) -> list[int]:
    """Which outputs of a larger head belong to the data's classes: as given, or by WordNet id."""
    C = len(class_names)
    if spec.classes:
        try:
            rows = [int(part) for part in spec.classes.split(",")]
        except ValueError:
            rows = []
        if len(rows) != C or min(rows) < 0 or len(set(rows)) != C:
            raise DNTKError(
                f"classes must be {C} different output numbers separated by commas, one per class in "
                f"alphabetical order, got {spec.classes!r}"
            )
        if outputs == C and not spec.weights:
            raise DNTKError(f"the network has an output for each of the {C} classes already; leave --classes out")
        return rows
    if outputs == 1000 and _known_wordnet(class_names):
        return [IMAGENET_INDEX[name] for name in class_names]
    raise DNTKError(
        f"the network has {outputs} outputs, the data {C} classes ({', '.join(class_names[:3])} …); "
        + ("name those that belong to the classes (--classes 0,217,…)" if outputs > C else "give it one for each")
    )


def _known_wordnet(class_names: tuple[str, ...]) -> bool:
    return all(name in IMAGENET_INDEX for name in class_names)


def _file_outputs(spec: ModelSpec, C: int) -> int:
    """Number of outputs of the weights in a file: the rows of its last matrix, or, without any, of its last filters."""
    state = read_state(Path(spec.weights)).values()
    heads = [value for value in state if value.ndim == 2] or [value for value in state if value.ndim > 2]
    return len(heads[-1]) if heads else C


def _outputs(network: nn.Module, spec: ModelSpec, example: Batch | None) -> int:
    """How many outputs a network has: seen on an example, else by its last linear layer."""
    if example is None:
        linear = [part for part in network.modules() if isinstance(part, nn.Linear)]
        return linear[-1].out_features if linear else 0
    shapes = ", ".join(str(tuple(leaf.shape[1:])) for leaf in leaves(example))
    with torch.no_grad(), as_sentence(f"{spec.name!r} does not take inputs of shape {shapes}"):
        y = call(network.eval(), example)
    n = length(example)
    if y.ndim != 2 or len(y) != n:
        raise DNTKError(f"the network must return (batch, C), got {tuple(y.shape)} for a batch of {n}; wrap it")
    return y.shape[1]


def _width(part: nn.Module) -> int:
    """Outputs of a layer that can be cut."""
    if isinstance(part, nn.Linear):
        return part.out_features
    return part.out_channels if isinstance(part, nn.Conv2d) and part.kernel_size == (1, 1) and part.groups == 1 else 0
