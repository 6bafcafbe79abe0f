"""The command line: the same stages, the same numbers as the dashboard."""

import argparse
import json
import sys
import time
from dataclasses import asdict, fields, replace
from pathlib import Path

from dntk_core.clusters import spectral_clusters
from dntk_core.comparison import compare, comparison_table
from dntk_core.compute import PRECISIONS, Compute
from dntk_core.distill import GAP_RULES, METHODS, Mixing, Source, local_global
from dntk_core.errors import DNTKError
from dntk_core.johnson_lindenstrauss import guaranteed_epsilon, sufficient_k
from dntk_core.pipeline import Run, collect_garbage, delete_run, load_or_build, open_run, runs, train_network
from dntk_core.progress import ignore
from dntk_core.ranks import rank
from dntk_core.readout import evaluate
from dntk_core.ridge import absolute_ridge
from dntk_core.spec import OUTPUTS, RunSpec
from dntk_core.terminal import Bar, duration, size
from dntk_core.wmdd.judgement import judgement_table

# Flag → (part of the spec, field).
SPEC_FLAGS = {
    "data": ("data", "name"),
    "path": ("data", "path"),
    "image-size": ("data", "size"),
    "resize": ("data", "resize"),
    "mean": ("data", "mean"),
    "std": ("data", "std"),
    "model": ("model", "name"),
    "weights": ("model", "weights"),
    "classes": ("model", "classes"),
    "epochs": ("model", "epochs"),
    "model-seed": ("model", "seed"),
    "distill": ("distill", "method"),
    "base": ("distill", "base"),
    "per-class": ("distill", "per_class"),
    "iterations": ("distill", "iterations"),
    "rate": ("distill", "rate"),
    "bn-weight": ("distill", "bn_weight"),
    "barycenter-weights": ("distill", "weights"),
    "start": ("distill", "start"),
    "distill-seed": ("distill", "seed"),
    "kernel-inputs": ("inputs", "kernel"),
    "test-inputs": ("inputs", "test"),
    "input-seed": ("inputs", "seed"),
    "projection": ("projection", "name"),
    "k": ("projection", "k"),
    "projection-seed": ("projection", "seed"),
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message):
        raise DNTKError(f"{message}; see {self.prog} --help")


def parser() -> argparse.ArgumentParser:
    """Describe the commands and their flags."""
    top = Parser(prog="python -m dntk_core", description="Distilled neural tangent kernels.")
    commands = top.add_subparsers(dest="command", required=True, metavar="command", parser_class=Parser)

    build = commands.add_parser("build", help="compute a run, or what is missing of it")
    _add_spec(build)
    _add_compute(build)
    build.add_argument("--epsilon", type=float, default=0.1, help="distance error to state the JL bound for (0.1)")
    build.set_defaults(act=build_command)

    fit = commands.add_parser("train", help="train a network on a dataset and write its weights")
    _add_spec(fit)
    _add_compute(fit)
    fit.add_argument("--out", type=Path, required=True, help="the .safetensors file to write")
    fit.set_defaults(act=train_command)

    listing = commands.add_parser("runs", help="list what is cached")
    listing.set_defaults(act=runs_command)

    judge = commands.add_parser("evaluate", help="scores of a method on a run")
    _add_run(judge)
    judge.add_argument("--method", default="local-global", choices=METHODS, metavar="NAME", help=", ".join(METHODS))
    judge.add_argument("--H", type=int, default=10, help="clusters (local-global; default 10)")
    judge.add_argument("--tau-v", type=float, default=0.8, help="variance threshold (local-global; default 0.8)")
    judge.add_argument("--tau-g", type=float, default=0.8, help="gap threshold (local-global; default 0.8)")
    judge.add_argument("--rule", choices=GAP_RULES, default="ratio", help="gap rule (local-global; default ratio)")
    judge.add_argument("--size", type=int, help="number of distilled gradients (instead of H, τ_v, τ_g)")
    judge.add_argument("--seed", type=int, default=0, help="for clusters and random methods (default 0)")
    judge.set_defaults(act=evaluate_command)

    table = commands.add_parser("compare", help="scores of every method over sizes")
    _add_run(table)
    table.add_argument("--sizes", type=int, nargs="+", default=[5, 10, 20, 50], help="default: 5 10 20 50")
    table.add_argument("--seeds", type=int, default=5, help="seeds that random methods are averaged over (default 5)")
    table.set_defaults(act=compare_command)

    clean = commands.add_parser("gc", help="delete runs by key, and what no run needs")
    clean.add_argument("keys", nargs="*", metavar="key", help="runs to delete; none: only leftovers")
    clean.set_defaults(act=gc_command)

    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="print JSON")
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command; bad input is one line and status 2."""
    try:
        arguments = parser().parse_args(argv)
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
    run = load_or_build(_spec(arguments), Bar() if rank() == 0 else ignore, _compute(arguments))
    elapsed = time.perf_counter() - started
    points, k = len(run.targets) + len(run.test_logits), run.features.shape[2]
    error = run.projection_error
    result = {
        "key": run.key,
        "seconds": elapsed,
        "stage_seconds": run.seconds,
        "parameters": run.parameters,
        "k": k,
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
        f"  kernels: {len(run.targets)} kernel inputs, {len(run.test_logits)} test inputs, {k:,} dimensions\n"
        f"  Johnson–Lindenstrauss: distances to ±{arguments.epsilon:.0%} for sure from "
        f"k = {sufficient_k(points, arguments.epsilon):,} on; this k assures ±{guaranteed_epsilon(points, k):.0%}\n"
        f"  class kernels (relative Frobenius error): {error['measured']:.1%} measured on {error['inputs']} inputs, "
        f"{error['expected']:.1%} expected"
    )
    if run.judgements:
        text += "\n" + judgement_table(run.judgements)
    return result, text


def train_command(arguments) -> tuple[dict, str]:
    """Train a network; killed and started again, it goes on after its last epoch."""
    if arguments.out.suffix != ".safetensors" or not arguments.out.parent.is_dir():
        raise DNTKError(f"--out must be a .safetensors file in a folder that exists, got {arguments.out}")
    artifact = train_network(_spec(arguments), Bar(), _compute(arguments))
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


def gc_command(arguments) -> tuple[dict, str]:
    """Delete the named runs and all leftovers."""
    freed = sum(delete_run(key) for key in arguments.keys) + collect_garbage()
    return {"bytes_freed": freed}, f"freed {size(freed)}"


def _add_spec(command) -> None:
    defaults = RunSpec.default()
    command.add_argument("--spec", type=Path, help="a JSON file with the run's spec; flags override it")
    for flag, (part, name) in SPEC_FLAGS.items():
        default = getattr(getattr(defaults, part), name)
        command.add_argument(f"--{flag}", type=type(default), help=f"default: {default}")
    command.add_argument("--outputs", choices=OUTPUTS, help=f"default: {defaults.outputs}")


def _add_compute(command) -> None:
    command.add_argument("--device", default="auto", help="auto, cuda, mps or cpu (default: auto)")
    command.add_argument("--batch", type=int, default=0, help="inputs at once; 0 takes as many as fit (default)")
    command.add_argument("--precision", choices=PRECISIONS, default="float32", help="of the network (default: float32)")
    command.add_argument("--memory", type=float, default=2.0, help="GiB that one batch may take (default: 2)")


def _compute(arguments) -> Compute:
    if arguments.batch < 0 or arguments.memory <= 0:
        raise DNTKError("--batch must be 0 or more and --memory positive")
    # Whoever runs this command may run their own code.
    return Compute(arguments.device, int(arguments.memory * 2**30), arguments.batch, True, arguments.precision)


def _add_run(command) -> None:
    command.add_argument("--run", default="", metavar="KEY", help="start of a run's key (default: the default run)")
    command.add_argument("--ridge", type=float, default=1e-4, help="in units of the mean squared gradient (1e-4)")


def _spec(arguments) -> RunSpec:
    """The spec file or the default, with every given flag in its place."""
    spec = RunSpec.default()
    if arguments.spec is not None:
        try:
            spec = RunSpec.from_json(arguments.spec.read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise DNTKError(f"the spec file {arguments.spec} cannot be read: {error}") from None
    parts = {field.name: getattr(spec, field.name) for field in fields(spec)}
    for flag, (part, name) in SPEC_FLAGS.items():
        if (value := getattr(arguments, flag.replace("-", "_"))) is not None:
            parts[part] = replace(parts[part], **{name: value})
    if arguments.outputs is not None:
        parts["outputs"] = arguments.outputs
    return RunSpec(**parts)


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


if __name__ == "__main__":
    sys.exit(main())
