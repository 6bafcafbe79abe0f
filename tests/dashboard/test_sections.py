"""What pages show: complete panels with unique keys, and code that gives the same numbers."""

import subprocess
import sys

import pytest

from dntk_core import RunSpec, load_or_build
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.dashboard import navigation
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.recipe import python
from dntk_core.dashboard.sections import (
    SECTIONS,
    budget,
    containment,
    coverage,
    curves,
    distillation,
    grid,
    ledger,
    spectra,
)
from dntk_core.dashboard.view import View
from dntk_core.run.live import Live


@pytest.fixture(scope="module")
def here(default_run) -> Page:
    return Page(default_run, Live(default_run.problem), View(kernel=3), {})


def test_every_panel_is_explained_and_has_a_key_of_its_own(here):
    sections = (spectra, containment, coverage, distillation, grid, budget)
    found = [panel for section in sections for panel in section.panels(here)]
    found += [curves.panel(here, over) for over in ("size", "rank", "ridge")]
    assert len({panel.key for panel in found}) == len(found)
    for panel in found:
        assert panel.title and panel.read.endswith(".") and "$" in panel.definition, panel.key


def test_every_panel_is_drawn_for_many_inputs(store_folder, monkeypatch):
    """Beyond a few thousand inputs kernels are kept as features; here that is tried with few."""
    monkeypatch.setattr("dntk_core.kernels.class_kernels.LARGEST_DENSE", 50)
    inputs, projection = InputSpec(kernel=80, test=60), ProjectionSpec(k=128)
    run = load_or_build(RunSpec(model=ModelSpec(epochs=1), inputs=inputs, projection=projection))
    assert not run.dense
    page = Page(run, Live(run.problem), View(H=5, rank=20, kernel=2), {})
    for section in (spectra, containment, coverage, distillation, grid, budget, ledger):
        assert section.panels(page)
    for over in curves.VIEWS:
        assert curves.panel(page, over)


def test_the_code_of_every_page_runs_as_it_stands(here):
    calls = [call for section in (spectra, containment, coverage, grid, budget) for call in section.calls(here)]
    calls += [call for over in ("size", "rank", "ridge") for call in curves.calls(here, over)]
    code = python(here.run.key, calls)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert repr(here.live.containment(10, 0.05, 3)) in done.stdout


def test_a_click_becomes_a_setting_only_where_there_is_one():
    assert grid.setting({"customdata": [5.0, 0.6, 0.9, 7.0]}) == {"H": 5, "tau_v": 0.6, "tau_g": 0.9}
    assert grid.setting({"customdata": None}) is None


def test_the_listed_settings_are_pareto_optimal_and_get_better_with_size(here):
    settings = grid.best_settings(here, "fidelity")
    fidelity = [
        here.live.scores(here.live.local_global(**each), here.view.ridge).fidelity for each in settings.values()
    ]
    assert len(fidelity) > 1 and fidelity == sorted(fidelity)


def test_the_gallery_has_as_many_pages_as_its_rows_need(here):
    rows = here.live.local_global(here.view.H, here.view.tau_v, here.view.tau_g).size
    assert (distillation.pages(here) - 1) * distillation.ROWS < rows <= distillation.pages(here) * distillation.ROWS


@pytest.mark.parametrize("method", ["random", "ridge-optimal"])
def test_size_curves_exist_for_methods_with_and_without_an_order(here, method):
    curve = here.live.size_curve(method, curves.sizes_of(method, 500), 1e-4)
    assert len(curve.x) > 2 and (curve.x[1:] > curve.x[:-1]).all()


def test_a_page_is_its_file_and_its_section():
    """Links, the report and Compare find both by themselves."""
    labels = [label for _, label in navigation.pages()]
    assert [title for title in SECTIONS if title in labels] == [label for label in labels if label in SECTIONS]
    assert SECTIONS.keys() - set(labels) == {"Cost"}
    assert set(labels) - SECTIONS.keys() == {"Home", "Compare", "Export"}


def test_what_is_derived_from_a_run_is_computed_once_and_goes_with_it(here, monkeypatch):
    first = grid.search(here), curves.method_curve(here.live, "random", 1e-4), budget.budgets(here.live)
    for name in ("grid", "compare", "error_budget"):
        monkeypatch.setattr(Live, name, lambda *_: pytest.fail("computed again"))
    again = grid.search(here), curves.method_curve(here.live, "random", 1e-4), budget.budgets(here.live)
    assert all(one is other for one, other in zip(first, again, strict=True))
