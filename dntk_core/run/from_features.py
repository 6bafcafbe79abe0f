"""A run of features that one already has, from TRAK or one's own extraction: every page opens it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dntk_core.base.compute import Compute
from dntk_core.base.parts import PYTHON
from dntk_core.base.progress import ignore
from dntk_core.base.schema import require
from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.base.stages import STAGES, all_needs
from dntk_core.cache.artifact import Artifact, Contents
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import Dataset
from dntk_core.data.inputs import Arrays, checked_arrays, kept
from dntk_core.data.kinds import kind_of
from dntk_core.run.pipeline import Run
from dntk_core.run.work import Work, builder

# An empty file of weights: a header that names no tensor.
NO_WEIGHTS = b"\x02\x00\x00\x00\x00\x00\x00\x00{}"


def from_features(
    phi: Any,
    test_phi: Any,
    logits: Any,
    test_logits: Any,
    labels: Any,
    test_labels: Any,
    *,
    classes: Sequence[str] | None = None,
    inputs: Any = None,
    test_inputs: Any = None,
    parameters: int | None = None,
    name: str = "features",
    store: Store | None = None,
) -> Run:
    """Make a run of features, cached by their content.

    phi (C, m, k), test_phi (C, t, k): features of every class; logits (m, C), test_logits (t, C): the network's own
    labels (m,), test_labels (t,): counted from 0; classes: C names, without them numbers
    inputs, test_inputs: what pages show of them, arrays (m, …) and (t, …); parameters: P of the network, without it k
    """
    store = store or Store()
    arrays = _arrays(phi, test_phi, logits, test_logits, labels, test_labels)
    C, m, k = arrays["features"].shape
    t = len(arrays["test_labels"])
    names = tuple(map(str, classes)) if classes is not None else tuple(map(str, range(C)))
    require(len(names) == C, f"the features have {C} classes, {len(names)} names were given; give one for each")
    # Without anything to show, an input is known by its number.
    shown = checked_arrays(np.arange(m, dtype=np.float64)[:, None] if inputs is None else np.asarray(inputs), "inputs")
    require(len(shown) == m, f"there are {m:,} features and {len(shown):,} inputs to show; give one for each")
    tested = None if test_inputs is None else checked_arrays(np.asarray(test_inputs), "test inputs")
    require(tested is None or len(tested) == t, f"there are {t:,} test features; give as many test inputs to show")
    content = _content(arrays, [shown, *([tested] if tested else [])], names, parameters)
    spec = RunSpec(
        data=DataSpec(f"{PYTHON}{name}", fingerprint=content),
        model=ModelSpec(f"{PYTHON}{name}", fingerprint=content),
        inputs=InputSpec(m, t),
        projection=ProjectionSpec("given", k),
    )
    words = ("number",) if inputs is None else ()
    data = Dataset(
        shown,
        arrays["labels"],
        tested or shown,
        arrays["test_labels"],
        names,
        kind=kind_of(shown.tree),
        vocabulary=words,
    )
    parts = {"model": _model(), "inputs": _inputs(data), "features": _features(arrays, parameters or k)}
    return _write(spec, data, parts, (*spec.stages, *(["test_inputs"] if tested else [])), store)


def _arrays(*given: Any) -> dict[str, np.ndarray]:
    """The arrays by name, of one shape each, finite."""
    phi, test_phi, logits, test_logits = (_numbers(value) for value in given[:4])
    labels, test_labels = (_integers(value) for value in given[4:])
    require(phi.ndim == 3, f"phi must be (C, m, k), got {phi.shape}")
    C, m, k = phi.shape
    t = len(test_labels)
    require(
        C >= 2 and min(m, k, t) >= 1, f"phi must have two classes, an input and a dimension or more, got {phi.shape}"
    )
    shapes = {
        "test_phi": (test_phi, (C, t, k)),
        "logits": (logits, (m, C)),
        "test_logits": (test_logits, (t, C)),
        "labels": (labels, (m,)),
    }
    for name, (array, shape) in shapes.items():
        require(
            array.shape == shape,
            f"{name} must be {shape}, as phi {phi.shape} and {t:,} test labels say, got {array.shape}",
        )
    for each in (labels, test_labels):
        require(0 <= each.min() and each.max() < C, f"labels must lie in 0..{C - 1}, got {each.min()} to {each.max()}")
    return {
        "features": phi,
        "test_features": test_phi,
        "outputs": logits,
        "test_outputs": test_logits,
        "labels": labels,
        "test_labels": test_labels,
    }


def _numbers(value: Any) -> np.ndarray:
    array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    require(array.dtype.kind in "iuf", f"features and logits must be numbers, got {array.dtype}")
    require(bool(np.isfinite(array).all()), "features and logits must be finite; some are not")
    return np.ascontiguousarray(array, dtype=np.float32)


def _integers(value: Any) -> np.ndarray:
    array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    require(array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu", "labels must be integers (n,)")
    return array.astype(np.int64)


def _content(
    arrays: dict[str, np.ndarray], shown: Sequence[Arrays], names: tuple[str, ...], parameters: int | None
) -> str:
    hashed = hashlib.sha256(repr((names, parameters)).encode())
    for array in (*arrays.values(), *(each.tree for each in shown)):
        hashed.update(f"{array.dtype} {array.shape}".encode())
        # Not a copy: features may be larger than memory.
        hashed.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return hashed.hexdigest()


def _model() -> Contents:
    return {"weights.safetensors": NO_WEIGHTS}, {}


def _inputs(data: Dataset) -> Contents:
    m, t = len(data.train_labels), len(data.test_labels)
    arrays, how = kept(data.kind, data.train_inputs, np.arange(m))
    contents = {
        "kernel_index": np.arange(m),
        "test_index": np.arange(t),
        "train_labels": data.train_labels,
        "test_labels": data.test_labels,
        **arrays,
        **({"vocabulary.json": json.dumps(data.vocabulary).encode()} if data.vocabulary else {}),
    }
    return contents, {"class_names": list(data.class_names), "n": m, "skipped": [], **how}


def _features(arrays: dict[str, np.ndarray], P: int) -> Contents:
    names = ("features", "outputs", "test_features", "test_outputs")
    note = {
        "parameters": P,
        "k": arrays["features"].shape[2],
        "fast_parameters": P,
        "general_path": [],
        "forward_flops": 0,
        # Without the network nobody can say how far the features are from its gradients.
        "projection_error": {"inputs": 0},
        "gradient_seconds": 0.0,
    }
    return {name: arrays[name] for name in names}, note


def _write(spec: RunSpec, data: Dataset, parts: dict[str, Contents], stages: Sequence[str], store: Store) -> Run:
    """Write every stage as the pipeline would; the kernels are made by their own stage."""
    made: dict[str, Artifact] = {}
    Index(store).begin(spec)
    cost = {"seconds": 0.0, "peak_bytes": 0}
    for stage in stages:

        def build(bench: Workbench, stage: str = stage) -> Contents:
            if stage in parts:
                contents, note = parts[stage]
            else:
                needed = {name: made[name] for name in all_needs(spec, stage)}
                contents, note = builder(stage).build(Work(spec, data, needed, Compute(), ignore, bench))
            return contents, note | cost

        key = spec.stage_key(stage)
        made[stage] = store.load_or_build(stage, key, spec.to_json(), build, holds=STAGES[stage].holds)
    return Run(spec, {stage: made[stage] for stage in spec.stages})
