"""Where sliders stop: only where this run's numbers change, so that equal travel is equal change.

A threshold does something only where it passes one of the run's own shares. Between two of these every value gives the
same result; the one with fewest digits stands for all of them. Of many, those are kept at which the number of
gradients or directions grows by equal ratios.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from dntk_core.dashboard.choices.view import View, chosen_class
from dntk_core.distill import Mixing
from dntk_core.distill.local_global import rows_of
from dntk_core.kernels.spectrum import Spectrum
from dntk_core.readout.leave_one_out import RIDGES
from dntk_core.run.live import Live

# A slider is some 250 pixels long.
MOST = 40
# Shares this close are one; values beyond so many digits are no values to choose.
CLOSE, DIGITS = 1e-6, 6
# What a ridge of this share of the smallest eigenvalue changes cannot be seen.
IDLE = 1e-3


@dataclass(frozen=True)
class Scale:
    """Where a slider stops for a run at a view, nowhere = anywhere, and what it makes of it there, in a word or two."""

    stops: Callable[[Live, View], tuple[float, ...]]
    says: Callable[[Live, View], str] = lambda live, view: ""


def clusters(live: Live, view: View) -> tuple[int, ...]:
    """H: of many inputs only where clusters were analysed ahead; any other would take minutes."""
    return live.ahead.clusters() if live.ahead else ()


def variance(live: Live, view: View) -> tuple[float, ...]:
    """τ_v: each stop adds local gradients to Algorithm 1, or global directions that may be gaps."""

    def find() -> tuple[float, ...]:
        parts = live.decomposition(view.H).by(view.energy)
        return stops([held(each) for each in (*parts.locals, parts.spectrum)], 0.05, 0.995)

    return live.remember(("stops", "tau_v", view.H, view.energy), find)


def gap(live: Live, view: View) -> tuple[float, ...]:
    """τ_g: each stop makes further global directions gaps of Algorithm 1."""

    def find() -> tuple[float, ...]:
        rows = rows_of(live.decomposition(view.H).by(view.energy), view.tau_v, view.rule)
        return stops([rows.coverage], 0.0, 1.0, len(rows.local))

    return live.remember(("stops", "tau_g", view.H, view.tau_v, view.rule, view.energy), find)


def gap_rows(live: Live, view: View) -> str:
    """How many gaps there are."""
    count = current(live, view).counts["gap"]
    return f"{count} gap{'' if count == 1 else 's'}"


def local_rows(live: Live, view: View) -> str:
    """How many local gradients there are."""
    return f"{current(live, view).counts['local']} local"


def current(live: Live, view: View) -> Mixing:
    """What Algorithm 1 makes at a view."""
    return live.local_global(view.H, view.tau_v, view.tau_g, view.rule, view.energy)


def seen_gap(live: Live, view: View) -> tuple[float, ...]:
    """τ_g where ε and a class take the place of τ_v and the mean kernel, as for property (B)."""
    found = live.coverage(view.H, view.epsilon, chosen_class(view), view.energy)
    return stops([found.maximum if view.rule == "ratio" else found.union], 0.0, 1.0, view.H)


def seen_gaps(live: Live, view: View) -> str:
    """How many directions are gaps there."""
    found = live.coverage(view.H, view.epsilon, chosen_class(view), view.energy)
    judged = found.maximum if view.rule == "ratio" else found.union
    return f"{int((judged < view.tau_g).sum())} of {len(judged)} are gaps"


def truncation(live: Live, view: View) -> tuple[float, ...]:
    """ε: each stop changes the truncation rank of the kernel looked at."""
    c = chosen_class(view)

    def find() -> tuple[float, ...]:
        return stops([1.0 - held(live.spectrum(c).by(view.energy))], 0.005, 0.5, falling=True)

    return live.remember(("stops", "epsilon", c, view.energy), find)


def truncation_rank(live: Live, view: View) -> str:
    """The truncation rank."""
    return f"rank {live.spectrum(chosen_class(view)).by(view.energy).rank(view.epsilon):.0f}"


def ranks(live: Live, view: View) -> tuple[int, ...]:
    """r: up to all directions, by equal ratios."""
    return up_to(len(live.problem.targets))


def contained_ranks(live: Live, view: View) -> tuple[int, ...]:
    """r where directions beyond the truncation rank are not looked at."""
    return up_to(live.containment(view.H, view.epsilon, chosen_class(view), view.energy).global_rank)


def ridges(live: Live, view: View) -> tuple[float, ...]:
    """The ridge: where it is far below the smallest eigenvalue, a smaller one changes nothing."""
    found = live.spectrum()
    if not found.complete:
        return RIDGES
    idle = [ridge for ridge in RIDGES if live.lam(ridge) < IDLE * float(found.values[-1])]
    return RIDGES[max(0, len(idle) - 1) :]


def up_to(most: int) -> tuple[int, ...]:
    """Whole numbers from 1, each at first, then by equal ratios.

    >>> up_to(5), len(up_to(50_000)), up_to(50_000)[-1]
    ((1, 2, 3, 4, 5), 40, 50000)
    """
    return tuple(int(place) + 1 for place in _by_ratios(np.arange(1, most + 1)))


def held(spectrum: Spectrum) -> np.ndarray:
    """The share of variance that the first r directions hold, r = 1, 2, …; of an incomplete spectrum the least."""
    total = spectrum.captured + spectrum.beyond[1]
    return spectrum.held / total if total > 0 else np.ones(len(spectrum.values))


def stops(
    shares: Sequence[np.ndarray], low: float, high: float, least: int = 0, falling: bool = False
) -> tuple[float, ...]:
    """A value from `low` to `high` for each number of shares that lie below it, the neatest there is.

    least:   a number that is there anyway
    falling: each share that is passed takes one away
    """
    every = np.sort(np.concatenate(shares))
    edges = np.unique(every[(every > low) & (every < high - CLOSE)])
    edges = edges[np.diff(edges, prepend=-1.0) > CLOSE]
    ends = [low, *edges.tolist(), high + CLOSE]
    passed = np.searchsorted(every, ends[1:], side="left")
    counts = least + (len(every) - passed if falling else passed)
    places = _by_ratios(counts).tolist()
    before = [-1, *places[:-1]]
    return tuple(neat(ends[last + 1], ends[place + 1]) for last, place in zip(before, places, strict=True))


def neat(low: float, high: float) -> float:
    """The value of fewest digits between two.

    >>> neat(0.791, 0.8123), neat(0.96, 1.000001), neat(0.05, 0.62)
    (0.8, 1.0, 0.6)
    """
    for digits in range(1, DIGITS + 1):
        value = floor((high - CLOSE / 4) * 10**digits) / 10**digits
        if value > low + CLOSE / 4:
            return value
    return round((low + high) / 2, DIGITS + 2)


def _by_ratios(counts: np.ndarray) -> np.ndarray:
    """Places of at most MOST numbers of an ascending or descending series, evenly spread by ratio."""
    if len(counts) <= MOST:
        return np.arange(len(counts))
    wanted = np.geomspace(max(1, counts.min()), counts.max(), MOST)
    places = np.unique([int(np.argmin(np.abs(counts - each))) for each in wanted])
    # Low counts come close: the places that they leave free go where the steps are widest.
    while len(places) < MOST:
        jumps = np.abs(np.diff(np.log(np.maximum(counts[places], 1)))) * (np.diff(places) > 1)
        widest = int(np.argmax(jumps))
        if jumps[widest] == 0:
            break
        places = np.insert(places, widest + 1, (places[widest] + places[widest + 1]) // 2)
    return places


# The sliders that stop where a run's own numbers change; a page to which something else matters says so.
SCALES: Mapping[str, Scale] = {
    "H": Scale(clusters),
    "tau_v": Scale(variance, local_rows),
    "tau_g": Scale(gap, gap_rows),
    "epsilon": Scale(truncation, truncation_rank),
    "rank": Scale(ranks),
    "ridge": Scale(ridges),
}
SEEN_GAPS = {"tau_g": Scale(seen_gap, seen_gaps)}
CONTAINED_RANKS = {"rank": Scale(contained_ranks)}
