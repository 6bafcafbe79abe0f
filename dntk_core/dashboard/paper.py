"""The paper's experiments on real networks, as one Markdown page: pictures, numbers, the paper's words beside them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dntk_core.dashboard import cached
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.dashboard.pictures import save_pictures
from dntk_core.dashboard.sections import containment, coverage, curves, grid, ledger, spectra
from dntk_core.dashboard.view import View
from dntk_core.distill import METHODS
from dntk_core.ledger import ledger as costs
from dntk_core.pipeline import Run
from dntk_core.spectrum import truncation_rank
from dntk_core.terminal import duration, size

SIZES = (5, 10, 20, 50, 100, 250, 500)
EPSILON, CLUSTERS = 0.05, 10


@dataclass(frozen=True)
class Finding:
    """One experiment on one run: its pictures, its numbers as Markdown, one sentence against the paper's."""

    panels: tuple[Panel, ...]
    numbers: str
    verdict: str


def over_size(here: Page) -> Finding:
    """Scores with ever more inputs, drawn at random."""
    sizes = [s for s in SIZES if s <= len(here.run.targets)]
    curve = here.live.size_curve("random", sizes, here.view.ridge)
    rows = [
        [s, *_scores(curve, i), f"{curve.condition[i]:.2g}", f"{curve.smallest[i]:.2g}"] for i, s in enumerate(sizes)
    ]
    last = curve.accuracy[-1]
    enough = next(s for i, s in enumerate(sizes) if curve.accuracy[i] >= last - 0.02)
    verdict = f"within two points of all {sizes[-1]} inputs from {enough} on; network {here.run.test_accuracy:.3f}"
    panel = curves.panels(_with(here, method="random"), "size")
    return Finding(panel, _table(["inputs", "accuracy", "fidelity", "MSE", "condition", "smallest"], rows), verdict)


def class_spectra(here: Page) -> Finding:
    """How many directions hold 95 % of each class kernel."""
    ranks = [truncation_rank(spectrum.values, EPSILON) for spectrum in here.live.spectra()]
    m = len(here.run.targets)
    rows = [[name, rank, f"{m / rank:.1f}"] for name, rank in zip(here.run.class_names, ranks, strict=True)]
    least, most = m // max(ranks), m // min(ranks)
    verdict = f"ranks {min(ranks)}–{max(ranks)} of {m}: ({least}, {EPSILON})- to ({most}, {EPSILON})-data redundant"
    return Finding(spectra.panels(here)[:1], _table(["class", "truncation rank", "redundancy"], rows), verdict)


def over_rank(here: Page) -> Finding:
    """Scores of the best rank-r kernels."""
    ranks = [r for r in (1, 2, 5, 10, 20, 50, 100, 250, 500) if r <= len(here.run.targets)]
    curve = here.live.rank_curve(ranks, here.view.ridge)
    enough = next(r for i, r in enumerate(ranks) if curve.accuracy[i] >= curve.accuracy[-1] - 0.02)
    rows = [[r, *_scores(curve, i)] for i, r in enumerate(ranks)]
    verdict = f"within two points of the full rank from r = {enough} on"
    return Finding(curves.panels(here, "rank"), _table(["rank", "accuracy", "fidelity", "MSE"], rows), verdict)


def contained(here: Page) -> Finding:
    """Property (A) for every class."""
    found = [here.live.containment(CLUSTERS, EPSILON, c) for c in range(len(here.run.class_names))]
    rows = [
        [name, result.global_rank, *(f"{curve[-1]:.3f}" for curve in (result.minimum, result.mean, result.maximum))]
        for name, result in zip(here.run.class_names, found, strict=True)
    ]
    means = [result.mean[-1] for result in found]
    verdict = f"at the truncation rank clusters' variance is contained to {min(means):.1%}–{max(means):.1%} on average"
    header = ["class", "rank", "least contained cluster", "mean", "most"]
    return Finding(containment.panels(_with(here, kernel=0)), _table(header, rows), verdict)


def uncovered(here: Page) -> Finding:
    """Property (B) for every class."""
    shares = [here.live.coverage(CLUSTERS, EPSILON, c).uncovered for c in range(len(here.run.class_names))]
    rows = [[name, f"{share:.1%}"] for name, share in zip(here.run.class_names, shares, strict=True)]
    verdict = f"{min(shares):.1%}–{max(shares):.1%} of global variance lies outside all clusters"
    return Finding((coverage.every(here),), _table(["class", "uncovered"], rows), verdict)


def methods(here: Page) -> Finding:
    """Every method with five to fifty gradients, with what it covers."""
    sizes = [s for s in (5, 10, 20, 50) if s <= len(here.run.targets) // 2]
    found = here.live.compare(sizes, here.view.ridge, curves.SEEDS)
    rows = [
        [curve.method]
        + [f"{curve.mean('accuracy')[i]:.3f} / {curve.mean('fidelity')[i]:.3f}" for i in range(len(sizes))]
        + [f"{curve.mean('coverage')[0]:.2f} / {curve.mean('reconstruction')[0]:.3g}"]
        for curve in found
    ]
    five = {curve.method: curve.mean("accuracy")[0] for curve in found}
    drawn = max((name for name in five if METHODS[name].random), key=five.get)
    verdict = (
        f"five gradients: local-global {five['local-global']:.1%}, kernel PCA {five['kernel PCA']:.1%}, ridge-optimal "
        f"{five['ridge-optimal']:.1%} (it sees the outputs), the best drawn method, {drawn}, {five[drawn]:.1%}"
    )
    header = ["method", *(f"s = {s}: accuracy / fidelity" for s in sizes), "s = 5: covered / reconstruction error"]
    return Finding(curves.panels(here, "methods"), _table(header, rows), verdict)


def thresholds(here: Page) -> Finding:
    """The grid for H = 5, 10, 15, 20."""
    settings = grid.best_settings(here, "fidelity")
    verdict = f"{len(settings)} Pareto-optimal settings, spread over H, τ_v and τ_g"
    return Finding(grid.panels(here), "\n".join(f"- {line}" for line in settings), verdict)


def saved(here: Page) -> Finding:
    """Cost and saving."""
    found = costs(ledger.description(here))
    orders = found.saved("flops"), found.saved("bytes")
    verdict = f"{10 ** orders[0]:,.0f} times fewer FLOPs, {10 ** orders[1]:,.1f} times fewer bytes than the naive NTK"
    return Finding(ledger.panels(here), "", verdict)


# Title, what the paper says, how it is found here.
EXPERIMENTS: tuple[tuple[str, str, Callable[[Page], Finding]], ...] = (
    ("Over size", "scores saturate with few inputs; a network trained on real data does better.", over_size),
    ("Class spectra", "truncation ranks 31–41 of 500: (12, 0.05)- to (16, 0.05)-data redundancy.", class_spectra),
    ("Over rank", "scores saturate quickly with rank.", over_rank),
    ("Property (A)", "clusters' variance lies almost entirely in the global eigenspace.", contained),
    ("Property (B)", "12–15 % of global variance lies outside the union of all clusters.", uncovered),
    ("Methods", "five gradients (100×): 76 % accuracy, 78 % fidelity; sampling baselines far below.", methods),
    ("Grid search", "Pareto-optimal settings are spread over the grid and depend on the data.", thresholds),
    ("Cost", "up to five orders of magnitude less computation.", saved),
)


def write_results(runs: dict[str, Run], command: str, folder: Path) -> Path:
    """Write folder/results.md and its pictures."""
    pictures = folder / "pictures" / "results"
    pictures.mkdir(parents=True, exist_ok=True)
    lines = ["# The paper's experiments, rebuilt", "", f"    {command}", "", *_runs(runs)]
    drawn = {}
    for title, paper, find in EXPERIMENTS:
        lines += ["", f"## {title}", "", f"*Paper (ImageNette, ResNet-18):* {paper}"]
        for name, run in runs.items():
            found = find(Page(run, cached.live(run.key), _view(run), {"run": run.key}))
            lines += ["", f"**{name}:** {found.verdict}.", ""]
            for panel in found.panels:
                path = pictures / f"{_slug(name)}-{panel.key}.png"
                drawn[path] = panel.figure
                lines.append(f"![{name}: {panel.title}]({path.relative_to(folder)})")
            if found.numbers:
                lines += ["", "<details><summary>numbers</summary>", "", found.numbers, "", "</details>"]
    save_pictures(drawn)
    target = folder / "results.md"
    target.write_text("\n".join(lines) + "\n")
    return target


def _runs(runs: dict[str, Run]) -> list[str]:
    header = ["run", "network", "inputs", "test accuracy", "kernel error (expected)"]
    rows, stages = [], []
    for name, run in runs.items():
        error = run.projection_error
        rows.append(
            [
                name,
                f"{run.spec.model.name}, {run.parameters:,} parameters, {run.images.shape[-1]} px",
                f"{len(run.targets)} + {len(run.test_labels)}",
                f"{run.test_accuracy:.3f}",
                f"{error['measured']:.1%} ({error['expected']:.1%})",
            ]
        )
        for stage, artifact in run.artifacts.items():
            stages.append([name, stage, duration(artifact.note["seconds"]), size(artifact.note["peak_bytes"])])
    return [_table(header, rows), "", _table(["run", "stage", "time", "peak memory"], stages)]


def _view(run: Run) -> View:
    m = len(run.targets)
    return View(H=min(CLUSTERS, m // 2), epsilon=EPSILON, rank=min(View().rank, m))


def _with(here: Page, **changes) -> Page:
    return Page(here.run, here.live, View(**(asdict(here.view) | changes)), here.link)


def _scores(curve, i: int) -> list[str]:
    return [f"{curve.accuracy[i]:.3f}", f"{curve.fidelity[i]:.3f}", f"{curve.mse[i]:.3g}"]


def _table(header: Sequence[str], rows: Sequence[Sequence]) -> str:
    lines = [" | ".join(map(str, row)) for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
