"""The cache on disk: nothing half-written is seen, nothing damaged is loaded, nothing is computed twice, no pickle.

`Store` holds finished artifacts, `Workbench` the shards and `Checkpoints` of one under way, `Index` the list of runs;
`files` writes and verifies single files for all of them.
"""

from dntk_core.cache.artifact import Artifact, Contents
from dntk_core.cache.files import sha256
from dntk_core.cache.index import Index, RunInfo
from dntk_core.cache.shards import Shards
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Checkpoints, Workbench

__all__ = ["Artifact", "Checkpoints", "Contents", "Index", "RunInfo", "Shards", "Store", "Workbench", "sha256"]
