"""A finished run says what it is, in Python and in a notebook, and refuses numbers that are not finite."""

import numpy as np
import pytest

from dntk_core import DNTKError, open_run
from dntk_core.cache.artifact import Artifact


def test_it_says_what_it_is(tiny_run):
    assert tiny_run.dense and tiny_run.kind == "table" and tiny_run.judgements == () and tiny_run.distillation is None
    assert tiny_run.test_accuracy == np.mean(tiny_run.test_logits.argmax(1) == tiny_run.test_labels)
    assert set(tiny_run.seconds) == set(tiny_run.artifacts) and tiny_run.edited_code == []
    shown = tiny_run._repr_html_()
    assert tiny_run.key in shown and "24 kernel inputs, 17 test inputs" in shown
    with pytest.raises(DNTKError, match="no images"):
        _ = tiny_run.images


def test_numbers_that_are_not_finite_are_refused_although_their_checksum_fits(tiny_run, monkeypatch):
    run, read = open_run(tiny_run.key), Artifact.__getitem__
    monkeypatch.setattr(
        Artifact, "__getitem__", lambda self, name: read(self, name) * (np.nan if name == "targets" else 1)
    )
    with pytest.raises(DNTKError, match="not finite; delete the run"):
        _ = run.problem
