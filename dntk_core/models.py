"""Networks by name, and how the embedded one is trained."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dntk_core.errors import DNTKError
from dntk_core.progress import Progress, Report
from dntk_core.spec import ModelSpec

BATCH = 64
Objective = Callable[[Tensor, Tensor], Tensor]


class ResidualBlock(nn.Module):
    """relu(x + bn(conv(relu(bn(conv(x)))))), with a 1×1 shortcut where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class SmallResNet(nn.Module):
    """A residual network for images of 8 to 32 pixels: one stem, three blocks, a linear head."""

    def __init__(self, channels: int, classes: int, width: int = 32):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(channels, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.blocks = nn.Sequential(
            ResidualBlock(width, width, stride=1),
            ResidualBlock(width, 2 * width, stride=2),
            ResidualBlock(2 * width, 2 * width, stride=1),
        )
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


MODELS = {"small_resnet": SmallResNet}


def build_model(spec: ModelSpec, channels: int, classes: int) -> nn.Module:
    """Make the network with weights drawn from its seed."""
    if spec.name not in MODELS:
        raise DNTKError(f"unknown model {spec.name!r}; known: {', '.join(MODELS)}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(spec.seed)
        return MODELS[spec.name](channels, classes)


def train(
    model: nn.Module, images: Tensor, labels: Tensor, spec: ModelSpec, report: Report, device: torch.device
) -> nn.Module:
    """Fit by cross-entropy."""
    labels = labels.to(device)
    return fit(model, images, lambda logits, chosen: F.cross_entropy(logits, labels[chosen]), spec, report, device)


def fit(
    model: nn.Module, images: Tensor, objective: Objective, spec: ModelSpec, report: Report, device: torch.device
) -> nn.Module:
    """Minimise by SGD with Nesterov momentum, one-cycle rate, shifts by up to one pixel; deterministic.

    objective: (logits (b, C), indices (b,) of the batch's images) -> loss
    """
    rng = torch.Generator().manual_seed(spec.seed)
    images = images.to(device)
    model.to(device).train()
    steps = spec.epochs * batches(len(images))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=max(steps, 1))
    for epoch in range(spec.epochs):
        total = 0.0
        for chosen in torch.randperm(len(images), generator=rng).split(BATCH):
            x = _shift(images[chosen], rng)
            loss = objective(model(x), chosen)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(chosen)
        report(Progress("model", epoch + 1, spec.epochs, f"loss {total / len(images):.4f}"))
    return model.eval()


def batches(n: int) -> int:
    """How many batches an epoch over n images has."""
    return -(-n // BATCH)


def _shift(x: Tensor, rng: torch.Generator) -> Tensor:
    """Roll the whole batch by −1, 0 or 1 pixel along each axis."""
    dy, dx = torch.randint(-1, 2, (2,), generator=rng).tolist()
    return torch.roll(x, (dy, dx), dims=(2, 3))


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor, batch: int = 256) -> float:
    """Share of inputs whose largest logit is the label's."""
    device = next(model.parameters()).device
    right = sum(
        int((model(x.to(device)).argmax(1).cpu() == y).sum())
        for x, y in zip(images.split(batch), labels.split(batch), strict=True)
    )
    return right / len(labels)
