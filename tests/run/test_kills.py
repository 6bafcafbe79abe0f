"""A run killed at any moment loses nothing that was finished; benchmarks/kills.py does this more often."""

from dntk_core.base.stages import STAGES
from tests.kills import build_together, kill_again_and_again, short_run


def test_killed_in_its_stages_it_ends_like_an_undisturbed_run(tmp_path):
    assert set(short_run(tmp_path).stages) == {name for name, stage in STAGES.items() if not stage.asked}
    outcome = kill_again_and_again(tmp_path, rounds=6, seed=0)
    assert outcome.faults == []
    assert sum(outcome.kills.values()) == 6 and len(outcome.kills) > 2 and outcome.finished


def test_several_processes_that_want_one_run_compute_every_stage_once(tmp_path):
    spec = short_run(tmp_path)
    builders = build_together(spec, tmp_path / "cache", 3)
    # Each says what its network will see, and shards of gradients are shared out; all else is done by one process.
    assert set(spec.stages) <= set(builders)
    assert all(len(who) == 1 for stage, who in builders.items() if stage not in ("data", "features"))
