"""Analyses of very many inputs, computed by as many processes as there are and kept beside the run.

What no slider changes: leading eigenpairs of K̄, second moments of every class, the embedding, and for some H the
eigenpairs within clusters, and the features met with the leading ones: an H is then read, not computed. Each is a
piece of its own on a workbench, so that a killed job goes on where it stopped.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.cache.artifact import Artifact
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Arrays, Workbench
from dntk_core.kernels.clusters import Embedding, cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, assembled, members_of
from dntk_core.kernels.features import decomposed
from dntk_core.kernels.kernel import Eigenpairs
from dntk_core.kernels.ranked import RankedKernel
from dntk_core.kernels.rotated import Rotated, between, places, rotate, within
from dntk_core.kernels.shared_features import Leading
from dntk_core.kernels.spectrum import Spectrum, spectrum
from dntk_core.kernels.together import Together
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run
from dntk_core.run.rotating import SHARES, leading

# Raise it when an analysis changes.
STAGE, VERSION = "analysed", 3
HOLDS = ("features_key", "what")
WHOLE = "whole"
# The numbers of clusters that pages offer of many inputs, what they start with first.
CLUSTERS = (10, 5, 15, 20, 30)


@dataclass(frozen=True)
class Analysed:
    """What was analysed of a run; None where nothing was. Clusterings are those of seed 0."""

    run: Run
    store: Store

    def spectrum(self) -> Spectrum | None:
        """Leading eigenpairs of K̄."""
        found = self._get(WHOLE)
        return None if found is None else _spectrum(found, "whole", found["whole-vectors"])

    def embedding(self) -> Embedding | None:
        """The inputs embedded for clustering."""
        found = self._get(WHOLE)
        return None if found is None else Embedding(np.array(found["embedding"]))

    def moments(self) -> tuple[tuple[np.ndarray, np.ndarray], ...] | None:
        """Every class's second moment, decomposed."""
        found = self._get(WHOLE)
        if found is None:
            return None
        classes = range(len(self.run.own_features[0]))
        return tuple((found[f"moment-{c}-values"], found[f"moment-{c}-basis"]) for c in classes)

    def leading(self) -> Leading | None:
        """Leading eigenpairs of K̄ and what test inputs see of them, where classes are read out through it."""
        found, known = self._get(WHOLE), self.spectrum()
        if found is None or known is None or not self.run.spec.sketch.used:
            return None
        return Leading(Eigenpairs(known.values, known.vectors, known.order), np.array(found["seen"]))

    def clusters(self) -> tuple[int, ...]:
        """Every H of CLUSTERS that was analysed, ascending."""
        return tuple(H for H in sorted(CLUSTERS) if self.has(str(H)))

    def has(self, what: str) -> bool:
        """Whether a part is there, unread."""
        return bool(self.store.note(STAGE, key_of(self.run, what)))

    def decomposition(self, H: int, whole: Spectrum) -> Decomposition | None:
        """K̄ within H clusters."""
        if (found := self._get(str(H))) is None:
            return None
        # Read where they are met with something.
        local = tuple(found.rows(f"local-{h}-vectors") for h in range(H))
        parts = tuple(_spectrum(found, f"local-{h}", np.empty((len(each), 0))) for h, each in enumerate(local))
        return assembled(whole, np.array(found["labels"]), parts, local, found["overlap"])

    def rows(self, share: float) -> np.ndarray | None:
        """The features met with the leading global eigenvectors; a kernel that classes share has none of its own."""
        if self.run.spec.sketch.used or share != SHARES[0] or (found := self._get(WHOLE)) is None:
            return None
        return found["whole-rows"]

    def rotated(self, H: int, parts: Decomposition, share: float) -> Rotated | None:
        """The same with the leading local eigenvectors."""
        if self.run.spec.sketch.used or share != SHARES[0] or (found := self._get(str(H))) is None:
            return None
        return Rotated(places(parts, share)[1], *map(found.rows, ("rows", "gram", "cross")))

    def _get(self, what: str) -> Artifact | None:
        return self.store.get(STAGE, key_of(self.run, what), HOLDS)


def key_of(run: Run, what: str) -> str:
    """The key of one part: it follows from the features alone."""
    return hashlib.sha256(f"{run.spec.stage_key('features')} {VERSION} {what}".encode()).hexdigest()[:20]


def live_of(run: Run, seed: int = 0, store: Store | None = None) -> Live:
    """The live object of a run, with all that was analysed of it at hand."""
    if run.dense:
        return Live(run.problem, seed)
    known = Analysed(run, store or Store())
    kernels = run.feature_kernels(known.moments(), known.leading())
    return Live(replace(run.problem, kernels=kernels), seed, known=known)


def analyse(
    run: Run, clusters: Sequence[int], together: Together, report: Report = ignore, store: Store | None = None
) -> list[str]:
    """Compute and keep what is missing; all processes call this alike. Returns what was computed now."""
    store = store or Store()
    kernel = RankedKernel(run.mean_features[0], together)
    made = []
    for what in (WHOLE, *map(str, clusters)):
        if _agreed(together, store.get(STAGE, key_of(run, what), HOLDS) is not None):
            continue
        bench = Workbench(store.root / "partial" / f"{STAGE}-{key_of(run, what)}")
        if what == WHOLE:
            pieces = _whole(run, kernel, bench, report)
        else:
            pieces = _local(Analysed(run, store), kernel, int(what), bench, report)
        together.sum(np.zeros(1))
        if together.rank == 0:
            note = {"features_key": run.spec.stage_key("features"), "what": what}
            store.load_or_build(
                STAGE, key_of(run, what), run.spec.to_json(), lambda _, p=pieces, n=note: (p(), n), holds=HOLDS
            )
        together.sum(np.zeros(1))
        made.append(what)
    return made


def _agreed(together: Together, mine: bool) -> bool:
    """Whether every process says so."""
    return bool(together.sum(np.array([float(mine)]))[0] == together.size)


def _piece(kernel: RankedKernel, bench: Workbench, name: str, compute: Callable[[], Arrays]) -> Arrays:
    """A piece that all compute together and the first writes down; found again after a crash."""
    found = bench.find(name)
    if _agreed(kernel.together, found is not None) and found is not None:
        return found
    arrays = compute()
    if kernel.together.rank == 0:
        bench.drop(name)
        bench.shard(name, lambda: arrays)
    return arrays


def _whole(run: Run, kernel: RankedKernel, bench: Workbench, report: Report) -> Callable[[], Arrays]:
    """Pieces that no H changes; returns how the first process collects them."""
    bench.open()
    own = RankedKernel(run.own_features[0], kernel.together)
    C = len(own.features)
    total = C + 2

    def pairs() -> Arrays:
        found = kernel.eigenpairs()
        return _arrays(Spectrum(found.values, found.vectors, kernel.trace(), found.order), "whole")

    found = dict(_piece(kernel, bench, "spectrum", pairs))
    report(Progress(title(WHOLE), 1, total, "leading eigenpairs of the mean kernel"))
    found |= _piece(kernel, bench, "embedding", lambda: {"embedding": embed(kernel, together=kernel.together).vectors})
    if run.spec.sketch.used:
        # Read from the piece: it may be of an earlier, killed job.
        U, tests = found["whole-vectors"], run.mean_features[1]
        found |= _piece(kernel, bench, "seen", lambda: {"seen": kernel.cross_times(tests, U)})
    else:
        V = _leading(_spectrum(found, "whole", found["whole-vectors"]))
        found |= _piece(kernel, bench, "rows", lambda: {"whole-rows": kernel.rotate(V)})
    for first in range(0, C, kernel.together.size):
        report(Progress(title(WHOLE), 2 + first, total, f"second moment of class {first}"))
        _moments(own, bench, range(first, min(first + kernel.together.size, C)))

    def collect() -> Arrays:
        return found | {name: array for c in range(C) for name, array in (bench.find(f"moment-{c}") or {}).items()}

    return collect


def _moments(own: RankedKernel, bench: Workbench, classes: range) -> None:
    """Second moments of as many classes as there are processes: summed by all, each decomposed by one."""
    mine = None
    for rank, c in enumerate(classes):
        if not _agreed(own.together, bench.find(f"moment-{c}") is not None):
            moment = own.second_moment(c)
            mine = (c, moment) if rank == own.together.rank else mine
    if mine is not None:
        c, moment = mine
        values, V = decomposed(moment, own.m)
        bench.drop(f"moment-{c}")
        bench.shard(f"moment-{c}", lambda: {f"moment-{c}-values": values, f"moment-{c}-basis": V})


def _local(analysed: Analysed, kernel: RankedKernel, H: int, bench: Workbench, report: Report) -> Callable[[], Arrays]:
    """Pieces within H clusters, each cluster decomposed by one process."""
    bench.open()
    if (embedding := analysed.embedding()) is None or (whole := analysed.spectrum()) is None:
        raise DNTKError("the spectrum of this run was deleted while it was in use; start again")
    labels, wide = cluster_embedding(embedding, H, 0, kernel.together), analysed.rows(SHARES[0])
    for h, members in enumerate(members_of(labels)):
        if h % kernel.together.size == kernel.together.rank:
            bench.shard(f"local-{h}", lambda m=members, h=h: _cluster(kernel, whole, wide, m, f"local-{h}"))
            report(Progress(title(str(H)), h + 1, H, f"cluster {h + 1} of {H}"))

    def collect() -> Arrays:
        found: Arrays = {}
        for h in range(H):
            found |= bench.find(f"local-{h}") or {}
        found |= {"labels": labels, "overlap": np.concatenate([found.pop(f"local-{h}-overlap") for h in range(H)])}
        if wide is None:
            return found
        rows, cross = (
            np.concatenate([found.pop(f"local-{h}-{part}") for h in range(H)], axis=1) for part in ("rows", "cross")
        )
        return found | {"rows": rows, "gram": within(rows), "cross": cross}

    return collect


def _cluster(kernel: RankedKernel, whole: Spectrum, wide: np.ndarray | None, members: np.ndarray, name: str) -> Arrays:
    """Eigenpairs of one cluster, vectors in float32, and what they hold of the global ones.

    Where rows of global ones are given, also features met with the first, and their products with those.
    """
    own = kernel.restrict(members)
    found = spectrum(own)
    arrays = _arrays(replace(found, vectors=found.vectors.astype(np.float32)), name)
    arrays |= {f"{name}-overlap": found.vectors.T @ whole.vectors[members]}
    if wide is None:
        return arrays
    rows = rotate(own.features, None, _leading(found))
    return arrays | {f"{name}-rows": rows, f"{name}-cross": between(rows, wide)}


def _leading(found: Spectrum) -> np.ndarray:
    """The eigenvectors that features are met with ahead."""
    return found.vectors[:, : leading(found, SHARES[0])]


def title(what: str) -> str:
    """What a part is called while it is computed."""
    return "spectra" if what == WHOLE else f"H = {what}"


def _arrays(found: Spectrum, name: str) -> Arrays:
    """A spectrum as arrays of one name."""
    parts = {"values": found.values, "vectors": found.vectors}
    return {f"{name}-{part}": array for part, array in parts.items()} | {
        f"{name}-rest": np.array([found.trace, found.order])
    }


def _spectrum(found: Artifact | Arrays, name: str, vectors: np.ndarray) -> Spectrum:
    trace, order = found[f"{name}-rest"]
    return Spectrum(np.array(found[f"{name}-values"]), vectors, float(trace), int(order))
