"""What pages show: complete panels with unique keys, and code that gives the same numbers."""

import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dntk_core import RunSpec, load_or_build
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.dashboard.asking.null_model import against
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing import literal, navigation
from dntk_core.dashboard.drawing.recipe import python
from dntk_core.dashboard.page import Page
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
from dntk_core.distill import METHODS
from dntk_core.readout.ridge import READOUTS
from dntk_core.run.live import Live
from tests.synthetic import draw


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
    monkeypatch.setattr("dntk_core.kernels.feature_kernels.LARGEST_DENSE", 50)
    monkeypatch.setattr("dntk_core.kernels.features.FEW", 40)
    monkeypatch.setattr("dntk_core.kernels.features.FORMED", 40)
    monkeypatch.setattr("dntk_core.kernels.krylov.BLOCK", 8)
    monkeypatch.setattr("dntk_core.kernels.krylov.MOST", 64)
    inputs, projection = InputSpec(kernel=80, test=60), ProjectionSpec(k=128)
    run = load_or_build(RunSpec(model=ModelSpec(epochs=1), inputs=inputs, projection=projection))
    assert not run.dense
    page = Page(run, Live(run.problem), View(H=5, rank=20, epsilon=0.01), {})
    rank = page.live.spectrum().rank(0.01)
    assert not rank.exact
    for section in (spectra, containment, coverage, distillation, grid, budget, ledger):
        assert section.panels(page)
    for over in curves.VIEWS:
        assert curves.panel(page, over)
    for read in (containment.panels(page)[0].read, coverage.chosen(page).read):
        assert f"of {rank:.0f} directions." in read and "random" not in read, "they cost much"
    assert "random clusters" in containment.panels(page, True)[0].read


def test_the_code_of_every_page_runs_as_it_stands(here):
    calls = [call for section in (spectra, containment, coverage, grid, budget) for call in section.calls(here)]
    calls += [call for over in ("size", "rank", "ridge") for call in curves.calls(here, over)]
    code = python(here.run.key, calls)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert repr(here.live.containment(10, 0.05, 3)) in done.stdout


def test_the_ledger_says_what_the_network_sees(here):
    (panel,) = ledger.panels(here)
    seen = here.run.preprocessing
    assert "minus" in seen and "divided by" in seen and literal.markdown(seen) in panel.definition


def test_a_click_becomes_a_setting_only_where_there_is_one(here):
    assert grid.pick_at(here, "grid", {"customdata": [5.0, 0.6, 0.9, 7.0]}).text == "setting 5 0.6 0.9"
    assert grid.pick_at(here, "grid", {"customdata": None}) is None


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
    assert SECTIONS.keys() - set(labels) == {"Overview", "Cost"}
    assert set(labels) - SECTIONS.keys() == {"Home", "Compare", "Export"}


def test_what_is_derived_from_a_run_is_computed_once_and_goes_with_it(here):
    def found():
        return grid.search(here), curves.compared(here, "paper", ("random",))[0], budget.split(here)

    assert all(one is other for one, other in zip(found(), found(), strict=True))


def test_every_score_of_the_page_follows_the_readout(here):
    # So few gradients that the readouts are far apart, whatever the network learnt.
    few = here.view.replace(H=3, tau_v=0.5, tau_g=0.5)
    averaging, other = (Page(here.run, here.live, few.replace(readout=by), {}) for by in READOUTS)
    for panels in (distillation.panels, grid.panels, lambda page: (curves.panel(page, "ridge"),)):
        assert panels(averaging)[0].figure.to_json() != panels(other)[0].figure.to_json()
    averaged, every = (distillation.panels(page)[0].read for page in (averaging, other))
    assert averaged != every and "–" in every
    assert 'by="nystrom"' in "".join((*distillation.calls(other), *grid.calls(other), *curves.calls(other, "ridge")))


def test_curves_over_size_show_both_readouts_and_how_algorithm_1_was_set(here):
    figure = curves.panel(here, "size").figure
    both = [trace for trace in figure.data if trace.name.startswith("accuracy, ") and "interval" not in trace.name]
    assert [trace.name for trace in both] == ["accuracy, averaged targets", "accuracy, every target (Nyström)"]
    assert list(both[0].y) != list(both[1].y)
    assert all(text.startswith("H = ") and "local + " in text for (text,) in both[0].customdata)


def test_the_table_of_methods_has_either_readout_and_intervals():
    problem = draw().problem
    page = Page(SimpleNamespace(targets=problem.targets), Live(problem), View(), {})
    table = curves.numbers(page, "fidelity", "paper")
    assert list(table["method"]) == list(METHODS)
    assert re.fullmatch(r"[\d.]+% \([\d.]+–[\d.]+\)", table["s = 5"][0])
    averaged, every = (curves.numbers(page, "mse", by)["s = 5"][0] for by in READOUTS)
    assert averaged != every and "(" not in averaged
    assert table[table["method"] == "local-global, paper's H"]["s = 2"].tolist() == ["–"]
    assert set(curves.settings_table(page)["method"]) == {"local-global", "local-global, paper's H"}


def test_containment_is_said_beside_chance_and_not_where_it_is_arithmetic(here):
    result = here.live.containment(10, 0.05, 3)
    drawn = [each.mean[19] for each in here.live.random_containments(10, 0.05, 3)]
    (panel,) = containment.panels(here)
    assert f"{result.mean[19]:.1%}" in panel.read and f"{max(drawn):.1%}" in panel.read and "chance" in panel.read
    assert "not testable" not in panel.read.lower()
    (panel,) = containment.panels(Page(here.run, here.live, here.view.replace(H=40, rank=60), {}))
    assert panel.read.startswith("Not testable here: no cluster")
    sizes = here.live.containment(40, 0.05, 3).sizes
    rank = int(np.median(sizes))
    (panel,) = containment.panels(Page(here.run, here.live, here.view.replace(H=40, rank=rank), {}))
    assert f"{(sizes <= rank).sum()} of 40 clusters have at most {rank} inputs" in panel.read


@pytest.mark.parametrize(
    ("value", "said"), [(0.84, "no more than chance"), (0.9, "4.0 points more"), (0.7, "12.0 points less")]
)
def test_a_share_is_set_against_random_clusters(value, said):
    sentence = against(value, [0.82, 0.86])
    assert sentence.startswith(", random clusters of the same sizes 82.0–86.0%: ") and said in sentence
    assert against(value, []) == "."


def test_both_measures_of_coverage_are_said_and_the_first_keeps_its_bound(here):
    found = here.live.coverage(10, 0.05, 3)
    read = coverage.chosen(here).read
    assert f"kernel: {found.uncovered:.1%}, random clusters" in read and found.uncovered < 0.053
    assert "ε alone keeps it below 5.3%" in read
    assert f"counted alike: {found.misaligned:.1%}, random clusters" in read


def test_the_projection_s_part_of_the_error_is_said_apart(here):
    split = budget.split(here)
    assert f"{split.projection[3] ** 2:.2g} from the projection" in budget.panels(here)[0].read
    assert "from the projection" not in budget.panels(here, parts=False)[0].read
    for definition in (budget.RIDGE, budget.DIMENSION):
        assert all(line.count("$$") % 2 == 0 for line in definition.splitlines()), "shown as raw LaTeX"
