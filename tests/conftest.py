"""What all tests share: few threads, a cache of their own, the default run computed once."""

import os
import shutil

import pytest
import torch

torch.set_num_threads(1)

# What takes longest is begun first, so that two workers end together.
LONGEST = (
    "tests/browser/",
    "tests/dataset/",
    "tests/cli/test_paper.py",
    "tests/test_wheel.py",
    "tests/run/test_kills.py",
    "tests/run/test_ranks.py",
)
# Browser tests with a server of their own; the others share one.
APART = ("tests/browser/test_trust.py", "tests/browser/test_uploads.py")


def pytest_collection_modifyitems(items):
    """Long files first, the others in their order."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With several workers, each takes whole files, and one takes all that share a server."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return LONGEST[0] if file.startswith(LONGEST[0]) and file not in APART else file

    return ByFile(config, log)


@pytest.fixture(scope="session")
def store_folder(tmp_path_factory):
    """One cache folder for the whole session, also for the processes that tests start."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["DNTK_CACHE_DIR"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def build_once(store_folder, tmp_path_factory):
    """Compute a run once for all workers; each takes a copy into its own cache, where its tests may do as they like."""
    from dntk_core import load_or_build
    from dntk_core.cache.index import Index
    from dntk_core.cache.store import Store

    base = tmp_path_factory.getbasetemp()
    common = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "runs"

    def build(spec):
        run = load_or_build(spec, store=Store(common))
        for artifact in run.artifacts.values():
            shutil.copytree(artifact.folder, store_folder / "artifacts" / artifact.folder.name, dirs_exist_ok=True)
        Index(Store(store_folder)).begin(run.spec)
        return load_or_build(spec)

    return build


@pytest.fixture(scope="session")
def default_run(build_once):
    """The embedded run on digits."""
    from dntk_core import RunSpec

    return build_once(RunSpec.default())


@pytest.fixture(scope="session")
def chromium():
    """A browser, one for each worker: Playwright starts no second one beside it."""
    from dntk_core.dashboard import pictures

    with pictures.chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def distilled_run(build_once):
    """A small run on distilled digits."""
    from dntk_core import RunSpec
    from dntk_core.base.spec import DatasetSpec, InputSpec, ModelSpec, ProjectionSpec

    spec = RunSpec(
        model=ModelSpec(epochs=1),
        dataset=DatasetSpec("wmdd", per_class=2, iterations=30),
        inputs=InputSpec(kernel=60, test=60),
        projection=ProjectionSpec(k=512),
    )
    return build_once(spec)
