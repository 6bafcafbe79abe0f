"""Every rule gives every verdict that it may give, on either side of its threshold."""

import numpy as np
import pytest

from dntk_core.dashboard.offline import verdicts as rules
from dntk_core.dashboard.offline.verdicts import DIFFERENT, NOT_COMPARABLE, RULES, SAME, Verdict

FALL = np.exp(-np.arange(1, 101) / 10)
POWER = 1.0 / np.arange(1, 101) ** 2
SIZES = (50, 125, 250, 500)
CASES = [
    (rules.saturates, (SIZES, (0.5, 0.9, 0.91, 0.92)), SAME),
    (rules.saturates, (SIZES, (0.5, 0.8, 0.91, 0.92)), DIFFERENT),
    (rules.saturates, ((10, 100), (0.9, 0.9)), NOT_COMPARABLE),
    (rules.level, (0.9, 0.93), SAME),
    (rules.level, (0.8, 0.93), DIFFERENT),
    (rules.ranks, ((27, 36, 48), 500), SAME),
    (rules.ranks, ((27, 44, 48), 500), DIFFERENT),
    (rules.ranks, ((20, 36, 41), 500), DIFFERENT),
    (rules.ranks, ((31, 36, 41), 100), NOT_COMPARABLE),
    (rules.exponential, (FALL,), SAME),
    (rules.exponential, (POWER,), DIFFERENT),
    (rules.exponential, (np.zeros(100),), NOT_COMPARABLE),
    (rules.contained, ((0.97, 0.96), (30, 40), (80, 90)), SAME),
    (rules.contained, ((0.97, 0.94), (30, 40), (80, 90)), DIFFERENT),
    (rules.contained, ((1.0, 1.0), (300, 310), (80, 90)), NOT_COMPARABLE),
    (rules.uncovered, ((0.12, 0.14), 500), SAME),
    (rules.uncovered, ((0.05, 0.08), 500), DIFFERENT),
    (rules.uncovered, ((0.12, 0.14), 100), NOT_COMPARABLE),
    (rules.every_class, ([Verdict(SAME)] * 3,), SAME),
    (rules.every_class, ([Verdict(SAME), Verdict(DIFFERENT)],), DIFFERENT),
    (rules.every_class, ([Verdict(SAME), Verdict(NOT_COMPARABLE, "few")],), NOT_COMPARABLE),
    (rules.five_gradients, (0.72, 0.74, 0.93), SAME),
    (rules.five_gradients, (0.72, 0.70, 0.93), DIFFERENT),
    (rules.five_gradients, (0.72, 0.74, 0.60), NOT_COMPARABLE),
    (rules.far_ahead, (0.2, 0.1, "random"), SAME),
    (rules.far_ahead, (0.2, -0.1, "random"), DIFFERENT),
    (rules.far_ahead, (0.05, 0.01, "random"), DIFFERENT),
    (rules.fewest, (10, {"random": 50, "leverage": 20}), SAME),
    (rules.fewest, (20, {"random": 50, "leverage": 20}), DIFFERENT),
    (rules.fewest, (np.inf, {"random": 50}), DIFFERENT),
    (rules.covers_more, ((0.5, 0.6), {"random": (0.4, 0.5)}), SAME),
    (rules.covers_more, ((0.5, 0.6), {"random": (0.4, 0.7)}), DIFFERENT),
    (rules.scattered, ([5, 10, 15, 20], (5, 10, 15, 20)), SAME),
    (rules.scattered, ([5, 5, 5, 5, 10, 15], (5, 10, 15, 20)), SAME),
    (rules.scattered, ([5, 5, 5, 5, 5, 10, 15], (5, 10, 15, 20)), DIFFERENT),
    (rules.scattered, ([5, 10, 5, 10], (5, 10, 15, 20)), DIFFERENT),
    (rules.scattered, ([5, 10], (5, 10, 15, 20)), NOT_COMPARABLE),
    (rules.fewer_clusters_more_gaps, ((0.5, 0.3, 0.1),), SAME),
    (rules.fewer_clusters_more_gaps, ((0.5, 0.3, 0.4),), DIFFERENT),
    (rules.grows, (rules.rank_correlation(np.arange(9), np.arange(9) ** 2),), SAME),
    (rules.grows, (rules.rank_correlation(np.arange(9), np.arange(9) % 2),), DIFFERENT),
    (rules.five_orders, (4e4,), SAME),
    (rules.five_orders, (3e4,), DIFFERENT),
    (rules.lower, (0.1, 0.2, 0.6, 0.9), SAME),
    (rules.lower, (0.3, 0.2, 0.6, 0.9), DIFFERENT),
    (rules.lower, (0.1, 0.2, 0.4, 0.9), NOT_COMPARABLE),
    (rules.ten_points, (0.14, 0.6, 0.9), SAME),
    (rules.ten_points, (0.2, 0.6, 0.9), DIFFERENT),
    (rules.ten_points, (0.1, 0.4, 0.9), NOT_COMPARABLE),
    (rules.harder, (0.8, 0.9), SAME),
    (rules.harder, (0.9, 0.8), DIFFERENT),
    (rules.unlike, (0.4,), SAME),
    (rules.unlike, (1.5,), DIFFERENT),
]


@pytest.mark.parametrize(("rule", "given", "word"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_rule_gives_this_verdict(rule, given, word):
    found = rule(*given)
    assert found.word == word and bool(found.why) == (word != SAME)


def test_no_rule_is_without_both_sides_and_none_without_words():
    for rule in RULES:
        assert {SAME, DIFFERENT} <= {word for each, _, word in CASES if each is rule}
        assert rule.__doc__ and rule.__doc__.splitlines()[0].endswith(".")


def test_a_run_that_is_not_finished_says_so():
    assert rules.unfinished("ImageWoof").word == NOT_COMPARABLE and "ImageWoof" in rules.unfinished("ImageWoof").why
