"""Why class ranks differ from the paper's 31–41 of 500: one factor at a time.

    python -m benchmarks.ranks [--run NAME=KEY …] [--digits] [--images FOLDER --weights FILE] [--finished]
                               [--out FOLDER]

Every factor starts from the same setting (eigenvalues λ, not centred, all inputs, gradients of logits, all of k) and
changes one thing. Of each run in the cache (`dntk runs` lists keys) its own features are used again: gradients of
log-softmax, probabilities or the loss are sums of logits' gradients, a smaller k is a sketch of the sketch. --digits
builds small runs that differ in training and dataset distillation, --images runs of a ResNet-18 that differ in these,
in resolution, parameters and statistics (`rank_factors.py`; an hour or more, kept in the cache; --finished leaves out
the rest). Printed are truncation ranks at ε = 0.05 over the classes, least to most and median, by √λ, λ and
λ². A setting whose median is the paper's, of as many inputs, is then asked for the paper's other number, 12–15 % of
misalignment in property (B) with ten clusters: what gives one and not the other is a coincidence. With --out a figure
and the numbers are written to FOLDER/pictures/ranks.png and ranks.json.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from benchmarks.rank_factors import Factor, digit_runs, image_runs
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.structure import coverage
from dntk_core.readout.probabilities import softmax
from dntk_core.run.finished import Run
from dntk_core.run.pipeline import cached_kernels, find_run, load_or_build_kernels

EPSILON, PAPER, INPUTS, CLUSTERS = 0.05, (31, 41), 500, 10
# What a rank is a share of: powers of the eigenvalues.
POWERS = {"√λ": 0.5, "λ": 1.0, "λ²": 2.0}


@dataclass(frozen=True)
class Level:
    """One setting of one factor on one network: class ranks by each power, of n inputs."""

    network: str
    factor: str
    setting: str
    n: int
    ranks: dict[str, list[int]]
    misaligned: dict[str, list[float]]

    def text(self, power: str) -> str:
        found, missed = self.ranks[power], self.misaligned.get(power)
        said = f"{min(found)}–{max(found)} ({np.median(found):.0f})"
        return f"**{said}**, (B) {min(missed):.1%}–{max(missed):.1%}" if missed else said


def level(network: str, factor: str, setting: str, n: int, kernels: list[np.ndarray]) -> Level:
    """Ranks of kernels (n, n), and where these are the paper's, the misalignment of property (B)."""
    found = ranks(kernels)
    missed = {
        power: [coverage(K, spectral_clusters(K, CLUSTERS, 0), EPSILON, energy).misaligned for K in kernels]
        for energy, power in (("gradients", "λ"), ("kernel", "λ²"))
        if PAPER[0] <= np.median(found[power]) <= PAPER[1] and n == INPUTS
    }
    return Level(network, factor, setting, n, found, missed)


@dataclass(frozen=True)
class Given:
    """What is at hand of a run: features (C, m, k), shares of the classes (m, C), labels (m,)."""

    features: np.ndarray
    shares: np.ndarray
    labels: np.ndarray


def rank(values: np.ndarray, power: float) -> int:
    """Smallest r with Σ_{i<=r} λ^p >= (1-ε) Σ λ^p."""
    energy = np.sort(np.clip(values, 0, None))[::-1] ** power
    return int(np.argmax(np.cumsum(energy) >= (1 - EPSILON) * energy.sum() * (1 - 1e-12))) + 1


def ranks(kernels: list[np.ndarray]) -> dict[str, list[int]]:
    """Truncation ranks of kernels (n, n) by every power."""
    spectra = [np.linalg.eigvalsh(K) for K in kernels]
    return {name: [rank(values, power) for values in spectra] for name, power in POWERS.items()}


def gram(features: np.ndarray) -> np.ndarray:
    Phi = np.asarray(features, dtype=np.float64)
    return Phi @ Phi.T


def centred(K: np.ndarray) -> np.ndarray:
    """HKH with H = I - 11ᵀ/m."""
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def cosines(K: np.ndarray) -> np.ndarray:
    norms = np.sqrt(np.diag(K))
    return K / np.outer(norms, norms)


def log_softmax(given: Given) -> np.ndarray:
    """∇ log p_c = φ^c - Σ_j p_j φ^j."""
    return given.features - np.einsum("mj,jmk->mk", given.shares, given.features)


def probabilities(given: Given) -> np.ndarray:
    """∇ p_c = p_c (φ^c - Σ_j p_j φ^j)."""
    return given.shares.T[:, :, None] * log_softmax(given)


def loss(given: Given) -> np.ndarray:
    """∇ CE = Σ_c (p_c - y_c) φ^c: one kernel for all classes."""
    error = given.shares - np.eye(given.shares.shape[1])[given.labels]
    return np.einsum("mj,jmk->mk", error, given.features)[None]


def folded(features: np.ndarray, k: int) -> np.ndarray:
    """Sketch k′ dimensions out of k: random signs, then sums of columns."""
    rng = np.random.default_rng(0)
    signs, places = rng.choice([-1.0, 1.0], features.shape[2]), rng.integers(k, size=features.shape[2])
    out = np.zeros((*features.shape[:2], k))
    for j, (sign, place) in enumerate(zip(signs, places, strict=True)):
        out[:, :, place] += sign * features[:, :, j]
    return out


def own_inputs(given: Given) -> list[np.ndarray]:
    """Each class kernel on the inputs of its class."""
    return [gram(Phi[given.labels == c]) for c, Phi in enumerate(given.features)]


def evenly(labels: np.ndarray, count: int) -> np.ndarray:
    """The first inputs of every class, `count` in all."""
    each = count // (labels.max() + 1)
    return np.sort(np.concatenate([np.flatnonzero(labels == c)[:each] for c in range(labels.max() + 1)]))


def cheap_factors(given: Given) -> Iterator[tuple[str, str, int, list[np.ndarray]]]:
    """Factor, setting, inputs and kernels of all that follows from features at hand."""
    m, k = given.features.shape[1:]
    plain = [gram(Phi) for Phi in given.features]
    yield "as defined", "logits, all inputs", m, plain
    yield "centred", "HKH", m, [centred(K) for K in plain]
    yield "normalised", "cosines", m, [cosines(K) for K in plain]
    yield "inputs of the class only", "K^c on class c", int(np.bincount(given.labels).max()), own_inputs(given)
    yield "mean kernel", "K̄", m, [np.mean(plain, axis=0)]
    outputs: dict[str, Callable[[Given], np.ndarray]] = {
        "log-softmax": log_softmax,
        "probabilities": probabilities,
        "loss": loss,
    }
    for name, of in outputs.items():
        yield "gradients of", name, m, [gram(Phi) for Phi in of(given)]
    for count in (50, 100, 200):
        if count < m:
            some = evenly(given.labels, count)
            yield "inputs", str(count), count, [K[np.ix_(some, some)] for K in plain]
    for small in (32, 40, 48, 64, 256, 1024):
        if small < k:
            yield "dimensions k", str(small), m, [gram(Phi) for Phi in folded(given.features, small)]


def given_of(run: Run) -> Given:
    return Given(np.asarray(run.features, dtype=np.float32), softmax(run.targets), run.train_labels)


def of_run(name: str, run: Run) -> Iterator[Level]:
    for factor, setting, n, kernels in cheap_factors(given_of(run)):
        yield level(name, factor, setting, n, kernels)


def of_factors(name: str, factors: Iterable[Factor], finished: bool) -> Iterator[Level]:
    """A level per run, beside how much of its inputs the network knows; runs are computed, or found in the cache."""
    for factor, setting, spec in factors:
        run = cached_kernels(spec) if finished else load_or_build_kernels(spec)
        if run is None:
            continue
        plain = [gram(Phi) for Phi in run.features]
        right = np.mean(run.targets.argmax(1) == run.train_labels)
        yield level(name, factor, f"{setting} ({right:.0%} of inputs right)", len(plain[0]), plain)


def picture(levels: list[Level]) -> go.Figure:
    """Ranks of every setting by λ and λ², as shares of the inputs, beside the paper's."""
    several = len({each.network for each in levels}) > 1
    names = [f"{each.network} · " * several + f"{each.factor}: {each.setting}" for each in levels]
    traces = []
    for power, colour in (("λ", "#0072B2"), ("λ²", "#D55E00")):
        middle = np.array([np.median(each.ranks[power]) / each.n for each in levels])
        high = np.array([max(each.ranks[power]) / each.n for each in levels]) - middle
        low = middle - np.array([min(each.ranks[power]) / each.n for each in levels])
        bars = {"type": "data", "array": high, "arrayminus": low, "thickness": 1.5, "width": 3}
        marks = {"color": colour, "size": 8}
        traces.append(
            {"type": "scatter", "x": middle, "y": names, "mode": "markers", "name": power, "marker": marks}
            | {"error_x": bars}
        )
    low, high = (end / INPUTS for end in PAPER)
    layout = {
        "height": 60 + 22 * len(names),
        "margin": {"l": 360, "r": 20, "t": 40, "b": 50},
        "xaxis": {"title": {"text": "truncation rank / inputs at ε = 0.05"}, "type": "log", "gridcolor": "#ddd"},
        "yaxis": {"autorange": "reversed", "gridcolor": "#eee", "automargin": False},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        "shapes": [
            {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "x0": low, "x1": high, "fillcolor": "#009E73"}
            | {"opacity": 0.25, "line": {"width": 0}}
        ],
        "annotations": [
            {"text": f"paper, {PAPER[0]}–{PAPER[1]} of {INPUTS}", "x": np.log10(high), "xanchor": "left", "y": 1}
            | {"yref": "paper", "yanchor": "bottom", "showarrow": False, "font": {"color": "#009E73"}}
        ],
    }
    return go.Figure({"data": traces, "layout": layout})


def asked(arguments: argparse.Namespace) -> Iterator[Level]:
    """All levels that the flags ask for, one by one."""
    for each in arguments.run:
        name, _, key = each.partition("=")
        run = cached_kernels(find_run(key).spec)
        if run is None:
            raise SystemExit(f"the kernels of run {key} are not in the cache")
        yield from of_run(name, run)
    if arguments.digits:
        yield from of_factors("digits, small_resnet", digit_runs(), arguments.finished)
    if arguments.images:
        with tempfile.TemporaryDirectory() as scratch:
            factors = image_runs(arguments.images, arguments.weights, Path(scratch))
            yield from of_factors(f"{arguments.images.name}, ResNet-18", factors, arguments.finished)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--run", nargs="*", default=[], metavar="NAME=KEY", help="runs in the cache")
    parser.add_argument("--digits", action="store_true", help="build small runs of digits")
    parser.add_argument("--images", type=Path, metavar="FOLDER", help="build runs of train/<class>/…, val/<class>/…")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="a ResNet-18's weights for them")
    parser.add_argument("--finished", action="store_true", help="compute nothing: leave out runs not in the cache")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where figure and numbers are written")
    arguments = parser.parse_args()
    levels: list[Level] = []
    print("| network | factor | setting | inputs | √λ | λ | λ² |\n| --- | --- | --- | --- | --- | --- | --- |")
    for each in asked(arguments):
        levels.append(each)
        print(f"| {each.network} | {each.factor} | {each.setting} | {each.n} | ", end="")
        print(" | ".join(each.text(power) for power in POWERS), "|", flush=True)
    if arguments.out:
        from dntk_core.dashboard.offline.pictures import save_pictures

        folder = arguments.out / "pictures"
        (folder / "ranks.json").write_text(json.dumps([asdict(each) for each in levels]) + "\n")
        save_pictures({folder / "ranks.png": picture(levels)})


if __name__ == "__main__":
    main()
