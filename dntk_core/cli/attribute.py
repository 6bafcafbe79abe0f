"""Explain one prediction: which kernel inputs speak for it and which against."""

from argparse import ArgumentParser, Namespace

from dntk_core.base.errors import DNTKError
from dntk_core.base.numbering import FIRST, number
from dntk_core.cli.flags import add_distillation, add_json, add_run, distillation_of, run_of
from dntk_core.run.analyses import live_of
from dntk_core.run.insight import LABEL_RIDGE, TARGETS, Explanation, Insight
from dntk_core.run.pipeline import Run
from dntk_core.uses.attribution import ATTRIBUTIONS

HELP = "what a test input's prediction is made of"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("input", type=int, metavar="INPUT", help="number of the test input, from 1 as on the page")
    add_run(parser)
    parser.add_argument("--class", dest="c", type=int, metavar="C", help="the logit to explain (the network's choice)")
    parser.add_argument("--against", type=int, metavar="C", help="explain the lead over this class instead")
    ways = "; ".join(f"{name}: {way.summary}" for name, way in ATTRIBUTIONS.items())
    parser.add_argument(
        "--way", default="contribution", choices=ATTRIBUTIONS, help=f"what is counted (contribution). {ways}"
    )
    parser.add_argument(
        "--targets",
        default="logits",
        choices=TARGETS,
        help="logits explain the readout of the network, labels attribute it to the data (logits)",
    )
    parser.add_argument("--full", action="store_true", help="explain the full readout, not that of a distilled set")
    parser.add_argument("--top", type=int, default=5, metavar="N", help="how many inputs are named on each side (5)")
    parser.add_argument(
        "--label-ridge",
        type=float,
        default=LABEL_RIDGE,
        metavar="X",
        help=f"ridge of a readout of labels, in the place of --ridge ({LABEL_RIDGE:g})",
    )
    add_distillation(parser)
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Explain a prediction."""
    chosen = distillation_of(arguments)
    opened = run_of(arguments)
    last = number(len(opened.test_labels) - 1)
    if not FIRST <= arguments.input <= last:
        raise DNTKError(f"the input must lie in {FIRST}..{last}, the run's test inputs, got {arguments.input}")
    live = live_of(opened, chosen.seed)
    mixing = None if arguments.full else chosen.mixing(live)
    found = Insight(opened, live).explain(
        arguments.input - FIRST,
        arguments.c,
        arguments.against,
        targets=arguments.targets,
        way=arguments.way,
        ridge=chosen.ridge if arguments.targets == "logits" else arguments.label_ridge,
        mixing=mixing,
        by=chosen.readout,
    )
    way, top = arguments.way, arguments.top
    return answer(opened, found, way, top), words(opened, found, way, top, arguments.targets)


def answer(run: Run, found: Explanation, way: str, top: int) -> dict:
    """The explanation for scripts, which find inputs where arrays have them."""
    for_, against, rest = found.speakers(top)

    def listed(inputs):
        return [{"index": int(i), "label": int(run.train_labels[i]), "value": float(found.values[i])} for i in inputs]

    return {
        "run": run.key,
        "index": found.input,
        "label": int(run.test_labels[found.input]),
        "goal": found.goal.tolist(),
        "way": way,
        "network": found.network.tolist(),
        "full": found.full.tolist(),
        "distilled": None if found.distilled is None else found.distilled.tolist(),
        "prediction": found.prediction,
        "for": listed(for_),
        "against": listed(against),
        "rest": rest,
        "synthetic": None if found.synthetic is None else found.synthetic.tolist(),
    }


def words(run: Run, found: Explanation, way: str, top: int, targets: str) -> str:
    """The explanation for people."""
    names = run.class_names
    goal = " − ".join(names[c] for c in sorted(found.goal.nonzero()[0], key=lambda c: -found.goal[c]))
    rows = [("full kernel", found.full), ("distilled kernel", found.distilled)]
    # A readout of labels says scores near 0 and 1, which no logit can be compared with.
    rows = [("network", found.network), *rows] if targets == "logits" else rows
    label = names[run.test_labels[found.input]]
    lines = [f"test input {number(found.input)}, label {label}; explained: {goal}, targets {targets}"]
    lines += [f"  {name:17} {values @ found.goal:9.3f}" for name, values in rows if values is not None]
    for_, against, rest = found.speakers(top)
    for title, inputs in (("for", for_), ("against", against)):
        lines.append(f"{ATTRIBUTIONS[way].title}, most {title}:")
        lines += [f"  input {number(i):5}  {names[run.train_labels[i]]:16} {found.values[i]:+9.4f}" for i in inputs]
    return "\n".join([*lines, f"all others together {rest:+9.4f}"])
