"""What a run's kernel is used for: one object that answers for pages, commands and scripts alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill import Mixing
from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.modes import Modes
from dntk_core.readout.leave_one_out import RIDGES, LeaveOneOut, leave_one_out
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run
from dntk_core.uses.attribution import Evidence, attribution
from dntk_core.uses.fit import Applied, DistilledFit, Fit, fit
from dntk_core.uses.goals import difference, logit, one_hot
from dntk_core.uses.tangents import Tangents, tangents

# What is fitted: the network's logits explain the readout, labels say what the data did.
TARGETS = ("logits", "labels")
# Of readouts of labels that attribute predictions to data: what retrained networks do is told best by ridges from 3 to
# 10, far above the one with which labels predict each other best.
LABEL_RIDGE = 3.0


@dataclass(frozen=True)
class Explanation:
    """One prediction, split over what made it.

    input:       the test input
    goal:        (C,)  the weights of the logits that are explained
    network, full, distilled: (C,)  the logits of the network and of both readouts; the last is None without a mixing
    values:      (m,)  what each kernel input does
    prediction:  what the readout says of the goal
    synthetic:   (s,)  contributions of the distilled gradients to the goal, which sum to the prediction; or None
    """

    input: int
    goal: np.ndarray
    network: np.ndarray
    full: np.ndarray
    distilled: np.ndarray | None
    values: np.ndarray
    prediction: float
    synthetic: np.ndarray | None

    def speakers(self, count: int) -> tuple[np.ndarray, np.ndarray, float]:
        """The inputs that speak most for and most against, strongest first, and what all the others add."""
        order = np.argsort(-self.values, kind="stable")
        for_, against = order[:count], order[::-1][:count]
        for_, against = for_[self.values[for_] > 0], against[self.values[against] < 0]
        named = self.values[for_].sum() + self.values[against].sum()
        return for_, against, float(self.values.sum() - named)


class Insight:
    """A run and its live object, asked what its kernel is for; what it finds out is remembered there."""

    def __init__(self, run: Run, live: Live):
        self.run = run
        self.live = live

    @property
    def kernels(self) -> ClassKernels:
        """The run's kernels as its live object has them, with all that was computed ahead."""
        return self.live.problem.kernels

    @property
    def C(self) -> int:
        return self.kernels.shape[0]

    def targets(self, name: str) -> np.ndarray:
        """What is fitted, (m, C)."""
        if name not in TARGETS:
            raise DNTKError(f"the targets must be one of {', '.join(TARGETS)}, got {name!r}")
        return self.run.targets if name == "logits" else one_hot(self.run.train_labels, self.C)

    def modes(self, name: str) -> tuple[Modes, ...]:
        """The full readout of targets in the eigenvectors of every class kernel."""
        if name == "logits":
            return self.live.modes()
        return self.live.remember(("modes", name), lambda: self.kernels.modes(self.targets(name), self.live.spectrum))

    def left_out_labels(self, ridges: Sequence[float] = RIDGES) -> LeaveOneOut:
        """The readout of labels at ridges (q,), each label predicted by all others."""
        return self.live.remember(
            ("left-out labels", tuple(ridges)),
            lambda: leave_one_out(self.kernels, self.targets("labels"), ridges, self.modes("labels")),
        )

    def label_ridge(self) -> float:
        """The ridge with which labels are best predicted by all other labels."""
        return self.left_out_labels().best

    # Explanations.

    def fit(self, name: str, mixing: Mixing | None, ridge: float, by: str = "paper") -> Fit:
        """The readout of targets at a ridge, full or on a distilled set."""

        def found() -> Fit:
            lam = self.live.lam(ridge)
            if mixing is None:
                return fit(self.kernels, self.targets(name), lam, modes=self.modes(name))
            return DistilledFit(self._applied(name, mixing, by), lam)

        return self.live.remember(("fit", name, mixing, ridge, by), found)

    def _applied(self, name: str, mixing: Mixing, by: str) -> Applied:
        """What all ridges share of a distilled readout."""
        return self.live.remember(
            ("applied", name, mixing, by), lambda: Applied(self.kernels, self.targets(name), mixing, by)
        )

    def tangents(self, mixing: Mixing | None = None) -> Tangents:
        """Gradients of the margins of all kernel inputs; TRAK's matrix is of all, or of distilled ones."""
        run = self.run
        if mixing is not None:
            return self.live.remember(("tangents", mixing), lambda: replace(self.tangents(), mixing=mixing))
        test = run.test_features
        return self.live.remember(("tangents",), lambda: tangents(run.features, test, run.targets, run.train_labels))

    def evidence(self, name: str, mixing: Mixing | None, ridge: float, by: str = "paper") -> Evidence:
        """What attributions read."""
        return Evidence(self.fit(name, mixing, ridge, by), lambda: self.tangents(mixing))

    def attribute(self, evidence: Evidence, way: str, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """What each kernel input does to the goals (q, C) of test inputs (q,), by a row of ATTRIBUTIONS: (q, m)."""
        return attribution(way).function(evidence, index, goals)

    def goal(self, input: int, c: int | None = None, against: int | None = None) -> np.ndarray:
        """What is explained of a test input: logit c, by default the network's choice, or its lead over another."""
        t = len(self.run.test_labels)
        if not 0 <= input < t:
            raise DNTKError(f"the input must lie in 0..{t - 1}, the run's test inputs, got {input}")
        c = int(self.run.test_logits[input].argmax()) if c is None else c
        return logit(c, self.C) if against is None else difference(c, against, self.C)

    def explain(
        self,
        input: int,
        c: int | None = None,
        against: int | None = None,
        *,
        targets: str = "logits",
        way: str = "contribution",
        ridge: float = 1e-4,
        mixing: Mixing | None = None,
        by: str = "paper",
    ) -> Explanation:
        """Explain a test input by the full readout or, with a mixing, by the distilled one."""
        goal, at = self.goal(input, c, against), np.array([input])
        evidence = self.evidence(targets, mixing, ridge, by)
        full = self.predictions(targets, None, ridge)[input]
        distilled = None if mixing is None else self.predictions(targets, mixing, ridge, by)[input]
        synthetic = None
        if isinstance(evidence.fit, DistilledFit):
            A, beta = evidence.fit.mixing.matrix, evidence.fit.beta
            parts = [
                goal[k] * beta[k] * (A @ self.kernels.cross_rows(k, at)[0]) for k in map(int, np.flatnonzero(goal))
            ]
            synthetic = np.sum(parts, axis=0)
        values = self.attribute(evidence, way, at, goal[None])[0]
        shown = full if distilled is None else distilled
        return Explanation(
            input, goal, self.run.test_logits[input], full, distilled, values, float(shown @ goal), synthetic
        )

    def behind(
        self, found: Explanation, row: int, targets: str, mixing: Mixing, ridge: float, by: str = "paper"
    ) -> np.ndarray:
        """What each kernel input adds through one synthetic gradient: Σ_c w_c β^c_r A_ri K^c(x, x_i), (m,)."""
        made, at = self.fit(targets, mixing, ridge, by), np.array([found.input])
        if not isinstance(made, DistilledFit):
            raise DNTKError("the full readout has no synthetic gradients; give a mixing")
        rows = {k: self.kernels.cross_rows(k, at)[0] for k in range(self.C) if found.goal[k]}
        seen = np.sum([found.goal[k] * made.beta[k, row] * each for k, each in rows.items()], axis=0)
        return mixing.matrix[row] * seen

    def predictions(self, name: str, mixing: Mixing | None, ridge: float, by: str = "paper") -> np.ndarray:
        """What a readout of targets says of every test input, (t, C)."""

        def found() -> np.ndarray:
            alpha = self.fit(name, mixing, ridge, by).alpha[..., None]
            return np.stack([f[:, 0] for f in self.kernels.predict(alpha)], axis=1)

        return self.live.remember(("predictions", name, mixing, ridge, by), found)
