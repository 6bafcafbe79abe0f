"""The stages of a run, one row each: what a stage is made of, hashed into its key, which module builds it, its cost.

The table lies below all rooms that use it: keys name runs in the cache, and listing runs must not load PyTorch. So a
row names its module, which `run/` imports when the stage is computed.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from dntk_core.base.parts import KINDS, LAST, Parts
from dntk_core.base.selections import SELECTIONS
from dntk_core.base.stage import Stage


def stages_of(run: Parts) -> tuple[str, ...]:
    """The stages a run goes through, in the order of the table, each after those that it needs."""
    return tuple(name for name in kept_of(run) if not STAGES[name].asked)


def kept_of(run: Parts) -> tuple[str, ...]:
    """All stages that belong to a run, those among them that are only computed when asked for."""
    order: dict[str, None] = {}

    def add(name: str) -> None:
        for need in STAGES[name].needs(run).values():
            add(need)
        order[name] = None

    for name, stage in STAGES.items():
        if stage.when(run):
            add(name)
    return tuple(order)


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
    found = {"projection": run.projection.content, "outputs": run.outputs, "precision": run.precision}
    found |= {"sketch": asdict(run.sketch)} if run.sketch.used else {}
    return found | ({"kept": run.kept} if run.kept != "float32" else {})


def _of_checkpoint(run: Parts) -> bool:
    """Whether the network is one that training kept on its way."""
    return run.model.at != LAST and not run.model.weights


def _distilled_settings(run: Parts) -> dict:
    chosen = run.dataset
    if chosen.method != "wmdd":
        gradients = _gradients(run) if SELECTIONS[chosen.method].uses_gradients else {}
        return gradients | {"method": chosen.method, "per_class": chosen.per_class, "seed": chosen.seed}
    # Hashed under the name it had when the first such runs were cached.
    return {"distill": run.dataset.content}


def _student_settings(run: Parts) -> dict:
    usual = run.dataset.precision == "float32"
    return {"epochs": run.model.epochs} | run.model.training | ({} if usual else {"precision": run.dataset.precision})


def _inputs_settings(run: Parts) -> dict:
    if run.distilled:
        return {"test": run.inputs.test, "seed": run.inputs.seed}
    return {"data": run.data.content, "inputs": asdict(run.inputs)}


# Timed on digits: a step of synthesis in images of an epoch, how many sets of images are judged; 10 GFLOP/s.
IMAGE_STEP, JUDGED_SETS, SECONDS_PER_PRODUCT = 4, 5, 2e-10

_ROWS = (
    Stage(
        "checkpoints",
        1,
        needs=_none,
        settings=lambda run: (
            {"data": run.data.content, "model": replace(run.model, at=LAST).content, "keep": run.model.keep}
        ),
        build="dntk_core.run.stages.checkpoints",
        when=_of_checkpoint,
        holds=("weights.safetensors",),
        takes=lambda run, s, r: r.training(run.model.epochs * r.n),
    ),
    Stage(
        "model",
        1,
        needs=lambda run: {"checkpoints": "checkpoints"} if _of_checkpoint(run) else {},
        settings=lambda run: {"data": run.data.content, "model": run.model.content},
        build="dntk_core.run.stages.model",
        holds=("weights.safetensors",),
        takes=lambda run, s, r: 0.0 if run.model.weights or _of_checkpoint(run) else r.training(run.model.epochs * r.n),
    ),
    Stage(
        "distilled",
        1,
        needs=_needs("model"),
        settings=_distilled_settings,
        build="dntk_core.run.stages.distilled",
        when=lambda run: run.distilled,
        holds=("images", "labels", "weights", "soft_labels", "origin", "features", "points", "losses"),
        takes=lambda run, s, r: r.training(IMAGE_STEP * s.m * run.dataset.iterations),
    ),
    Stage(
        "student",
        3,
        needs=_needs("model", "distilled"),
        settings=_student_settings,
        build="dntk_core.run.stages.student",
        when=lambda run: run.network_stage == "student",
        holds=("weights.safetensors",),
        # As many steps as on real inputs.
        takes=lambda run, s, r: r.training(run.model.epochs * r.n),
    ),
    Stage(
        "inputs",
        1,
        needs=lambda run: {"distilled": "distilled"} if run.distilled else {},
        settings=_inputs_settings,
        build="dntk_core.run.stages.inputs",
        holds=("kernel_index", "test_index", "train_labels", "test_labels", "class_names", "n"),
    ),
    Stage(
        "features",
        4,
        needs=lambda run: {"model": run.network_stage, "inputs": "inputs"},
        settings=_gradients,
        build="dntk_core.run.stages.features",
        holds=("features", "test_features", "outputs", "test_outputs", "parameters", "projection_error"),
        writes=lambda s: s.width * s.C * (s.m + s.t) * s.k,
        takes=lambda run, s, r: r.gradient * s.C * (s.m + s.t),
    ),
    # Pictures are there before what they are compared with.
    Stage(
        "selected",
        3,
        needs=_needs("model"),
        settings=lambda run: (
            _gradients(run)
            | {"per_class": run.dataset.per_class, "seed": run.dataset.seed, "selections": tuple(SELECTIONS)}
        ),
        build="dntk_core.run.stages.selected",
        when=lambda run: run.distilled,
        holds=("index", "weights", "names"),
        takes=lambda run, s, r: r.gradient * s.C * r.n,
    ),
    Stage(
        "judged",
        2,
        needs=_needs("features", "distilled", "selected"),
        settings=lambda run: {"inputs": asdict(run.inputs)},
        build="dntk_core.run.stages.judged",
        when=lambda run: run.distilled,
        holds=("judgements",),
        # Gradients of all selections of images and of the real inputs they are judged by.
        writes=lambda s: 4 * s.C * (len(SELECTIONS) * s.m + s.n) * s.k,
        takes=lambda run, s, r: r.gradient * s.C * (JUDGED_SETS * s.m + s.n),
    ),
    Stage(
        "kernels",
        1,
        needs=_needs("features"),
        settings=_none,
        build="dntk_core.run.stages.kernels",
        holds=("targets", "test_logits", "train_labels", "test_labels"),
        writes=lambda s: 8 * s.C * s.m * (s.m + s.t) if s.dense else 0,
        takes=lambda run, s, r: SECONDS_PER_PRODUCT * s.C * s.m * (s.m + s.t) * s.k,
    ),
    Stage(
        "test_inputs",
        1,
        needs=_needs("inputs"),
        settings=lambda run: {"data": run.data.content},
        build="dntk_core.run.stages.test_inputs",
        asked=True,
    ),
    Stage(
        "tested",
        1,
        needs=lambda run: {"model": run.network_stage},
        settings=lambda run: {"data": run.data.content},
        build="dntk_core.run.stages.tested",
        holds=("test_accuracy",),
        asked=True,
    ),
    Stage(
        "probed",
        1,
        needs=_needs("features"),
        settings=lambda run: {"data": run.data.content},
        build="dntk_core.run.stages.probed",
        holds=("index", "exact"),
        asked=True,
    ),
    Stage(
        "shifts",
        1,
        needs=_needs("features"),
        settings=lambda run: {"data": run.data.content},
        build="dntk_core.run.stages.shifts",
        holds=("index", "features", "outputs", "images", "names", "strengths"),
        asked=True,
    ),
)
STAGES: dict[str, Stage] = {stage.name: stage for stage in _ROWS}


def _number(value: Any) -> bool:
    return value is None or type(value) in (int, float)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


# What notes of any stage must be like where they have these names; an artifact whose notes are not is damaged.
NOTES: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("class_names", "skipped", "general_path", "names"), _texts),
    **dict.fromkeys(("seconds", "processor_seconds", "gradient_seconds", "peak_bytes"), _number),
    **dict.fromkeys(("forward_flops", "threads"), _number),
    **dict.fromkeys(("test_accuracy", "n", "parameters", "fast_parameters", "k"), _number),
    **dict.fromkeys(("name", "preprocessing", "features_key", "last"), _of(str)),
    **dict.fromkeys(("projection_error", "class_sketch", "code", "trust"), _of(dict)),
    **dict.fromkeys(("judgements", "strengths", "groups"), _of(list)),
    "dense": _of(bool),
    "kind": lambda value: value in KINDS,
}
