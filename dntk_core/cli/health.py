"""Tell whether a run's kernel is fit for its targets, and which labels look wrong; test data only stand beside."""

from argparse import ArgumentParser, Namespace

import numpy as np

from dntk_core.base.numbering import number
from dntk_core.cli.flags import add_class, add_json, add_method, add_readout, add_ridge, add_run, class_of, run_of
from dntk_core.readout.curves import Curve
from dntk_core.readout.leave_one_out import RIDGES, LeaveOneOut
from dntk_core.run.analyses import live_of
from dntk_core.run.checkup import LeftOutSizes, alignments, left_out_sizes, risks, suspicious_labels, usual_sizes, where
from dntk_core.run.insight import Insight

HELP = "whether a kernel is fit for its targets, and which labels look wrong"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    add_run(parser)
    add_class(parser)
    add_method(parser)
    add_readout(parser)
    add_ridge(parser)
    parser.add_argument("--top", type=int, default=10, metavar="N", help="how many suspicious labels are named (10)")
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Examine a run."""
    opened = run_of(arguments)
    insight = Insight(opened, live_of(opened))
    left, risk, aligned = insight.live.leave_one_out(RIDGES), risks(insight, RIDGES), alignments(insight)
    found, names = suspicious_labels(insight), opened.class_names
    c = class_of(arguments, opened)
    held, test = where(insight, "logits", c), insight.live.ridge_curve(None, RIDGES)
    half = int(np.searchsorted(held.targets, 0.5)) + 1
    method, ridge, readout, sizes = arguments.method, arguments.ridge, arguments.readout, usual_sizes(insight)
    over_size = left_out_sizes(insight, method, sizes, ridge, readout)
    tested = insight.live.size_curve(method, sizes, ridge, by=readout)
    named = [
        {
            "index": int(i),
            "label": int(opened.train_labels[i]),
            "vote": int(found.vote[i]),
            "margin": float(found.margin[i]),
            "influence": float(found.influence[i]),
        }
        for i in found.order[: arguments.top]
    ]
    result = {
        "run": opened.key,
        "ridges": list(RIDGES),
        **_scores(left, "left_out_"),
        **_scores(test, "test_"),
        "sizes": {
            "method": method,
            "left_out": {"s": over_size.sizes.tolist(), **_scores(over_size)},
            "test": {"s": tested.x.tolist(), **_scores(tested)},
        },
        "kare": risk.tolist(),
        "alignment": aligned.tolist(),
        "directions_of_half_the_targets": half,
        "targets_held": held.targets.tolist(),
        "kernel_held": held.kernel.tolist(),
        "label_ridge": insight.label_ridge(),
        "outvoted": int((found.margin < 0).sum()),
        "suspicious": named,
    }
    at = int(np.argmin(left.mse))
    lines = [
        f"leave-one-out: ridge {left.best:g}, MSE {left.mse[at]:.4g} (KARE {risk[at]:.4g}), "
        f"fidelity {left.fidelity[at]:.1%}, accuracy {left.accuracy[at]:.1%}",
        f"{method}, s = {over_size.sizes[-1]}, ridge {ridge:g}: left-out fidelity {over_size.fidelity[-1]:.1%}, "
        f"on test inputs {tested.fidelity[-1]:.1%}",
        f"alignment of {'kernels' if c is None else f'the kernel of {names[c]}'} and targets "
        f"{aligned.mean() if c is None else aligned[c]:.2f}; {half} directions hold half of the targets",
        f"{result['outvoted']} of {len(found.margin)} labels are outvoted by the others; most suspicious:",
    ]
    lines += [
        f"  input {number(each['index']):5}  label {names[each['label']]:12} vote {names[each['vote']]:12} "
        f"margin {each['margin']:+.3f}"
        for each in named
    ]
    return result, "\n".join(lines)


def _scores(scored: LeaveOneOut | LeftOutSizes | Curve, prefix: str = "") -> dict:
    return {f"{prefix}{key}": getattr(scored, key).tolist() for key in ("mse", "fidelity", "accuracy")}
