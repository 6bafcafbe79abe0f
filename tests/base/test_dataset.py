"""How images become kernel inputs: what keys hold of it, and what is refused."""

import pytest

from dntk_core.base.dataset import DatasetSpec, check_dataset
from dntk_core.base.errors import DNTKError


def test_the_network_studied_on_them_and_full_precision_are_no_part_of_images():
    usual = DatasetSpec("wmdd").content
    assert usual == DatasetSpec("wmdd", base="distilled").content and "precision" not in usual
    assert usual != DatasetSpec("wmdd", precision="bfloat16").content != DatasetSpec("wmdd", seed=1).content


@pytest.mark.parametrize(
    "changes, refusal",
    [
        ({"method": "wmd"}, "none, wmdd, random"),
        ({"base": "both"}, "base must be one of"),
        ({"precision": "float16"}, "precision of dataset distillation must be one of float32, bfloat16"),
        ({"per_class": 0}, "images per class must be at least 1"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"rate": float("nan")}, "rate must be a positive number"),
        ({"bn_weight": float("inf")}, "bn_weight must be a number >= 0"),
    ],
)
def test_settings_that_no_images_come_from_are_refused(changes, refusal):
    check_dataset(DatasetSpec("wmdd"))
    with pytest.raises(DNTKError, match=refusal):
        check_dataset(DatasetSpec(**changes))
