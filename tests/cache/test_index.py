"""Which runs there are: told by the files on disk, whatever becomes of the listing; gc refuses what it cannot read."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from artifacts import build_small, fork

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.index import BESIDE, Entry, Index
from dntk_core.cache.listing import Listing
from dntk_core.cache.store import Store
from dntk_core.run.pipeline import collect_garbage, delete_run, runs

SPEC = RunSpec.default()
OTHER = replace(SPEC, projection=ProjectionSpec(k=7))
BEGUN = replace(SPEC, model=ModelSpec(seed=3))


def finish(store, spec, stages=None):
    Index(store).begin(spec)
    for stage in stages or spec.stages:
        store.load_or_build(stage, spec.stage_key(stage), spec.to_json(), build_small)


@pytest.fixture
def store(tmp_path):
    """Two finished runs that share a network, and one that was begun."""
    store = Store(tmp_path / "cache")
    for spec in (SPEC, OTHER):
        finish(store, spec)
    finish(store, BEGUN, ["model"])
    return store


KEYS = {SPEC.key, OTHER.key, BEGUN.key}


def listed(store):
    return {info.key for info in Index(store).all()}


def test_runs_are_listed_with_what_they_are(store):
    found = {info.key: info for info in Index(store).all()}
    assert set(found) == KEYS and found[SPEC.key].spec == SPEC and found[SPEC.key].bytes > 0
    assert [found[key].finished for key in (SPEC.key, OTHER.key, BEGUN.key)] == [True, True, False]


@pytest.mark.parametrize("text", ["[" * 10**5, '{"spec": 1}', '{"spec": "{}", "created": "today"}', "{}"])
def test_a_row_of_another_form_counts_for_nothing(store, text):
    Listing(store.root).add({SPEC.key: text, "0" * 20: text})
    assert listed(store) == KEYS


def test_a_row_alone_is_no_run(store):
    missing = replace(SPEC, projection=ProjectionSpec(k=5))
    Listing(store.root).add({missing.key: Entry(missing.to_json(), 1.0).to_json()})
    assert listed(store) == KEYS


def test_a_listing_that_is_locked_is_waited_for_a_second_at_most(store, monkeypatch):
    waits, connect = [], Listing._connect
    monkeypatch.setattr(Listing, "_connect", lambda self, mode, wait: waits.append(wait) or connect(self, mode, 0))
    with sqlite3.connect(store.root / "index" / "cache.db") as database:
        database.execute("PRAGMA locking_mode=EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        assert listed(store) == KEYS and sum(waits) == 1
        Index(store).begin(replace(SPEC, projection=ProjectionSpec(k=9)))
        assert collect_garbage(store) == 0


def test_of_many_damaged_databases_none_hides_a_run_or_loses_one(store):
    listed(store)
    database, rng = store.root / "index" / "cache.db", np.random.default_rng(0)
    sound = database.read_bytes()
    for trial in range(24):
        content = bytearray(sound)
        for place in rng.integers(0, len(content), 40 if trial % 2 else 400):
            content[place] = rng.integers(256)
        cut = int(rng.integers(len(content))) if trial % 3 == 0 else len(content)
        database.parent.mkdir(exist_ok=True)
        for beside in ("cache.db-wal", "cache.db-shm"):
            (database.parent / beside).unlink(missing_ok=True)
        database.write_bytes(content[:cut])
        assert listed(store) == KEYS
    assert collect_garbage(store) == 0 and listed(store) == KEYS


def look_again_and_again(root, results):
    found = [listed(Store(root)) for _ in range(15)]
    results.put(sum(keys == KEYS for keys in found))


def test_processes_that_meet_a_damaged_listing_all_see_every_run(store):
    results = fork.Queue()
    (store.root / "index" / "cache.db").write_bytes(b"not a database, not at all, not even close" * 100)
    workers = [fork.Process(target=look_again_and_again, args=(store.root, results)) for _ in range(6)]
    for worker in workers:
        worker.start()
    counts = [results.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert counts == [15] * 6


def test_no_path_in_the_listing_is_opened_or_removed(store, tmp_path):
    private = tmp_path / "private"
    private.write_text("mine")
    with sqlite3.connect(store.root / "index" / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 3, filename = ?, value = NULL", (str(private),))
    assert listed(store) == KEYS
    delete_run(SPEC.key, store)
    Index(store).begin(SPEC)
    assert private.read_text() == "mine" and listed(store) == KEYS


def test_the_listing_never_evicts_and_takes_text_alone(store):
    import diskcache

    from dntk_core.cache.listing import _cache

    with _cache(store.root / "index") as cache:
        assert isinstance(cache, diskcache.Cache) and cache.eviction_policy == "none" and cache.cull_limit == 0
        with pytest.raises(DNTKError, match="text only"):
            cache["key"] = {"a": 1}


def artifacts(store):
    return set(store.all())


def test_deleting_a_run_keeps_what_others_need(store):
    delete_run(SPEC.key, store)
    assert listed(store) == KEYS - {SPEC.key}
    kept = {(stage, OTHER.stage_key(stage)) for stage in OTHER.stages} | {("model", BEGUN.stage_key("model"))}
    assert artifacts(store) == kept


def test_a_second_delete_of_the_same_run_is_one_sentence_also_at_the_same_moment(store):
    def delete(_):
        try:
            return delete_run(SPEC.key, Store(store.root))
        except DNTKError as error:
            return str(error)

    with ThreadPoolExecutor(6) as pool:
        outcomes = [*pool.map(delete, range(6)), delete(0)]
    assert any(isinstance(freed, int) for freed in outcomes) and "no run in the cache" in outcomes[-1]
    assert listed(store) == KEYS - {SPEC.key}
    kept = {(stage, OTHER.stage_key(stage)) for stage in OTHER.stages} | {("model", BEGUN.stage_key("model"))}
    assert artifacts(store) == kept and not [*(store.root / "damaged").glob("*")]


@pytest.mark.parametrize("damage", ["run file", "both", "unknown spec"])
def test_gc_refuses_what_it_cannot_read(store, damage):
    before = artifacts(store)
    run = store.root / "runs" / f"{OTHER.key}.json"
    meta = store.artifact_folder("kernels", OTHER.key) / "meta.json"
    if damage == "unknown spec":
        run.write_text(Entry(json.dumps({"of": "tomorrow"}), 1.0).to_json())
    else:
        run.write_text("{")
    if damage == "both":
        meta.write_text("{")
    if damage == "run file":
        # The artifact says the same.
        collect_garbage(store)
    else:
        with pytest.raises(DNTKError, match=f"the run {OTHER.key} is made of cannot be read .* nothing was deleted"):
            collect_garbage(store)
        with pytest.raises(DNTKError, match="nothing was deleted"):
            delete_run(SPEC.key, store)
        assert SPEC.key in listed(store)
    assert artifacts(store) == before


@pytest.mark.parametrize("stage", BESIDE)
@pytest.mark.parametrize("text", ["{", '{"layout": 99}'])
def test_gc_refuses_what_may_belong_to_a_run_and_does_not_say(store, stage, text):
    """It goes with its run, and stays as long as nobody can tell which one that is."""
    name, of = BESIDE[stage]
    note = {name: OTHER.stage_key(of)}
    store.load_or_build(stage, "k", OTHER.to_json(), lambda bench: (build_small(bench)[0], note))
    collect_garbage(store)
    assert (stage, "k") in artifacts(store)
    meta = store.artifact_folder(stage, "k") / "meta.json"
    sound = meta.read_text()
    meta.write_text(text)
    with pytest.raises(DNTKError, match=f"what {stage}-k belongs to cannot be read .* nothing was deleted"):
        collect_garbage(store)
    assert (stage, "k") in artifacts(store)
    meta.write_text(sound)
    delete_run(OTHER.key, store)
    assert (stage, "k") not in artifacts(store)


def test_a_run_whose_last_stage_is_being_computed_is_not_half_deleted(store):
    before = artifacts(store)
    with store._lock("kernels", SPEC.key), pytest.raises(DNTKError, match="is being computed; stop that first"):
        delete_run(SPEC.key, Store(store.root))
    assert (store.root / "runs" / f"{SPEC.key}.json").is_file() and artifacts(store) == before


@pytest.mark.parametrize("index", ["sound", "lost", "garbage", "half"])
def test_a_cache_from_before_there_were_files_for_runs(store, index):
    """Such a cache has the listing alone; nothing is lost if that is damaged, too."""
    import shutil

    listed(store)
    shutil.rmtree(store.root / "runs")
    if index == "lost":
        shutil.rmtree(store.root / "index")
    if index == "garbage":
        (store.root / "index" / "cache.db").write_bytes(b"garbage" * 1000)
    if index == "half":
        Listing(store.root).drop(OTHER.key)
        Listing(store.root).drop(BEGUN.key)
    assert {SPEC.key, OTHER.key} <= listed(store)
    before = artifacts(store)
    assert collect_garbage(store) == 0 and artifacts(store) == before
    assert listed(store) == KEYS and [info.key for info in runs(store) if not info.finished] == [BEGUN.key]
