"""What was computed for the paper's page, and what each stage cost."""

from collections.abc import Mapping

from dntk_core.base.spec import DatasetSpec
from dntk_core.base.terminal import duration, size
from dntk_core.dashboard.offline.finding import table
from dntk_core.run.pipeline import Run


def computed(runs: Mapping[str, Run | None]) -> list[str]:
    """What was computed, and what each stage cost."""
    header = ["run", "network", "inputs", "test accuracy", "kernel error (expected)"]
    rows, stages = [], []
    for name, run in runs.items():
        if run is None:
            rows.append([name, "*not finished*", "", "", ""])
            continue
        error, spec = run.projection_error, run.spec
        rows.append(
            [
                name,
                f"{spec.model.name}, {run.parameters:,} parameters, {run.images.shape[-1]} px",
                f"{len(run.targets)} + {len(run.test_labels)}{_made(spec.dataset)}",
                f"{run.test_accuracy:.3f}",
                f"{error['measured']:.1%} ({error['expected']:.1%})",
            ]
        )
    for (_, stage), artifact in _artifacts(runs).items():
        named = ", ".join(name for name, run in runs.items() if run and _key(run, stage) == _key_of(artifact))
        took = [duration(artifact.note.get(of, 0.0)) for of in ("seconds", "processor_seconds")]
        stages.append([named, stage, *took, size(artifact.note["peak_bytes"])])
    costs = table(["run", "stage", "by the clock", "of processors", "peak memory"], stages)
    summary = "<details><summary>what each stage cost</summary>"
    return ["## Runs", "", table(header, rows), "", summary, "", costs, "", "</details>"]


def _made(spec: DatasetSpec) -> str:
    """How inputs were distilled, if they were."""
    steps = f", {spec.iterations:,} steps of WMDD, batch-norm weight {spec.bn_weight:,g}"
    return steps if spec.method == "wmdd" else ""


def spent(runs: Mapping[str, Run | None]) -> str:
    """Processor time of all stages."""
    return duration(sum(artifact.note.get("processor_seconds", 0.0) for artifact in _artifacts(runs).values()))


def _artifacts(runs: Mapping[str, Run | None]) -> dict:
    """Every stage once, whatever runs share it."""
    done = (run for run in runs.values() if run is not None)
    return {(_key_of(artifact), stage): artifact for run in done for stage, artifact in run.artifacts.items()}


def _key(run: Run, stage: str) -> str:
    return _key_of(run.artifacts[stage]) if stage in run.artifacts else ""


def _key_of(artifact) -> str:
    return artifact.folder.name
