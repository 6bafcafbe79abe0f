"""The paper's experiments on real networks, as one Markdown page: pictures, numbers, the paper's words beside them."""

from pathlib import Path

from dntk_core.base.terminal import duration, size
from dntk_core.dashboard.experiments import CLUSTERS, EPSILON, EXPERIMENTS, table
from dntk_core.dashboard.offline import page_of
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.pictures import save_pictures
from dntk_core.dashboard.view import View
from dntk_core.run.pipeline import Run

# The paper's two base models, on the same distilled images.
REAL, DISTILLED = "distilled images, network of real ones", "distilled images, network of distilled ones"
LEGEND = (
    "Each sentence begins with *Same* or *Different*: whether the paper's holds here, by the rules in "
    "`dntk_core/dashboard/experiments.py`. The paper's inputs are 500 distilled images of 50 per class."
)


def write_results(runs: dict[str, Run], command: str, folder: Path) -> Path:
    """Write folder/results.md and its pictures."""
    pictures = folder / "pictures" / "results"
    pictures.mkdir(parents=True, exist_ok=True)
    lines = ["# The paper's experiments, rebuilt", "", f"    {command}", "", LEGEND, "", *_runs(runs)]
    lines += _bases(runs[REAL], runs[DISTILLED])
    drawn = {}
    for title, paper, find in EXPERIMENTS:
        lines += ["", f"## {title}", "", f"*Paper (ImageNette, ResNet-18):* {paper}"]
        for name, run in runs.items():
            found = find(_page(run))
            lines += ["", f"**{name}.** *{'Same' if found.same else 'Different'}:* {found.sentence}.", ""]
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


def _page(run: Run) -> Page:
    m = len(run.targets)
    view = View(H=min(CLUSTERS, m // 2), epsilon=EPSILON, rank=min(View().rank, m))
    return page_of(run, view)


def _runs(runs: dict[str, Run]) -> list[str]:
    """What was computed, and what each stage cost."""
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
    costs = table(["run", "stage", "time", "peak memory"], stages)
    return [table(header, rows), "", "<details><summary>what each stage cost</summary>", "", costs, "", "</details>"]


def _bases(real: Run, distilled: Run) -> list[str]:
    """The two base models on the same distilled images."""
    rows, found = [], []
    for run in (real, distilled):
        here = _page(run)
        m = len(run.targets)
        curve = here.live.rank_curve([m], here.view.ridge)
        variance = float(run.test_logits.var(axis=0).mean())
        found.append((curve.accuracy[0], curve.mse[0] / variance, curve.condition[0]))
        base = "real images" if run is real else "distilled images"
        rows.append([base, f"{run.test_accuracy:.3f}", *(f"{value:.3g}" for value in (*found[-1], curve.fidelity[0]))])
    better = found[0][1] < found[1][1] and found[0][2] < found[1][2]
    points = 100 * (found[0][0] - found[1][0])
    word = "Same" if better and points > 0 else "Different"
    header = ["network trained on", "its accuracy", "kernel accuracy", "MSE / variance", "condition", "fidelity"]
    return [
        "",
        "## Base model",
        "",
        "*Paper (ImageNette, ResNet-18):* on the same distilled images, a network trained on real ones has lower loss "
        "and a better conditioned kernel than one trained on the distilled ones; accuracies differ by 10 %.",
        "",
        f"*{word}:* {points:.0f} points of accuracy between the two kernels: {distilled.spec.dataset.per_class} "
        f"distilled images per class (50 in the paper) teach the network itself only "
        f"{distilled.test_accuracy:.1%}. Logits of different networks differ in size, so the error is given relative "
        "to their variance.",
        "",
        table(header, rows),
    ]


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
