"""Compute a run, or what is missing of it, and say what it cost and how far its kernels can be trusted."""

import json
import time
from argparse import ArgumentParser, Namespace

from dntk_core.base.errors import DNTKError
from dntk_core.base.processes import rank
from dntk_core.base.progress import ignore
from dntk_core.base.terminal import Bar, duration
from dntk_core.cli.flags import add_compute, add_json, compute_of, stage_table
from dntk_core.cli.spec_flags import add_spec, spec_of
from dntk_core.dataset.judgement import judgement_table
from dntk_core.gradients.johnson_lindenstrauss import guaranteed_epsilon, sufficient_k
from dntk_core.run.asked import ask
from dntk_core.run.pipeline import Run, load_or_build

HELP = "compute a run, or what is missing of it"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "--epsilon",
        type=float,
        default=0.1,
        help="error of distances to state the Johnson–Lindenstrauss bound for (0.1)",
    )
    parser.add_argument(
        "--test-accuracy",
        choices=("inputs", "all"),
        default="inputs",
        help="say the network's accuracy on --test-inputs, or on all test inputs that the data have (inputs)",
    )
    add_json(parser)
    add_spec(parser)
    add_compute(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Compute the run."""
    epsilon = arguments.epsilon
    if not 0 < epsilon < 1:
        raise DNTKError(f"--epsilon must lie between 0 and 1, got {epsilon}")
    started = time.perf_counter()
    report, compute = Bar() if rank() == 0 else ignore, compute_of(arguments)
    run = load_or_build(spec_of(arguments), report, compute)
    of_all = arguments.test_accuracy == "all"
    accuracy = ask(run, "tested", report, compute).note["test_accuracy"] if of_all else run.test_accuracy
    elapsed = time.perf_counter() - started
    points, k, exact = len(run.targets) + len(run.test_logits), run.k, run.spec.projection.exact(run.parameters)
    result = {
        "key": run.key,
        "seconds": elapsed,
        "stage_seconds": run.seconds,
        "parameters": run.parameters,
        "k": k,
        "dense": run.dense,
        "test_accuracy": accuracy,
        "preprocessing": run.preprocessing,
        "johnson_lindenstrauss": {
            "epsilon": epsilon,
            "k_needed": sufficient_k(points, epsilon),
            "epsilon_at_k": 0.0 if exact else guaranteed_epsilon(points, k),
        },
        "kernel_error": run.projection_error,
        "general_path": run.general_path,
        "judgements": [judgement.to_json() for judgement in run.judgements],
        "spec": json.loads(run.spec.to_json()),
    }
    return result, _text(run, result, "on all test inputs" if of_all else f"on {len(run.test_logits):,} test inputs")


def _text(run: Run, result: dict, tested: str) -> str:
    bound, error = result["johnson_lindenstrauss"], result["kernel_error"]
    lines = [
        f"run {run.key} in {duration(result['seconds'])}",
        f"  network: {run.parameters:,} parameters, accuracy {result['test_accuracy']:.3f} {tested}",
        *([f"  general path: {', '.join(run.general_path)}"] if run.general_path else []),
        f"  kernels: {len(run.targets)} kernel inputs, {len(run.test_logits)} test inputs, {result['k']:,} dimensions, "
        f"{'dense' if run.dense else 'kept as features'}",
        *(
            _projected(bound, error)
            if bound["epsilon_at_k"]
            else ["  gradients are kept as they are: kernels are exact"]
        ),
        stage_table(run),
        *([judgement_table(run.judgements)] if run.judgements else []),
    ]
    return "\n".join(lines)


def _projected(bound: dict, error: dict) -> list[str]:
    return [
        f"  Johnson–Lindenstrauss: distances to ±{bound['epsilon']:.0%} for sure from k = {bound['k_needed']:,} on; "
        f"this k assures ±{bound['epsilon_at_k']:.0%}",
        f"  class kernels (relative Frobenius error): {error['measured']:.1%} measured on {error['inputs']} inputs, "
        f"{error['expected']:.1%} expected",
    ]
