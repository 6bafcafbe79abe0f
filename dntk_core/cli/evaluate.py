"""Score one distilled set of a run beside the full kernel."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from dntk_core.cli.flags import add_distillation, add_json, add_run, distillation_of, run_of
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.ridge import evaluate

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
    mixing = chosen.mixing(run)
    full, distilled = (asdict(evaluate(run.problem, A, chosen.ridge)) for A in (None, mixing))
    result = {
        "run": run.key,
        "method": chosen.method,
        "ridge": chosen.ridge,
        "lambda": absolute_ridge(run.kernels, chosen.ridge),
        "s": mixing.size,
        "rows": dict(mixing.counts),
        "removed": mixing.removed,
        "scores": distilled,
        "full": full | {"s": len(run.targets)},
    }
    rows = [(chosen.method, mixing.size, distilled), ("full kernel", len(run.targets), full)]
    table = "\n".join(
        f"{name:26} {s:5} {scores['accuracy']:9.3f} {scores['fidelity']:9.3f} {scores['mse']:11.4g}"
        for name, s, scores in rows
    )
    kinds = ", ".join(f"{count} {kind}" for kind, count in mixing.counts.items())
    header = f"{'':26} {'s':>5} {'accuracy':>9} {'fidelity':>9} {'MSE':>11}"
    return result, f"{header}\n{table}\nrows: {kinds}; removed {mixing.removed}; λ = {result['lambda']:.4g}"
