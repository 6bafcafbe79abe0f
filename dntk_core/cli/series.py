"""Compute one run per checkpoint of a training, on the same inputs and projection, and say how the kernel moved.

Checkpoints are files of your own (--weights 'epoch-*.safetensors'), those that training here keeps (--keep), those of
a series begun before (KEY); else the embedded network's eight. Killed and started again, it goes on where it was.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import replace

import numpy as np

from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import add_compute, add_json, compute_of
from dntk_core.cli.spec_flags import add_spec, spec_of
from dntk_core.cli.train import add_keep, keeping
from dntk_core.run.across import Across, build_series
from dntk_core.run.pipeline import Run
from dntk_core.run.series import Series, begun_series, default_series, epochs_of, trained_series, weights_series
from dntk_core.uses.similarity import velocity

HELP = "one run per checkpoint of a training: how the kernel moved"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "series", nargs="?", default="", metavar="KEY", help="a series begun before, by its key or the start of it"
    )
    add_keep(parser)
    add_json(parser)
    add_spec(parser)
    add_compute(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Compute the series."""
    series = series_of(arguments)
    runs, found = build_series(series, Bar(), compute_of(arguments))
    # As they are cached: tied to the user's own code, too.
    series = replace(series, specs=tuple(run.spec for run in runs))
    result = numbers(series, runs, found)
    return result, table(series, result)


def series_of(arguments: Namespace) -> Series:
    """The series that the flags describe."""
    if arguments.series:
        return begun_series(arguments.series)
    spec = spec_of(arguments)
    if spec.model.weights:
        pattern, bare = spec.model.weights, replace(spec, model=replace(spec.model, weights=""))
        return weights_series(bare, pattern)
    spec = keeping(spec, arguments)
    if spec == RunSpec.default():
        return default_series()
    return trained_series(spec, spec.model.kept or epochs_of(spec))


def numbers(series: Series, runs: list[Run], found: Across) -> dict:
    """What is said of a series, as JSON."""
    mean = found.likeness.cka[-1]
    return {
        "series": series.key,
        "runs": list(series.keys),
        "labels": list(series.labels),
        "times": list(series.times),
        "accuracy": [run.test_accuracy for run in runs],
        "trace": found.likeness.values[:, -1].sum(axis=1).tolist(),
        "alignment": found.likeness.alignment.mean(axis=2).tolist(),
        "cka": found.likeness.cka.tolist(),
        "velocity": velocity(mean, np.array(series.times)).tolist(),
        "linear_error": found.linear_error.tolist(),
        "following_error": found.following_error.tolist(),
        "linear_agreement": found.linear_agreement.tolist(),
        "trust": vars(found.trust),
    }


def table(series: Series, result: dict) -> str:
    """A row per checkpoint."""
    mean = np.array(result["cka"][-1])
    labels = np.array(result["alignment"][1])
    linear, following = np.array(result["linear_error"]), np.array(result["following_error"])
    width = max(len(label) for label in series.labels)
    lines = [f"series {series.key}: {series.title}"]
    head = f"  {'':{width}}  {'run':8}  accuracy  alignment  velocity  CKA to first, last"
    lines += [f"{head}  tangent at first, last  following"]
    for t, label in enumerate(series.labels):
        speed = f"{result['velocity'][t - 1]:8.4f}" if t else "       –"
        lines.append(
            f"  {label:{width}}  {series.keys[t][:8]}  {result['accuracy'][t]:8.3f}  {labels[t]:9.3f}  {speed}  "
            f"{mean[t, 0]:12.3f} {mean[t, -1]:6.3f}  {linear[0, t]:15.3f} {linear[-1, t]:6.3f}  "
            f"{following[0, t]:.3f} {following[-1, t]:.3f}"
        )
    lines += [
        "alignment: of class kernels with labels. velocity: (1 - CKA to the checkpoint before) per epoch.",
        "tangent: error of f(θ₀) + ⟨φ(θ₀), θ - θ₀⟩ at each network, as a share of how far its outputs moved;",
        "following: the same where batch norms have the statistics of the inputs, which follow the parameters.",
        f"CKA is debiased; {_said(result['trust'])}.",
    ]
    return "\n".join(lines)


def _said(trust: dict) -> str:
    return (
        f"on {trust['inputs']} inputs with exact kernels it is off by {trust['debiased']:.3f} on average "
        f"(without debiasing by {trust['naive']:.3f})"
    )
