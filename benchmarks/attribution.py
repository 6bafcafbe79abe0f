"""Attribution of digits to their training images, judged by networks retrained on random halves.

    python -m benchmarks.attribution [--networks 60] [--choosing 20] [--kept halves.npz] [--peers traker dattri]

The linear datamodelling score: over halves, Spearman's correlation of a test input's margin in the network retrained on
the half with the sum of the half's attributions; the mean over test inputs. One checkpoint, the same for all. Ours read
cached kernels, and once more start from the network as `traker` and `dattri` do, gradients and kernels included; these
are left out where they are not installed. What has to be chosen (our ridge; TRAK's dimensions and regulariser) is
chosen on retrained networks of their own, which judge nothing; what the judging ones would have chosen is printed
beside it.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import torch
from scipy.stats import rankdata

from benchmarks.peer_attributions import dattri, parts, traker
from benchmarks.retrained import Retrained, retrained
from dntk_core import Live, Run, RunSpec, load_or_build
from dntk_core.base.spec import InputSpec
from dntk_core.base.terminal import Bar
from dntk_core.distill import Mixing
from dntk_core.gradients import prepare, project_batch, projector
from dntk_core.gradients.sketch import Sketched, combinations
from dntk_core.kernels.class_kernels import ClassKernels, Kernels, kernels_from_features
from dntk_core.kernels.shared import SharedKernels
from dntk_core.run.insight import LABEL_RIDGE, Insight
from dntk_core.uses.attribution import Evidence, leave_one_out_effects
from dntk_core.uses.fit import fit
from dntk_core.uses.goals import margins, one_hot
from dntk_core.uses.tangents import Tangents, tangents

SPEC = replace(RunSpec.default(), inputs=InputSpec(kernel=1297, test=300))
WAYS = {
    "leave-one-out": "leave-one-out",
    "representer": "contribution",
    "cosine": "cosine",
    "dot product": "dot product",
}
SIZES = (50, 10)
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
# Of ours from the network on: dimensions, and sums of logits in the place of the ten logits (None: all logits).
STARTED = ((2048, None), (512, None), (256, None), (512, 4), (512, 2), (256, 2))
# Of TRAK: below the number of inputs, where its matrix has an inverse, and traker's own, which needs a regulariser.
DIMENSIONS = (256, 2048)
BLOCK = 100
# dattri's own lies between.
DATTRI = (256, 512, 2048)
REGULARISERS = (0.0, 0.01, 0.1, 1.0, 10.0)


def datamodelling_score(attributions: np.ndarray, truth: Retrained) -> tuple[float, float]:
    """Mean over test inputs and its standard error; attributions (t, m)."""
    predicted = truth.seen.astype(float) @ attributions.T
    ranks = [rankdata(values, axis=0) for values in (predicted, truth.margins)]
    ranks = [each - each.mean(axis=0) for each in ranks]
    norms = [np.linalg.norm(each, axis=0) for each in ranks]
    scores = np.sum(ranks[0] * ranks[1], axis=0) / np.maximum(norms[0] * norms[1], 1e-12)
    return float(scores.mean()), float(scores.std() / np.sqrt(len(scores)))


def timed(compute: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """A result and the processor seconds it took."""
    started = time.process_time()
    return compute(), time.process_time() - started


class Judges:
    """Retrained networks: some choose settings, the others judge."""

    def __init__(self, truth: Retrained, judging: int):
        self.judging = Retrained(truth.seen[:judging], truth.margins[:judging])
        self.choosing = Retrained(truth.seen[judging:], truth.margins[judging:])

    def line(self, name: str, found: np.ndarray, seconds: float, note: str = "") -> tuple[float, float]:
        """Print both scores of attributions (t, m); return them."""
        (score, error), (chose, _) = (datamodelling_score(found, each) for each in (self.judging, self.choosing))
        print(f"{name:52} {score:7.3f} {error:6.3f} {chose:9.3f} {seconds:8.2f}  {note}", flush=True)
        return score, chose


def ordered(run: Run, found: np.ndarray) -> np.ndarray:
    """Attributions (t, m) in the order of the training inputs."""
    placed = np.empty_like(found)
    placed[:, np.array(run.artifacts["inputs"]["kernel_index"])] = found
    return placed


def ours(run: Run, live: Live, way: str, mixing: Mixing | None, ridge: float) -> np.ndarray:
    """Attributions of every test input's margin in training order, (t, m)."""
    insight, index = Insight(run, live), np.arange(len(run.test_labels))
    # One ridge is asked for: kernels are factored, not decomposed.
    made = fit(run.kernels, insight.targets("labels"), live.lam(ridge), mixing)
    evidence = Evidence(made, lambda: insight.tangents(mixing))
    return ordered(run, insight.attribute(evidence, way, index, margins(run.test_logits, run.test_labels)))


def from_the_network(run: Run, k: int, q: int | None, ridge: float) -> np.ndarray:
    """Leave-one-out of every test input's margin, (t, m), with nothing cached but the network.

    k: dimensions of the projection; q: sums of logits that all classes share the kernel of, None for a kernel each
    """
    _, model, train, test = parts(run)
    C = run.targets.shape[1]
    module = model if q is None else Sketched(model, "logits", combinations(C, q, 0, ()))
    network = prepare(module, train[0][0][:8])
    through = projector(network, replace(run.spec.projection, k=k), torch.device("cpu"))
    features = [
        np.concatenate([project_batch(network, through, x)[0].numpy() for x, _ in batches], axis=1)
        for batches in (train, test)
    ]
    kernels: ClassKernels
    if q is None:
        kernels = kernels_from_features(*features)
    else:
        # The mean of q kernels is the kernel of all their features side by side.
        mean = kernels_from_features(*(np.concatenate(each, axis=1)[None] / np.sqrt(q) for each in features))
        kernels = SharedKernels(mean, Kernels(mean.train[:0], mean.cross[:0]), (), C)
    labels, tested = (np.concatenate([y.numpy() for _, y in batches]) for batches in (train, test))
    with torch.no_grad():
        goals = margins(torch.cat([model(x) for x, _ in test]).double().numpy(), tested)
    made = fit(kernels, one_hot(labels, C), ridge * kernels.scale)
    return leave_one_out_effects(Evidence(made, unasked), np.arange(len(tested)), goals)


def unasked() -> Tangents:
    """Leave-one-out reads no gradients of margins."""
    raise NotImplementedError


def started(run: Run, judges: Judges, ridge: float) -> None:
    """Print leave-one-out from the network on, at every setting, at the chosen ridge and at the default one."""
    for k, q in STARTED:
        sums = "every class" if q is None else f"{q} sums of logits"
        for at in dict.fromkeys((ridge, LABEL_RIDGE)):
            found, seconds = timed(lambda k=k, q=q, at=at: from_the_network(run, k, q, at))
            judges.line(f"from the network, k = {k}, {sums}, ridge {at:g}", found, seconds)


def chosen_ridge(run: Run, judges: Judges) -> float:
    """Print leave-one-out over ridges and what labels themselves say of them; the ridge that other networks choose."""
    live = Live(run.problem)
    insight = Insight(run, live)
    left = insight.left_out_labels(RIDGES)
    scores = []
    for ridge, accuracy, mse in zip(RIDGES, left.fidelity, left.mse, strict=True):
        found, seconds = timed(lambda ridge=ridge: ours(run, live, "leave-one-out", None, ridge))
        note = f"left-out labels: accuracy {accuracy:.4f}, MSE {mse:.5f}"
        scores.append(judges.line(f"leave-one-out, ridge {ridge:g}", found, seconds, note))
    best, chosen = (RIDGES[int(np.argmax(each))] for each in zip(*scores, strict=True))
    print(
        f"labels choose ridge {insight.label_ridge():g}, the choosing networks {chosen:g}, the judging ones {best:g}\n"
    )
    return chosen


def trak_from_cache(run: Run, judges: Judges) -> None:
    """TRAK's formula on our gradients, with and without its factor Q, at every regulariser."""
    test, goals = run.artifacts["features"]["test_features"], margins(run.test_logits, run.test_labels)
    index = np.arange(len(run.test_labels))
    for ridge in REGULARISERS[1:]:
        started = time.process_time()
        given = tangents(run.features, test, run.targets, run.train_labels, ridge)
        weights = given.weights(index, goals)
        seconds = time.process_time() - started
        judges.line(f"TRAK from cache, regulariser {ridge:g}", ordered(run, weights * given.doubt), seconds)
        judges.line(f"TRAK from cache, regulariser {ridge:g}, no Q", ordered(run, weights), seconds)


def peers(run: Run, judges: Judges, named: list[str]) -> None:
    """Print `traker` at every setting, then as the package does by itself, and `dattri` at the best regulariser."""
    best = (-np.inf, DIMENSIONS[0], 1.0)
    if "traker" in named:
        for k in DIMENSIONS:
            for regulariser, found, seconds in traker(run, k, REGULARISERS):
                _, chose = judges.line(f"traker, k = {k}, regulariser {regulariser:g}", found, seconds)
                best = max(best, (chose, k, regulariser))
        print(f"traker is best with k = {best[1]}, regulariser {best[2]:g}, by the choosing networks")
        for _, found, seconds in traker(run, DIMENSIONS[-1], best[2:], BLOCK):
            judges.line(f"traker, k = {DIMENSIONS[-1]}, its own blocks of {BLOCK}", found, seconds)
    if "dattri" in named:
        for k in DATTRI:
            judges.line(f"dattri, k = {k}, regulariser {best[2]:g}", *dattri(run, k, best[2]))


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description="Linear datamodelling score on digits.")
    parser.add_argument("--networks", type=int, default=60, help="networks retrained on random halves that judge (60)")
    parser.add_argument("--choosing", type=int, default=20, help="further ones that choose settings (20)")
    kept = Path(gettempdir()) / "dntk-halves.npz"
    parser.add_argument("--kept", type=Path, default=kept, help=f"where their margins are kept ({kept})")
    parser.add_argument("--peers", nargs="*", default=["traker", "dattri"], help="packages to compare with")
    arguments = parser.parse_args()
    run = load_or_build(SPEC, Bar())
    index, count = np.array(run.artifacts["inputs"]["test_index"]), arguments.networks + arguments.choosing
    judges = Judges(retrained(run.spec, index, count, arguments.kept), arguments.networks)
    print(f"{arguments.networks} networks judge, {arguments.choosing} choose; {len(run.test_labels)} test inputs")
    print(f"{'attribution':52} {'LDS':>7} {'±':>6} {'choosing':>9} {'CPU s':>8}")
    ridge, live = chosen_ridge(run, judges), Live(run.problem)
    for name, way in WAYS.items():
        for size in (None, *SIZES) if way in ("leave-one-out", "contribution") else (None,):
            mixing = None if size is None else live.distil("kernel PCA", size, ridge)
            # A live object of its own: what it would remember is part of the time.
            found, seconds = timed(lambda way=way, mixing=mixing: ours(run, Live(run.problem), way, mixing, ridge))
            judges.line(name + (", full" if size is None else f", s = {size}"), found, seconds)
    started(run, judges, ridge)
    trak_from_cache(run, judges)
    try:
        peers(run, judges, arguments.peers)
    except ImportError as error:
        print(f"{error.name} is not installed")


if __name__ == "__main__":
    main()
