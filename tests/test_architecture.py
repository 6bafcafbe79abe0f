"""The shape of the code: rooms in one order, imports one way, parameters typed; only the dashboard knows Streamlit."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "dntk_core"
MODULES = sorted(path for path in CORE.rglob("*.py"))
# A room imports only itself and the rooms before it.
ROOMS = (
    "base",
    "cache",
    "data",
    "models",
    "gradients",
    "kernels",
    "distill",
    "readout",
    "dataset",
    "uses",
    "run",
    "dashboard",
    "cli",
)
PLANNED: set[str] = set()
# Parameters still to be annotated: this list only shrinks.
UNTYPED = {
    "dntk_core.dashboard.figures.canvas: figure(layout)",
    "dntk_core.dashboard.figures.canvas: panels(gap)",
    "dntk_core.dashboard.figures.canvas: panels(widths)",
    "dntk_core.dashboard.figures.canvas: panels(heights)",
    "dntk_core.dashboard.figures.canvas: colorbar(more)",
    "dntk_core.dashboard.page: wait(navigation)",
    "dntk_core.dashboard.choices.sidebar: apply(values)",
}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


KNOWN = {module_name(path) for path in MODULES}


def import_names(nodes: Iterator[ast.AST] | list[ast.stmt]) -> set[str]:
    """Names of the modules that import statements name."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None and node.level == 0, "relative imports hide which room is meant"
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                names.add(part if part in KNOWN else node.module)
    return names


def imported(path: Path) -> set[str]:
    """Names of the modules a file imports, anywhere in it."""
    return import_names(ast.walk(ast.parse(path.read_text())))


def at_import(path: Path) -> set[str]:
    """Names of the modules that are imported with the file, not in one of its functions."""
    return import_names(ast.parse(path.read_text()).body)


def graph() -> dict[str, set[str]]:
    return {module_name(path): imported(path) & KNOWN for path in MODULES}


def room(name: str) -> str:
    """The room of a module; of the package itself, the package."""
    return name.split(".")[1] if "." in name else name


def test_the_package_is_its_rooms():
    folders = {path.name for path in CORE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert set(ROOMS) - PLANNED <= folders <= set(ROOMS)
    assert {path.name for path in CORE.iterdir() if path.is_file()} == {"__init__.py", "__main__.py", "py.typed"}


@pytest.mark.parametrize("path", [path for path in MODULES if path.parent != CORE], ids=module_name)
def test_a_room_imports_only_rooms_before_it(path):
    allowed = ROOMS[: ROOMS.index(room(module_name(path))) + 1]
    later = {name for name in imported(path) if name.split(".")[0] == "dntk_core" and room(name) not in allowed}
    assert not later


@pytest.mark.parametrize("name", [name for name in ROOMS if (CORE / name).is_dir()])
def test_a_room_says_what_lives_there_and_what_is_public(name):
    tree = ast.parse((CORE / name / "__init__.py").read_text())
    assert len((ast.get_docstring(tree) or "").splitlines()) >= 2
    public = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    assert public or name == "dashboard"


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
    for name in ("kernels", "distill", "readout", "uses"):
        reached, todo = set(), [module for module in KNOWN if room(module) == name]
        while todo:
            module = todo.pop()
            if module not in reached:
                reached.add(module)
                todo += edges[module]
        assert not reached & heavy, f"{name} reaches {reached & heavy}"


def public_functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes, special ones included, with their names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from public_functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef) and (not child.name.startswith("_") or child.name.startswith("__")):
            yield prefix + child.name, child


def untyped(path: Path) -> Iterator[str]:
    """Parameters of public functions without an annotation, and functions that do not say what they return."""
    for name, function in public_functions(ast.parse(path.read_text())):
        given = function.args
        every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        for parameter in filter(None, every):
            if parameter.annotation is None and parameter.arg not in ("self", "cls"):
                yield f"{module_name(path)}: {name}({parameter.arg})"
        # __init__ and __post_init__ return None by definition.
        if function.returns is None and not name.endswith("init__"):
            yield f"{module_name(path)}: {name} returns"


def test_every_public_parameter_is_annotated():
    assert {each for path in MODULES for each in untyped(path)} <= UNTYPED


# Modules whose tests stand in a file of another name: what is asked there is asked of several at once.
TESTED_IN = {
    "base.columns": "run/test_layers",
    "base.sketching": "gradients/test_sketch",
    "cli.analyse": "run/test_analyses",
    "cli.compare_runs": "cli/test_series",
    "cli.layers": "cli/test_series",
    "dashboard.asking.comparing": "browser/test_compare",
    "dashboard.asking.costs": "dashboard/asking/test_errors",
    "dashboard.asking.errors": "dashboard/choices/test_picks",
    "dashboard.asking.explaining": "browser/test_uses",
    "dashboard.asking.likeness": "dashboard/sections/test_training",
    "dashboard.asking.images": "dashboard/sections/test_dataset",
    "dashboard.asking.noting": "browser/test_noting",
    "dashboard.asking.objective": "browser/test_analysis",
    "dashboard.asking.opened": "dashboard/choices/test_picks",
    "dashboard.asking.testing": "browser/test_picks",
    "dashboard.computing.ahead": "browser/test_jobs",
    "dashboard.cached": "browser/test_sessions",
    "dashboard.choices.choosing": "browser/test_choices",
    "dashboard.choices.controls": "dashboard/choices/test_view",
    "dashboard.choices.mixing": "dashboard/drawing/test_recipe",
    "dashboard.choices.pins": "browser/test_compare",
    "dashboard.choices.tabs": "browser/test_sessions",
    "dashboard.computing.child": "dashboard/computing/test_worker",
    "dashboard.computing.computations": "dashboard/computing/test_jobs",
    "dashboard.computing.distilling": "browser/test_dataset",
    "dashboard.computing.following": "browser/test_training",
    "dashboard.computing.probing": "browser/test_training",
    "dashboard.computing.shifting": "browser/test_uses",
    "dashboard.computing.spec_form": "browser/test_jobs",
    "dashboard.computing.task": "dashboard/computing/test_worker",
    "dashboard.drawing.cautious": "browser/test_jobs",
    "dashboard.drawing.metrics": "dashboard/figures/test_figures",
    "dashboard.drawing.panel": "dashboard/drawing/test_frames",
    "dashboard.drawing.plot": "browser/test_plot",
    "dashboard.home": "browser/test_walk",
    "dashboard.offline.compression": "dashboard/offline/test_experiments",
    "dashboard.offline.costs": "cli/test_paper",
    "dashboard.offline.finding": "dashboard/offline/test_experiments",
    "dashboard.offline.pages": "cli/test_report",
    "dashboard.offline.pairs": "dashboard/offline/test_experiments",
    "dashboard.offline.paper": "cli/test_paper",
    "dashboard.offline.report": "cli/test_report",
    "dashboard.page": "dashboard/sections/test_sections",
    "dashboard.server.ending": "browser/test_trust",
    "gradients.hardware": "gpu/test_cuda",
    "gradients.network": "gradients/test_recording",
    "kernels.feature_kernels": "kernels/test_features",
    "kernels.ranked": "run/test_analyses",
    "kernels.rotated": "kernels/test_features",
    "kernels.shared": "gradients/test_sketch",
    "kernels.shared_features": "gradients/test_sketch",
    "kernels.together": "run/test_analyses",
    "models.parameters": "run/test_layers",
    "run.across": "run/test_series",
    "run.known": "run/test_analyses",
    "run.likeness": "run/test_series",
    "run.progression": "run/test_series",
    "run.rotating": "kernels/test_features",
    "uses.fit": "uses/test_attribution",
    "uses.groups": "run/test_layers",
    "uses.tangents": "uses/test_attribution",
}


def homes_of(path: Path) -> list[Path]:
    """Where a module's tests may stand: a file of its name, or one for its whole folder of alike modules."""
    place = ROOT / "tests" / path.relative_to(CORE).parent
    name = ".".join(path.relative_to(CORE).with_suffix("").parts)
    named = [ROOT / "tests" / f"{TESTED_IN[name]}.py"] if name in TESTED_IN else []
    folder = f"test_{place.name}.py"
    return [*named, place / f"test_{path.stem}.py", place / folder, place.parent / folder]


def has_logic(path: Path) -> bool:
    """Whether a module has functions that its own examples do not test."""
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    shown = [node for node in functions if ">>>" in (ast.get_docstring(node) or "")]
    return len(functions) > len(shown) + 1


def test_every_module_with_logic_has_tests():
    modules = [path for path in MODULES if not path.stem.startswith("__") and has_logic(path)]
    assert not {module_name(path) for path in modules if not any(each.is_file() for each in homes_of(path))}


def test_modules_stay_small():
    long = {module_name(path): n for path in MODULES if (n := len(path.read_text().splitlines())) > 300}
    assert not long


def test_no_pickle_is_ever_loaded():
    for path in [*MODULES, *ROOT.glob("*.py"), *(ROOT / "pages").glob("*.py")]:
        text = path.read_text()
        assert "import pickle" not in text and "allow_pickle=True" not in text and "weights_only=False" not in text
