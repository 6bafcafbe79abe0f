"""Whatever is handed in is taken or refused: nothing crashes, nothing is written elsewhere, nothing is started."""

import gc

import pytest
from hypothesis import HealthCheck, given, settings

from tests import watch
from tests.fuzz import REASONS, TARGETS, Target
from tests.fuzz_files import FILES
from tests.fuzz_saved import SAVED
from tests.reach import Reach

KINDS = TARGETS | FILES | SAVED


@pytest.fixture
def uncollected():
    """No garbage collection: finalizers would fail at the depth of nested JSON, and be counted here."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("target", KINDS.values(), ids=KINDS)
def test_nothing_crashes_and_nothing_is_written_elsewhere(tmp_path, uncollected, target: Target):
    (tmp_path / "cache").mkdir()
    take, verdicts, reach = target.prepare(tmp_path / "cache"), set(), Reach(target.parser)
    REASONS.clear()

    @settings(max_examples=120, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(target.inputs)
    def hand_in(value):
        with watch.outside(tmp_path / "cache") as found, reach.watching():
            verdicts.add(take(value))
        assert not found, found

    hand_in()
    # Both happen, the second for many reasons, and most lines are run, or the inputs never reach the parser. A library
    # that reads a file has one or two sentences for all that is wrong with it.
    reasons = 1 if target in (TARGETS["listing"], *FILES.values(), *SAVED.values()) else 3
    assert verdicts == {True, False} and len(REASONS) >= reasons, REASONS
    assert reach.share >= 0.7, reach.missed


@pytest.mark.parametrize("act", ["write", "make", "move", "remove", "start"])
def test_the_watch_sees_what_happens_outside(tmp_path, act):
    inside, outside = tmp_path / "cache", tmp_path / "x"
    inside.mkdir()
    (inside / "a").write_text("")
    if act == "remove":
        outside.write_text("")
    with watch.outside(inside) as found:
        (inside / "b").write_text("")
        {
            "write": lambda: outside.write_text(""),
            "make": outside.mkdir,
            "move": lambda: (inside / "a").rename(outside),
            "remove": outside.unlink,
            "start": lambda: __import__("subprocess").run(["true"]),
        }[act]()
    assert found and all(str(inside) not in line for line in found)
