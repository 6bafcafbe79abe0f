"""What a job computes, as one line of text: its process is told so, and nothing but text passes between the two."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.places import cache_folder
from dntk_core.base.progress import Report
from dntk_core.base.spec import RunSpec
from dntk_core.dashboard.server import roots
from dntk_core.kernels.together import Alone
from dntk_core.run.across import build_series
from dntk_core.run.analyses import CLUSTERS, analyse
from dntk_core.run.asked import ask
from dntk_core.run.pipeline import load_or_build, open_run
from dntk_core.run.series import Series, find_series

# The stage that stands for all that no slider changes of many inputs.
ANALYSED = "analysed"


@dataclass(frozen=True)
class Task:
    """A run, or of it a stage computed when asked for, or its analyses, or the series (by its key) that it ends.

    folders: below which its files must lie; cache: where what is computed is kept
    """

    spec: RunSpec
    stage: str = ""
    series: str = ""
    folders: tuple[Path, ...] = ()
    cache: Path = field(default_factory=cache_folder)

    def perform(self, report: Report) -> None:
        """Compute what is missing of it."""
        if self.stage == ANALYSED:
            # Of a finished run, which needs no file but the cache's own.
            analyse(open_run(self.spec.key), CLUSTERS, Alone(), report)
            return
        series = self._found() if self.series else None
        for spec in (self.spec, *(series.specs if series else ())):
            roots.check(spec, self.folders)
        if series:
            build_series(series, report)
            return
        run = load_or_build(self.spec, report)
        if self.stage:
            ask(run, self.stage, report)

    def _found(self) -> Series:
        if (found := find_series(self.series)) is None:
            raise DNTKError(f"there is no series {self.series} in the cache any more; start it again")
        return found

    def to_json(self) -> str:
        """One line."""
        message = {"spec": self.spec.to_json(), "stage": self.stage, "series": self.series, "cache": str(self.cache)}
        return json.dumps(message | {"folders": [str(folder) for folder in self.folders]})

    @classmethod
    def from_json(cls, line: str) -> "Task":
        """Read what `to_json` wrote."""
        message = json.loads(line)
        folders = tuple(map(Path, message["folders"]))
        return cls(
            RunSpec.from_json(message["spec"]), message["stage"], message["series"], folders, Path(message["cache"])
        )
