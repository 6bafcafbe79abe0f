"""When a claim of the paper holds here: every rule with its thresholds, and the three verdicts it may give.

A rule's docstring is what the page says of it. "Not comparable" always has a reason: the setting differs in what the
claim is about, or the measure could not have come out otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

SAME, DIFFERENT, NOT_COMPARABLE = "Same", "Different", "Not comparable"


@dataclass(frozen=True)
class Verdict:
    """One of the three words, and why where it is not "Same"."""

    word: str
    why: str = ""


def _judge(holds: bool, why: str) -> Verdict:
    return Verdict(SAME) if holds else Verdict(DIFFERENT, why)


def unfinished(name: str) -> Verdict:
    """A run that is not finished says nothing."""
    return Verdict(NOT_COMPARABLE, f"the run “{name}” is not finished")


# The paper's own numbers, and how far from them still counts as the same.
INPUTS = 500
RANKS, RANK_SLACK = (31, 41), 1.25
CONTAINED = 0.95
UNCOVERED, UNCOVERED_SLACK = (0.12, 0.15), 0.02
FIVE, FIVE_SLACK = (0.76, 0.78), 0.05
AHEAD = 0.10
# "Saturates": this share of the last value is reached; "quickly", by this share of the inputs or ranks.
NEARLY, QUICKLY = 0.97, 0.25
LEVEL = 0.95
ORDERS = 4.5
GAP, GAP_SLACK = 0.10, 0.05
LEARNT = 0.5
SPREAD, CROWDED = 3, 2 / 3
GROWS = 0.5
UNLIKE = 2.0


def saturates(x: Sequence[int], accuracy: Sequence[float]) -> Verdict:
    """A quarter of the inputs (or ranks) reaches 97 % of the last accuracy. Fewer than 200 are not comparable."""
    m = x[-1]
    if m < 200:
        return Verdict(NOT_COMPARABLE, f"of {m} inputs each still counts, the paper has {INPUTS}")
    enough = reached(x, accuracy)
    return _judge(enough <= QUICKLY * m, f"{enough} of {m} are needed")


def reached(x: Sequence[int], accuracy: Sequence[float]) -> int:
    """Where a curve first comes near its end."""
    return int(x[int(np.argmax(np.asarray(accuracy) >= NEARLY * accuracy[-1]))])


def level(full: float, network: float) -> Verdict:
    """All inputs together reach 95 % of the network's own accuracy."""
    return _judge(full >= LEVEL * network, f"{full:.1%} against {network:.1%}")


def ranks(found: Sequence[float], m: int) -> Verdict:
    """Of 500 inputs, the median class rank lies in 31–41 and every one within a factor 1.25 of that range."""
    if m != INPUTS:
        return Verdict(NOT_COMPARABLE, f"{m} inputs, the paper has {INPUTS}")
    low, high = RANKS
    inside = low / RANK_SLACK <= min(found) and max(found) <= high * RANK_SLACK
    median = float(np.median(found))
    return _judge(inside and low <= median <= high, f"median {median:.0f}, from {min(found):.0f} to {max(found):.0f}")


def exponential(values: np.ndarray) -> Verdict:
    """Over the first half of the directions log σ_j is closer to a line in j than to one in log j (in R²)."""
    j = np.arange(1, len(values) // 2 + 1)
    if len(j) < 10 or values[len(j) - 1] <= 0:
        return Verdict(NOT_COMPARABLE, "too few positive eigenvalues to tell")
    line, power = (_explained(x, np.log(values[: len(j)])) for x in (j, np.log(j)))
    return _judge(line > power, f"a power law fits better, R² {power:.3f} against {line:.3f}")


def _explained(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def contained(means: Sequence[float], ranks: Sequence[int], sizes: Sequence[int]) -> Verdict:
    """95 % of the clusters' variance on average in every class; not comparable where no cluster exceeds the rank.

    means, ranks, sizes: of each class, the mean share at r_g, r_g, and the inputs of the largest cluster
    """
    if all(size <= rank for size, rank in zip(sizes, ranks, strict=True)):
        why = f"arithmetic: no cluster has more than {max(sizes)} inputs, and ranks are {min(ranks)} or more"
        return Verdict(NOT_COMPARABLE, why)
    return _judge(min(means) >= CONTAINED, f"as little as {min(means):.1%}")


def uncovered(missed: Sequence[float], m: int) -> Verdict:
    """Of 500 inputs, misalignment averaged over classes lies in 12–15 %, give or take 2 points."""
    if m != INPUTS:
        return Verdict(NOT_COMPARABLE, f"{m} inputs, the paper has {INPUTS}")
    low, high = UNCOVERED
    mean = float(np.mean(missed))
    return _judge(low - UNCOVERED_SLACK <= mean <= high + UNCOVERED_SLACK, f"{mean:.1%}")


def every_class(verdicts: Sequence[Verdict]) -> Verdict:
    """The same verdict in each class; not comparable where it is so in any."""
    if any(each.word == NOT_COMPARABLE for each in verdicts):
        return next(each for each in verdicts if each.word == NOT_COMPARABLE)
    same = sum(each.word == SAME for each in verdicts)
    return _judge(same == len(verdicts), f"in {same} of {len(verdicts)} classes")


def five_gradients(accuracy: float, fidelity: float, network: float) -> Verdict:
    """76 % accuracy and 78 % fidelity within 5 points, or better; not comparable if the network is below 76 %."""
    if network < FIVE[0]:
        return Verdict(NOT_COMPARABLE, f"the network itself has {network:.1%}")
    enough = accuracy >= FIVE[0] - FIVE_SLACK and fidelity >= FIVE[1] - FIVE_SLACK
    return _judge(enough, f"{accuracy:.1%} and {fidelity:.1%}")


def far_ahead(margin: float, low: float, other: str) -> Verdict:
    """At least 10 points of accuracy above the best sampling baseline, and surely above 0."""
    return _judge(margin >= AHEAD and low > 0, f"{100 * margin:+.0f} points against {other}")


def fewest(ours: float, others: dict[str, float]) -> Verdict:
    """Local-global reaches 97 % of the full kernel's accuracy with fewer gradients than any sampling baseline."""
    if not np.isfinite(ours):
        return Verdict(DIFFERENT, "not reached at the sizes tried")
    best = min(others, key=lambda name: others[name])
    return _judge(ours < others[best], f"{ours:.0f} against {others[best]:.0f} of {best}")


def covers_more(ours: Sequence[float], others: dict[str, Sequence[float]]) -> Verdict:
    """Local-global's rows cover more of the gradients' variance than any sampling baseline at every size."""
    ahead = {name: bool(np.all(np.asarray(ours) > np.asarray(theirs))) for name, theirs in others.items()}
    behind = [name for name, more in ahead.items() if not more]
    return _judge(not behind, f"not more than {', '.join(behind)}")


def scattered(used: Sequence[int], searched: Sequence[int]) -> Verdict:
    """Pareto-optimal settings use at least three of the four H, none of them for more than two thirds."""
    if len(searched) < SPREAD or len(used) < SPREAD:
        return Verdict(NOT_COMPARABLE, f"{len(used)} optimal settings over {len(searched)} values of H")
    counts = {H: used.count(H) for H in sorted(set(used))}
    most = max(counts.values()) / len(used)
    return _judge(len(counts) >= SPREAD and most <= CROWDED, f"H = {', '.join(f'{H}: {n}' for H, n in counts.items())}")


def fewer_clusters_more_gaps(gaps: Sequence[float]) -> Verdict:
    """The mean share of gap gradients over the grid falls with every larger H."""
    return _judge(bool(np.all(np.diff(gaps) < 0)), ", ".join(f"{gap:.0%}" for gap in gaps))


def grows(correlation: float) -> Verdict:
    """Fidelity rises with the number of gradients over the grid: a rank correlation above 0.5."""
    return _judge(correlation > GROWS, f"rank correlation {correlation:.2f}")


def rank_correlation(s: np.ndarray, score: np.ndarray) -> float:
    """Spearman's, of two arrays of one shape."""
    return float(np.corrcoef(rankdata(s), rankdata(score))[0, 1])


def five_orders(saved: float) -> Verdict:
    """A saving of five orders of magnitude, rounded: at least 10^4.5."""
    return _judge(saved >= 10**ORDERS, f"{saved:,.0f} times")


def _learnt(network: float, teacher: float) -> Verdict | None:
    if network < LEARNT * teacher:
        return Verdict(NOT_COMPARABLE, f"the network of distilled images reaches only {network:.1%} of {teacher:.1%}")
    return None


def lower(real: float, distilled: float, network: float, teacher: float) -> Verdict:
    """Lower for the network of real images; not comparable if the other reaches less than half its accuracy."""
    return _learnt(network, teacher) or _judge(real < distilled, f"{real:.3g} against {distilled:.3g}")


def ten_points(gap: float, network: float, teacher: float) -> Verdict:
    """Accuracies of the two kernels differ by 10 points, give or take 5; not comparable as for the loss."""
    return _learnt(network, teacher) or _judge(abs(gap - GAP) <= GAP_SLACK, f"{100 * gap:.0f} points")


def harder(woof: float, nette: float) -> Verdict:
    """ImageWoof's full kernel is less accurate than ImageNette's."""
    return _judge(woof < nette, f"{woof:.1%} against {nette:.1%}")


def unlike(ratio: float) -> Verdict:
    """The condition number differs by a factor of two or more, either way."""
    return _judge(ratio >= UNLIKE or ratio <= 1 / UNLIKE, f"a factor {ratio:.2f}")


RULES = (
    saturates, level, ranks, exponential, contained, uncovered, every_class, five_gradients, far_ahead, fewest,
    covers_more, scattered, fewer_clusters_more_gaps, grows, five_orders, lower, ten_points, harder, unlike,
)  # fmt: skip
