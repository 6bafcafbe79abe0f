"""What determines a run, and a content key for each of its stages."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from math import inf

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.errors import DNTKError
from dntk_core.base.schema import read, require, require_lines, require_one_of

# Raise a stage's number when its algorithm changes: old artifacts are then no longer found.
STAGES = {
    "model": 1,
    "choices": 2,
    "distilled": 1,
    "student": 1,
    "inputs": 1,
    "features": 2,
    "selections": 1,
    "kernels": 1,
}
OUTPUTS = ("logits", "log_softmax")
DISTILLATIONS = ("none", "wmdd", "random", "herding", "k-center", "k-means medoids", "pivoted Cholesky")
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
    def untrained(self) -> "ModelSpec":
        """The same architecture with weights drawn from its seed, its head made for the data's classes."""
        return replace(self, weights="", fingerprint="", classes="")


@dataclass(frozen=True)
class DistillSpec:
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
class RunSpec:
    """All that determines a run; equal specs give equal kernels.

    >>> spec = RunSpec.default()
    >>> RunSpec.from_json(spec.to_json()) == spec
    True
    """

    data: DataSpec = field(default_factory=DataSpec)
    model: ModelSpec = field(default_factory=ModelSpec)
    distill: DistillSpec = field(default_factory=DistillSpec)
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
        self._check_distillation()

    def _check_distillation(self):
        distill = self.distill
        require_one_of("distillation method", distill.method, DISTILLATIONS)
        require_one_of("base", distill.base, BASES)
        require_one_of("barycenter weights", distill.weights, WEIGHTS)
        require_one_of("start", distill.start, STARTS)
        require(distill.per_class >= 1, f"images per class must be at least 1, got {distill.per_class}")
        require(distill.iterations >= 1, f"iterations must be at least 1, got {distill.iterations}")
        require(0 < distill.rate < inf, f"rate must be a positive number, got {distill.rate}")
        require(0 <= distill.bn_weight < inf, f"bn_weight must be a number >= 0, got {distill.bn_weight}")

    @classmethod
    def default(cls) -> "RunSpec":
        """The embedded run: scikit-learn's digits and a small residual network."""
        return cls()

    @property
    def distilled(self) -> bool:
        """Whether the kernel inputs come from dataset distillation."""
        return self.distill.method != "none"

    @property
    def network_stage(self) -> str:
        """The stage that trains the network whose kernels these are."""
        return "student" if self.distilled and self.distill.base == "distilled" else "model"

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages this run goes through, in order."""
        skipped = set() if self.distilled else {"choices", "distilled", "selections"}
        if self.network_stage != "student":
            skipped.add("student")
        return tuple(stage for stage in STAGES if stage not in skipped)

    @property
    def key(self) -> str:
        """The key of the whole run: that of its last stage."""
        return self.stage_key("kernels")

    def stage_key(self, stage: str) -> str:
        """Hash only what `stage` depends on, so that another k does not retrain the model."""
        parts = _canonical({"stage": stage, "version": STAGES[stage], **self._depends_on(stage)})
        return hashlib.sha256(parts.encode()).hexdigest()[:20]

    def _depends_on(self, stage: str) -> dict:
        if stage == "model":
            return {"data": self._data(), "model": self._model()}
        if stage == "choices":
            chosen = {"per_class": self.distill.per_class, "seed": self.distill.seed}
            gradients = {"projection": asdict(self.projection), "outputs": self.outputs, "precision": self.precision}
            return {"model": self.stage_key("model"), **chosen, **gradients}
        if stage == "distilled" and self.distill.method != "wmdd":
            return {"choices": self.stage_key("choices"), "method": self.distill.method}
        if stage == "distilled":
            settings = {name: value for name, value in asdict(self.distill).items() if name != "base"}
            return {"model": self.stage_key("model"), "distill": settings}
        if stage == "student":
            keys = {name: self.stage_key(name) for name in ("model", "distilled")}
            return {**keys, "epochs": self.model.epochs}
        if stage == "inputs" and self.distilled:
            return {"distilled": self.stage_key("distilled"), "test": self.inputs.test, "seed": self.inputs.seed}
        if stage == "inputs":
            return {"data": self._data(), "inputs": asdict(self.inputs)}
        if stage == "selections":
            return {"features": self.stage_key("features"), "inputs": asdict(self.inputs)}
        if stage == "features":
            return {
                "model": self.stage_key(self.network_stage),
                "inputs": self.stage_key("inputs"),
                "projection": asdict(self.projection),
                "outputs": self.outputs,
                "precision": self.precision,
            }
        return {"features": self.stage_key("features")}

    def _data(self) -> dict:
        """The data by its content where that is known: files may lie anywhere."""
        return _without(asdict(self.data), "path" if self.data.fingerprint else "")

    def _model(self) -> dict:
        """The network; one with given weights is not trained, one with pinned weights may lie anywhere."""
        model = _without(asdict(self.model), "epochs" if self.model.weights else "")
        return _without(model, "weights" if self.model.fingerprint else "")

    @property
    def summary(self) -> str:
        """The run in one line, for people."""
        inputs, projection = self.inputs, self.projection
        k = "" if projection.name == "identity" else f" k={projection.k}"
        kernel = f"{self.distill.method} {self.distill.per_class} per class" if self.distilled else f"{inputs.kernel}"
        network = f"{self.model.name} of {self.distill.base} images" if self.distilled else self.model.name
        return f"{self.data.name} · {network} · {kernel}+{inputs.test} inputs · {projection.name}{k}"

    def to_json(self) -> str:
        """Write the spec as JSON with sorted keys."""
        return json.dumps(asdict(self), indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """Read a spec; anything unknown, missing or of the wrong type is an error."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DNTKError(f"a run spec must be JSON: {error}") from None
        return read(cls, value, "spec")


def _without(parts: dict, name: str) -> dict:
    return {key: value for key, value in parts.items() if key != name}


def _canonical(value) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
