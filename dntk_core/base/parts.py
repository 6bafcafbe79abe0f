"""The parts of a run: its data, network, dataset distillation, inputs and projection, and what they may be."""

from dataclasses import asdict, dataclass, field, replace
from math import inf

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.schema import require, require_lines, require_one_of

OUTPUTS = ("logits", "log_softmax")
# Ways to choose real images; dataset/selections.py says how.
SELECTION_NAMES = ("random", "herding", "k-center", "k-means medoids", "pivoted Cholesky")
DATASET_METHODS = ("none", "wmdd", *SELECTION_NAMES)
BASES = ("real", "distilled")
WEIGHTS = ("free", "uniform")
STARTS = ("medoids", "noise")
# Pixels of an image's side.
LARGEST_SIDE = 4096


# Files are named by the server's owner, fingerprints follow from them: the web page offers neither.
FILE, FINGERPRINT = {"kind": "file"}, {"kind": "fingerprint"}


@dataclass(frozen=True)
class DataSpec:
    """Which images: a dataset's name, and how they are brought to size and scale.

    path: of the files, where the dataset has any; fingerprint: of their content, filled in by `pin`
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

    @property
    def content(self) -> dict:
        """What keys hold of it: files by their content where that is known, since they may lie anywhere."""
        return _without(asdict(self), "path" if self.fingerprint else "")


@dataclass(frozen=True)
class ModelSpec:
    """Which network, and where its weights come from: a file, published ones, or training on the data.

    weights: a file, or the name of published weights (DEFAULT, IMAGENET1K_V1 …); empty = train for `epochs`
    fingerprint: of the weights file, filled in by `pin`
    classes: numbers of the outputs that belong to the data's classes, separated by commas; empty = all, or by name
    """

    name: str = "small_resnet"
    weights: str = field(default="", metadata=FILE)
    fingerprint: str = field(default="", metadata=FINGERPRINT)
    classes: str = ""
    epochs: int = 12
    seed: int = 0

    @property
    def published(self) -> bool:
        """Whether the weights are a published set's name rather than a file."""
        return bool(self.weights) and "." not in self.weights and "/" not in self.weights

    @property
    def content(self) -> dict:
        """What keys hold of it: given weights are not trained, and a pinned file of them may lie anywhere."""
        model = _without(asdict(self), "epochs" if self.weights else "")
        return _without(model, "weights" if self.fingerprint else "")

    @property
    def untrained(self) -> "ModelSpec":
        """The same architecture with weights drawn from its seed, its head made for the data's classes."""
        return replace(self, weights="", fingerprint="", classes="")


@dataclass(frozen=True)
class DatasetSpec:
    """How n training images become the m kernel inputs: not at all, synthesised (`wmdd`), or selected.

    base: which network the kernels are of, trained on `real` images or only on the `distilled` ones
    iterations, rate, bn_weight, weights, start: of WMDD alone; weights of its barycenters are free or uniform
    """

    method: str = "none"
    base: str = "real"
    per_class: int = 10
    iterations: int = 300
    rate: float = 0.1
    bn_weight: float = 10.0
    weights: str = "free"
    start: str = "medoids"
    seed: int = 0


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
    """Which random projection R^P → R^k the gradients go through; `identity` keeps all P."""

    name: str = "structured"
    k: int = 2048
    seed: int = 0


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

    def __post_init__(self):
        require_lines(self)
        require_one_of("precision", self.precision, PRECISIONS)
        require_one_of("outputs", self.outputs, OUTPUTS)
        require(self.model.epochs >= 0, f"epochs must be at least 0, got {self.model.epochs}")
        sides = (self.data.size, self.data.resize)
        require(min(sides) >= 0 and max(sides) <= LARGEST_SIDE, f"size and resize must be 0 to {LARGEST_SIDE}")
        require(self.data.resize == 0 or self.data.resize >= self.data.size, "resize must be at least size")
        require(self.inputs.kernel >= 1, f"kernel inputs must be at least 1, got {self.inputs.kernel}")
        require(self.inputs.test >= 1, f"test inputs must be at least 1, got {self.inputs.test}")
        require(self.projection.k >= 1, f"k must be at least 1, got {self.projection.k}")
        _check_dataset(self.dataset)

    @property
    def distilled(self) -> bool:
        """Whether the kernel inputs come from dataset distillation."""
        return self.dataset.method != "none"

    @property
    def network_stage(self) -> str:
        """The stage that trains the network whose kernels these are."""
        return "student" if self.distilled and self.dataset.base == "distilled" else "model"


def _check_dataset(spec: DatasetSpec) -> None:
    require_one_of("dataset method", spec.method, DATASET_METHODS)
    require_one_of("base", spec.base, BASES)
    require_one_of("barycenter weights", spec.weights, WEIGHTS)
    require_one_of("start", spec.start, STARTS)
    require(spec.per_class >= 1, f"images per class must be at least 1, got {spec.per_class}")
    require(spec.iterations >= 1, f"iterations must be at least 1, got {spec.iterations}")
    require(0 < spec.rate < inf, f"rate must be a positive number, got {spec.rate}")
    require(0 <= spec.bn_weight < inf, f"bn_weight must be a number >= 0, got {spec.bn_weight}")


def _without(parts: dict, name: str) -> dict:
    return {key: value for key, value in parts.items() if key != name}
