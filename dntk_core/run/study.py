"""A run of a network and data at hand: any module and loaders, through the stages of every run."""

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import nn

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.own_functions import as_sentence
from dntk_core.base.parts import KINDS, PYTHON
from dntk_core.base.progress import Report, Steps
from dntk_core.base.schema import require_one_of
from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec, SketchSpec
from dntk_core.base.terminal import bar
from dntk_core.cache.store import Store
from dntk_core.data.batch import Batch, to
from dntk_core.data.dataset import Dataset, as_dataset, choose_inputs
from dntk_core.data.loaders import content, read_data
from dntk_core.data.sources import RawDataset
from dntk_core.models.calling import call
from dntk_core.models.functions import functions_fingerprint
from dntk_core.models.own_code import code_fingerprint, state_fingerprint
from dntk_core.models.training import Seen
from dntk_core.run.pipeline import Run, load_or_build
from dntk_core.run.work import Given

Forward = Callable[[nn.Module, Any], Any]


class Called(nn.Module):
    """A network called on a batch in the user's own way."""

    def __init__(self, network: nn.Module, forward: Forward):
        super().__init__()
        self.network, self.how = network, forward

    def forward(self, *parts: Any, **named: Any) -> Any:
        """Give the batch to the user's function as their loader gave it."""
        return self.how(self.network, named or (parts[0] if len(parts) == 1 else parts))


def study(
    model: nn.Module,
    train: Any,
    test: Any,
    *,
    classes: Sequence[str] | None = None,
    kernel_inputs: int = 500,
    test_inputs: int = 500,
    k: int = 2048,
    device: str | None = None,
    forward: Forward | None = None,
    name: str = "",
    kind: str = "",
    projection: str = "structured",
    outputs: str = "logits",
    seed: int = 0,
    class_sketch: int = 0,
    class_error: float = 0.0,
    classes_exact: Sequence[int] | str = (),
    kept: str = "float32",
    compute: Compute | None = None,
    report: Report | None = None,
    store: Store | None = None,
) -> Run:
    """Study a trained network on data at hand; computed once, then found by the content of weights, code and inputs.

    model: any classifier; it is put into eval mode on `device` meanwhile, and given back as it was
    train, test: a DataLoader, a Dataset or a pair (inputs, labels) each; kernel inputs are drawn from `train` and test
        inputs from `test`, evenly by class, at most `kernel_inputs` and `test_inputs` of them
    classes: their names; forward: how to call the model on a batch, as in lambda m, b: m(**b).logits
    class_sketch: random sums that stand for very many classes; class_error: the error of the mean kernel from which
        their number is chosen instead; classes_exact: classes that keep gradients of their own, or "top20" for the
        twenty that are most often among the five largest outputs of an input
    kept: how projected gradients are kept, float32, float16 or bfloat16
    k: dimensions that gradients are projected to; a network of no more parameters is taken as it is
    name: what lists call the data; kind: image, table, tokens or array, if the inputs are not what they look like
    """
    require_one_of("kind", kind, ("", *KINDS))
    report = report or bar()
    network = model if forward is None else Called(model, forward)
    with _as_it_was(model), _as_written():
        raw = read_data(train, test, classes, kind=kind)
        data = as_dataset(raw, DataSpec())
        C = _outputs(network, Seen(data, data.train_inputs)[np.arange(min(2, len(raw.train.labels)))])
        if C > len(raw.class_names) and classes is None:
            raw = read_data(train, test, None, C, kind)
            data = as_dataset(raw, DataSpec())
        _check_outputs(C, data)
        inputs = InputSpec(min(kernel_inputs, len(raw.train.labels)), min(test_inputs, len(raw.test.labels)), seed)
        spec = RunSpec(
            data=DataSpec(f"{PYTHON}{name or _called(train)}", fingerprint=_content(raw, data, inputs, report)),
            model=ModelSpec(f"{PYTHON}{type(model).__name__}", fingerprint=_network_fingerprint(network, forward)),
            inputs=inputs,
            # So few parameters need no projection.
            projection=ProjectionSpec("identity" if k >= _parameters(model) else projection, k, seed),
            outputs=outputs,
            kept=kept,
            sketch=SketchSpec(class_sketch, class_error, _classes(classes_exact), seed),
        )
        compute = compute or Compute(device or "auto")
        return load_or_build(spec, report, compute, store, Given(network, data))


def _classes(exact: Sequence[int] | str) -> str:
    return exact if isinstance(exact, str) else ",".join(map(str, exact))


def _parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def _outputs(network: nn.Module, example: Batch) -> int:
    """How many outputs the network has."""
    place = next(network.parameters(), torch.zeros(0)).device
    with torch.no_grad(), as_sentence("the network cannot be called on a batch of the data"):
        found = call(network.eval(), to(example, place))
    return found.shape[1] if found.ndim == 2 else 0


def _check_outputs(C: int, data: Dataset) -> None:
    if C > 1 and C != len(data.class_names):
        raise DNTKError(
            f"the network has {C} outputs, the data have {len(data.class_names)} classes; name as many classes, or "
            "take the outputs that belong to them: forward=lambda m, x: m(x)[:, [0, 217, …]]"
        )


def _content(raw: RawDataset, data: Dataset, inputs: InputSpec, report: Report) -> str:
    chosen = choose_inputs(data, inputs)
    return content(raw, chosen, Steps(report, "reading", 0, sum(map(len, chosen))))


def _network_fingerprint(network: nn.Module, forward: Forward | None) -> str:
    """The content of its weights, its structure, and the code that it runs."""
    parts = (code_fingerprint(network), functions_fingerprint(network, forward), state_fingerprint(network))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()


def _called(part: Any) -> str:
    """What lists call data without a name: the class of their Dataset."""
    found = getattr(part, "dataset", part)
    return "arrays" if isinstance(found, tuple | list) else type(found).__name__


def _as_written() -> AbstractContextManager:
    """Compiled parts run as they were written: what is watched call by call gains nothing from it."""
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()


@contextmanager
def _as_it_was(model: nn.Module) -> Iterator[None]:
    """Give a network back in the mode and on the device that it had."""
    modes = {part: part.training for part in model.modules()}
    first = next(model.parameters(), None)
    place = None if first is None else first.device
    try:
        yield
    finally:
        if place is not None and next(model.parameters()).device != place:
            model.to(place)
        for part, training in modes.items():
            part.training = training
