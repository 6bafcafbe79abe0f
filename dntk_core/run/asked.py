"""What a run is finished without: computed when someone first asks for it, and kept with the run from then on."""

from dataclasses import replace

from dntk_core.base.compute import Compute
from dntk_core.base.progress import Report, ignore
from dntk_core.base.stages import STAGES
from dntk_core.cache.artifact import Artifact
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.run.pinning import pin
from dntk_core.run.pipeline import Run, build_stage


def known(run: Run, stage: str, store: Store | None = None) -> Artifact | None:
    """What is already there of a stage, or None."""
    return (store or Store()).get(stage, run.spec.stage_key(stage), STAGES[stage].holds)


def ask(
    run: Run, stage: str, report: Report = ignore, compute: Compute | None = None, store: Store | None = None
) -> Artifact:
    """Return a stage that is computed when first asked for: `test_inputs`, `tested`, `shifts`."""
    store = store or Store()
    if (found := known(run, stage, store)) is not None:
        return found
    # The files must still be those of the run.
    spec = pin(run.spec)
    compute = replace(compute or Compute(), precision=spec.precision)
    return build_stage(spec, stage, load_data(spec.data, compute.own_code), run.artifacts, report, compute, store)
