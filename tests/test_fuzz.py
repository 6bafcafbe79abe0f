"""Whatever is handed in is taken or refused: nothing crashes, nothing is written elsewhere, nothing is started."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests import watch
from tests.fuzz import TARGETS, Target


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_nothing_crashes_and_nothing_is_written_elsewhere(tmp_path, target: Target):
    (tmp_path / "cache").mkdir()
    take, verdicts = target.prepare(tmp_path / "cache"), set()

    @settings(max_examples=250, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(target.inputs)
    def hand_in(value):
        with watch.outside(tmp_path / "cache") as found:
            verdicts.add(take(value))
        assert not found, found

    hand_in()
    # Both happen, or the inputs try nothing.
    assert verdicts == {True, False}


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
