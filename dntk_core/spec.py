"""What determines a run, and a content key for each of its stages."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields

from dntk_core.errors import DNTKError

# Raise a stage's number when its algorithm changes: old artifacts are then no longer found.
STAGES = {"model": 1, "inputs": 1, "features": 1, "kernels": 1}
OUTPUTS = ("logits", "log_softmax")


@dataclass(frozen=True)
class DataSpec:
    """Which images: a dataset's name."""

    name: str = "digits"


@dataclass(frozen=True)
class ModelSpec:
    """Which network, and how it is trained on the data."""

    name: str = "small_resnet"
    epochs: int = 12
    seed: int = 0


@dataclass(frozen=True)
class InputSpec:
    """Which inputs the kernels are computed on: m kernel inputs balanced over classes, t test inputs."""

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
    inputs: InputSpec = field(default_factory=InputSpec)
    projection: ProjectionSpec = field(default_factory=ProjectionSpec)
    outputs: str = "logits"

    def __post_init__(self):
        _require(self.outputs in OUTPUTS, f"outputs must be one of {', '.join(OUTPUTS)}, got {self.outputs!r}")
        _require(self.model.epochs >= 0, f"epochs must be at least 0, got {self.model.epochs}")
        _require(self.inputs.kernel >= 1, f"kernel inputs must be at least 1, got {self.inputs.kernel}")
        _require(self.inputs.test >= 1, f"test inputs must be at least 1, got {self.inputs.test}")
        _require(self.projection.k >= 1, f"k must be at least 1, got {self.projection.k}")

    @classmethod
    def default(cls) -> "RunSpec":
        """The embedded run: scikit-learn's digits and a small residual network."""
        return cls()

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
            return {"data": asdict(self.data), "model": asdict(self.model)}
        if stage == "inputs":
            return {"data": asdict(self.data), "inputs": asdict(self.inputs)}
        if stage == "features":
            return {
                "model": self.stage_key("model"),
                "inputs": self.stage_key("inputs"),
                "projection": asdict(self.projection),
                "outputs": self.outputs,
            }
        return {"features": self.stage_key("features")}

    @property
    def summary(self) -> str:
        """The run in one line, for people."""
        inputs, projection = self.inputs, self.projection
        k = "" if projection.name == "identity" else f" k={projection.k}"
        return f"{self.data.name} · {self.model.name} · {inputs.kernel}+{inputs.test} inputs · {projection.name}{k}"

    def to_json(self) -> str:
        """Write the spec as JSON with sorted keys."""
        return json.dumps(asdict(self), indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """Read a spec; anything unknown, missing or of the wrong type is an error."""
        try:
            value = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DNTKError(f"a run spec must be JSON: {error}") from None
        return _read(cls, value, "spec")


def _canonical(value) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise DNTKError(sentence)


def _read(cls, value, where: str):
    """Build dataclass `cls` from JSON `value`; missing fields take their defaults, all else must fit exactly."""
    _require(isinstance(value, dict), f"{where} must be an object, got {type(value).__name__}")
    known = {f.name: f for f in fields(cls)}
    unknown = sorted(set(value) - set(known))
    _require(not unknown, f"{where} has no field {', '.join(map(repr, unknown))}; known: {', '.join(known)}")
    return cls(**{name: _read_field(known[name].type, item, f"{where}.{name}") for name, item in value.items()})


def _read_field(kind, item, where: str):
    if kind in (int, str):
        # bool is an int to isinstance, never to a person.
        _require(type(item) is kind, f"{where} must be {kind.__name__}, got {item!r}")
        return item
    return _read(kind, item, where)
