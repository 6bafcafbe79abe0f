"""A series computed: one run per checkpoint, then what can only be said of all of them together."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from dntk_core.base.compute import Compute
from dntk_core.base.parts import LAST
from dntk_core.base.progress import Progress, Report, Steps, ignore
from dntk_core.base.spec import RunSpec
from dntk_core.base.stages import STAGES
from dntk_core.cache.artifact import Artifact, Contents
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import Dataset, load_data
from dntk_core.run.asked import ask
from dntk_core.run.likeness import Likeness, Trust, likeness, trust
from dntk_core.run.pipeline import Run, load_or_build, open_run, tied
from dntk_core.run.series import Series, keep_series

STAGE, VERSION = "across", 2
LINEAR = ("linear_error", "following_error", "linear_agreement")
HOLDS = ("cka", "values", "angles", "alignment", "agreement", *LINEAR, "trust")
# Test inputs on which networks are replaced by their tangents.
LINEARISED = 100


@dataclass(frozen=True)
class Across:
    """T checkpoints together.

    linear_error:     (T, T)  ‖f_lin - f‖/‖f - f₀‖ of the tangent at row a, predicting the network at column b
    following_error:  (T, T)  the same where batch norms have the statistics of the inputs, which follow the parameters
    linear_agreement: (T, T)  share of test inputs on which tangent and network choose alike
    trust:            how far CKA can be trusted
    """

    likeness: Likeness
    linear_error: np.ndarray
    following_error: np.ndarray
    linear_agreement: np.ndarray
    trust: Trust


def build_series(
    series: Series, report: Report = ignore, compute: Compute | None = None, store: Store | None = None
) -> tuple[list[Run], Across]:
    """Compute every run of a series and what is said of all; whatever is there already is taken, one bar for all."""
    store, compute = store or Store(), compute or Compute()
    series = _tied(series, compute)
    each = [spec.inputs.kernel + spec.inputs.test for spec in series.specs]
    # The last part is for what is said of all together.
    total = sum(each) + each[-1]
    runs: list[Run] = []
    furthest = 0
    for t, spec in enumerate(series.specs):

        def report_one(event: Progress, t: int = t) -> None:
            nonlocal furthest
            # Gradients take nearly all of the time; the bar stands still meanwhile, and never goes back.
            done = event.done if event.stage == "features" else 0
            furthest = max(furthest, sum(each[:t]) + min(done, each[t]))
            report(Progress("series", furthest, total, f"{series.labels[t]}: {event.stage}"))

        _take_last(series, spec, store)
        run = load_or_build(spec, report_one, compute, store)
        # Listed once its first run is there: what is refused leaves nothing behind.
        keep_series(series, store)
        ask(run, "probed", report_one, compute, store)
        runs.append(run)
    steps = Steps(report, "series", sum(each), total)
    found = store.load_or_build(
        STAGE,
        across_key(series),
        series.specs[-1].to_json(),
        lambda bench: _build(series, runs, steps, compute, store, bench),
        holds=HOLDS,
    )
    report(Progress("series", total, total))
    return runs, read_across(found)


def open_series(series: Series, store: Store | None = None) -> tuple[list[Run], Across] | None:
    """A series that is finished, or None."""
    store = store or Store()
    found = store.get(STAGE, across_key(series), HOLDS)
    if found is None or not all(store.size("kernels", key) for key in series.keys):
        return None
    return [open_run(key, store) for key in series.keys], read_across(found)


def _tied(series: Series, compute: Compute) -> Series:
    """The series tied to the files and the code that its runs name; both are the same for all of them."""
    first, _ = tied(series.specs[0], compute)
    specs = (replace(spec, data=first.data, model=replace(spec.model, code=first.model.code)) for spec in series.specs)
    return replace(series, specs=tuple(specs))


def _take_last(series: Series, spec: RunSpec, store: Store) -> None:
    """Training that kept checkpoints left the last network as well: it is not trained a second time."""
    first = series.specs[0]
    if spec.model.at != LAST or first.model.at == LAST:
        return
    kept = store.get("checkpoints", first.stage_key("checkpoints"), STAGES["checkpoints"].holds)
    if kept is not None:
        contents = {"weights.safetensors": kept.read("weights.safetensors")}
        key, holds = spec.stage_key("model"), STAGES["model"].holds
        store.load_or_build("model", key, spec.to_json(), lambda bench: (contents, dict(kept.note)), holds=holds)


def across_key(series: Series) -> str:
    """The key of what is said of a whole series."""
    return hashlib.sha256(f"{STAGE} {VERSION} {series.key}".encode()).hexdigest()[:20]


def read_across(artifact: Artifact) -> Across:
    """Back from the cache."""
    linear = {name: np.array(artifact[name]) for name in LINEAR}
    return Across(Likeness.read(artifact), trust=Trust(**artifact.note["trust"]), **linear)


def _build(
    series: Series, runs: Sequence[Run], steps: Steps, compute: Compute, store: Store, bench: Workbench
) -> Contents:
    T, C = len(runs), len(runs[0].class_names)
    room = series.specs[-1].inputs.kernel + series.specs[-1].inputs.test
    half = room // 2
    found = likeness(runs, lambda done: steps(half * done // (C + 1), "kernels compared"))
    probed = [ask(run, "probed", ignore, compute, store) for run in runs]
    data, rows = load_data(series.specs[-1].data, compute.own_code), []
    for a in range(T):
        # A tangent that is finished outlives a kill.
        rows.append(bench.shard(f"tangent-{a}", lambda a=a: _tangent(runs, a, data, compute)))
        steps(half + (room - half) * (a + 1) // T, "linearised")
    contents = dict(vars(found))
    contents |= {name: np.stack([row[name] for row in rows]) for name in LINEAR}
    return contents, {"trust": asdict(trust(runs, probed)), "last": series.keys[-1]}


def _tangent(runs: Sequence[Run], a: int, data: Dataset, compute: Compute) -> dict[str, np.ndarray]:
    """How well the tangent at checkpoint a predicts all others: (T,) each; two networks are in memory at a time."""
    # Loading torch takes seconds; opening a series does without.
    import torch

    from dntk_core.base.device import resolve_device
    from dntk_core.data.batch import to
    from dntk_core.gradients.linearisation import Linearised, linearised
    from dntk_core.models.artifact import load_network
    from dntk_core.models.seen import Seen

    def network(run: Run) -> torch.nn.Module:
        return load_network(run.spec, data, run.artifacts[run.spec.network_stage], compute)

    start, t = runs[a], len(runs[a].test_labels)
    some = np.unique(np.linspace(0, t - 1, min(t, LINEARISED)).round().astype(int))
    x = Seen(data, data.test_inputs, np.array(start.artifacts["inputs"]["test_index"]))[some]
    x, first = to(x, resolve_device(compute.device)), network(start)
    found = [
        linearised(first, network(end), x, end.spec.outputs) if b != a else Linearised(0.0, 0.0, 1.0)
        for b, end in enumerate(runs)
    ]
    numbers = np.array([(each.error, each.following, each.agreement) for each in found])
    return dict(zip(LINEAR, numbers.T, strict=True))
