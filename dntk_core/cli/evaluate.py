"""Score one distilled set of a run beside the full kernel."""

from argparse import ArgumentParser, Namespace

from dntk_core.cli.flags import add_distillation, add_json, add_run, distillation_of, run_of
from dntk_core.readout.leave_one_out import RIDGES
from dntk_core.readout.metrics import METRICS
from dntk_core.run.analyses import live_of

HELP = "scores of a method on a run"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    add_run(parser)
    add_distillation(parser)
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Distil and score."""
    chosen = distillation_of(arguments)
    run = run_of(arguments)
    live = live_of(run, chosen.seed)
    mixing = chosen.mixing(live)
    distilled, full = (each.scores for each in chosen.scores(live))
    suggested = live.leave_one_out(RIDGES).best
    result = {
        "run": run.key,
        "method": chosen.method,
        "ridge": chosen.ridge,
        "suggested_ridge": suggested,
        "readout": chosen.readout,
        "setting": mixing.description,
        "lambda": live.lam(chosen.ridge),
        "s": mixing.size,
        "rows": dict(mixing.counts),
        "removed": mixing.removed,
        "scores": dict(distilled),
        "full": {**full, "s": len(run.targets)},
    }
    rows = [(chosen.method, mixing.size, distilled), ("full kernel", len(run.targets), full)]
    table = "\n".join(
        f"{name:26} {s:5}" + "".join(f" {scores[key]:12{metric.format}}" for key, metric in METRICS.items())
        for name, s, scores in rows
    )
    kinds = ", ".join(f"{count} {kind}" for kind, count in mixing.counts.items())
    header = f"{'':26} {'s':>5}" + "".join(f" {metric.title:>12}" for metric in METRICS.values())
    made = f" ({mixing.description})" if mixing.setting else ""
    return result, (
        f"{header}\n{table}\nrows: {kinds}{made}; removed {mixing.removed}; λ = {result['lambda']:.4g}\n"
        f"leave-one-out on the kernel inputs suggests --ridge {suggested:g}"
    )
