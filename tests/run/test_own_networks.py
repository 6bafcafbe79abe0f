"""A user's own network and inputs: right, cached by what is computed, told when code changes or files are broken."""

import json
import sys
from dataclasses import replace

import kinds
import numpy as np
import pytest
from PIL import Image

from dntk_core import RunSpec, load_or_build
from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.store import Store
from dntk_core.run.across import build_series, open_series
from dntk_core.run.pipeline import open_run
from dntk_core.run.series import all_series, trained_series

OWN = Compute("cpu", own_code=True)


@pytest.fixture
def place(tmp_path, monkeypatch):
    kinds.write_networks(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("own_kinds", None)


def edit(place, old, new):
    path = place / "own_kinds.py"
    path.write_text(path.read_text().replace(old, new))
    # As in another process.
    sys.modules.pop("own_kinds", None)


def test_a_table_is_learnt_as_it_is(place):
    run = load_or_build(kinds.table_spec(place), compute=OWN, store=Store(place / "cache"))
    assert run.kind == "table" and run.vocabulary == kinds.COLUMNS and run.test_accuracy > 0.95
    rows = run.inputs[np.array([0, 59])]
    assert rows.shape == (2, 5) and rows.min() < -1 and rows.max() > 1
    with pytest.raises(DNTKError, match="are no images"):
        run.images  # noqa: B018
    assert np.isfinite(run.kernels.train).all() and run.projection_error["measured"] < 0.2


def test_edited_code_is_another_run_and_the_old_one_says_so(place):
    spec, store = kinds.table_spec(place), Store(place / "cache")
    first = load_or_build(spec, compute=OWN, store=store)
    assert load_or_build(spec, compute=OWN, store=store).key == first.key and not first.edited_code
    edit(place, "nn.ReLU()", "nn.Tanh()")
    assert [path.rpartition("/")[2] for path in first.edited_code] == ["own_kinds.py"]
    second = load_or_build(spec, compute=OWN, store=store)
    assert second.key != first.key and not second.edited_code
    assert not np.allclose(second.targets, first.targets)
    # What is cached stays open, also where own code may not run; it is never computed by other code.
    assert open_run(first.key, store).key == first.key
    with pytest.raises(DNTKError, match="no longer what this run was computed from"):
        load_or_build(replace(first.spec, projection=replace(spec.projection, k=128)), compute=OWN, store=store)


def test_a_series_is_found_again(place):
    store = Store(place / "cache")
    runs, across = build_series(trained_series(kinds.table_spec(place), (0, 8)), compute=OWN, store=store)
    (series,) = all_series(store)
    assert series.keys == tuple(run.key for run in runs) and open_series(series, store) is not None
    assert across.linear_error[0, 1] > 0


def test_weights_that_a_factory_brings_are_part_of_the_key(place):
    spec, store = kinds.table_spec(place), Store(place / "cache")
    spec = replace(spec, model=replace(spec.model, epochs=0), projection=ProjectionSpec("identity"))
    (place / "bias.json").write_text(json.dumps(0.0))
    (place / "own_kinds.py").write_text(
        "import json, pathlib, torch\nfrom torch import nn\n"
        "def table(classes):\n"
        "    network = nn.Linear(5, classes)\n"
        "    network.bias.data.fill_(json.loads(pathlib.Path(__file__).with_name('bias.json').read_text()))\n"
        "    return network\n"
    )
    first = load_or_build(spec, compute=OWN, store=store)
    (place / "bias.json").write_text(json.dumps(3.0))
    second = load_or_build(spec, compute=OWN, store=store)
    assert second.key != first.key
    np.testing.assert_allclose(second.targets, first.targets + 3, rtol=1e-4)


@pytest.mark.parametrize("masked", [False, True])
def test_tokens_stay_integers_with_and_without_a_mask(place, masked):
    run = load_or_build(kinds.tokens_spec(place, masked), compute=OWN, store=Store(place / "cache"))
    assert run.kind == "tokens" and run.vocabulary == kinds.WORDS and run.test_accuracy > 0.85
    some = run.inputs[:2]
    assert (some["ids"] if masked else some).dtype.kind == "i" and run.projection_error["measured"] < 0.2


def test_broken_files_are_left_out_and_named_at_the_end(tmp_path):
    for part, count in (("train", 9), ("val", 4)):
        for i in range(count):
            path = tmp_path / "data" / part / ("dark", "bright")[i % 2] / f"{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (8, 8), (200 * (i % 2),) * 3).save(path)
    for broken in ("train/dark/0.png", "train/bright/3.png", "val/dark/2.png"):
        (tmp_path / "data" / broken).write_bytes(b"broken")
    spec = RunSpec(
        DataSpec("folder", str(tmp_path / "data"), size=8),
        ModelSpec(epochs=1, batch=3),
        inputs=InputSpec(kernel=4, test=2),
        projection=ProjectionSpec(k=32),
    )
    with pytest.warns(UserWarning, match=r"3 files could not be read .*3\.png, .*0\.png, .*2\.png"):
        run = load_or_build(spec, store=Store(tmp_path / "cache"))
    assert run.images.shape == (4, 3, 8, 8)
