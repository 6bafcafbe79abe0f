"""How sure a run's network and kernels are of inputs, its own test inputs or others, and if that can be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from dntk_core.cache.artifact import Artifact
from dntk_core.cache.rows import Array
from dntk_core.distill import Mixing
from dntk_core.kernels.class_kernels import ClassKernels, Kernels
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.modes import DenseModes, FeatureModes, Modes
from dntk_core.kernels.shared import Shared
from dntk_core.readout.leave_one_out import RIDGES
from dntk_core.readout.probabilities import softmax
from dntk_core.run.finished import Run
from dntk_core.run.insight import Insight
from dntk_core.uses.calibration import JUDGEMENTS, auroc, temperature
from dntk_core.uses.uncertainty import Noise, distilled_variance, full_variance, noise, probit, squared_norms

NETWORK, SCALED, FULL, DISTILLED, LAPLACE = (
    "network",
    "network, temperature",
    "full kernel",
    "distilled kernel",
    "network, kernel's doubt",
)


@dataclass(frozen=True)
class Beliefs:
    """What is believed of n inputs.

    logits:        (n, C)  the network's
    probabilities: by predictor, (n, C) each
    deviation:     by kernel, (n,): the root of the posterior variance of a logit, mean over classes
    mean:          by kernel, (n, C): its logits
    """

    logits: np.ndarray
    probabilities: Mapping[str, np.ndarray]
    deviation: Mapping[str, np.ndarray]
    mean: Mapping[str, np.ndarray]

    @property
    def doubt(self) -> dict[str, np.ndarray]:
        """By predictor, how little it thinks of the network's choice, 1 - p (n,); and the kernels' deviations."""
        chosen, rows = self.logits.argmax(axis=1), np.arange(len(self.logits))
        found = {name: 1.0 - p[rows, chosen] for name, p in self.probabilities.items()}
        return found | {f"{name}, deviation": values for name, values in self.deviation.items()}


class Doubt:
    """A run asked how sure it is; the noise is chosen without test data, by a row of NOISES."""

    def __init__(self, insight: Insight, mixing: Mixing, choose: str = "marginal likelihood", readout: str = "paper"):
        self.insight, self.mixing, self.choose, self.readout = insight, mixing, choose, readout

    @property
    def noise(self) -> Noise:
        """How well each ridge explains the network's logits at the kernel inputs."""
        insight = self.insight
        return insight.live.remember(
            ("noise", self.choose), lambda: noise(self.choose, insight.kernels, insight.modes("logits"), RIDGES)
        )

    @property
    def ridge(self) -> float:
        """λ of the noise, in units of the mean kernel diagonal."""
        return self.noise.best

    @property
    def temperature(self) -> float:
        """Fitted to the labels of the kernel inputs, each predicted by the readout of all others."""

        def found() -> float:
            left = self.insight.fit("logits", None, self.ridge).left_out
            return temperature(self.insight.run.targets - left, self.insight.run.train_labels)

        return self.insight.live.remember(("temperature", self.ridge), found)

    def test(self) -> Beliefs:
        """Beliefs of the run's own test inputs."""
        run, live, kernels = self.insight.run, self.insight.live, self.insight.kernels

        def found() -> Beliefs:
            # No slider of a distilled set changes these two.
            norms = live.remember(("norms of tests",), lambda: norms_of_tests(run))
            full = live.remember(("full variance", self.ridge), lambda: self._full_variance(kernels, norms))
            return self._beliefs(kernels, norms, run.test_logits, full)

        return live.remember(("beliefs", self.choose, self.mixing, self.readout), found)

    def of(self, features: Array, logits: np.ndarray) -> Beliefs:
        """Beliefs of other inputs, from their projected gradients (C, n, k) and the network's logits (n, C)."""
        kernels = crossed(self.insight.kernels, self.insight.run.features, features)
        norms = squared_norms(features)
        return self._beliefs(kernels, norms, logits, self._full_variance(kernels, norms))

    def _full_variance(self, kernels: ClassKernels, norms: np.ndarray) -> np.ndarray:
        modes = [moved(each, kernels, c) for c, each in enumerate(self.insight.modes("logits"))]
        return full_variance(modes, norms, self.insight.live.lam(self.ridge))

    def _beliefs(self, kernels: ClassKernels, norms: np.ndarray, logits: np.ndarray, full: np.ndarray) -> Beliefs:
        insight, lam = self.insight, self.insight.live.lam(self.ridge)
        scale = self.noise.scale_at(self.ridge)
        alpha = {
            FULL: insight.fit("logits", None, self.ridge).alpha,
            DISTILLED: insight.fit("logits", self.mixing, self.ridge, self.readout).alpha,
        }
        mean = {
            name: np.stack([f[:, 0] for f in kernels.predict(each[..., None])], axis=1) for name, each in alpha.items()
        }
        variance = {
            FULL: scale * full,
            DISTILLED: scale * distilled_variance(kernels, self.mixing, norms, lam),
        }
        probabilities = {
            NETWORK: softmax(logits),
            SCALED: softmax(logits / self.temperature),
            **{name: probit(mean[name], variance[name]) for name in mean},
            LAPLACE: probit(logits, variance[FULL]),
        }
        deviation = {name: np.sqrt(each).mean(axis=1) for name, each in variance.items()}
        return Beliefs(logits, probabilities, deviation, mean)


def norms_of_tests(run: Run) -> np.ndarray:
    """K*^c(x, x) of the test inputs as every class's readout has it, in the shape of `squared_norms`."""
    found = squared_norms(run.artifacts["features"]["test_features"])
    if not run.class_sketch:
        return found
    mean = found[: run.class_sketch["q"]].mean(axis=0)
    return np.broadcast_to(mean, (run.targets.shape[1], *mean.shape))


def judged(beliefs: Beliefs, labels: np.ndarray) -> dict[str, dict[str, float]]:
    """JUDGEMENTS of every predictor, and how well its doubt finds the network's own errors (`errors`, an AUROC)."""
    wrong = beliefs.logits.argmax(axis=1) != labels
    found = {
        name: {key: one.function(p, labels) for key, one in JUDGEMENTS.items()}
        for name, p in beliefs.probabilities.items()
    }
    for name, doubt in beliefs.doubt.items():
        found.setdefault(name, {})["errors"] = auroc(doubt, wrong)
    return found


def crossed(kernels: ClassKernels, features: Array, others: Array) -> ClassKernels:
    """The same kernels with other inputs (C, n, k) in the place of the test inputs."""
    if not kernels.dense:
        return FeatureKernels(features, others)
    products = [
        np.asarray(other, np.float64) @ np.asarray(own, np.float64).T
        for own, other in zip(features, others, strict=True)
    ]
    return Kernels(cast(Kernels, kernels).train, np.stack(products))


def moved(modes: Modes, kernels: ClassKernels, c: int) -> Modes:
    """The modes of a class with the test inputs of other kernels."""
    if isinstance(kernels, Shared):
        # Every class has the same kernel, and its own test inputs are those of the modes.
        return modes
    if isinstance(modes, DenseModes):
        return replace(modes, cross=cast(Kernels, kernels).cross[c])
    return replace(cast(FeatureModes, modes), test_features=cast(FeatureKernels, kernels).test_features[c])


@dataclass(frozen=True)
class Shifted:
    """Beliefs of test inputs under one shift, over its strengths.

    strengths: (q,), 0 the inputs as they are
    accuracy:  (q,)  of the network
    fidelity:  (q,)  share of inputs where the full kernel chooses as the network does
    doubt:     by predictor, (q,): the mean
    apart:     by predictor, (q,): AUROC for telling the shifted from the others by its doubt
    places:    where the images of each strength begin among all shifted ones; none for 0
    """

    strengths: np.ndarray
    accuracy: np.ndarray
    fidelity: np.ndarray
    doubt: dict[str, np.ndarray]
    apart: dict[str, np.ndarray]
    places: tuple[int, ...]


def shifted(doubt: Doubt, artifact: Artifact, name: str) -> tuple[Shifted, list[Beliefs]]:
    """Follow one shift of the stage `shifts` through its strengths."""
    labels, index = doubt.insight.run.test_labels, np.array(artifact["index"])
    n, strengths = len(index), artifact.note["strengths"]
    first = artifact.note["names"].index(name) * len(strengths) * n
    places = tuple(first + step * n for step in range(len(strengths)))

    def of(at: int) -> Beliefs:
        return doubt.of(
            artifact.rows("features")[:, at : at + n], np.array(artifact["outputs"][at : at + n], np.float64)
        )

    clean = chosen(doubt.test(), index)
    every = [clean, *(of(at) for at in places)]
    doubts = [each.doubt for each in every]

    def apart(key: str) -> np.ndarray:
        away = np.repeat([False, True], n)
        return np.array([auroc(np.append(doubts[0][key], each[key]), away) for each in doubts])

    return Shifted(
        np.array([0, *strengths]),
        np.array([np.mean(each.logits.argmax(axis=1) == labels[index]) for each in every]),
        np.array([np.mean(each.mean[FULL].argmax(axis=1) == each.logits.argmax(axis=1)) for each in every]),
        {key: np.array([each[key].mean() for each in doubts]) for key in doubts[0]},
        {key: apart(key) for key in doubts[0]},
        places,
    ), every


def foreign(doubt: Doubt, artifact: Artifact) -> Beliefs:
    """Beliefs of a set that was added to the run."""
    return doubt.of(artifact.rows("features"), np.array(artifact["outputs"], np.float64))


def told_apart(doubt: Doubt, artifact: Artifact) -> dict[str, float]:
    """By predictor, AUROC for telling a set that was added from the test inputs by its doubt."""
    own, others = doubt.test().doubt, foreign(doubt, artifact).doubt
    return {
        key: auroc(np.append(own[key], others[key]), np.arange(len(own[key]) + len(others[key])) >= len(own[key]))
        for key in own
    }


def chosen(beliefs: Beliefs, index: np.ndarray) -> Beliefs:
    """The beliefs of some of the inputs."""
    parts = (beliefs.probabilities, beliefs.deviation, beliefs.mean)
    return Beliefs(beliefs.logits[index], *({key: each[index] for key, each in part.items()} for part in parts))
