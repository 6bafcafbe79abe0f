"""Analyses by one process and by two under torchrun: the same numbers, kept beside the run, found by pages."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dntk_core.cache.store import Store
from dntk_core.kernels.features import FeatureKernel
from dntk_core.kernels.spectrum import spectrum
from dntk_core.kernels.together import Alone
from dntk_core.run import analyses
from dntk_core.run.analyses import Analysed, analyse, live_of
from dntk_core.run.from_features import from_features
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run, collect_garbage, open_run

ROOT = Path(__file__).resolve().parents[2]
RANKS = "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "dntk_core"


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Run, Store, Store]:
    """A run of more inputs than are ever formed at once, analysed alone, and in a copy of the cache by two ranks."""
    alone, two = (Store(tmp_path_factory.mktemp(name)) for name in ("alone", "two"))
    rng = np.random.default_rng(0)
    phi = rng.standard_normal((2, 1111, 24)) + 3 * rng.standard_normal((1, 6, 24))[:, np.arange(1111) % 6]
    logits = np.tanh(np.einsum("cik,k->ic", phi, rng.standard_normal(24)))
    # An odd number, which two ranks cannot share evenly.
    train, test = (phi[:, :1061], phi[:, 1061:]), (logits[:1061], logits[1061:])
    with pytest.MonkeyPatch.context() as patch:
        # As of very many inputs.
        patch.setattr("dntk_core.kernels.feature_kernels.LARGEST_DENSE", 1000)
        run, _ = (
            from_features(*train, *test, *(each.argmax(axis=1) for each in test), store=store) for store in (alone, two)
        )
    assert analyse(run, [3], Alone(), store=alone) == ["whole", "3"]
    environment = os.environ | {"DNTK_CACHE_DIR": str(two.root), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *RANKS, "analyse", run.key, "--clusters", "3"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0 and done.stdout.count("analysed whole, H = 3") == 1, done.stderr
    return run, alone, two


def test_two_ranks_find_what_one_process_finds(both):
    run, alone, two = both
    ours, theirs = (Analysed(open_run(run.key, store), store) for store in (two, alone))
    assert_allclose(ours.spectrum().values, theirs.spectrum().values, rtol=1e-8, atol=1e-12 * theirs.spectrum().trace)
    exact = spectrum(FeatureKernel(np.asarray(run.features)))
    assert_allclose(ours.spectrum().values[:20], exact.values[:20], rtol=1e-3)
    left, right = (each.decomposition(3, each.spectrum()) for each in (ours, theirs))
    assert np.array_equal(left.labels, right.labels)
    assert_allclose(left.values, right.values, rtol=1e-6, atol=1e-6 * exact.trace)
    for left, right in zip(ours.moments(), theirs.moments(), strict=True):
        assert_allclose(left[0], right[0], rtol=1e-6, atol=1e-9 * right[0][0])


def test_the_live_object_opens_them_and_garbage_collection_keeps_them(both, monkeypatch):
    run, _, two = both
    opened = open_run(run.key, two)
    live, plain = live_of(opened, store=two), Live(opened.problem)
    monkeypatch.setattr(analyses, "CLUSTERS", (3, 5))
    computed = [f"dntk_core.run.decomposed.{name}" for name in ("spectrum", "embed", "decompose")]
    for name in (*computed, "dntk_core.kernels.feature_kernels.rotate_local"):
        monkeypatch.setattr(name, lambda *_: pytest.fail("was computed ahead"))
    ours = live.scores(live.local_global(3, 0.7, 0.9), 1e-3)
    assert live.ahead.clusters() == (3,)
    monkeypatch.undo()
    assert ours.mse == pytest.approx(plain.scores(plain.local_global(3, 0.7, 0.9), 1e-3).mse, rel=1e-3)
    assert collect_garbage(two) == 0 and Analysed(opened, two).decomposition(3, live.spectrum()) is not None
    assert Analysed(opened, two).decomposition(4, live.spectrum()) is None


def test_what_a_killed_job_had_finished_is_not_computed_again(both, monkeypatch, tmp_path):
    run, alone, _ = both
    store = Store(tmp_path)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(analyses, "embed", killed)
        analyse(run, [], Alone(), store=store)
    monkeypatch.setattr(analyses.RankedKernel, "eigenpairs", lambda _: pytest.fail("was finished"))
    assert analyse(run, [], Alone(), store=store) == ["whole"]
    assert analyse(run, [], Alone(), store=store) == []
    assert_allclose(Analysed(run, store).spectrum().values, Analysed(run, alone).spectrum().values)


def test_when_a_rank_is_killed_the_others_say_so_in_one_sentence_and_torchrun_starts_them_again(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(
        "import os, numpy as np\n"
        "from dntk_core.base.errors import DNTKError\n"
        "from dntk_core.run.ranks import joined\n"
        "try:\n"
        "    with joined() as together:\n"
        "        if together.sum(np.ones(1)) and together.rank and os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':\n"
        "            os.kill(os.getpid(), 9)\n"
        "        print(f'together {together.sum(np.ones(1))}\\n', end='')\n"
        "except DNTKError as error:\n"
        "    raise SystemExit(f'error: {error}')\n"
    )
    command = [sys.executable, "-m", *RANKS[:-2], "--max-restarts", "1", str(script)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1000)
    assert done.stderr.count("error: another process of this job ended; start the same command again") == 1
    assert done.returncode == 0 and done.stdout.count("together [2.]") == 2, done.stderr
