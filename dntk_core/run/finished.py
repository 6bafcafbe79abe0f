"""A finished run: its kernels, and all that is read off them and off what its stages wrote down."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from dntk_core.base.columns import Columns
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.base.text import html_table
from dntk_core.cache.artifact import Artifact
from dntk_core.cache.rows import Array, Rows
from dntk_core.data.class_names import in_words
from dntk_core.data.images import ImageArray
from dntk_core.data.inputs import IMAGE, Inputs, kind_in, opened
from dntk_core.dataset.judgement import Judgement
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.feature_kernels import FeatureKernels, Moments
from dntk_core.kernels.shared import Shared, SharedKernels
from dntk_core.kernels.shared_features import Leading, SharedFeatures
from dntk_core.readout.problem import Problem
from dntk_core.run.show import show


@dataclass(frozen=True)
class Run:
    """A finished run: kernels and all that is read off them; large arrays are read where they are indexed."""

    spec: RunSpec
    artifacts: dict[str, Artifact]

    @property
    def key(self) -> str:
        return self.spec.key

    @cached_property
    def kernels(self) -> Kernels | FeatureKernels | Shared:
        """K (C, m, m) and K* (C, t, m); of many inputs kept as features; of sketched classes K̄ for all."""
        if self.spec.sketch.used and self.dense:
            train, cross = self._finite("train"), self._finite("cross")
            mean, theirs = Kernels(train[:1], cross[:1]), Kernels(train[1:], cross[1:])
            return SharedKernels(mean, theirs, self.exact_classes, self.targets.shape[1])
        if not self.dense:
            return self.feature_kernels()
        return Kernels(self._finite("train"), self._finite("cross"))

    def feature_kernels(
        self, moments: Moments | None = None, leading: Leading | None = None
    ) -> FeatureKernels | SharedFeatures:
        """The kernels of many inputs, with what is at hand: second moments of classes, leading eigenpairs of K̄."""
        own = FeatureKernels(*self.own_features, moments)
        if not self.spec.sketch.used:
            return own
        return SharedFeatures(*self.mean_features, own, self.exact_classes, self.targets.shape[1], leading)

    @cached_property
    def targets(self) -> np.ndarray:
        """The network's own outputs at the kernel inputs, (m, C)."""
        return self._finite("targets")

    @cached_property
    def test_logits(self) -> np.ndarray:
        """The network's own outputs at the test inputs, (t, C)."""
        return self._finite("test_logits")

    @cached_property
    def train_labels(self) -> np.ndarray:
        """Labels of the kernel inputs, (m,)."""
        return np.array(self._kernels["train_labels"])

    @cached_property
    def test_labels(self) -> np.ndarray:
        """Labels of the test inputs, (t,)."""
        return np.array(self._kernels["test_labels"])

    @cached_property
    def problem(self) -> Problem:
        """What readouts are fitted to and judged on."""
        return Problem(self.kernels, self.targets, self.test_logits, self.test_labels, self.train_labels)

    @property
    def kind(self) -> str:
        """What the inputs are: image, table, tokens or array."""
        return kind_in(self.artifacts["inputs"].note)

    @property
    def inputs(self) -> Inputs:
        """The m kernel inputs: images (m, channels, height, width) in [0, 1] when indexed, or others as they are."""
        return opened(self.artifacts["inputs"], self.artifacts["inputs"].note)

    @property
    def images(self) -> Array | ImageArray:
        """Kernel inputs of a run on images, (m, channels, height, width) in [0, 1] when indexed."""
        if self.kind != IMAGE:
            raise DNTKError(f"the inputs of run {self.key} are no images; `inputs` has them as they are")
        return cast(Array | ImageArray, self.inputs)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Words of the token ids, or names of a table's columns; none if nobody gave them."""
        inputs = self.artifacts["inputs"]
        return tuple(json.loads(inputs.read("vocabulary.json"))) if inputs.holds("vocabulary.json") else ()

    @property
    def features(self) -> Rows:
        """Projected gradients Φ of the kernel inputs, (C, m, k), read where they are indexed."""
        return self._of_every_class("features")

    @property
    def test_features(self) -> Rows:
        """Projected gradients Φ* of the test inputs, (C, t, k)."""
        return self._of_every_class("test_features")

    @property
    def mean_features(self) -> tuple[Rows, Rows]:
        """Features whose kernels' mean is K̄, of kernel and test inputs: of every class, or of the sums of classes."""
        return self._features(slice(self.class_sketch.get("q")))

    @property
    def own_features(self) -> tuple[Rows, Rows]:
        """Features of the classes that have kernels of their own."""
        return self._features(slice(self.class_sketch.get("q", 0), None))

    def _features(self, which: slice) -> tuple[Rows, Rows]:
        features = self.artifacts["features"]
        return features.rows("features")[which], features.rows("test_features")[which]

    def _of_every_class(self, name: str) -> Rows:
        if self.spec.sketch.used:
            raise DNTKError(
                f"run {self.key} keeps sums of its classes' gradients, not those of every class, which this needs; "
                "compute a run without --class-sketch"
            )
        return self.artifacts["features"].rows(name)

    @property
    def columns(self) -> list[Columns]:
        """The features' columns of every group of parameters; those of all in one group where none were kept."""
        k, P = self.k, self.parameters
        groups = self.artifacts["features"].note.get("groups")
        if groups:
            return [Columns(**each) for each in groups]
        # Of a projection that happens to have P dimensions no column is a parameter.
        return [Columns("all", 0, k, P + 1 if k == P and not self.spec.projection.exact(P) else P)]

    @property
    def k(self) -> int:
        """The dimensions that gradients were projected to."""
        return self.artifacts["features"].rows("features").shape[2]

    @property
    def class_sketch(self) -> dict:
        """Of sketched classes: sums q, the error of K̄ as expected and as measured on a few inputs; else empty."""
        return self.artifacts["features"].note.get("class_sketch", {})

    @property
    def exact_classes(self) -> tuple[int, ...]:
        """Of sketched classes: those that have gradients of their own, ascending."""
        return tuple(self.class_sketch.get("exact", self.spec.sketch.chosen))

    @property
    def dense(self) -> bool:
        """Whether the kernels are arrays, or, beyond a few thousand inputs, products of features."""
        return self._kernels.note.get("dense", True)

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(map(in_words, self.artifacts["inputs"].note["class_names"]))

    @property
    def parameters(self) -> int:
        """P, the number of parameters that require a gradient."""
        return self.artifacts["features"].note["parameters"]

    @property
    def test_accuracy(self) -> float:
        """The network's own accuracy on the test inputs."""
        return float(np.mean(self.test_logits.argmax(1) == self.test_labels))

    @property
    def preprocessing(self) -> str:
        """What was done to the inputs before the network saw them; empty for runs that did not write it down."""
        return self.artifacts["inputs"].note.get("preprocessing", "")

    @property
    def threads(self) -> int:
        """Threads that trained the network, where its weights depend on them; 0 where they do not."""
        return self.artifacts[self.spec.network_stage].note.get("threads", 0)

    @property
    def edited_code(self) -> list[str]:
        """Files of the user's own code that no longer say what they did when the network was made."""
        files = self.artifacts["model"].note.get("code", {})
        if not files:
            return []
        # Loading torch takes seconds; runs without own code do without.
        from dntk_core.models.own_code import changed

        return changed(files)

    @property
    def general_path(self) -> list[str]:
        """Parameters whose gradients no fast rule gives."""
        return self.artifacts["features"].note["general_path"]

    @property
    def projection_error(self) -> dict:
        """Relative Frobenius error of the class kernels: measured on a few inputs, and as expected of k."""
        return self.artifacts["features"].note["projection_error"]

    @property
    def distillation(self) -> Artifact | None:
        """The distilled images and all that was written beside them; None for a run on real images."""
        return self.artifacts.get("distilled")

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What the gradients of each selection of images span; none for a run on real images."""
        judged = self.artifacts["judged"].note["judgements"] if self.spec.distilled else ()
        return tuple(Judgement.from_json(value) for value in judged)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that each stage took when it was computed."""
        return {stage: artifact.note["seconds"] for stage, artifact in self.artifacts.items()}

    def show(self, browser: bool = True, wait: bool | None = None) -> str:
        """Open the dashboard on this run in the browser; prints and returns its address.

        wait: whether to serve until Ctrl-C; by default a script does, a prompt or a notebook does not
        """
        return show(self.artifacts["kernels"].folder.parents[1], self.key, browser, wait)

    def _repr_html_(self) -> str:
        names = self.class_names
        shown = {
            "Run": self.key,
            "What": self.spec.summary,
            "Classes": f"{len(names):,}: {', '.join(names[:10])}{' …' if len(names) > 10 else ''}",
            "Inputs": f"{len(self.train_labels):,} kernel inputs, {len(self.test_labels):,} test inputs",
            "Parameters": f"{self.parameters:,}",
            "Network's test accuracy": f"{self.test_accuracy:.1%}",
            "Seconds": f"{sum(self.seconds.values()):,.1f}",
        }
        return html_table(["", ""], shown.items())

    def _finite(self, name: str) -> np.ndarray:
        """An array of the last stage; its checksum may fit although a broken machine wrote it."""
        array = np.array(self._kernels[name])
        if not np.isfinite(array).all():
            raise DNTKError(
                f"the cached {name} of run {self.key} holds numbers that are not finite; delete the run and compute it "
                "again"
            )
        return array

    @property
    def _kernels(self) -> Artifact:
        return self.artifacts["kernels"]
