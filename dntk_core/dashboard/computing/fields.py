"""How every setting of a run is asked for in the form, a row each: FIELDS. What has no row is asked for by its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.sketching import MOST_OFTEN
from dntk_core.base.spec import AUGMENTATIONS, BASES, KEPT, KINDS, OUTPUTS, STARTS, WEIGHTS, dataset_methods
from dntk_core.data.sources import SOURCES

# torchvision's classifiers; asking it would load PyTorch, which takes seconds. A test compares.
FAMILIES = (
    "alexnet convnext_base convnext_large convnext_small convnext_tiny densenet121 densenet161 densenet169 densenet201 "
    "efficientnet_b0 efficientnet_b1 efficientnet_b2 efficientnet_b3 efficientnet_b4 efficientnet_b5 efficientnet_b6 "
    "efficientnet_b7 efficientnet_v2_l efficientnet_v2_m efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5 "
    "mnasnet0_75 mnasnet1_0 mnasnet1_3 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small regnet_x_16gf regnet_x_1_6gf "
    "regnet_x_32gf regnet_x_3_2gf regnet_x_400mf regnet_x_800mf regnet_x_8gf regnet_y_128gf regnet_y_16gf "
    "regnet_y_1_6gf regnet_y_32gf regnet_y_3_2gf regnet_y_400mf regnet_y_800mf regnet_y_8gf resnet101 resnet152 "
    "resnet18 resnet34 resnet50 resnext101_32x8d resnext101_64x4d resnext50_32x4d shufflenet_v2_x0_5 "
    "shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0 squeezenet1_0 squeezenet1_1 swin_b swin_s swin_t "
    "swin_v2_b swin_v2_s swin_v2_t vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn vit_b_16 vit_b_32 "
    "vit_h_14 vit_l_16 vit_l_32 wide_resnet101_2 wide_resnet50_2"
)
MODELS = ("small_resnet", *FAMILIES.split())
PROJECTION_NAMES = ("structured", "hadamard", "orthonormal", "sparse", "identity")
# Numbers beyond these are typing errors; JavaScript could not hold some of them.
MOST_INPUTS, MOST_DIMENSIONS, MOST_STEPS, MOST_SEED = 10**6, 10**6, 10**5, 2**31


@dataclass(frozen=True)
class Field:
    """One setting as it is asked for.

    choices: what it may be; open: whether another text may be typed
    low, high: of a number
    check: what is wrong with a text, empty if nothing is
    """

    label: str
    help: str
    choices: Sequence[str] = ()
    open: bool = False
    low: float | None = None
    high: float | None = None
    check: Callable[[str], str] = lambda text: ""


def _known_model(name: str) -> str:
    if name in MODELS or name == "hf" or ":" in name:
        return ""
    return "unknown network; choose one of the list, or timm:<name>"


def _output_numbers(text: str) -> str:
    numbers = [part.strip() for part in text.split(",")] if text else []
    good = all(part.isascii() and part.isdigit() for part in numbers)
    return "" if good else "numbers separated by commas, such as 0, 217, 482; or nothing, for all"


def _exact_classes(text: str) -> str:
    good = MOST_OFTEN.fullmatch(text) or not _output_numbers(text)
    return "" if good else "numbers separated by commas, such as 0, 217; or top20; or nothing"


def _floats(text: str) -> str:
    try:
        [float(part) for part in text.split(",")] if text else []
    except ValueError:
        return "a number for each channel, separated by commas; or nothing, for the usual ones"
    return ""


FIELDS: dict[str, Field] = {
    "data.name": Field("Dataset", "Where the images come from; folder and npz read your own.", tuple(SOURCES)),
    "data.path": Field("Data path", "A folder or .npz file below the server's folders."),
    "data.kind": Field("Kind of inputs", "Empty: as the data say.", ("", *KINDS)),
    "data.vocabulary": Field("Vocabulary", "A file with the words of token ids, to show texts."),
    "model.rate": Field("Training rate", "Learning rate of training.", low=1e-6, high=1e3),
    "model.batch": Field("Training batch", "Inputs per step of training.", low=1, high=MOST_STEPS),
    "model.decay": Field("Weight decay", "Of training.", low=0.0, high=1e3),
    "model.augment": Field("Augmentation", "What training does to images.", AUGMENTATIONS),
    "inputs.kernel": Field(
        "Kernel inputs m",
        "Training images, balanced over classes, between which the kernels are computed. Time grows with m, memory "
        "with m².",
        low=1,
        high=MOST_INPUTS,
    ),
    "inputs.test": Field("Test inputs t", "Images on which predictions are scored.", low=1, high=MOST_INPUTS),
    "model.name": Field(
        "Network", "Our small one for small images, torchvision's, or timm:<name>.", MODELS, open=True,
        check=_known_model,
    ),
    "model.weights": Field("Weights", "A file below the server's folders; empty: train on the data."),
    "model.epochs": Field("Training epochs", "Only where no weights are given.", low=0, high=MOST_STEPS),
    "model.classes": Field(
        "Outputs used", "Numbers of the network's outputs that are the data's classes; empty: all, or found by name.",
        check=_output_numbers,
    ),
    "projection.name": Field(
        "Projection", "How gradients of P parameters become k numbers; identity keeps all P, exactly.",
        PROJECTION_NAMES,
    ),
    "projection.k": Field(
        "Dimension k", "More dimensions, smaller kernel error: it falls as 1/√k. Stay away from k ≈ m.",
        low=1, high=MOST_DIMENSIONS,
    ),
    "kept": Field("Gradients kept as", "float16 and bfloat16 take half the disk; the error is measured.", KEPT),
    "sketch.q": Field(
        "Class sketch q", "Random sums of the logits in the place of all classes, for very many classes; 0: none.",
        low=0, high=MOST_DIMENSIONS,
    ),
    "sketch.error": Field("Class sketch error", "Of the mean kernel; chooses q where that is 0.", low=0.0, high=0.99),
    "sketch.exact": Field(
        "Exact classes", "Classes that keep gradients of their own: numbers, or top20 for the twenty most often among "
        "the five largest outputs of an input.", check=_exact_classes,
    ),
    "sketch.seed": Field("Sketch seed", "Which sums are drawn.", low=0, high=MOST_SEED),
    "outputs": Field("Outputs", "Whose gradients are taken: the logits, or their log-softmax.", OUTPUTS),
    "precision": Field("Precision", "Of gradients while they are computed.", PRECISIONS),
    "dataset.method": Field(
        "Distil the images first", "none: kernel inputs are real images. wmdd: a few synthetic ones per class. "
        "The others choose real ones.", dataset_methods(),
    ),
    "dataset.per_class": Field("Images per class", "How many stand for a class.", low=1, high=MOST_INPUTS),
    "dataset.base": Field("Network trained on", "The images whose network's kernels are studied.", BASES),
    "dataset.iterations": Field("Iterations", "Optimisation steps of wmdd.", low=1, high=MOST_STEPS),
    "dataset.rate": Field("Learning rate", "Of wmdd's optimiser.", low=1e-6, high=1e3),
    "dataset.bn_weight": Field(
        "Batch-norm weight", "Of wmdd's second term; large images want 1,000.", low=0.0, high=1e6
    ),
    "dataset.weights": Field("Weights of the images", "Of wmdd's barycenters.", WEIGHTS),
    "dataset.start": Field("Start from", "Real images, or noise.", STARTS),
    "dataset.precision": Field(
        "Precision of distillation", "Of wmdd, and of a network that learns from few images. bfloat16 is faster where "
        "processor or GPU have it.", PRECISIONS,
    ),
    "data.size": Field("Image side", "Pixels; 0: as usual for the network.", low=0, high=4096),
    "data.resize": Field("Resized side", "Pixels before the middle is cut out; 0: as usual.", low=0, high=4096),
    "data.mean": Field("Channel means", "Subtracted; empty: as usual.", check=_floats),
    "data.std": Field("Channel deviations", "Divided by; empty: as usual.", check=_floats),
    "model.seed": Field("Network seed", "Of its first weights and its training.", low=0, high=MOST_SEED),
    "inputs.seed": Field("Inputs seed", "Which inputs are drawn.", low=0, high=MOST_SEED),
    "projection.groups": Field(
        "Groups of parameters",
        "Kept apart, for the page Layers: layers, blocks, or regular expressions with spaces between. Empty: none.",
        choices=("", "blocks", "layers"),
        open=True,
    ),
    "projection.parameters": Field(
        "Parameters studied", "A regular expression that finds their names, such as ^head or bn. Empty: all."
    ),
    "projection.seed": Field("Projection seed", "Which projection is drawn.", low=0, high=MOST_SEED),
    "dataset.seed": Field("Distillation seed", "Which images are drawn.", low=0, high=MOST_SEED),
}  # fmt: skip

# What belongs together. Settings that no group names come with the last one.
GROUPS: dict[str, tuple[str, ...]] = {
    "Data": ("data.name", "data.path", "data.kind", "data.vocabulary", "inputs.kernel", "inputs.test"),
    "Network": ("model.name", "model.weights", "model.epochs", "model.classes"),
    "Gradients": ("projection.name", "projection.k"),
    "Dataset distillation": (
        "dataset.method", "dataset.per_class", "dataset.base", "dataset.iterations", "dataset.rate",
        "dataset.bn_weight", "dataset.weights", "dataset.start",
    ),
    "More settings": (),
}  # fmt: skip

# Where another dataset is chosen, what goes well with it; the rest stays.
SUGGESTED: dict[str, dict[str, object]] = {
    "digits": {"model.name": "small_resnet", "model.epochs": 12, "inputs.kernel": 500, "data.size": 0},
    "mnist": {"model.name": "small_resnet", "model.epochs": 2, "inputs.kernel": 500, "data.size": 0},
    "fashion_mnist": {"model.name": "small_resnet", "model.epochs": 4, "inputs.kernel": 500, "data.size": 0},
    "kmnist": {"model.name": "small_resnet", "model.epochs": 4, "inputs.kernel": 500, "data.size": 0},
    "cifar10": {"model.name": "small_resnet", "model.epochs": 10, "inputs.kernel": 500, "data.size": 0},
    "cifar100": {"model.name": "resnet18", "model.epochs": 15, "inputs.kernel": 1000, "data.size": 0},
    "imagenette": {"model.name": "resnet18", "model.epochs": 8, "inputs.kernel": 500, "data.size": 128},
    "folder": {"model.name": "resnet18", "model.epochs": 8, "data.size": 128},
}


def shown(name: str, distilled: bool) -> bool:
    """Whether a setting matters: those of dataset distillation beside its method only where there is any."""
    return distilled or not name.startswith("dataset.") or name == "dataset.method"
