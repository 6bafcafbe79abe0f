"""Runs listed."""

from dntk_core import RunSpec
from dntk_core.base.spec import DataSpec, ModelSpec
from dntk_core.cache.index import Index
from dntk_core.cache.locks import locked
from dntk_core.cache.store import Store
from dntk_core.cli.main import main


def test_runs_lists_the_default_run(default_run, call, capsys):
    assert default_run.key in [entry["key"] for entry in call("runs")["runs"]]
    main(["runs"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{default_run.key}  20")]
    assert f"accuracy {default_run.test_accuracy:.3f}" in line


def test_runs_says_where_files_lie_and_leftovers_can_be_dismissed(call, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path))
    store = Store()
    left, busy = (RunSpec(DataSpec("folder", "/data/woof"), ModelSpec(seed=seed)) for seed in range(2))
    for spec in (left, busy):
        Index(store).begin(spec)
    (tmp_path / "locks").mkdir(exist_ok=True)
    main(["runs"])
    text = capsys.readouterr().out
    assert text.count("/data/woof") == 2 and "accuracy     –" in text and "gc --unfinished" in text
    with locked(tmp_path / "locks" / f"model-{busy.stage_key('model')}.lock", wait=True):
        call("gc")
        assert len(call("runs")["runs"]) == 2
        call("gc", "--unfinished")
    assert [entry["key"] for entry in call("runs")["runs"]] == [busy.key]
