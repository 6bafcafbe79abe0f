"""Kernels are formed of few inputs, of many the features are kept."""

import numpy as np

from dntk_core.base.stage import Sizes
from dntk_core.base.stages import STAGES


def test_kernels_are_formed_only_of_few_inputs(default_run, rebuild, monkeypatch):
    contents, note = rebuild(default_run, "kernels")
    assert note["dense"] and np.array_equal(contents["train"], default_run.kernels.train)
    monkeypatch.setattr("dntk_core.kernels.feature_kernels.LARGEST_DENSE", 499)
    fewer, note = rebuild(default_run, "kernels")
    assert not note["dense"] and set(contents) - set(fewer) == {"train", "cross"}
    assert np.array_equal(fewer["targets"], default_run.targets)


def test_the_estimate_knows_the_bytes_of_formed_kernels(default_run):
    formed = default_run.kernels.train.nbytes + default_run.kernels.cross.nbytes
    assert STAGES["kernels"].writes(Sizes(C=10, m=500, t=500, k=2048, n=1297)) == formed
    assert STAGES["kernels"].writes(Sizes(C=10, m=10**5, t=500, k=2048, n=1297, dense=False)) == 0
