"""Sliders stop where a run's numbers change: no dead travel, neat values, old links as they were."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dntk_core.dashboard.choices.controls import CONTROLS, Limits, Slider
from dntk_core.dashboard.choices.stops import CONTAINED_RANKS, MOST, SCALES, SEEN_GAPS, neat, stops, up_to
from dntk_core.dashboard.choices.view import View, first_view
from dntk_core.run.distillation import Distillation
from dntk_core.run.live import Live

# A busy machine may draw slowly.
busy = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Moves that change nothing, of all; of so few one is forgiven.
ALLOWED, FEW = 0.3, 3


@pytest.fixture(scope="module")
def live(default_run) -> Live:
    return Live(default_run.problem)


def dead(values, view: View, name: str, result: Callable[[View], object]) -> float:
    """The share of moves from stop to stop after which the result is what it was; of few moves, beyond the first."""
    moves = list(pairwise([result(view.replace(**{name: value})) for value in values]))
    same = sum(bool(before == after) for before, after in moves)
    return max(0, same - (len(moves) <= FEW)) / max(1, len(moves))


STARTS = (View(), View(H=5), View(H=20, rule="union"), View(tau_v=0.95), View(kernel=3, energy="kernel"))


@pytest.mark.parametrize("start", STARTS)
def test_hardly_a_move_changes_nothing(live, default_run, start):
    c = None if start.kernel == "mean" else start.kernel

    def rows(view):
        return live.local_global(view.H, view.tau_v, view.tau_g, view.rule, view.energy).origin

    def gaps(view):
        found = live.coverage(view.H, view.epsilon, c, view.energy)
        return int(((found.maximum if view.rule == "ratio" else found.union) < view.tau_g).sum())

    def scores(view):
        """As they are written beside each other, of the distilled set and of the full kernel."""
        mixing = live.local_global(view.H, view.tau_v, view.tau_g, view.rule, view.energy)
        found = live.scores(mixing, view.ridge), live.scores(None, view.ridge)
        return [f"{each.accuracy:.1%} {each.fidelity:.1%} {each.mse:.4g}" for each in found]

    moves = {
        "H": (range(1, 41), "H", lambda view: tuple(live.labels(view.H, c))),
        "tau_v": (SCALES["tau_v"].stops(live, start), "tau_v", rows),
        "tau_g": (SCALES["tau_g"].stops(live, start), "tau_g", rows),
        "tau_g of (B)": (SEEN_GAPS["tau_g"].stops(live, start), "tau_g", gaps),
        "epsilon": (
            SCALES["epsilon"].stops(live, start),
            "epsilon",
            lambda view: live.spectrum(c).by(view.energy).rank(view.epsilon),
        ),
        "rank of (A)": (
            CONTAINED_RANKS["rank"].stops(live, start),
            "rank",
            lambda view: live.containment(view.H, view.epsilon, c, view.energy).mean[view.rank - 1],
        ),
        "rank": (SCALES["rank"].stops(live, start), "rank", lambda view: live.rank_scores(view.rank, view.ridge)),
        "ridge": (SCALES["ridge"].stops(live, start), "ridge", scores),
    }
    sliders = {name for name, control in CONTROLS.items() if isinstance(control, Slider) or control.ordered}
    assert {moved for _, moved, _ in moves.values()} == sliders
    found = {name: dead(values, start, moved, result) for name, (values, moved, result) in moves.items()}
    assert max(found.values()) <= ALLOWED, found
    assert all(len(values) <= MOST for values, _, _ in moves.values())


def test_the_first_view_shows_local_and_gap_gradients(live, default_run):
    view = first_view(Limits(len(default_run.targets), default_run.class_names))
    counts = live.local_global(view.H, view.tau_v, view.tau_g, view.rule).counts
    assert counts["local"] > 0 and counts["gap"] > 0
    assert f"{counts['local']} local" in SCALES["tau_v"].says(live, view)
    assert f"{counts['gap']} gap" in SCALES["tau_g"].says(live, view)


def test_pages_python_and_command_line_start_alike():
    start = Distillation()
    assert all(getattr(start, name) == CONTROLS[name].default for name in ("H", "tau_v", "tau_g", "rule", "ridge"))


@busy
@given(
    st.lists(st.floats(0, 1), max_size=200),
    st.integers(0, 50),
    st.booleans(),
)
def test_stops_ascend_within_their_bounds_and_each_passes_a_share(shares, least, falling):
    shares = np.unique(np.round(shares, 4))
    found = stops([shares], 0.1, 0.9, least, falling)
    assert 1 <= len(found) <= MOST and all(0.1 <= value <= 0.9 + 1e-6 for value in found)
    counts = [int((shares < value).sum()) for value in found]
    assert list(counts) == sorted(set(counts)), "every stop has passed further shares"
    assert len(found) == MOST or set(counts) >= {int((shares < value).sum()) for value in (0.10001, 0.9)}


@busy
@given(st.floats(0, 1), st.floats(1e-5, 1))
def test_the_neat_value_lies_between(low, width):
    value = neat(low, low + width)
    assert low < value <= low + width


def test_ranks_go_up_to_all():
    assert up_to(1) == (1,) and up_to(500)[0] == 1 and up_to(500)[-1] == 500 and len(up_to(500)) == MOST
