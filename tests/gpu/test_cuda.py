"""The engine on a GPU against the CPU: run where there is one, skipped with a word where there is none."""

import pytest
import torch
from jacobians import CPU
from networks import KINDS, make

from dntk_core.base.compute import Compute
from dntk_core.base.spec import ProjectionSpec
from dntk_core.data.batch import to
from dntk_core.gradients.hardware import send
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import exact_kernels, project_batch, projector, stream

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here: what runs on CUDA is not tested")
CUDA = torch.device("cuda")
NAMES = ["identity", "sparse", "structured"]


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    """Products in float32, not in TensorFloat-32, so that both devices can be compared."""
    monkeypatch.setattr(torch.backends.cuda.matmul, "allow_tf32", False)
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)


def on(device, kind, name, **how):
    module, x, _ = make(kind)
    network = prepare(module.to(device), to(x, device))
    through = projector(network, ProjectionSpec(name, k=16), device)
    return project_batch(network, through, to(x, device), **how)[0].cpu()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_features_are_those_of_the_cpu(kind, name):
    torch.testing.assert_close(on(CUDA, kind, name), on(CPU, kind, name), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["convolutions", "tokens", "shared"])
def test_logits_together_or_one_by_one(kind, name):
    together, apart = on(CUDA, kind, name, batched=True), on(CUDA, kind, name, batched=False)
    torch.testing.assert_close(together, apart, rtol=1e-4, atol=1e-5)


def test_half_precision_is_float32_to_a_few_percent():
    exact, mixed = on(CUDA, "convolutions", "identity"), on(CUDA, "convolutions", "identity", precision="bfloat16")
    assert mixed.dtype == torch.float32 and (mixed - exact).norm() < 0.03 * exact.norm()


def test_a_stream_from_pinned_memory_is_one_batch():
    module, x, _ = make("convolutions", b=7)
    network = prepare(module.to(CUDA), x.to(CUDA))
    through = projector(network, ProjectionSpec("structured", k=16), CUDA)
    whole, outputs = project_batch(network, through, x.to(CUDA))
    parts = list(stream(network, through, x, Compute("cuda", batch=3)))
    assert all(f.device.type == "cpu" for f, _ in parts)
    torch.testing.assert_close(torch.cat([f for f, _ in parts], dim=1), whole.cpu(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(torch.cat([y for _, y in parts]), outputs.cpu(), rtol=1e-4, atol=1e-5)


def test_too_large_a_batch_is_halved(monkeypatch):
    module, x, _ = make("convolutions", b=8)
    network = prepare(module.to(CUDA), x.to(CUDA))
    through = projector(network, ProjectionSpec("structured", k=16), CUDA)
    sizes = []

    def scarce(network, through, part, *how):
        sizes.append(len(part))
        if len(part) > 4:
            # Really too much for any device.
            torch.empty(2**50, device=CUDA)
        return project_batch(network, through, part, *how)

    monkeypatch.setattr("dntk_core.gradients.stream.project_batch", scarce)
    assert sum(f.shape[1] for f, _ in stream(network, through, x, Compute("cuda", batch=8))) == 8
    assert sizes == [8, 4, 4]


def test_exact_kernels_are_those_of_the_cpu():
    module, x, _ = make("norms")
    here = exact_kernels(prepare(module, x), x)
    there = exact_kernels(prepare(module.to(CUDA), x.to(CUDA)), x.to(CUDA), batch=2)
    torch.testing.assert_close(there, here, rtol=1e-3, atol=1e-3)


def test_trees_of_tensors_are_sent_whole():
    sent = send({"ids": torch.arange(4), "mask": (torch.ones(4),)}, CUDA)
    assert sent["ids"].is_cuda and sent["mask"][0].is_cuda and sent["ids"].tolist() == [0, 1, 2, 3]
