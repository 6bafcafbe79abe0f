"""Claims of the paper that compare two runs: base models on the same distilled images, ImageWoof beside ImageNette."""

from dataclasses import dataclass

from dntk_core.dashboard.offline import verdicts
from dntk_core.dashboard.offline.finding import SEEDS, Finding, Point, over_seeds, share, table
from dntk_core.dashboard.page import Page


@dataclass(frozen=True)
class Full:
    """The full kernel of a run: its scores, its error relative to the logits' variance, how it is conditioned.

    accurate: its accuracy with the interval over test inputs
    errors, conditions: of half the inputs, drawn evenly by class with each seed
    """

    network: float
    accuracy: float
    accurate: str
    fidelity: float
    error: float
    condition: float
    smallest: float
    errors: list[float]
    conditions: list[float]

    @property
    def row(self) -> list[str]:
        """For a table."""
        shares = [f"{value:.1%}" for value in (self.network, self.accuracy, self.fidelity)]
        return [*shares, *(f"{value:.3g}" for value in (self.error, self.condition, self.smallest))]


HEADER = ["its accuracy", "kernel accuracy", "fidelity", "MSE / variance", "condition", "smallest eigenvalue"]


def full(here: Page) -> Full:
    """Score and condition the kernel of all inputs; logits of different networks differ in size."""
    m, run = len(here.run.targets), here.run
    rank = here.live.rank_curve([m], here.view.ridge)
    drawn = [here.live.size_curve("random", [m // 2, m], here.view.ridge, seed) for seed in SEEDS]
    variance, accuracy = float(run.test_logits.var(axis=0).mean()), float(rank.accuracy[0])
    return Full(
        run.test_accuracy,
        accuracy,
        share(here, accuracy),
        float(rank.fidelity[0]),
        float(rank.mse[0]) / variance,
        float(drawn[0].condition[1]),
        float(drawn[0].smallest[1]),
        [float(curve.mse[0]) / variance for curve in drawn],
        [float(curve.condition[0]) for curve in drawn],
    )


def base_models(real: Page, distilled: Page, chosen: Page | None) -> Finding:
    """The network of real images beside the network of distilled ones, on the same distilled images.

    chosen: as many random real images with a network that learnt from them in the same way, if there are
    """
    ours, theirs = full(real), full(distilled)
    learnt = theirs.network, ours.network
    gap = ours.accuracy - theirs.accuracy
    points = (
        Point(
            "A network of real images gives a lower loss",
            "lower",
            _against("MSE / variance", ours.error, theirs.error, ours.errors, theirs.errors),
            verdicts.lower(ours.error, theirs.error, *learnt),
        ),
        Point(
            "… and a better conditioned kernel",
            "better",
            _against("condition", ours.condition, theirs.condition, ours.conditions, theirs.conditions),
            verdicts.lower(ours.condition, theirs.condition, *learnt),
        ),
        Point(
            "With the network of distilled images alone performance differs by 10 %",
            "10 %",
            f"{ours.accurate} against {theirs.accurate}; networks {ours.network:.1%}, {theirs.network:.1%}",
            verdicts.ten_points(gap, *learnt),
        ),
    )
    rows = [["real images", *ours.row], ["distilled images", *theirs.row]]
    rows += [["as many random real images, on these", *full(chosen).row]] if chosen else []
    return Finding(points, numbers=table(["network trained on", *HEADER], rows))


def second_dataset(first: Page, second: Page, names: tuple[str, str]) -> Finding:
    """The second dataset beside the first: accuracy, and how the kernel is conditioned."""
    ours, theirs = full(first), full(second)
    points = (
        Point(
            f"{names[1]} is the harder task",
            "less accurate",
            f"kernel {theirs.accurate} against {ours.accurate}",
            verdicts.harder(theirs.accuracy, ours.accuracy),
        ),
        Point(
            f"{names[1]} is conditioned very differently",
            "very different profile",
            _against("condition", theirs.condition, ours.condition, theirs.conditions, ours.conditions),
            verdicts.unlike(theirs.condition / ours.condition),
        ),
    )
    return Finding(points, numbers=table(["dataset", *HEADER], [[names[0], *ours.row], [names[1], *theirs.row]]))


def _against(of: str, one: float, other: float, halves: list[float], others: list[float]) -> str:
    """Two networks by a number of all inputs, and by half of them with its interval over seeds."""
    drawn = f"of half the inputs {over_seeds(halves, '.3g')} against {over_seeds(others, '.3g')}"
    return f"{of} {one:.3g} against {other:.3g}; {drawn}"
