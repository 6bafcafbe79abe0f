"""A user's own functions: imported by name, faults told with the file and line of their code."""

import sys

import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.base.own_functions import as_sentence, import_named


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of a user's."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "parts.py").write_text("def half(x):\n    return 1 / x\n")
    (folder / "broken.py").write_text("import os\nimport not_installed_here\n")
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "theirs"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere.at.all:make", "no module 'nowhere.at.all'"),
        ("theirs.parts:wrong", "no function 'wrong'"),
        ("theirs.parts", "no function ''"),
        ("theirs.broken:make", "broken.py, line 2"),
    ],
)
def test_what_cannot_be_imported_is_said_in_one_sentence(package, name, says):
    with pytest.raises(DNTKError) as caught:
        import_named(name, "a function of the number of classes")
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_fault_is_told_with_the_line_of_their_code(package):
    half = import_named("theirs.parts:half", "a function")
    with (
        pytest.raises(DNTKError, match=r"^it failed: ZeroDivisionError: .*parts\.py, line 2\)$"),
        as_sentence("it failed"),
    ):
        half(0)
    with pytest.raises(DNTKError, match=r"^it failed: KeyError: 3"), as_sentence("it failed"):
        {}[3]
