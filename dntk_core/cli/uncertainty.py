"""Judge how far a run's network and kernels can be trusted: calibration, and how well doubt finds errors."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import add_distillation, add_json, add_run, distillation_of, run_of
from dntk_core.data.shifts import SHIFTS
from dntk_core.run.also import add_inputs, added
from dntk_core.run.analyses import live_of
from dntk_core.run.asked import ask
from dntk_core.run.doubt import Doubt, judged, shifted, told_apart
from dntk_core.run.insight import Insight
from dntk_core.uses.calibration import JUDGEMENTS
from dntk_core.uses.uncertainty import NOISES

HELP = "how sure network and kernels are, and whether that can be trusted"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    add_run(parser)
    parser.add_argument(
        "--noise", default="marginal likelihood", choices=NOISES, help="how the noise is chosen (marginal likelihood)"
    )
    parser.add_argument("--shift", choices=SHIFTS, help="also follow test inputs through a shift, at five strengths")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="add other inputs to the run: a folder of images, or an .npz file with an array `images`",
    )
    add_distillation(parser)
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Judge a run."""
    also = [_named(each) for each in arguments.also]
    distillation, opened = distillation_of(arguments), run_of(arguments)
    live = live_of(opened, distillation.seed)
    doubt = Doubt(Insight(opened, live), distillation.mixing(live), arguments.noise, distillation.readout)
    found = judged(doubt.test(), opened.test_labels)
    result: dict = {"run": opened.key, "ridge": doubt.ridge, "temperature": doubt.temperature, "predictors": found}
    titles = {**{name: one.title for name, one in JUDGEMENTS.items()}, "errors": "AUROC of errors"}
    lines = [" " * 28 + "".join(f"{title:>18}" for title in titles.values())]
    for name, row in found.items():
        shown = [f"{row[key]:18.4f}" if key in row else f"{'–':>18}" for key in titles]
        lines.append(f"{name:28}{''.join(shown)}")
    lines.append(f"noise by {arguments.noise}: ridge {doubt.ridge:g}; temperature {doubt.temperature:.3f}")
    for name, path in also:
        add_inputs(opened, name, path, Bar())
    foreign = {name: told_apart(doubt, artifact) for name, artifact in added(opened).items()}
    if foreign:
        result["also"] = foreign
        lines.append(f"\n{'AUROC, test inputs against':28}" + "".join(f"{name:>28}" for name in found))
        lines += [f"{name:28}" + "".join(f"{row[key]:28.3f}" for key in found) for name, row in foreign.items()]
    if arguments.shift:
        moved, _ = shifted(doubt, ask(opened, "shifts", Bar()), arguments.shift)
        result["shift"] = {
            "name": arguments.shift,
            "strengths": moved.strengths.tolist(),
            "accuracy": moved.accuracy.tolist(),
            "fidelity": moved.fidelity.tolist(),
            "doubt": {key: values.tolist() for key, values in moved.doubt.items()},
            "auroc": {key: values.tolist() for key, values in moved.apart.items()},
        }
        lines.append(f"\n{arguments.shift:38}" + "".join(f"{strength:9}" for strength in moved.strengths))
        rows = {"accuracy": moved.accuracy, "fidelity": moved.fidelity}
        rows |= {f"AUROC, {key}": values for key, values in moved.apart.items()}
        lines += [f"{key[:38]:38}" + "".join(f"{value:9.3f}" for value in values) for key, values in rows.items()]
    return result, "\n".join(lines)


def _named(text: str) -> tuple[str, Path]:
    """NAME=PATH of --also."""
    name, sign, path = text.partition("=")
    if not (name and sign and path):
        raise DNTKError(f"--also takes NAME=PATH, got {text!r}")
    return name, Path(path)
