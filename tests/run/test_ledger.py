from dataclasses import replace

import pytest

from dntk_core.run.ledger import IMAGENET, Description, ledger

SMALL = Description(n=1000, m=100, P=10_000, C=10, k=256, s=10, forward=1e6)


def test_the_papers_imagenet_numbers():
    """One kernel of ResNet-50 on all of ImageNet: 4.2e19 FLOPs, and 1.69e12 entries beside its gradients."""
    run = replace(IMAGENET, n=1_300_000, P=25_000_000, C=1)
    assert ledger(run).paper.naive.flops == pytest.approx(4.2e19, rel=0.01)
    assert ledger(run).everything.naive.bytes / 8 - run.n * run.P == pytest.approx(1.69e12, rel=0.01)


def test_resnet18_on_imagenette_counted_as_the_paper_does_and_with_everything():
    """The paper's 10⁵–10⁶ are n²P/m²k FLOPs and nP/mk numbers; with gradients, far less is saved (64 px)."""
    run = Description(n=9_469, m=500, P=11_200_000, C=10, k=2048, s=50, forward=2.97e8)
    found = ledger(run)
    assert found.paper.saving("flops") == pytest.approx(9_469**2 * 11_200_000 / (500**2 * 2048))
    assert found.paper.saving("flops") == pytest.approx(2e6, rel=0.05)
    assert found.paper.saving("bytes") == pytest.approx(1e5, rel=0.05)
    assert found.paper.naive.kernel == found.everything.naive.kernel / 10
    assert found.everything.saving("flops") == pytest.approx(3_124, rel=0.02)
    assert found.everything.saving("bytes") == pytest.approx(9_469 * (9_469 + 11_200_000) / (500 * 2548))


def test_a_small_run_counted_by_hand():
    found = ledger(SMALL).everything
    assert found.naive.jacobians == found.projected.jacobians == 1000
    assert found.dntk.jacobians == 100
    assert found.naive.gradients == 1000 * 21 * 1e6
    assert found.projected.gradients == 1000 * 21 * 1e6 + 2 * 1000 * 10 * 10_000
    assert found.projected.kernel == 10 * 1000**2 * 256
    assert found.dntk.kernel == 10 * 100**2 * 256 + 9 * 100**3 + 2 * 10 * 10 * 100 * 110
    assert found.dntk.solve == pytest.approx(10 * 10**3 / 3)
    assert found.naive.bytes == 8 * 10 * (1000**2 + 1000 * 10_000)
    assert found.dntk.bytes == 8 * 10 * (100**2 + 100 * 256)
    assert found.saving("jacobians") == 10
    assert found.saving("bytes", over="projected") == pytest.approx(1000 * 1256 / (100 * 356))


def test_it_says_what_inputs_it_counts():
    assert ledger(replace(SMALL, sees="images of 3 × 8 × 8")).sees == "images of 3 × 8 × 8"


def test_synthesising_the_inputs_is_part_of_the_price():
    found = ledger(replace(SMALL, iterations=300)).everything
    assert found.dntk.distillation == (1000 + 3 * 300 * 100) * 1e6
    assert found.dntk.flops - found.dntk.after_distillation == found.dntk.distillation
    assert found.saving("flops") < found.saving("after_distillation")


def test_imagenet_saves_what_the_paper_claims():
    found = ledger(IMAGENET).everything
    assert found.saving("after_distillation") > 1e4
    assert found.saving("after_distillation", over="projected") > 10
    assert found.saving("jacobians") > 20
