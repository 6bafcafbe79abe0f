"""The shape of the code: imports point one way, and only the dashboard knows Streamlit or Plotly."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "dntk_core"
MODULES = sorted(path for path in CORE.rglob("*.py"))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


KNOWN = {module_name(path) for path in MODULES}


def imported(path: Path) -> set[str]:
    """Names of the modules a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                names.add(part if part in KNOWN else node.module)
    return names


def at_import(path: Path) -> set[str]:
    """Names of the modules that are imported with the file, not in one of its functions."""
    top = ast.parse(path.read_text()).body
    return {node.module for node in top if isinstance(node, ast.ImportFrom)}


def graph() -> dict[str, set[str]]:
    return {module_name(path): imported(path) & KNOWN for path in MODULES}


def test_there_is_no_import_cycle():
    edges = graph()
    done: set[str] = set()

    def visit(name, path):
        assert name not in path, f"import cycle: {' → '.join([*path, name])}"
        if name not in done:
            for target in edges[name]:
                visit(target, [*path, name])
            done.add(name)

    for name in edges:
        visit(name, [])


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_only_the_dashboard_imports_streamlit_or_plotly(path):
    tops = {name.split(".")[0] for name in imported(path)}
    inside = "dashboard" in path.parts
    assert inside or not tops & {"streamlit", "plotly"}
    # Some commands call on the dashboard, and only when they run: its packages may not be installed.
    names = at_import(path) if path.parent.name == "cli" else imported(path)
    assert inside or not [name for name in names if name.startswith("dntk_core.dashboard")]


def test_the_live_part_does_without_torch():
    edges = graph()
    heavy = {module_name(path) for path in MODULES if any(n.split(".")[0] == "torch" for n in imported(path))}
    for room in ("kernels", "distill", "readout"):
        reached, todo = set(), [name for name in KNOWN if name.startswith(f"dntk_core.{room}")]
        while todo:
            module = todo.pop()
            if module not in reached:
                reached.add(module)
                todo += edges[module]
        assert not reached & heavy, f"{room} reaches {reached & heavy}"


def test_modules_stay_small():
    long = {module_name(path): n for path in MODULES if (n := len(path.read_text().splitlines())) > 320}
    assert not long


def test_no_pickle_is_ever_loaded():
    for path in [*MODULES, *ROOT.glob("*.py"), *(ROOT / "pages").glob("*.py")]:
        text = path.read_text()
        assert "import pickle" not in text and "allow_pickle=True" not in text and "weights_only=False" not in text
