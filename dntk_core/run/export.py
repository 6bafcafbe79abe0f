"""Distilled gradient sets out and back in: Φ̂ = AΦ, Ŷ = AY and all that is needed to reproduce them; no pickle."""

import hashlib
import json
import os
import platform
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.data.archives import read_npz
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.compressed import Compressed
from dntk_core.readout.ridge import coefficients, compress, evaluate_compressed
from dntk_core.run.pipeline import Run

FORMAT, VERSION = "dntk-distilled", 1
PACKAGES = ("numpy", "scipy", "safetensors", "torch")


@dataclass(frozen=True)
class Distilled:
    """A distilled gradient set.

    features: (C, s, k)  Φ̂ = AΦ
    targets:  (s, C)     b^c, for the paper's readout Ŷ = AY
    mixing:   (s, m)     A
    gram:     (C, s, s)  G^c, for the paper's readout A K^c Aᵀ; solving it again gives the same bits
    manifest: spec, keys, hashes, versions, settings, metrics, command
    basis:    (C, s, s)  of the Nyström readout alone, as in `Compressed`
    """

    features: np.ndarray
    targets: np.ndarray
    mixing: np.ndarray
    gram: np.ndarray
    manifest: dict
    basis: np.ndarray | None = None

    def predict(self, kernels: ClassKernels) -> np.ndarray:
        """Predict the test inputs of the run's own kernels: (t, C), bit for bit as the run does."""
        alpha = coefficients(Compressed(self.mixing, self.gram, self.targets.T, self.basis), self.manifest["lambda"])
        return np.stack([f[:, 0] for f in kernels.predict(alpha)], axis=1)

    def predict_features(self, features: np.ndarray) -> np.ndarray:
        """Predict from projected gradients Φ* (C, t, k) alone, f^c = Φ*^c Φ̂^cᵀ β^c: (t, C), equal up to rounding."""
        # With the rows of Φ̂ in the place of inputs, their weights are β.
        rows = Compressed(np.eye(len(self.targets)), self.gram, self.targets.T, self.basis)
        beta = coefficients(rows, self.manifest["lambda"])
        return (np.asarray(features, np.float64) @ (self.features.transpose(0, 2, 1) @ beta))[..., 0].T


def export_distilled(
    run: Run,
    mixing: Mixing,
    path: Path | str,
    ridge: float,
    settings: dict | None = None,
    command: str = "",
    by: str = "paper",
) -> Distilled:
    """Write a distilled set as .safetensors or .npz, whole or not at all; the manifest goes inside.

    The file is read back before it takes its name: it must predict what the run does, bit for bit.
    settings: what made the mixing (method, H, …), kept for people
    command:  a shell command that gives the same scores
    by:       a readout of READOUTS
    """
    path = Path(path)
    write = _format(path).write
    compressed = compress(run.kernels, run.targets, mixing, by)
    A = mixing.matrix
    arrays = {
        "features": np.stack([A @ np.asarray(Phi, np.float64) for Phi in run.features]),
        "targets": np.ascontiguousarray(compressed.targets.T),
        "mixing": np.ascontiguousarray(A),
        "gram": np.ascontiguousarray(compressed.gram),
    } | ({} if compressed.basis is None else {"basis": compressed.basis})
    scores = evaluate_compressed(run.problem, compressed, ridge)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "run": run.key,
        "spec": json.loads(run.spec.to_json()),
        "stages": {stage: run.spec.stage_key(stage) for stage in run.spec.stages},
        "settings": dict(settings or {}),
        "ridge": ridge,
        "lambda": absolute_ridge(run.kernels, ridge),
        "metrics": {**scores.scores, "gradients": len(A), "compression": A.shape[1] / len(A)},
        "arrays": {name: _describe(array) for name, array in arrays.items()},
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "command": command,
    }
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{path.suffix}")
    try:
        write(temporary, arrays, json.dumps(manifest, sort_keys=True))
        _compare(Distilled(**arrays, manifest=manifest), distilled := load_distilled(temporary), run.kernels)
        os.replace(temporary, path)
    except OSError as error:
        raise DNTKError(f"{path} cannot be written ({error.strerror}); choose another folder") from None
    finally:
        temporary.unlink(missing_ok=True)
    return distilled


def _compare(written: Distilled, read: Distilled, kernels: ClassKernels) -> None:
    if not np.array_equal(written.predict(kernels), read.predict(kernels)):
        raise DNTKError("what was written does not give back the run's predictions; nothing is kept, report this")


def load_distilled(path: Path | str) -> Distilled:
    """Read a distilled set; everything is checked against its manifest, and nothing in it is executed."""
    path = Path(path)
    read = _format(path).read
    if not path.is_file():
        raise DNTKError(f"there is no file {path}")
    try:
        text, arrays = read(path)
        manifest = json.loads(text)
    except (SafetensorError, OSError, ValueError, KeyError, RecursionError) as error:
        raise DNTKError(f"{path.name} is no distilled set: {error}") from None
    _check(path.name, manifest, arrays)
    return Distilled(**arrays, manifest=manifest)


def _check(name: str, manifest: Any, arrays: dict[str, np.ndarray]) -> None:
    """Refuse whatever does not fit together."""

    def require(holds: bool, sentence: str) -> None:
        if not holds:
            raise DNTKError(f"{name} is no distilled set: {sentence}")

    require(isinstance(manifest, dict) and manifest.get("format") == FORMAT, f"its format is not {FORMAT}")
    require(manifest.get("version") == VERSION, f"version {VERSION} is read, it has {manifest.get('version')!r}")
    wanted = {"features", "targets", "mixing", "gram"}
    require(set(arrays) - {"basis"} == wanted, f"it must hold {', '.join(sorted(wanted))} and nothing else")
    described = manifest.get("arrays")
    require(described == {key: _describe(array) for key, array in arrays.items()}, "an array does not match its hash")
    require(all(array.dtype == np.float64 for array in arrays.values()), "its arrays must be float64")
    require(all(np.isfinite(array).all() for array in arrays.values()), "it holds values that are not finite")
    shapes = [arrays[key].shape for key in ("gram", "targets", "features", "mixing")]
    s, C = (*shapes[1], 0, 0)[:2]
    fit = shapes[0] == (C, s, s) and shapes[1] == (s, C) and shapes[2][:2] == (C, s) and shapes[3][:1] == (s,)
    fit &= "basis" not in arrays or arrays["basis"].shape == (C, s, s)
    require(fit and len(shapes[2]) == 3 and len(shapes[3]) == 2 and s >= 1, f"shapes {shapes} do not fit together")
    lam = manifest.get("lambda")
    require(type(lam) in (int, float) and 0.0 <= float(lam or 0) < np.inf, f"lambda is {lam!r}"[:80])
    require(RunSpec.from_json(json.dumps(manifest.get("spec"))).key == manifest.get("run"), "its spec has another key")


def _describe(array: np.ndarray) -> dict:
    digest = hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
    return {"shape": list(array.shape), "dtype": str(array.dtype), "sha256": digest}


def _format(path: Path) -> "Format":
    """How to write and read a file of this name."""
    if path.suffix not in EXPORTS:
        raise DNTKError(f"a distilled set is a file named *{' or *'.join(EXPORTS)}, got {path.name!r}")
    return EXPORTS[path.suffix]


def _write_safetensors(path: Path, arrays: dict[str, np.ndarray], manifest: str) -> None:
    save_file(arrays, path, metadata={"manifest": manifest})


def _read_safetensors(path: Path) -> tuple[str, dict[str, np.ndarray]]:
    with safe_open(path, framework="numpy") as file:
        return (file.metadata() or {})["manifest"], {name: file.get_tensor(name) for name in file.keys()}


def _write_npz(path: Path, arrays: dict[str, np.ndarray], manifest: str) -> None:
    np.savez(path, allow_pickle=False, manifest=np.array(manifest), **arrays)


def _read_npz(path: Path) -> tuple[str, dict[str, np.ndarray]]:
    arrays = read_npz(path)
    return str(arrays.pop("manifest")), arrays


class Format(NamedTuple):
    """How arrays and a manifest go into a file and come back."""

    write: Callable[[Path, dict[str, np.ndarray], str], None]
    read: Callable[[Path], tuple[str, dict[str, np.ndarray]]]


EXPORTS: dict[str, Format] = {
    ".safetensors": Format(_write_safetensors, _read_safetensors),
    ".npz": Format(_write_npz, _read_npz),
}
