"""The command line: the same stages, the same numbers as the dashboard."""

import json
import sys
import time
from dataclasses import asdict

from dntk_core.base.errors import DNTKError
from dntk_core.base.processes import rank
from dntk_core.base.progress import ignore
from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import Bar, duration, size
from dntk_core.cli.arguments import compute_of, paper_command_line, paper_specs, parser, spec_of
from dntk_core.dataset.judgement import judgement_table
from dntk_core.distill import METHODS, Mixing, Source, local_global
from dntk_core.gradients.johnson_lindenstrauss import guaranteed_epsilon, sufficient_k
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.comparison import compare, comparison_table
from dntk_core.readout.ridge import evaluate
from dntk_core.run.pipeline import Run, collect_garbage, delete_run, load_or_build, open_run, runs, train_network


def main(argv: list[str] | None = None) -> int:
    """Run one command; bad input is one line and status 2."""
    try:
        arguments = parser(ACTIONS).parse_args(argv)
        result, text = arguments.act(arguments)
        # Of several ranks under torchrun the first speaks for all.
        if rank() == 0:
            print(json.dumps(result, indent=1) if arguments.json else text)
        return 0
    except DNTKError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130


def build_command(arguments) -> tuple[dict, str]:
    """Compute a run and say what it cost and how far its kernels can be trusted."""
    if not 0 < arguments.epsilon < 1:
        raise DNTKError(f"--epsilon must lie between 0 and 1, got {arguments.epsilon}")
    started = time.perf_counter()
    run = load_or_build(spec_of(arguments), Bar() if rank() == 0 else ignore, compute_of(arguments))
    elapsed = time.perf_counter() - started
    points, k = len(run.targets) + len(run.test_logits), run.features.shape[2]
    error = run.projection_error
    result = {
        "key": run.key,
        "seconds": elapsed,
        "stage_seconds": run.seconds,
        "parameters": run.parameters,
        "k": k,
        "dense": run.dense,
        "test_accuracy": run.test_accuracy,
        "johnson_lindenstrauss": {
            "epsilon": arguments.epsilon,
            "k_needed": sufficient_k(points, arguments.epsilon),
            "epsilon_at_k": guaranteed_epsilon(points, k),
        },
        "kernel_error": error,
        "general_path": run.general_path,
        "judgements": [judgement.to_json() for judgement in run.judgements],
        "spec": json.loads(run.spec.to_json()),
    }
    general = f"  general path: {', '.join(run.general_path)}\n" if run.general_path else ""
    text = (
        f"run {run.key} in {duration(elapsed)}\n"
        f"  network: {run.parameters:,} parameters, test accuracy {run.test_accuracy:.3f}\n{general}"
        f"  kernels: {len(run.targets)} kernel inputs, {len(run.test_logits)} test inputs, {k:,} dimensions, "
        f"{'dense' if run.dense else 'kept as features'}\n"
        f"  Johnson–Lindenstrauss: distances to ±{arguments.epsilon:.0%} for sure from "
        f"k = {sufficient_k(points, arguments.epsilon):,} on; this k assures ±{guaranteed_epsilon(points, k):.0%}\n"
        f"  class kernels (relative Frobenius error): {error['measured']:.1%} measured on {error['inputs']} inputs, "
        f"{error['expected']:.1%} expected"
    )
    text += f"\n{stage_table(run)}"
    if run.judgements:
        text += "\n" + judgement_table(run.judgements)
    return result, text


def train_command(arguments) -> tuple[dict, str]:
    """Train a network; killed and started again, it goes on after its last epoch."""
    if arguments.out.suffix != ".safetensors" or not arguments.out.parent.is_dir():
        raise DNTKError(f"--out must be a .safetensors file in a folder that exists, got {arguments.out}")
    artifact = train_network(spec_of(arguments), Bar(), compute_of(arguments))
    arguments.out.write_bytes(artifact.read("weights.safetensors"))
    test = artifact.note["test_accuracy"]
    return {"weights": str(arguments.out), "test_accuracy": test}, f"{arguments.out}: test accuracy {test:.3f}"


def runs_command(arguments) -> tuple[list, str]:
    """List the runs in the cache."""
    found = runs()
    result = [
        {
            "key": info.key,
            "created": info.created,
            "bytes": info.bytes,
            "finished": info.finished,
            "spec": json.loads(info.spec.to_json()),
        }
        for info in found
    ]
    lines = [
        f"{info.key}  {time.strftime('%Y-%m-%d %H:%M', time.localtime(info.created))}  {size(info.bytes):>10}  "
        f"{info.spec.summary}{'' if info.finished else '  (unfinished: build it again to resume)'}"
        for info in found
    ]
    return result, "\n".join(lines) or "no runs yet; `python -m dntk_core build` computes the default one"


def evaluate_command(arguments) -> tuple[dict, str]:
    """Score one distillation beside the full kernel."""
    run = _run(arguments)
    mixing = _mixing(run, arguments)
    full, distilled = (asdict(evaluate(run.problem, A, arguments.ridge)) for A in (None, mixing))
    result = {
        "run": run.key,
        "method": arguments.method,
        "ridge": arguments.ridge,
        "lambda": absolute_ridge(run.kernels, arguments.ridge),
        "s": mixing.size,
        "rows": dict(mixing.counts),
        "removed": mixing.removed,
        "scores": distilled,
        "full": full | {"s": len(run.targets)},
    }
    rows = [(arguments.method, mixing.size, distilled), ("full kernel", len(run.targets), full)]
    table = "\n".join(
        f"{name:26} {s:5} {scores['accuracy']:9.3f} {scores['fidelity']:9.3f} {scores['mse']:11.4g}"
        for name, s, scores in rows
    )
    kinds = ", ".join(f"{count} {kind}" for kind, count in mixing.counts.items())
    header = f"{'':26} {'s':>5} {'accuracy':>9} {'fidelity':>9} {'MSE':>11}"
    return result, f"{header}\n{table}\nrows: {kinds}; removed {mixing.removed}; λ = {result['lambda']:.4g}"


def compare_command(arguments) -> tuple[list, str]:
    """Score every method at every size."""
    run = _run(arguments)
    curves = compare(run.problem, arguments.sizes, arguments.ridge, range(arguments.seeds), report=Bar())
    metrics = ("rows", "accuracy", "fidelity", "mse", "coverage", "reconstruction")
    result = [
        {"method": curve.method, "sizes": curve.sizes.tolist()}
        | {metric: curve.mean(metric).tolist() for metric in metrics}
        | {f"{metric}_std": curve.std(metric).tolist() for metric in metrics}
        for curve in curves
    ]
    return result, comparison_table(curves)


def paper_command(arguments) -> tuple[dict, str]:
    """Compute the runs one after the other, then write the page; killed, it goes on where it stopped."""
    # Only this command draws pictures.
    from dntk_core.dashboard.paper import write_results

    found = {name: load_or_build(spec, Bar(), compute_of(arguments)) for name, spec in paper_specs(arguments).items()}
    page = write_results(found, paper_command_line(arguments), arguments.out)
    result = {"page": str(page), "runs": {name: run.key for name, run in found.items()}}
    costs = [f"{name}\n{stage_table(run)}" for name, run in found.items()]
    return result, "\n".join([*costs, f"wrote {page}"])


def stage_table(run: Run) -> str:
    """What every stage of a run cost when it was computed."""
    return "\n".join(
        f"  {stage:12} {duration(artifact.note['seconds']):>10} {size(artifact.note['peak_bytes']):>10}"
        for stage, artifact in run.artifacts.items()
    )


def gc_command(arguments) -> tuple[dict, str]:
    """Delete the named runs and all leftovers."""
    freed = sum(delete_run(key) for key in arguments.keys) + collect_garbage()
    return {"bytes_freed": freed}, f"freed {size(freed)}"


def _run(arguments) -> Run:
    return open_run(arguments.run) if arguments.run else load_or_build(RunSpec.default(), Bar())


def _mixing(run: Run, arguments) -> Mixing:
    if arguments.size is not None:
        source = Source(run.kernels, run.targets)
        return METHODS[arguments.method].distil(source, arguments.size, arguments.ridge, arguments.seed)
    if arguments.method != "local-global":
        raise DNTKError(f"--method {arguments.method!r} needs --size, the number of distilled gradients")
    labels = spectral_clusters(run.kernels.mean, arguments.H, arguments.seed)
    return local_global(run.kernels.mean, labels, arguments.tau_v, arguments.tau_g, arguments.rule)


ACTIONS = {
    "build": build_command,
    "train": train_command,
    "runs": runs_command,
    "evaluate": evaluate_command,
    "compare": compare_command,
    "paper": paper_command,
    "gc": gc_command,
}

if __name__ == "__main__":
    sys.exit(main())
