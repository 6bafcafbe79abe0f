"""States of a long iteration: only the newest is kept, and a damaged one is passed over."""

import numpy as np

from dntk_core.cache.resume import keep, newest
from dntk_core.cache.workbench import Workbench


def state(value):
    return lambda: {"x": np.full(3, value)}


def test_the_newest_state_is_found_and_earlier_ones_are_dropped(tmp_path):
    bench = Workbench(tmp_path / "bench")
    assert newest(bench, "epoch") is None
    for step in (8, 9, 10):
        keep(bench, "epoch", step, state(step))
    step, arrays = newest(bench, "epoch")
    assert step == 10 and arrays["x"].tolist() == [10] * 3
    assert sorted(path.name for path in bench.folder.iterdir()) == ["epoch-10.json", "epoch-10.x.npy"]


def test_names_that_begin_alike_are_kept_apart(tmp_path):
    bench = Workbench(tmp_path / "bench")
    keep(bench, "images-0", 75, state(1))
    keep(bench, "images-0-10", 25, state(2))
    assert newest(bench, "images-0")[0] == 75 and newest(bench, "images-0-10")[0] == 25


def test_a_damaged_state_is_passed_over(tmp_path):
    bench = Workbench(tmp_path / "bench")
    keep(bench, "epoch", 1, state(1))
    # A process killed before it dropped the earlier state, and then a bad disk.
    bench.shard("epoch-2", state(2))
    (bench.folder / "epoch-2.x.npy").write_bytes(b"")
    assert newest(bench, "epoch")[0] == 1
