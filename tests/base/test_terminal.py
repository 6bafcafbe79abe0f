"""What a terminal shows."""

import io

from dntk_core.base.progress import Progress
from dntk_core.base.terminal import Bar, size


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_shows_share_and_time_left():
    now = [0.0]
    bar = Bar(Terminal(), clock=lambda: now[0])
    for done in (0, 25, 50):
        now[0] = done * 2.0
        bar(Progress("features", done, 100, "loss 1"))
    last = bar.stream.getvalue().split("\r")[-1]
    assert "50/100" in last and "1 min 40 s left" in last and "loss 1" in last and "\n" not in last


def test_sizes_change_their_unit_at_1024():
    said = [size(count) for count in (0, 1023, 1024, 1024**2 - 1, 1024**2, 1024**3, 1024**4)]
    assert said == ["0 B", "1023 B", "1.0 KiB", "1024.0 KiB", "1.0 MiB", "1.0 GiB", "1024.0 GiB"]
