"""Progress bars: one line per stage, the time left from the rate."""

import io

import pytest

from dntk_core.base.progress import Progress
from dntk_core.base.terminal import Bar, duration, size


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_file_gets_one_line_per_finished_stage():
    stream = io.StringIO()
    bar = Bar(stream)
    for done in (1, 2, 2):
        bar(Progress("model", done, 2))
    assert stream.getvalue() == "model: 2 of 2\n"


def test_the_time_left_follows_the_rate_since_the_first_event():
    seconds = iter([100.0, 110.0])
    bar = Bar(Terminal(), lambda: next(seconds))
    bar(Progress("model", 5, 20))
    # Five steps in ten seconds, ten are left.
    bar(Progress("model", 10, 20, "loss 0.1"))
    last = bar.stream.getvalue().split("\r")[-1]
    assert "10/20  20 s left  loss 0.1" in last and last.count("█") == last.count("·") == 14


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (3 * 2**20, "3.0 MiB"),
        (2**30, "1.0 GiB"),
        (2**41, "2048.0 GiB"),
    ],
)
def test_sizes_are_written_for_people(count, text):
    assert size(count) == text


def test_times_are_written_for_people():
    assert [duration(seconds) for seconds in (0.4, 59.6, 60, 3600)] == ["0 s", "1 min 0 s", "1 min 0 s", "60 min 0 s"]
