"""Training a network: SGD with a one-cycle rate, the best epoch kept, killed and resumed without a difference."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from dntk_core.base.progress import Progress, Report
from dntk_core.base.spec import ModelSpec
from dntk_core.cache.workbench import Checkpoints, Workbench
from dntk_core.data.dataset import Dataset
from dntk_core.data.images import Images, in_batches

BATCH = 64
RATE = 0.2
# Training stops early after this many epochs without a better one.
PATIENCE = 8
# A killed training loses at most an epoch, or this many steps.
STEPS_BETWEEN_CHECKPOINTS = 100
Objective = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Seen:
    """Images as the network sees them, decoded and normalised when indexed; `chosen` narrows them down."""

    data: Dataset
    images: Images
    chosen: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.images) if self.chosen is None else len(self.chosen)

    def __getitem__(self, index: Any) -> Tensor:
        """(b, channels, height, width) float32."""
        index = np.arange(len(self))[index] if self.chosen is None else self.chosen[index]
        return torch.from_numpy(np.ascontiguousarray(self.data.normalise(self.images[index]), dtype=np.float32))


def tensor(array: np.ndarray) -> torch.Tensor:
    """A float32 tensor of an array."""
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))


def label_objective(labels: Tensor, device: torch.device) -> Objective:
    """Cross-entropy against labels (n,)."""
    labels = labels.to(device)
    return lambda logits, chosen: F.cross_entropy(logits, labels[chosen])


def train(
    model: nn.Module,
    images: Seen | Tensor,
    objective: Objective,
    spec: ModelSpec,
    report: Report,
    device: torch.device,
    bench: Workbench | None = None,
    judge: Callable[[nn.Module], float] | None = None,
    flip: bool = False,
) -> nn.Module:
    """Minimise by SGD with Nesterov momentum and a one-cycle rate, on shifted and perhaps mirrored images.

    objective: (logits (b, C), indices (b,) of the batch's images) -> loss
    bench: where checkpoints are kept, to resume from; judge: scores an epoch, the best one is returned
    flip: whether half of the images are mirrored
    """
    state = _State.begin(model.to(device))
    checkpoints = Checkpoints(bench, "epoch") if bench is not None else None
    if checkpoints is not None and (found := checkpoints.newest()) is not None:
        state = state.thaw(found[1])
    steps = spec.epochs * batches(len(images))
    # Short epochs are not worth a file each.
    every = max(1, STEPS_BETWEEN_CHECKPOINTS // batches(len(images)))
    for epoch in range(state.epoch, spec.epochs):
        if epoch - state.best_epoch > PATIENCE:
            break
        loss = _epoch(state, images, objective, spec.seed, steps, device, flip)
        score = judge(model.eval()) if judge else float(epoch)
        state.close_epoch(score)
        if checkpoints is not None and state.epoch % every == 0:
            checkpoints.keep(epoch, state.freeze())
        note = f"loss {loss:.4f}" + (f", held-out accuracy {score:.3f}" if judge else "")
        report(Progress("model", epoch + 1, spec.epochs, note))
    model.load_state_dict(state.best)
    return model.eval()


def batches(n: int) -> int:
    """How many batches an epoch over n images has."""
    return -(-n // BATCH)


def one_cycle(share: float) -> float:
    """Rate after a share of all steps: up along a cosine for the first 30 %, then down to 0.

    >>> one_cycle(0.3), one_cycle(1.0)
    (0.2, 0.0)
    """
    rise = 0.3
    angle = (share / rise - 1) if share < rise else (share - rise) / (1 - rise)
    return RATE * (1 + math.cos(math.pi * angle)) / 2


@torch.no_grad()
def accuracy(
    model: nn.Module, images: Seen | Tensor, labels: Tensor, steps: Callable[[int], None] | None = None
) -> float:
    """Share of inputs whose largest logit is the label's; `steps` is called with how many are judged."""
    device, right, done = next(model.parameters()).device, 0, 0
    for x, y in zip(in_batches(images, np.arange(len(labels)), BATCH), labels.split(BATCH), strict=True):
        right += int((model(x.to(device)).argmax(1).cpu() == y).sum())
        done += len(y)
        if steps is not None:
            steps(done)
    return right / len(labels)


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
    def begin(cls, model: nn.Module) -> "_State":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0, momentum=0.9, nesterov=True, weight_decay=5e-4)
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
    images: Seen | Tensor,
    objective: Objective,
    seed: int,
    steps: int,
    device: torch.device,
    flip: bool,
) -> float:
    """Train one epoch; every epoch has its own generator, so that a resumed one draws the same."""
    rng = torch.Generator().manual_seed(seed * 100_003 + state.epoch)
    model, optimizer = state.model.train(), state.optimizer
    order = torch.randperm(len(images), generator=rng)
    half = device.type == "cuda" and torch.cuda.is_bf16_supported()
    total, step = 0.0, state.epoch * batches(len(images))
    for chosen, x in zip(order.split(BATCH), in_batches(images, order.numpy(), BATCH), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = one_cycle(step / steps)
        with torch.autocast("cuda", torch.bfloat16) if half else nullcontext():
            loss = objective(model(_moved(x, rng, flip).to(device)), chosen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, step = total + loss.item() * len(chosen), step + 1
    return total / len(images)


def _moved(x: Tensor, rng: torch.Generator, flip: bool) -> Tensor:
    """Roll the batch by up to a sixteenth of its size along each axis, and mirror half of it if asked."""
    reach = max(1, x.shape[-1] // 16)
    dy, dx = torch.randint(-reach, reach + 1, (2,), generator=rng).tolist()
    x = torch.roll(x, (dy, dx), dims=(2, 3))
    if flip:
        mirrored = torch.rand(len(x), generator=rng) < 0.5
        x = torch.where(mirrored[:, None, None, None], x.flip(3), x)
    return x


def _copied(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone() for name, value in state.items()}
