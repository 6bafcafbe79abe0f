"""What the documents show runs as it stands: notebooks, the README's Python, the method that CONTRIBUTING adds."""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from dntk_core import delete_run, runs
from dntk_core.cli.main import COMMANDS, main
from dntk_core.distill import METHODS
from dntk_core.run.pipeline import Run
from dntk_core.run.show import RECORD

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/trust.md"]
# A file that a network's owner would write, not one of the repository.
YOURS = "docs/your_network.md"


def python_of(document: str) -> str:
    """All Python blocks of a document, one after the other."""
    return "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL))


@pytest.fixture
def methods():
    """The table of methods, given back as it was."""
    before = dict(METHODS)
    yield METHODS
    METHODS.clear()
    METHODS.update(before)


class Well(BaseHTTPRequestHandler):
    """Answers that all is well."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, format, *args):
        """Say nothing."""


@pytest.fixture
def dashboard(store_folder):
    """What `show` takes for the dashboard that serves the cache; tests of `show` start the real one."""
    with HTTPServer(("localhost", 0), Well) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        noted = {"port": server.server_port, "pid": os.getpid(), "token": "token"}
        (store_folder / RECORD).write_text(json.dumps(noted))
        yield
        server.shutdown()
    (store_folder / RECORD).unlink()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_results_show_themselves(path, default_run, dashboard, monkeypatch):
    # Whoever runs the tests wants no browser to open.
    monkeypatch.setenv("BROWSER", "true %s")
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in book.cells), "strip the outputs"
    NotebookClient(book, timeout=600, resources={"metadata": {"path": ROOT}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert any("<table>" in output.get("data", {}).get("text/html", "") for output in outputs)
    assert not [output for output in outputs if output.get("name") == "stderr"], "a notebook warns"


def test_there_are_three_notebooks():
    assert len(NOTEBOOKS) == 3


def test_the_readme_s_python_runs(default_run, capsys, monkeypatch):
    shown = []
    # A server of its own is what tests of `show` start.
    monkeypatch.setattr(Run, "show", lambda run: shown.append(run))
    model, data = nn.Linear(3, 2), TensorDataset(torch.randn(12, 3), torch.arange(12) % 2)
    loader = DataLoader(data, batch_size=4)
    names: dict = {"model": model, "train_loader": loader, "test_loader": loader, "names": ["cat", "dog"]}
    exec(python_of("README.md"), names)
    assert capsys.readouterr().out.count("Scores(accuracy=") == 2
    assert [run.class_names for run in shown] == [("cat", "dog")] and names["run"].key == default_run.key
    delete_run(shown[0].key)


def test_every_example_of_your_own_network_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    text, names, built = (ROOT / YOURS).read_text(), {}, 0
    for code, command in re.findall(r"```python\n(.*?)```|^    dntk ([^\n]*)$", text, flags=re.DOTALL | re.MULTILINE):
        if code:
            exec(code, names)
        else:
            words = command.split()
            # Their module was edited in between.
            sys.modules.pop("mine", None)
            assert main(words) == 0, capsys.readouterr().err
            built += words[0] == "build"
    sys.modules.pop("mine", None)
    assert built == 7 and len(runs()) == built + 2 and all(info.finished for info in runs())


def test_the_readme_lists_every_command():
    listed = re.findall(r"^    dntk ([\w-]+)[ \d]+# ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert set(listed) == set(COMMANDS)


def test_contributing_adds_a_method_that_can_be_compared(default_run, methods):
    before, names = set(methods), {}
    exec(python_of("CONTRIBUTING.md"), names)
    (added,) = set(methods) - before
    assert [curve.method for curve in names["curves"]] == ["kernel PCA", added]
    assert all(curve.rows[0].tolist() == [5, 10] for curve in names["curves"])


def test_the_architecture_lists_every_room():
    rooms = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text(), flags=re.MULTILINE)
    assert sorted(rooms) == sorted(path.parent.name for path in (ROOT / "dntk_core").glob("*/__init__.py"))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_that_a_document_names_is_there(document):
    text = (ROOT / document).read_text()
    named = re.findall(r"(?:dntk_core|tests|pages|docs|benchmarks|examples)/[\w/.]+\.(?:py|md|ipynb|js|png)", text)
    assert named and not [name for name in named if not (ROOT / name).is_file()]
