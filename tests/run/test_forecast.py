"""What a run will take, foretold from a finished one: near what it took, and nothing is loaded for it."""

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from dntk_core.base.spec import DatasetSpec, DataSpec, InputSpec, ModelSpec, RunSpec
from dntk_core.cache.store import Store
from dntk_core.run.forecast import forecast

DEFAULT = RunSpec.default()


def test_a_finished_run_takes_no_time_and_its_disk_is_known(default_run):
    found = forecast(DEFAULT)
    assert found is not None and found.seconds == 0
    written = sum(path.stat().st_size for path in default_run.artifacts["features"].folder.glob("*features.*.npy"))
    assert found.disk == pytest.approx(written + 8 * 10 * 500 * 1000, rel=0.01)


def test_time_grows_with_inputs_epochs_and_iterations(default_run, tmp_path):
    """In a cache of its own: another run of the same network would be asked if it were larger."""
    store = Store(tmp_path)
    for artifact in default_run.artifacts.values():
        shutil.copytree(artifact.folder, tmp_path / "artifacts" / artifact.folder.name)

    def seconds(spec):
        found = forecast(spec, store=store)
        assert found is not None and found.seconds is not None
        return found.seconds

    per_input = default_run.seconds["features"] / 1000
    once, twice = (seconds(replace(DEFAULT, inputs=InputSpec(500, t))) for t in (1500, 3500))
    # Beside the gradients, kernels are formed at 10 GFLOP/s.
    assert twice - once == pytest.approx(2000 * per_input + 2e-10 * 10 * 500 * 2000 * 2048, rel=0.05)
    trained = seconds(replace(DEFAULT, model=ModelSpec(epochs=24)))
    assert trained == pytest.approx(
        2 * default_run.seconds["model"] + default_run.seconds["features"] + 2e-10 * 10 * 500 * 1000 * 2048, rel=0.1
    )
    few, many = (seconds(replace(DEFAULT, dataset=DatasetSpec("wmdd", iterations=n))) for n in (100, 300))
    assert many > few > 0
    # A network that sees few images alone learns in as many steps as one of real ones.
    real, learnt = (seconds(replace(DEFAULT, dataset=DatasetSpec("random", base))) for base in ("real", "distilled"))
    assert learnt - real == pytest.approx(default_run.seconds["model"], rel=0.05)


def test_what_nobody_has_timed_is_said_to_be_unknown(default_run):
    other = forecast(replace(DEFAULT, model=ModelSpec("resnet18")))
    assert other is not None and other.seconds is None and other.disk > 0
    assert forecast(RunSpec(DataSpec("npz", "/mine.npz"))) is None


def test_it_needs_no_pytorch(default_run):
    code = "import sys; from dntk_core.run.forecast import forecast; from dntk_core import RunSpec; "
    code += "print(forecast(RunSpec.default()).seconds, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["0.0", "False"] or done.stdout.split() == ["0", "False"], done.stderr
