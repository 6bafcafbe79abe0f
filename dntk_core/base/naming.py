"""A run in one line, for people: its data, network, inputs and projection, then all else that is not as usual."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

from dntk_core.base.parts import Parts

# How settings are said that are no name and a value.
_WORDS = {
    "model.epochs": "epochs {}",
    "model.at": "after epoch {}",
    "model.keep": "kept {}",
    "model.classes": "outputs {}",
    "model.seed": "network seed {}",
    "inputs.kernel": "judged on {} inputs",
    "dataset.iterations": "iterations {}",
    "outputs": "{}",
    "precision": "{}",
}


def summary(spec: Parts) -> str:
    """The run in one line; specs with different keys have different lines.

    >>> from dntk_core.base.parts import ModelSpec
    >>> summary(Parts(model=ModelSpec(epochs=3, seed=1)))
    'digits · small_resnet · 500+500 inputs · structured k=2048 · epochs 3 · network seed 1'
    """
    return " · ".join((*_usual(spec), *_unusual(spec)))


def _usual(spec: Parts) -> Iterator[str]:
    data, model, dataset, inputs, projection = spec.data, spec.model, spec.dataset, spec.inputs, spec.projection
    yield data.name + _file(data.path, data.fingerprint)
    network = model.name + _file(model.weights, model.fingerprint)
    yield f"{network} of {dataset.base} images" if spec.distilled else network
    kernel = f"{dataset.method} {dataset.per_class} per class" if spec.distilled else f"{inputs.kernel}"
    yield f"{kernel}+{inputs.test} inputs"
    yield projection.name if projection.name == "identity" else f"{projection.name} k={projection.k}"


def _file(path: str, fingerprint: str) -> str:
    """A file's name and the start of its fingerprint, which tells two files of one name apart."""
    return (f" {Path(path).name}" if path else "") + (f" #{fingerprint[:8]}" if fingerprint else "")


def _unusual(spec: Parts) -> Iterator[str]:
    """Every setting that is not its default and not yet said."""
    named = {"data.name", "model.name", "inputs.test", "projection.name", "data.path", "model.weights"}
    named |= {"dataset.method", "dataset.base", "dataset.per_class"} if spec.distilled else {"inputs.kernel"}
    named |= set() if spec.projection.name == "identity" else {"projection.k"}
    for name, value, default in _settings(spec, type(spec)()):
        used = spec.distilled or not name.startswith("dataset.")
        if value == default or not used or name in named or name.endswith(".fingerprint"):
            continue
        # A file by its name, a hash by its start: the whole of either is for machines.
        if name == "data.vocabulary":
            value = Path(str(value)).name
        if name == "model.code":
            value = str(value)[:8]
        yield _WORDS.get(name, f"{name.replace('.', ' ').replace('_', ' ')} {{}}").format(value)


def _settings(spec: Parts, usual: Parts) -> Iterator[tuple[str, object, object]]:
    """Name, value and default of every setting, those of parts as part.name."""
    for part in fields(spec):
        value, default = getattr(spec, part.name), getattr(usual, part.name)
        if not is_dataclass(value):
            yield part.name, value, default
            continue
        for each in fields(value):
            yield f"{part.name}.{each.name}", getattr(value, each.name), getattr(default, each.name)
