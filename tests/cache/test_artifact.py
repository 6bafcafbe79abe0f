"""A finished artifact hands out what its description lists, whole, and nothing else."""

import numpy as np
import pytest

from dntk_core.base.errors import Damaged, DNTKError, Unreadable
from dntk_core.base.stages import NOTES
from dntk_core.cache.artifact import LAYOUT, read_meta, try_meta
from dntk_core.cache.store import Store
from tests.artifacts import put, rewrite


@pytest.fixture
def artifact(tmp_path):
    return put(Store(tmp_path))


def test_what_it_holds(artifact):
    assert np.array_equal(artifact["numbers"], np.arange(6.0).reshape(2, 3)) and artifact.read("raw.bin") == b"abc"
    assert all(map(artifact.holds, ("numbers", "raw.bin", "remark"))) and not artifact.holds("other")


def test_files_that_are_not_listed_are_not_handed_out(artifact):
    (artifact.folder / "planted.npy").write_bytes((artifact.folder / "numbers.npy").read_bytes())
    for read in (lambda: artifact["planted"], lambda: artifact.read("planted.npy"), lambda: artifact.read("../x")):
        with pytest.raises(DNTKError, match="no checksum"):
            read()


def test_a_description_of_another_version_is_not_read_a_wrong_one_is_damaged(artifact):
    meta = artifact.folder / "meta.json"
    assert read_meta(artifact.folder) == artifact.meta
    rewrite(meta, {"extra": 1})
    with pytest.raises(Damaged, match="fields"):
        read_meta(artifact.folder)
    rewrite(meta, {"layout": LAYOUT + 1})
    assert read_meta(artifact.folder) is None is try_meta(artifact.folder)
    meta.unlink()
    assert try_meta(artifact.folder) is None


def test_a_note_that_pages_read_has_one_form(artifact):
    for name, fits in NOTES.items():
        wrong = next(value for value in ([1], {"x": 1}) if not fits(value))
        rewrite(artifact.folder / "meta.json", {"note": {name: wrong}})
        with pytest.raises(Damaged, match=f"its note '{name}' has an unknown form"):
            read_meta(artifact.folder)


def test_a_description_that_cannot_be_read_now_is_not_taken_for_none(artifact, monkeypatch):
    def fails(path):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("dntk_core.cache.artifact.read_json", fails)
    with pytest.raises(Unreadable):
        try_meta(artifact.folder)
