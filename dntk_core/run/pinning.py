"""Tie a spec to the content of the files it names, so that its key follows the content and not the path."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec, ModelSpec, RunSpec
from dntk_core.data.dataset import Dataset
from dntk_core.run.fingerprints import fingerprint, former_fingerprint


def pin(spec: RunSpec) -> RunSpec:
    """Fill in the fingerprints of data and weights, and the size and scale that published weights want."""
    if spec.from_python:
        return spec
    data = spec.data
    if not data.own:
        found = _with_vocabulary(_data_fingerprint(data), data)
        fingerprint = _checked(data.fingerprint, found, data.path)
        data = replace(data, path=_placed(data.path), vocabulary=_placed(data.vocabulary), fingerprint=fingerprint)
    weights, path = _weights_fingerprint(spec.model), spec.model.weights
    fingerprint = _checked(spec.model.fingerprint, weights, path)
    model = replace(spec.model, weights=_placed(path) if weights else path, fingerprint=fingerprint)
    return replace(spec, data=_as_published(data, model), model=model)


def pin_own_data(spec: RunSpec) -> RunSpec:
    """Fill in the fingerprint of data that a user's own code returns: that of all their inputs and labels."""
    from dntk_core.data.loaders import content
    from dntk_core.data.sources import own

    found = content(own.load(spec.data), None, lambda done: None)
    return replace(spec, data=replace(spec.data, fingerprint=_checked(spec.data.fingerprint, found, spec.data.name)))


def pin_code(spec: RunSpec, data: Dataset) -> RunSpec:
    """Fill in the fingerprint of a user's own code: what it builds, and the weights it draws unless a file has them."""
    from dntk_core.models.architectures import build_model
    from dntk_core.models.own_code import code_fingerprint, state_fingerprint
    from dntk_core.models.seen import example

    network = build_model(spec.model, data.channels, data.class_names, own_code=True, example=example(data))
    found = code_fingerprint(network, spec.model.name.partition(":")[0])
    if not spec.model.weights:
        found = hashlib.sha256(f"{found}{state_fingerprint(network)}".encode()).hexdigest()
    return replace(spec, model=replace(spec.model, code=_checked(spec.model.code, found, spec.model.name)))


def _placed(path: str) -> str:
    """Where a file lies, whichever folder one is in later."""
    return str(Path(path).absolute()) if path and Path(path).exists() else path


def _checked(pinned: str, found: str, path: str) -> str:
    if pinned and not found and path and not Path(path).exists():
        raise DNTKError(
            f"{path}, which this run was computed from, is not there any more; put it back, or name it anew"
        )
    if pinned and pinned != found:
        raise DNTKError(
            f"{path} is no longer what this run was computed from; remove the fingerprint to use it as it is"
        )
    return found


def _data_fingerprint(spec: DataSpec) -> str:
    """sha256 of an .npz, or of the names and contents of all files of a folder; empty for bundled data."""
    path = Path(spec.path)
    if not spec.path or not path.exists():
        return ""
    # A run of an earlier version goes on under the fingerprint it has.
    if path.is_dir() and spec.fingerprint and spec.fingerprint == former_fingerprint(path):
        return spec.fingerprint
    return fingerprint(path)


def _with_vocabulary(data: str, spec: DataSpec) -> str:
    """The fingerprint of data together with that of their words."""
    path = Path(spec.vocabulary)
    if not data or not spec.vocabulary or not path.is_file():
        return data
    return hashlib.sha256(f"{data}{fingerprint(path)}".encode()).hexdigest()


def _weights_fingerprint(spec: ModelSpec) -> str:
    path = Path(spec.weights)
    if spec.hugging_face and path.is_dir():
        from dntk_core.models.hugging_face import files

        listing = "".join(f"{file.name} {fingerprint(file)}\n" for file in files(path))
        return hashlib.sha256(listing.encode()).hexdigest()
    return fingerprint(path) if spec.weights and path.is_file() else ""


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
