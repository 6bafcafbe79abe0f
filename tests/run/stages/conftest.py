"""A stage built alone, from the artifacts of a finished run."""

from dataclasses import replace

import pytest

from dntk_core import Compute
from dntk_core.base.progress import ignore
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import load_data
from dntk_core.run.work import Work, builder


@pytest.fixture
def rebuild(tmp_path):
    """Build one stage of a run anew, with other parts where given: its arrays and its note."""

    def build(run, stage, report=ignore, **parts):
        spec = replace(run.spec, **parts)
        work = Work(spec, load_data(spec.data), run.artifacts, Compute("cpu"), report, Workbench(tmp_path / stage))
        return builder(stage).build(work)

    return build
