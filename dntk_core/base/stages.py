"""The stages of a run, one row each: what a stage is made of, hashed into its key, and which module builds it.

The table lies below all rooms that use it: keys name runs in the cache, and listing runs must not load PyTorch. So a
row names its module, which `run/` imports when the stage is computed.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from dntk_core.base.parts import SELECTION_NAMES, Parts


def always(run: Parts) -> bool:
    """Every run goes through the stage."""
    return True


@dataclass(frozen=True)
class Stage:
    """One step of a run, computed once and cached.

    version:  raise it when the algorithm changes: old artifacts are then no longer found
    needs:    the stages it is built from, by the name its key has them under; of these and what they need in turn the
              builder gets the artifacts, and of no others
    settings: all else it depends on, as JSON
    build:    a module with build(work), and where there is any help(work), what other processes can do meanwhile, and
              disk(sizes), the bytes it writes
    when:     which runs go through it
    holds:    arrays, files and notes that are read later; an artifact without them is not one of this stage
    """

    name: str
    version: int
    needs: Callable[[Parts], dict[str, str]]
    settings: Callable[[Parts], dict]
    build: str
    when: Callable[[Parts], bool] = always
    holds: tuple[str, ...] = ()


def stages_of(run: Parts) -> tuple[str, ...]:
    """The stages a run goes through, in the order of the table."""
    return tuple(name for name, stage in STAGES.items() if stage.when(run))


def stage_key(run: Parts, name: str) -> str:
    """Hash only what a stage depends on, so that another k does not retrain the model."""
    stage = STAGES[name]
    needs = {role: stage_key(run, need) for role, need in stage.needs(run).items()}
    parts = {"stage": name, "version": stage.version, **needs, **stage.settings(run)}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:20]


def all_needs(run: Parts, name: str) -> set[str]:
    """The stages whose content a stage's key holds, directly or through others."""
    direct = set(STAGES[name].needs(run).values())
    return direct.union(*(all_needs(run, need) for need in direct))


def _needs(*names: str) -> Callable[[Parts], dict[str, str]]:
    return lambda run: {name: name for name in names}


def _none(run: Parts) -> dict:
    return {}


def _gradients(run: Parts) -> dict:
    """What projected gradients depend on beside the network and the inputs."""
    return {"projection": asdict(run.projection), "outputs": run.outputs, "precision": run.precision}


def _distilled_needs(run: Parts) -> dict[str, str]:
    chosen = {} if run.dataset.method == "wmdd" else {"selected": "selected"}
    return {"model": "model"} | chosen


def _distilled_settings(run: Parts) -> dict:
    if run.dataset.method != "wmdd":
        return {"method": run.dataset.method}
    # Hashed under the name it had when the first such runs were cached.
    return {"distill": {name: value for name, value in asdict(run.dataset).items() if name != "base"}}


def _inputs_settings(run: Parts) -> dict:
    if run.distilled:
        return {"test": run.inputs.test, "seed": run.inputs.seed}
    return {"data": run.data.content, "inputs": asdict(run.inputs)}


_ROWS = (
    Stage(
        "model",
        1,
        needs=_none,
        settings=lambda run: {"data": run.data.content, "model": run.model.content},
        build="dntk_core.run.stages.model",
        holds=("weights.safetensors", "test_accuracy"),
    ),
    Stage(
        "selected",
        3,
        needs=_needs("model"),
        settings=lambda run: (
            _gradients(run)
            | {"per_class": run.dataset.per_class, "seed": run.dataset.seed, "selections": SELECTION_NAMES}
        ),
        build="dntk_core.run.stages.selected",
        when=lambda run: run.distilled,
        holds=("index", "weights", "names"),
    ),
    Stage(
        "distilled",
        1,
        needs=_distilled_needs,
        settings=_distilled_settings,
        build="dntk_core.run.stages.distilled",
        when=lambda run: run.distilled,
        holds=("images", "labels", "weights", "soft_labels", "origin", "features", "points", "losses"),
    ),
    Stage(
        "student",
        1,
        needs=_needs("model", "distilled"),
        settings=lambda run: {"epochs": run.model.epochs},
        build="dntk_core.run.stages.student",
        when=lambda run: run.network_stage == "student",
        holds=("weights.safetensors", "test_accuracy"),
    ),
    Stage(
        "inputs",
        1,
        needs=lambda run: {"distilled": "distilled"} if run.distilled else {},
        settings=_inputs_settings,
        build="dntk_core.run.stages.inputs",
        holds=("kernel_index", "test_index", "train_labels", "test_labels", "images", "class_names", "n"),
    ),
    Stage(
        "features",
        2,
        needs=lambda run: {"model": run.network_stage, "inputs": "inputs"},
        settings=_gradients,
        build="dntk_core.run.stages.features",
        holds=("features", "test_features", "outputs", "test_outputs", "parameters", "projection_error"),
    ),
    Stage(
        "judged",
        2,
        needs=_needs("features", "distilled", "selected"),
        settings=lambda run: {"inputs": asdict(run.inputs)},
        build="dntk_core.run.stages.judged",
        when=lambda run: run.distilled,
        holds=("judgements",),
    ),
    Stage(
        "kernels",
        1,
        needs=_needs("features"),
        settings=_none,
        build="dntk_core.run.stages.kernels",
        holds=("targets", "test_logits", "train_labels", "test_labels"),
    ),
)
STAGES: dict[str, Stage] = {stage.name: stage for stage in _ROWS}
