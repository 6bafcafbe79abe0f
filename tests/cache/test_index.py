"""The index of runs: rebuilt when lost, text only, never evicting."""

import pytest
from artifacts import build_small

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store


@pytest.mark.parametrize("text", ["[" * 10**5, '{"spec": 1}', '{"spec": "{}", "created": "today"}'])
def test_an_index_entry_of_another_form_is_left_out(tmp_path, text):
    index = Index(Store(tmp_path))
    with index._open() as cache:
        cache[RunSpec.default().key] = text
    assert index.all() == []


def test_the_index_is_rebuilt_from_the_artifacts_when_lost_or_damaged(tmp_path):
    spec, store = RunSpec.default(), Store(tmp_path)
    for stage in spec.stages:
        store.load_or_build(stage, spec.stage_key(stage), spec.to_json(), build_small)
    index = Index(store)
    (info,) = index.all()
    assert info.key == spec.key and info.spec == spec and info.finished and info.bytes > 0
    (tmp_path / "index" / "cache.db").write_bytes(b"not a database, not at all, not even close" * 100)
    assert [again.key for again in Index(store).all()] == [spec.key]


def test_the_index_never_evicts(tmp_path):
    index = Index(Store(tmp_path))
    index.begin(RunSpec.default())
    with index._open() as cache:
        assert cache.eviction_policy == "none" and cache.cull_limit == 0
        with pytest.raises(DNTKError, match="text only"):
            cache["key"] = {"a": 1}
