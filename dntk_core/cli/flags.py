"""Flags that several commands share, and what they stand for."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from dntk_core.base.compute import SHARING, Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import Bar, duration, size
from dntk_core.distill import GAP_RULES, METHODS
from dntk_core.kernels.spectrum import ENERGIES
from dntk_core.readout.ridge import READOUTS
from dntk_core.run.distillation import Distillation
from dntk_core.run.pipeline import Run, load_or_build, open_run

# What --help calls a value.
METAVARS = {str: "NAME", int: "N", float: "X"}


def add_json(parser: ArgumentParser) -> None:
    """For commands that answer with numbers."""
    parser.add_argument("--json", action="store_true", help="print the answer as JSON, for scripts")


def add_compute(parser: ArgumentParser) -> None:
    """Where and how a run is computed."""
    group = parser.add_argument_group("computing", "no result depends on these beyond rounding")
    group.add_argument(
        "--device", default="auto", metavar="NAME", help="compute on cuda, mps or cpu; auto takes the first there is"
    )
    group.add_argument(
        "--batch", type=int, default=0, metavar="N", help="inputs that are computed at once; 0 takes as many as fit (0)"
    )
    group.add_argument(
        "--shard",
        choices=SHARING,
        default="locks",
        help="how processes under torchrun share the gradients: the next free ones by file locks, or every N-th one, "
        "for disks on which locks do not hold (locks)",
    )
    group.add_argument(
        "--memory", type=float, default=2.0, metavar="GIB", help="memory in GiB that one batch may take (2)"
    )


def compute_of(arguments: Namespace) -> Compute:
    """Where and how to compute."""
    if arguments.batch < 0 or arguments.memory <= 0:
        raise DNTKError("--batch must be 0 or more and --memory positive")
    # Whoever runs this command may run their own code.
    return Compute(arguments.device, int(arguments.memory * 2**30), arguments.batch, True, shard=arguments.shard)


def add_run(parser: ArgumentParser) -> None:
    """Which run."""
    parser.add_argument(
        "--run", default="", metavar="KEY", help="the run, by its key or the start of it (default: the embedded run)"
    )


def run_of(arguments: Namespace) -> Run:
    """Open the run that is meant; the embedded one is computed if need be."""
    return open_run(arguments.run) if arguments.run else load_or_build(RunSpec.default(), Bar())


def add_class(parser: ArgumentParser) -> None:
    """Whose kernel."""
    parser.add_argument(
        "--class", dest="c", type=int, metavar="C", help="the kernel of this class, from 0 (the mean of all classes)"
    )


def class_of(arguments: Namespace, run: Run) -> int | None:
    """The class that is meant, None for all of them."""
    C = len(run.class_names)
    if arguments.c is not None and not 0 <= arguments.c < C:
        raise DNTKError(f"the class must lie in 0..{C - 1}, got {arguments.c}")
    return arguments.c


def add_ridge(parser: ArgumentParser) -> None:
    """How strongly the readout is regularised."""
    parser.add_argument(
        "--ridge",
        type=float,
        default=Distillation.ridge,
        help=f"ridge of the readout, in units of the mean squared gradient ({Distillation.ridge:g})",
    )


def add_readout(parser: ArgumentParser) -> None:
    """How the distilled gradients are fitted."""
    names = "; ".join(f"{name}: {readout.summary}" for name, readout in READOUTS.items())
    parser.add_argument(
        "--readout",
        default=Distillation.readout,
        choices=READOUTS,
        help=f"how distilled gradients are fitted ({Distillation.readout}). {names}",
    )


def add_method(parser: ArgumentParser) -> None:
    """How gradients are distilled."""
    parser.add_argument(
        "--method",
        default=Distillation.method,
        choices=METHODS,
        metavar="NAME",
        help=f"how gradients are distilled ({Distillation.method}): {', '.join(METHODS)}",
    )


def add_distillation(parser: ArgumentParser) -> None:
    """Which distilled set."""
    start = Distillation()
    add_ridge(parser)
    add_method(parser)
    parser.add_argument("--H", type=int, default=start.H, help=f"number of clusters, for local-global ({start.H})")
    parser.add_argument(
        "--tau-v",
        type=float,
        default=start.tau_v,
        metavar="SHARE",
        help=f"share of each cluster's variance that its rows must explain, for local-global ({start.tau_v})",
    )
    parser.add_argument(
        "--tau-g",
        type=float,
        default=start.tau_g,
        metavar="SHARE",
        help=f"a global direction covered less than this becomes a gap row, for local-global ({start.tau_g})",
    )
    parser.add_argument(
        "--rule",
        choices=GAP_RULES,
        default=start.rule,
        help=f"how coverage of a direction is measured, for local-global ({start.rule}, the paper's)",
    )
    parser.add_argument(
        "--energy",
        choices=ENERGIES,
        default=start.energy,
        help=f"what τ_v is a share of, for local-global: eigenvalues ({start.energy}, the paper's) or their squares",
    )
    add_readout(parser)
    parser.add_argument(
        "--size", type=int, metavar="S", help="number of distilled gradients, instead of H, τ_v and τ_g"
    )
    parser.add_argument(
        "--seed", type=int, default=start.seed, help=f"seed of clusterings and random methods ({start.seed})"
    )


def distillation_of(arguments: Namespace) -> Distillation:
    """The distilled set that the flags describe."""
    return Distillation(**{field.name: getattr(arguments, field.name) for field in fields(Distillation)})


def stage_table(run: Run) -> str:
    """What every stage of a run cost when it was computed."""
    return "\n".join(
        f"  {stage:12} {duration(artifact.note['seconds']):>10} {size(artifact.note['peak_bytes']):>10}"
        for stage, artifact in run.artifacts.items()
    )


@contextmanager
def dashboard_needed() -> Iterator[None]:
    """Say in one sentence how to get the dashboard's packages where they are missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise DNTKError(f'{package} is not installed; `pip install "dntk[dashboard]"` brings it') from None
