"""The networks that `benchmarks.engine` measures, with random weights, and inputs for them."""

import torch
import torchvision
from torch import Tensor, nn


def vision_transformer() -> nn.Module:
    """torchvision's vit_b_16, reduced: 6 layers of width 192 on 8 × 8 patches."""
    module = torchvision.models.VisionTransformer(64, 8, 6, 6, 192, 768, num_classes=10)
    nn.init.normal_(module.heads.head.weight, std=0.1)
    return module


def perceptron() -> nn.Module:
    """784 – 1024 – 1024 – 10."""
    hidden = nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU()
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(1024, 10))


class TextEncoder(nn.Module):
    """A BERT, reduced: 4 layers of width 192, 8,192 words, learnt positions, the mean over 64 tokens classified."""

    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(8192, 192), nn.Parameter(0.1 * torch.randn(1, 64, 192))
        self.norm = nn.LayerNorm(192)
        layer = nn.TransformerEncoderLayer(192, 6, 768, dropout=0.0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(192, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.layers(self.norm(self.words(tokens) + self.positions)).mean(1))


# Name → (network, shape of an input, inputs at once); without channels an input is tokens.
NETWORKS = {
    "resnet18": (lambda: torchvision.models.resnet18(num_classes=10), (3, 64, 64), 16),
    "mobilenet_v2": (lambda: torchvision.models.mobilenet_v2(num_classes=10, dropout=0.0), (3, 128, 128), 8),
    "vit": (vision_transformer, (3, 64, 64), 16),
    "mlp": (perceptron, (1, 28, 28), 64),
    "efficientnet_b0": (lambda: torchvision.models.efficientnet_b0(num_classes=10, dropout=0.0), (3, 128, 128), 8),
    "bert": (TextEncoder, (64,), 16),
    "convnext_tiny": (lambda: torchvision.models.convnext_tiny(num_classes=10), (3, 64, 64), 8),
}


def subject(name: str) -> tuple[nn.Module, Tensor]:
    """A network in eval mode whose running statistics fit its inputs, and inputs that differ."""
    torch.manual_seed(0)
    make, shape, count = NETWORKS[name]
    module = make()
    if len(shape) == 1:
        return module.eval(), torch.randint(0, 8192, (count, *shape))
    x = torch.randn(count, *shape)
    x = x + 2 * nn.functional.interpolate(torch.randn(count, shape[0], 4, 4), shape[1:], mode="bilinear")
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = None
    with torch.no_grad():
        module.train()(x)
    return module.eval(), x
