"""Training a network: SGD with a one-cycle rate, the best epoch kept, killed and resumed without a difference."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from dntk_core.base.progress import Progress, Report, Steps
from dntk_core.base.spec import ModelSpec
from dntk_core.cache.workbench import Checkpoints, Workbench
from dntk_core.data.batch import Batch, to
from dntk_core.data.dataset import Dataset
from dntk_core.data.images import in_batches, in_parts, split
from dntk_core.models.architectures import OWN
from dntk_core.models.augmentation import Augmentation, shifted
from dntk_core.models.calling import call
from dntk_core.models.seen import Readable, Seen

# Inputs judged at once.
JUDGED = 64
# Training stops early after this many epochs without a better one.
PATIENCE = 8
# A killed training loses at most an epoch, or this many steps.
STEPS_BETWEEN_CHECKPOINTS = 100
Objective = Callable[[Tensor, Tensor, Batch], Tensor]


def label_objective(labels: Tensor, device: torch.device) -> Objective:
    """Cross-entropy against labels (n,)."""
    labels = labels.to(device)
    return lambda logits, chosen, x: F.cross_entropy(logits, labels[chosen])


def train(
    model: nn.Module,
    inputs: Seen | Tensor,
    objective: Objective,
    spec: ModelSpec,
    report: Report,
    device: torch.device,
    bench: Workbench | None = None,
    judge: Callable[[nn.Module], float] | None = None,
    augment: Augmentation | None = shifted,
    keep: Callable[[int], None] = lambda done: None,
    precision: str = "float32",
) -> nn.Module:
    """Minimise by SGD with Nesterov momentum and a one-cycle rate.

    objective: (logits (b, C), indices (b,) of the batch's inputs, the inputs as the network saw them) -> loss
    bench: where checkpoints are kept, to resume from; judge: scores an epoch, the best one is returned
    augment: what is done to every batch
    keep: called with the number of epochs done, from 0 on, before anything depends on what it keeps
    precision: of the network's products; a GPU that has bfloat16 always takes that
    """
    state = _State.begin(model.to(device), spec.decay)
    checkpoints = Checkpoints(bench, "epoch") if bench is not None else None
    if checkpoints is not None and (found := checkpoints.newest()) is not None:
        state = state.thaw(found[1])
    per_epoch = batches(len(inputs), spec.batch)
    keep(state.epoch)
    # Short epochs are not worth a file each.
    every = max(1, STEPS_BETWEEN_CHECKPOINTS // per_epoch)
    for epoch in range(state.epoch, spec.epochs):
        if epoch - state.best_epoch > PATIENCE:
            break
        loss = _epoch(state, inputs, objective, spec, device, augment, precision)
        score = judge(model.eval()) if judge else float(epoch)
        state.close_epoch(score)
        keep(state.epoch)
        if checkpoints is not None and state.epoch % every == 0:
            checkpoints.keep(epoch, state.freeze())
        note = f"loss {loss:.4f}" + (f", held-out accuracy {score:.3f}" if judge else "")
        report(Progress("model", epoch + 1, spec.epochs, note))
    model.load_state_dict(state.best)
    return model.eval()


@contextmanager
def settled_threads(spec: ModelSpec, device: torch.device) -> Iterator[dict[str, int]]:
    """Train a network that is bundled at one thread, so that it is the same everywhere; yields a note on others."""
    before = torch.get_num_threads()
    if device.type != "cpu" or spec.name not in OWN:
        yield {"threads": before} if device.type == "cpu" else {}
        return
    torch.set_num_threads(1)
    try:
        yield {}
    finally:
        torch.set_num_threads(before)


def batches(n: int, batch: int) -> int:
    """How many batches an epoch over n inputs has."""
    return len(split(np.arange(n), batch))


def one_cycle(share: float, rate: float) -> float:
    """Rate after a share of all steps: up along a cosine for the first 30 %, then down to 0.

    >>> one_cycle(0.3, 0.2), one_cycle(1.0, 0.2)
    (0.2, 0.0)
    """
    rise = 0.3
    angle = (share / rise - 1) if share < rise else (share - rise) / (1 - rise)
    return rate * (1 + math.cos(math.pi * angle)) / 2


@torch.no_grad()
def accuracy(
    model: nn.Module, inputs: Seen | Tensor, labels: Tensor, steps: Callable[[int], None] | None = None
) -> float:
    """Share of inputs whose largest logit is the label's; `steps` is called with how many are judged."""
    device, right, judged, done = next(model.parameters()).device, 0, 0, 0
    for chosen, x in in_batches(Readable(inputs), np.arange(len(labels)), JUDGED):
        if len(chosen):
            right += int((call(model, to(x, device)).argmax(1).cpu() == labels[chosen]).sum())
            judged += len(chosen)
        done = min(done + JUDGED, len(labels))
        if steps is not None:
            steps(done)
    return right / max(judged, 1)


def test_accuracy(model: nn.Module, data: Dataset, report: Report) -> float:
    """The network's accuracy on all test inputs of the data."""
    steps = Steps(report, "test accuracy", 0, len(data.test_labels))
    return accuracy(model, Seen(data, data.test_inputs), torch.from_numpy(data.test_labels), steps)


@dataclass
class _State:
    """All that the next epoch depends on, and the best epoch so far."""

    model: nn.Module
    optimizer: torch.optim.SGD
    epoch: int
    best: dict[str, Tensor]
    best_epoch: int
    best_score: float

    @classmethod
    def begin(cls, model: nn.Module, decay: float) -> "_State":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0, momentum=0.9, nesterov=True, weight_decay=decay)
        return cls(model, optimizer, 0, _copied(model.state_dict()), 0, -math.inf)

    def close_epoch(self, score: float) -> None:
        if score > self.best_score:
            self.best, self.best_epoch, self.best_score = _copied(self.model.state_dict()), self.epoch, score
        self.epoch += 1

    def freeze(self) -> dict[str, np.ndarray]:
        """As arrays for the cache."""
        momentum = {str(i): entry["momentum_buffer"] for i, entry in enumerate(self.optimizer.state.values()) if entry}
        tensors = {"model": self.model.state_dict(), "best": self.best, "momentum": momentum}
        return {
            **{name: np.frombuffer(save_tensors(_copied(part)), np.uint8) for name, part in tensors.items()},
            "numbers": np.array([self.epoch, self.best_epoch, self.best_score]),
        }

    def thaw(self, arrays: dict[str, np.ndarray]) -> "_State":
        """Back from the cache."""
        model, best, momentum = (load_tensors(arrays[name].tobytes()) for name in ("model", "best", "momentum"))
        self.model.load_state_dict(model)
        for i, p in enumerate(self.optimizer.param_groups[0]["params"]):
            if str(i) in momentum:
                self.optimizer.state[p]["momentum_buffer"] = momentum[str(i)].to(p.device)
        epoch, best_epoch, best_score = arrays["numbers"].tolist()
        return _State(self.model, self.optimizer, int(epoch), best, int(best_epoch), best_score)


def _epoch(
    state: _State,
    inputs: Seen | Tensor,
    objective: Objective,
    spec: ModelSpec,
    device: torch.device,
    augment: Augmentation | None,
    precision: str,
) -> float:
    """Train one epoch; every epoch has its own generator, so that a resumed one draws the same."""
    rng = torch.Generator().manual_seed(spec.seed * 100_003 + state.epoch)
    model, optimizer = state.model.train(), state.optimizer
    order = torch.randperm(len(inputs), generator=rng).numpy()
    half = precision == "bfloat16" or (device.type == "cuda" and torch.cuda.is_bf16_supported())
    parts = split(order, spec.batch)
    total, step = 0.0, state.epoch * len(parts)
    for chosen, x in in_parts(Readable(inputs), parts):
        step += 1
        # Broken files may leave too few for a batch norm.
        if len(chosen) < min(2, spec.batch):
            continue
        for group in optimizer.param_groups:
            group["lr"] = one_cycle((step - 1) / (spec.epochs * len(parts)), spec.rate)
        x = augment(x, rng) if augment else x
        with torch.autocast(device.type, torch.bfloat16) if half else nullcontext():
            x = to(x, device)
            loss = objective(call(model, x), torch.from_numpy(chosen), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(chosen)
    return total / len(inputs)


def save_weights(model: nn.Module) -> bytes:
    """A network's state as safetensors; weights that are tied or laid out otherwise are written out one by one."""
    return save_tensors(_copied(model.state_dict()))


def _copied(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone(memory_format=torch.contiguous_format) for name, value in state.items()}
