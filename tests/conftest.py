"""What all tests share: few threads, a cache of their own, the default run computed once."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)

# What takes longest is begun first, so that workers end together; while one computes the embedded run for both, the
# other does what needs none.
LONGEST = (
    "tests/browser/test_analysis.py",
    "tests/cli/test_paper.py",
    "tests/run/test_ranks.py",
    "tests/browser/",
    "tests/test_examples.py",
    "tests/test_wheel.py",
    "tests/dataset/",
    "tests/run/test_kills.py",
)


def pytest_collection_modifyitems(items):
    """Long files first, the others in their order."""
    places = range(len(LONGEST))
    items.sort(key=lambda item: next((i for i in places if item.nodeid.startswith(LONGEST[i])), len(LONGEST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With several workers, each takes whole files: of browser tests too, on a server and a browser of its own."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid.split("::")[0]

    return ByFile(config, log)


@pytest.fixture(scope="module", autouse=True)
def store_folder(tmp_path_factory):
    """A cache folder for every file of tests and the processes it starts: no file depends on those before it."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DNTK_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def build_into(tmp_path_factory):
    """Compute a run once for all workers, and copy it into a cache folder, where tests may do as they like."""
    from dntk_core import load_or_build
    from dntk_core.base.stages import kept_of
    from dntk_core.cache.index import Index
    from dntk_core.cache.store import Store

    base = tmp_path_factory.getbasetemp()
    # $DNTK_TEST_RUNS keeps them from one session to the next; whoever changes what they hold empties it.
    common = (
        Path(os.environ.get("DNTK_TEST_RUNS", base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)) / "runs"
    )

    def build(folder, spec):
        run = load_or_build(spec, store=Store(common))
        for stage in kept_of(run.spec):
            made = Store(common).artifact_folder(stage, run.spec.stage_key(stage))
            if made.exists():
                shutil.copytree(made, folder / "artifacts" / made.name, dirs_exist_ok=True)
        Index(Store(folder)).begin(run.spec)
        return load_or_build(spec, store=Store(folder))

    return build


@pytest.fixture(scope="module")
def build_once(build_into, store_folder):
    """Compute a run unless another worker or file did."""
    return partial(build_into, store_folder)


@pytest.fixture(scope="module")
def default_run(build_once):
    """The embedded run on digits."""
    from dntk_core import RunSpec

    return build_once(RunSpec.default())


@pytest.fixture(scope="session")
def chromium():
    """A browser, one for each worker: Playwright starts no second one beside it.

    Tabs share a process, so that Streamlit's and Plotly's code is compiled once and not for every tab.
    """
    from dntk_core.dashboard.offline import pictures

    with pictures.chromium("--process-per-site") as browser:
        yield browser


@pytest.fixture(scope="module")
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
    # To choose two of thirty is as good a test as to choose them of a hundred and thirty, whose gradients take long.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dntk_core.dataset.classes.CANDIDATES", 30)
        return build_once(spec)


@pytest.fixture
def tiny_run(tmp_path, monkeypatch):
    """A run of few synthetic features, in a cache of its own: made in no time."""
    from dntk_core import from_features
    from tests.synthetic import draw

    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "tiny"))
    drawn = draw()
    problem = drawn.problem
    return from_features(
        drawn.features,
        drawn.test_features,
        problem.targets,
        problem.logits,
        problem.targets.argmax(axis=1),
        problem.labels,
    )
