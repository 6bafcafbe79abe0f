"""Distilled sets: what is read back predicts the same, bit for bit; what does not fit is refused in one sentence."""

import json
import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dntk_core import DNTKError
from dntk_core.distill import local_global
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.readout.ridge import evaluate, predict
from dntk_core.run.export import export_distilled, load_distilled
from tests.hostile import Planted

RIDGE = 1e-3


@pytest.fixture(scope="module")
def mixing(default_run):
    kernel = default_run.kernels.mean
    return local_global(kernel, spectral_clusters(kernel, 5, 0), 0.7, 0.9, "ratio")


@pytest.fixture
def exported(default_run, mixing, tmp_path):
    path = tmp_path / "set.safetensors"
    export_distilled(default_run, mixing, path, RIDGE, {"method": "local-global", "H": 5}, "python -m dntk_core …")
    return path


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
def test_predictions_come_back_bit_for_bit(default_run, mixing, tmp_path, suffix):
    export_distilled(default_run, mixing, tmp_path / f"set{suffix}", RIDGE)
    distilled = load_distilled(tmp_path / f"set{suffix}")
    wanted = predict(default_run.kernels, default_run.targets, mixing, RIDGE)
    assert np.array_equal(distilled.predict(default_run.kernels), wanted)
    features = default_run.artifacts["features"]["test_features"]
    np.testing.assert_allclose(distilled.predict_features(features), wanted, rtol=1e-7, atol=1e-7)


def test_the_manifest_holds_what_is_needed_to_reproduce_the_set(default_run, mixing, exported):
    manifest = load_distilled(exported).manifest
    scores = evaluate(default_run.problem, mixing, RIDGE)
    assert manifest["run"] == default_run.key
    assert manifest["spec"] == json.loads(default_run.spec.to_json())
    assert manifest["settings"] == {"method": "local-global", "H": 5}
    assert manifest["metrics"]["fidelity"] == scores.fidelity and manifest["metrics"]["gradients"] == mixing.size
    assert {"python", "numpy", "torch"} <= set(manifest["versions"]) and manifest["command"]
    assert set(manifest["arrays"]) == {"features", "targets", "mixing", "gram"}


def rewrite(path, arrays=None, manifest=None):
    """Write the set again with some of it replaced."""
    old = load_distilled(path)
    content = load_file(path) | (arrays or {})
    described = old.manifest | (manifest or {})
    save_file(content, path, metadata={"manifest": json.dumps(described)})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"manifest": {"format": "other"}}, "its format is not"),
        ({"manifest": {"version": 99}}, "version 1 is read"),
        ({"manifest": {"lambda": "1; import os"}}, "lambda is"),
        ({"manifest": {"lambda": float("nan")}}, "lambda is"),
        ({"manifest": {"run": "0" * 20}}, "another key"),
        ({"manifest": {"spec": {"data": {"name": 3}}}}, "data.name"),
        ({"arrays": {"targets": np.zeros((2, 2))}}, "does not match its hash"),
        ({"arrays": {"extra": np.zeros(2)}}, "nothing else"),
    ],
)
def test_a_set_that_was_tampered_with_is_refused(exported, change, complaint):
    rewrite(exported, **change)
    with pytest.raises(DNTKError, match=complaint):
        load_distilled(exported)


def test_a_cut_file_is_refused(exported):
    exported.write_bytes(exported.read_bytes()[:-100])
    with pytest.raises(DNTKError, match="is no distilled set"):
        load_distilled(exported)


def test_a_pickle_is_never_loaded(tmp_path):
    planted = Planted(tmp_path / "executed")
    np.savez(tmp_path / "array.npz", features=np.array([planted]), manifest=np.array("{}"))
    for name in ("whole.npz", "whole.safetensors"):
        (tmp_path / name).write_bytes(pickle.dumps(planted))
    for name in ("array.npz", "whole.npz", "whole.safetensors"):
        with pytest.raises(DNTKError, match="is no distilled set"):
            load_distilled(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def test_other_names_and_missing_files_are_explained(default_run, mixing, tmp_path):
    with pytest.raises(DNTKError, match=r"\*\.safetensors or \*\.npz"):
        export_distilled(default_run, mixing, tmp_path / "set.pkl", RIDGE)
    with pytest.raises(DNTKError, match="there is no file"):
        load_distilled(tmp_path / "set.npz")
    with pytest.raises(DNTKError, match="cannot be written"):
        export_distilled(default_run, mixing, tmp_path / "nowhere" / "set.npz", RIDGE)
    assert not list(tmp_path.iterdir())
