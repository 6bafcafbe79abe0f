"""The parts of a run: its data, network, inputs and projection, and what they may be (DatasetSpec: dataset.py)."""

from dataclasses import dataclass, field
from math import inf

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.dataset import DatasetSpec, check_dataset
from dntk_core.base.schema import given, require, require_lines, require_numbers, require_one_of, without
from dntk_core.base.sketching import KEPT, SketchSpec, check_sketch

OUTPUTS = ("logits", "log_softmax")
# What inputs are; data/kinds.py says more.
KINDS = ("image", "table", "tokens", "array")
# What training does to images: what is usual for the data, or nothing.
AUGMENTATIONS = ("usual", "none")
# Prefixes of networks that come from a library, not from a user's own code.
LIBRARIES = ("timm:",)
# The network whose weights are a folder of transformers.
HUGGING_FACE = "hf"
# A run made in Python, of a network and data at hand, has this before their names: content alone tells them apart.
PYTHON = "python:"
# Pixels of an image's side.
LARGEST_SIDE = 4096


# Files are named by the server's owner, fingerprints follow from them: the web page offers neither.
FILE, FINGERPRINT = {"kind": "file"}, {"kind": "fingerprint"}
# Checkpoints belong to a series, which sets them for all of its runs.
SERIES = {"kind": "series"}
# The network as training leaves it.
LAST = -1


@dataclass(frozen=True)
class DataSpec:
    """Which inputs: a dataset's name, what they are, and how images are brought to size and scale.

    path: of the files, where the dataset has any; fingerprint: of their content, filled in by `pin`
    kind: one of KINDS; empty = as the source says. vocabulary: a file with the words of token ids, for pages
    size, resize: the shorter side is resized to `resize`, the middle size × size is taken; 0 = as usual for the network
    mean, std: numbers per channel separated by commas; empty = as usual
    """

    name: str = "digits"
    path: str = field(default="", metadata=FILE)
    size: int = 0
    resize: int = 0
    mean: str = ""
    std: str = ""
    fingerprint: str = field(default="", metadata=FINGERPRINT)
    kind: str = ""
    vocabulary: str = field(default="", metadata=FILE)

    @property
    def own(self) -> bool:
        """Whether a user's own code returns the data, named package.module:factory."""
        return ":" in self.name and not self.name.startswith(PYTHON)

    @property
    def content(self) -> dict:
        """What keys hold of it: files by their content where that is known, since they may lie anywhere."""
        found = _nameless(given(self, "kind", "vocabulary"))
        return without(found, *(("path", "vocabulary") if self.fingerprint else ()))


@dataclass(frozen=True)
class ModelSpec:
    """Which network, and where its weights come from: a file, published ones, or training on the data.

    weights: a file, or the name of published weights (DEFAULT, IMAGENET1K_V1 …); empty = train for `epochs`
    fingerprint: of the weights file, filled in by `pin`; code: of a user's own code, filled in before it is computed
    classes: numbers of the outputs that belong to the data's classes, separated by commas; empty = all, or by name
    rate, batch, decay: training's learning rate, inputs per step and weight decay; augment: what it does to images
    keep: epochs after which training keeps the weights, separated by commas, 0 being before the first
    at: the one of them whose weights are taken; LAST takes the network as training leaves it
    """

    name: str = "small_resnet"
    weights: str = field(default="", metadata=FILE)
    fingerprint: str = field(default="", metadata=FINGERPRINT)
    classes: str = ""
    epochs: int = 12
    seed: int = 0
    rate: float = 0.2
    batch: int = 64
    decay: float = 5e-4
    augment: str = "usual"
    code: str = field(default="", metadata=FINGERPRINT)
    keep: str = field(default="", metadata=SERIES)
    at: int = field(default=LAST, metadata=SERIES)

    @property
    def kept(self) -> tuple[int, ...]:
        """The epochs after which weights are kept, in order."""
        return tuple(int(epoch) for epoch in self.keep.split(",")) if self.keep else ()

    @property
    def published(self) -> bool:
        """Whether the weights are a published set's name rather than a file."""
        return bool(self.weights) and not self.hugging_face and "." not in self.weights and "/" not in self.weights

    @property
    def hugging_face(self) -> bool:
        """Whether the weights are a folder of transformers, which holds the architecture too."""
        return self.name == HUGGING_FACE

    @property
    def file(self) -> bool:
        """Whether the weights are a file."""
        return bool(self.weights) and not self.published

    @property
    def own(self) -> bool:
        """Whether it is a user's own code, named package.module:factory."""
        return ":" in self.name and not self.name.startswith((*LIBRARIES, PYTHON))

    @property
    def content(self) -> dict:
        """What keys hold of it: given weights are not trained, and a pinned file of them may lie anywhere."""
        found = without(_nameless(given(self, "code", "at", *_TRAINING)), "keep")
        found = without(found, *(("epochs", "at", *_TRAINING) if self.weights else ()))
        return without(found, *(("weights",) if self.fingerprint else ()))

    @property
    def training(self) -> dict:
        """How it is trained, as far as that is not as usual."""
        return {name: value for name, value in given(self, *_TRAINING).items() if name in _TRAINING}


_TRAINING = ("rate", "batch", "decay", "augment")


@dataclass(frozen=True)
class InputSpec:
    """Which inputs the kernels are computed on: m kernel inputs balanced over classes, t test inputs.

    A distilled run has its distilled images as kernel inputs; `kernel` real ones then judge what those capture.
    """

    kernel: int = 500
    test: int = 500
    seed: int = 0


@dataclass(frozen=True)
class ProjectionSpec:
    """Which random projection R^P → R^k the gradients go through; `identity` keeps all P.

    groups: `layers`, `blocks` or regular expressions separated by spaces: parameters that have columns of their own
    parameters: a regular expression, to study only the parameters whose name it finds
    """

    name: str = "structured"
    k: int = 2048
    seed: int = 0
    groups: str = ""
    parameters: str = ""

    @property
    def content(self) -> dict:
        """What keys hold of it."""
        return given(self, "groups", "parameters")

    def exact(self, P: int) -> bool:
        """Whether gradients of P parameters stay as they are: asked for, or so few that they need no projection."""
        return self.name == "identity" or self.k > P or (self.k == P and bool(self.parameters))


@dataclass(frozen=True)
class Parts:
    """All parts of a run, checked; `RunSpec` adds what follows from them."""

    data: DataSpec = field(default_factory=DataSpec)
    model: ModelSpec = field(default_factory=ModelSpec)
    dataset: DatasetSpec = field(default_factory=DatasetSpec, metadata={"formerly": "distill"})
    inputs: InputSpec = field(default_factory=InputSpec)
    projection: ProjectionSpec = field(default_factory=ProjectionSpec)
    outputs: str = "logits"
    precision: str = "float32"
    sketch: SketchSpec = field(default_factory=SketchSpec)
    kept: str = "float32"

    def __post_init__(self):
        require_lines(self)
        require_one_of("kept", self.kept, KEPT)
        require_one_of("precision", self.precision, PRECISIONS)
        require_one_of("outputs", self.outputs, OUTPUTS)
        require_one_of("kind", self.data.kind, ("", *KINDS))
        _check_training(self.model)
        require_numbers("classes", self.model.classes)
        check_sketch(self.sketch)
        require(
            not (self.sketch.used and self.distilled), "dataset distillation needs every class; leave the sketch out"
        )
        hugging_face = self.model.hugging_face
        require(not hugging_face or bool(self.model.weights), "the network 'hf' needs a folder: --model hf:FOLDER")
        require(not hugging_face or self.network_stage == "model", "the network 'hf' comes trained; base must be real")
        sides = (self.data.size, self.data.resize)
        require(min(sides) >= 0 and max(sides) <= LARGEST_SIDE, f"size and resize must be 0 to {LARGEST_SIDE}")
        require(self.data.resize == 0 or self.data.resize >= self.data.size, "resize must be at least size")
        require(self.inputs.kernel >= 1, f"kernel inputs must be at least 1, got {self.inputs.kernel}")
        require(self.inputs.test >= 1, f"test inputs must be at least 1, got {self.inputs.test}")
        require(self.projection.k >= 1, f"k must be at least 1, got {self.projection.k}")
        check_dataset(self.dataset)

    @property
    def from_python(self) -> bool:
        """Whether Python gave network and data, so that they cannot be loaded by name."""
        return self.data.name.startswith(PYTHON)

    @property
    def distilled(self) -> bool:
        """Whether the kernel inputs come from dataset distillation."""
        return self.dataset.method != "none"

    @property
    def network_stage(self) -> str:
        """The stage that trains the network whose kernels these are."""
        return "student" if self.distilled and self.dataset.base == "distilled" else "model"


def _check_training(spec: ModelSpec) -> None:
    require_one_of("augmentation", spec.augment, AUGMENTATIONS)
    require(spec.epochs >= 0, f"epochs must be at least 0, got {spec.epochs}")
    require(0 < spec.rate < inf, f"the learning rate must be a positive number, got {spec.rate}")
    require(spec.batch >= 1, f"the batch size must be at least 1, got {spec.batch}")
    require(0 <= spec.decay < inf, f"the weight decay must be a number >= 0, got {spec.decay}")
    _check_kept(spec)


def _check_kept(spec: ModelSpec) -> None:
    numbers = spec.keep.split(",") if spec.keep else []
    plain = all(number.isascii() and number.isdigit() and len(number) < 7 for number in numbers)
    require(
        plain and list(spec.kept) == sorted(set(spec.kept)) and all(epoch <= spec.epochs for epoch in spec.kept),
        f"kept epochs must be ascending numbers from 0 to {spec.epochs} separated by commas (0,1,2,5), "
        f"got {spec.keep[:40]!r}",
    )
    require(
        spec.at == LAST or spec.at in spec.kept,
        f"weights after epoch {spec.at} are not among those that are kept ({spec.keep or 'none'})",
    )


def _nameless(parts: dict) -> dict:
    """What Python gave is known by its fingerprint, whatever it is called."""
    return parts | {"name": PYTHON} if parts["name"].startswith(PYTHON) else parts
