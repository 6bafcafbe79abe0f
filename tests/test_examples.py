"""What the documents show runs as it stands: notebooks, the README's Python, the method that CONTRIBUTING adds."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from dntk_core.cli.main import COMMANDS
from dntk_core.distill import METHODS

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/trust.md"]


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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_results_show_themselves(path, default_run):
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in book.cells), "strip the outputs"
    NotebookClient(book, timeout=120, resources={"metadata": {"path": ROOT}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert any("<table>" in output.get("data", {}).get("text/html", "") for output in outputs)
    assert not [output for output in outputs if output.get("name") == "stderr"], "a notebook warns"


def test_there_are_three_notebooks():
    assert len(NOTEBOOKS) == 3


def test_the_readme_s_python_runs(default_run, capsys):
    exec(python_of("README.md"), {})
    assert capsys.readouterr().out.count("Scores(accuracy=") == 2


def test_the_readme_lists_every_command():
    listed = re.findall(r"^    dntk (\w+) +# ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
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
