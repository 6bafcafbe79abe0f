from dataclasses import replace

import pytest

from dntk_core.run.ledger import IMAGENET, Description, ledger

SMALL = Description(n=1000, m=100, P=10_000, C=10, k=256, s=10, forward=1e6)


def test_the_papers_imagenet_numbers():
    """One kernel of ResNet-50 on all of ImageNet: 4.2e19 FLOPs and 1.69e12 entries."""
    naive = ledger(replace(IMAGENET, n=1_300_000, P=25_000_000, C=1)).naive
    assert naive.kernel == pytest.approx(4.2e19, rel=0.01)
    assert naive.bytes / 8 == pytest.approx(1.69e12, rel=0.01)


def test_a_small_run_counted_by_hand():
    found = ledger(SMALL)
    assert found.naive.jacobians == found.projected.jacobians == 1000
    assert found.dntk.jacobians == 100
    assert found.naive.gradients == 1000 * 21 * 1e6
    assert found.projected.gradients == 1000 * 21 * 1e6 + 2 * 1000 * 10 * 10_000
    assert found.projected.kernel == 10 * 1000**2 * 256
    assert found.dntk.kernel == 10 * 100**2 * 256 + 9 * 100**3 + 2 * 10 * 10 * 100 * 110
    assert found.dntk.solve == pytest.approx(10 * 10**3 / 3)
    assert found.dntk.bytes == 8 * 10 * (100**2 + 100 * 256)
    assert found.saved("jacobians") == pytest.approx(1.0)
    assert found.saved("bytes", of="projected") == pytest.approx(2 - 0.4515, abs=0.01)


def test_synthesising_the_inputs_is_part_of_the_price():
    found = ledger(replace(SMALL, iterations=300))
    assert found.dntk.distillation == (1000 + 3 * 300 * 100) * 1e6
    assert found.dntk.flops - found.dntk.after_distillation == found.dntk.distillation
    assert found.saved("flops") < found.saved("after_distillation")


def test_imagenet_saves_what_the_paper_claims():
    found = ledger(IMAGENET)
    assert found.saved("after_distillation") > 4
    assert found.saved("after_distillation", of="projected") > 1
    assert found.saved("jacobians") > 1.3
