"""Tie a spec to the content of the files it names, so that its key follows the content and not the path."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec, ModelSpec, RunSpec
from dntk_core.cache.files import sha256


def pin(spec: RunSpec) -> RunSpec:
    """Fill in the fingerprints of data and weights, and the size and scale that published weights want."""
    data = replace(spec.data, fingerprint=_checked(spec.data.fingerprint, _data_fingerprint(spec.data), spec.data.path))
    weights = _weights_fingerprint(spec.model)
    model = replace(spec.model, fingerprint=_checked(spec.model.fingerprint, weights, spec.model.weights))
    return replace(spec, data=_as_published(data, model), model=model)


def _checked(pinned: str, found: str, path: str) -> str:
    if pinned and pinned != found:
        raise DNTKError(
            f"{path} is no longer what this run was computed from; remove the fingerprint to use it as it is"
        )
    return found


def _data_fingerprint(spec: DataSpec) -> str:
    """sha256 of an .npz, or of the names and sizes of all files of a folder; empty for bundled data."""
    path = Path(spec.path)
    if not spec.path or not path.exists():
        return ""
    if path.is_file():
        return sha256(path)
    listing = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file():
            listing.update(f"{file.relative_to(path)}\\0{file.stat().st_size}\\n".encode())
    return listing.hexdigest()


def _weights_fingerprint(spec: ModelSpec) -> str:
    path = Path(spec.weights)
    return sha256(path) if spec.weights and path.is_file() else ""


def _as_published(data: DataSpec, model: ModelSpec) -> DataSpec:
    """Take size and scale from published weights where the spec leaves them open."""
    if not model.weights or model.fingerprint:
        return data
    # Loading torchvision takes seconds; specs without published weights do without.
    from dntk_core.models.architectures import weight_transforms

    if (wanted := weight_transforms(model)) is None:
        return data
    if not data.size:
        data = replace(data, size=wanted.crop_size[0], resize=wanted.resize_size[0])
    if not data.mean and not data.std:
        data = replace(data, mean=_listed(wanted.mean), std=_listed(wanted.std))
    return data


def _listed(values: Iterable[float]) -> str:
    return ",".join(f"{value:g}" for value in values)
