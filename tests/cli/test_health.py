"""`dntk health` prints what Python says of a kernel and of its labels."""

import json

import numpy as np

from dntk_core.cli.main import main
from dntk_core.run.checkup import left_out_sizes, risks, suspicious_labels, usual_sizes
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live


def test_numbers_are_those_of_python(tiny_run, capsys):
    assert main(["health", "--run", tiny_run.key, "--top", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    insight = Insight(tiny_run, Live(tiny_run.problem))
    np.testing.assert_allclose(found["kare"], risks(insight, found["ridges"]), rtol=1e-6)
    suspects = suspicious_labels(insight)
    assert [each["index"] for each in found["suspicious"]] == suspects.order[:3].tolist()
    sizes = left_out_sizes(insight, "local-global", usual_sizes(insight), 1e-4)
    np.testing.assert_allclose(found["sizes"]["left_out"]["accuracy"], sizes.accuracy)
    assert found["sizes"]["left_out"]["s"] == sizes.sizes.tolist()
    assert found["outvoted"] == int((suspects.margin < 0).sum())


def test_people_read_sentences(tiny_run, capsys):
    assert main(["health", "--run", tiny_run.key, "--top", "2", "--class", "1"]) == 0
    said = capsys.readouterr().out
    assert f"alignment of the kernel of {tiny_run.class_names[1]} and targets" in said
    assert "leave-one-out: ridge" in said and "most suspicious" in said and said.count("  input ") == 2
    assert main(["health", "--run", tiny_run.key, "--class", "9"]) == 2
    assert "the class must lie in 0..2, got 9" in capsys.readouterr().err
