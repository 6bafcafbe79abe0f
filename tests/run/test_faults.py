"""What happens to disks, folders, clocks and memory: a clear message, recovery, never a wrong number."""

import json
import os
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from artifacts import rewrite

from dntk_core import RunSpec, load_or_build
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.files import write
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store
from dntk_core.cli.main import main
from dntk_core.run.pipeline import open_run, runs
from tests import faults

SMALL = RunSpec(model=ModelSpec(epochs=1), inputs=InputSpec(120, 110), projection=ProjectionSpec(k=256))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The run as it is when nothing happens."""
    return load_or_build(SMALL, store=Store(tmp_path_factory.mktemp("undisturbed")))


def same(run, other) -> bool:
    return np.array_equal(run.features, other.features) and np.array_equal(run.kernels.train, other.kernels.train)


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own: 40 MB of memory, mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def at_features(act):
    """A progress callback that acts once, in the middle of the features."""
    acted = []

    def report(event):
        if event.stage == "features" and event.done >= 100 and not acted:
            acted.append(act())

    return report


def fill(folder):
    """Leave no byte free."""
    with pytest.raises(OSError), open(folder / "ballast", "wb", buffering=0) as file:
        while True:
            file.write(bytes(2**16))


def test_a_full_disk_stops_the_run_and_loses_nothing(disk, undisturbed):
    store = Store(disk / "cache")
    with pytest.raises(DNTKError, match=r"No space left .* free some space .* what is finished is kept"):
        load_or_build(SMALL, at_features(lambda: fill(disk)), store=store)
    # What can be read still is, and no half-written file takes room.
    assert [info.finished for info in runs(store)] in ([False], [])
    assert not [*(disk / "cache").rglob(".*.npy.*")] and not [*(disk / "cache" / "scratch").iterdir()]
    shards = {path: path.stat().st_mtime_ns for path in (disk / "cache" / "partial").glob("*/features-*.json")}
    (disk / "ballast").unlink()
    kept = []
    run = load_or_build(SMALL, at_features(lambda: kept.extend(p.stat().st_mtime_ns for p in shards)), store=store)
    assert same(run, undisturbed)
    assert shards and kept == list(shards.values())


def test_a_disk_that_is_full_from_the_start_says_so(disk):
    fill(disk)
    with pytest.raises(DNTKError, match="free"):
        load_or_build(SMALL, store=Store(disk / "cache"))
    # Also where a run was begun before.
    (disk / "ballast").unlink()
    Index(Store(disk / "cache")).begin(SMALL)
    fill(disk)
    with pytest.raises(DNTKError, match="free"):
        load_or_build(replace(SMALL, projection=ProjectionSpec(k=128)), store=Store(disk / "cache"))
    assert [info.key for info in runs(Store(disk / "cache"))] in ([SMALL.key], [])


def test_a_read_only_cache_still_shows_what_it_holds(disk, undisturbed, capsys, monkeypatch):
    store = Store(disk / "cache")
    load_or_build(SMALL, store=store)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert [info.key for info in runs(store)] == [SMALL.key]
    assert same(open_run(SMALL.key, Store(disk / "cache")), undisturbed)
    monkeypatch.setenv("DNTK_CACHE_DIR", str(disk / "cache"))
    assert main(["build", "--epochs", "1", "--kernel-inputs", "50", "--test-inputs", "50"]) == 2
    message = capsys.readouterr().err
    assert "make it writable" in message and "Traceback" not in message


def test_a_damaged_run_in_a_read_only_cache_is_not_shown(disk):
    load_or_build(SMALL, store=Store(disk / "cache"))
    (array,) = (disk / "cache" / "artifacts").glob("kernels-*/train.npy")
    with open(array, "r+b") as file:
        file.seek(-5, os.SEEK_END)
        file.write(b"?")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.warns(UserWarning, match="damaged"), pytest.raises(DNTKError, match="not finished"):
        open_run(SMALL.key, Store(disk / "cache"))


def test_a_cache_deleted_while_a_run_is_computed(tmp_path, undisturbed):
    cache = tmp_path / "cache"
    with pytest.raises(DNTKError, match="was deleted while it was in use; start again"):
        load_or_build(SMALL, at_features(lambda: shutil.rmtree(cache)), store=Store(cache))
    assert same(load_or_build(SMALL, store=Store(cache)), undisturbed)


@pytest.mark.parametrize("when", [-1e18, 1e18, float("inf"), float("nan")])
def test_a_clock_that_jumps_only_changes_dates(tmp_path, monkeypatch, capsys, when):
    monkeypatch.setattr("time.time", lambda: when)
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path))
    Index(Store()).begin(SMALL)
    monkeypatch.undo()
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path))
    assert main(["runs"]) == 0
    assert SMALL.key in capsys.readouterr().out


@pytest.mark.parametrize("change", [{"layout": 0}, {"note": {}}])
def test_an_artifact_of_another_version_is_absent_not_damaged(tmp_path, undisturbed, change, recwarn):
    load_or_build(SMALL, store=Store(tmp_path))
    (meta,) = (tmp_path / "artifacts").glob("features-*/meta.json")
    rewrite(meta, change)
    with pytest.raises(DNTKError, match="not finished; build it again"):
        open_run(SMALL.key, Store(tmp_path))
    assert same(load_or_build(SMALL, store=Store(tmp_path)), undisturbed)
    assert not (tmp_path / "damaged").exists() and not [*(tmp_path / "scratch").iterdir()]
    assert not [warning for warning in recwarn if "damaged" in str(warning.message)]


def test_a_run_that_would_not_fit_on_the_disk_is_refused(disk):
    spec = replace(SMALL, projection=ProjectionSpec("identity"))
    with pytest.raises(DNTKError, match=r"of disk, .* smaller k or fewer inputs"):
        load_or_build(spec, store=Store(disk / "cache"))
    assert not (disk / "cache").exists()


def test_memory_that_runs_out_stops_the_job_alone(tmp_path, undisturbed, monkeypatch):
    def greedy(*rest):
        return np.empty(2**62, np.uint8)

    with monkeypatch.context() as patch:
        patch.setattr("dntk_core.run.stages.kernels.kernels_by_size", greedy)
        with pytest.raises(DNTKError, match="memory ran out at the stage 'kernels'"):
            load_or_build(SMALL, store=Store(tmp_path))
    assert same(load_or_build(SMALL, store=Store(tmp_path)), undisturbed)


# Every so many calls fail; what takes fewer calls fails more often.
SOME = {"list runs": 13, "keep a series": 2, "note a run": 4, "collect garbage": 9}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return faults.prepare(tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("action", faults.ACTIONS)
def test_a_disk_that_fails_once_costs_one_sentence_and_nothing_that_is_sound(tmp_path, sound, action):
    """Some calls with some errors; `python -m benchmarks.faults` tries every call with all of them."""
    tally = faults.Tally()
    faults.strike(tmp_path, sound, action, ("EIO", "EACCES"), SOME.get(action, 61), tally)
    assert tally.injected > 10 and tally.recovered == tally.injected and not tally.lost and not tally.uncaught, tally


def test_numbers_that_are_not_finite_are_not_shown_although_their_checksum_fits(tmp_path, undisturbed):
    store = Store(tmp_path)
    load_or_build(SMALL, store=store)
    (meta,) = (tmp_path / "artifacts").glob("kernels-*/meta.json")
    kernel = np.load(meta.with_name("train.npy"))
    kernel[0, 0, 0] = np.nan
    name, entry = write(meta.parent, "train", kernel)
    rewrite(meta, {"files": json.loads(meta.read_text())["files"] | {name: entry}})
    with pytest.raises(DNTKError, match="holds numbers that are not finite; delete the run"):
        _ = open_run(SMALL.key, Store(tmp_path)).kernels
