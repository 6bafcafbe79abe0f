"""Flags that commands share."""

import pytest

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.cli.flags import compute_of, distillation_of
from dntk_core.cli.main import parser
from dntk_core.run.distillation import Distillation


def test_computing_is_as_asked_and_may_run_the_callers_own_code():
    words = ["build", "--device", "cpu", "--batch", "7", "--memory", "0.5"]
    assert compute_of(parser().parse_args(words)) == Compute("cpu", 2**29, 7, own_code=True)
    for wrong in (["--batch", "-1"], ["--memory", "0"]):
        with pytest.raises(DNTKError, match="--batch must be 0 or more and --memory positive"):
            compute_of(parser().parse_args(["build", *wrong]))


@pytest.mark.parametrize("command", ["evaluate", "export --out set.npz"])
def test_without_flags_the_distilled_set_is_the_default_one(command):
    assert distillation_of(parser().parse_args(command.split())) == Distillation()
