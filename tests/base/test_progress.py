"""Progress of a part of a stage, counted within the whole stage."""

from dntk_core.base.progress import Progress, Steps


def test_a_part_counts_from_where_it_begins():
    events = []
    Steps(events.append, "features", 10, 17)(3, "half way")
    assert events == [Progress("features", 13, 17, "half way")]
