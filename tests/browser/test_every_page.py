"""What holds on every page: definitions are typeset, nothing is sent anywhere, ticks differ, tables are whole."""

import csv
import io
import math
import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator

from dntk_core.dashboard.drawing.navigation import pages
from tests.browser.tab import PATIENCE, Tab

# Tabs of a page, beside the one that is open at first.
TABS = {"Gap_coverage": ["kernels=every"], "Curves": ["over=rank", "over=ridge", "over=methods"]}
SEEN = """() => [...document.querySelectorAll('.dntk-plot[data-drawn]')].map(gd => ({
  name: gd.dntk.name,
  ticks: [...new Set([...gd.querySelectorAll('.xtick, .ytick, .x2tick, .y2tick, .x3tick, .y3tick')]
    .map(tick => tick.getAttribute('class')))].map(kind => [...gd.querySelectorAll(`[class="${kind}"] text`)]
    .map(text => text.textContent)),
  buttons: [...gd.querySelectorAll('.modebar-btn')].map(button => button.dataset.title),
  traces: gd._fullData.filter(trace => trace.hoverinfo !== 'skip' && trace.visible === true).map(trace => ({
    series: trace.meta?.series ?? trace.name,
    x: trace.x && Array.from(trace.x), y: trace.y && Array.from(trace.y),
    z: trace.z && Array.from(trace.z, (row) => Array.from(row)),
  })),
}))"""
# What is seen of a definition: formulas have a second text, for screen readers.
READ = """body => {
  const copy = body.cloneNode(true);
  copy.querySelectorAll('.katex-mathml').forEach((part) => part.remove());
  return copy.textContent + [...body.querySelectorAll('.katex-error')].map(() => 'katex-error').join();
}"""


# What every CSV button would hand out, in order; tests of one figure download theirs.
TABLES = """async () => {
  const made = [], address = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
  URL.createObjectURL = (blob) => { made.push(blob.text()); return "#"; };
  HTMLAnchorElement.prototype.click = () => {};
  document.querySelectorAll(".dntk-save button[data-format=csv]").forEach((button) => button.click());
  URL.createObjectURL = address;
  HTMLAnchorElement.prototype.click = click;
  return Promise.all(made);
}"""


@dataclass(frozen=True)
class Visit:
    """A page as it was found."""

    link: str
    text: str
    definitions: list[str]
    figures: list[dict]
    tables: dict[str, str]


def visit(tab: Tab, link: str) -> Visit:
    tab.goto(link)
    figures = tab.page.evaluate(SEEN)
    definitions = [definition(tab, button) for button in tab.page.get_by_role("button", name="Definition").all()]
    names = [figure["name"] for figure in figures]
    tables = dict(zip(names, tab.page.evaluate(TABLES), strict=True))
    return Visit(link, tab.text(), definitions, figures, tables)


def definition(tab: Tab, button: Locator) -> str:
    """Open what a button unfolds, read it, close it; the server hears nothing of that."""
    body = tab.page.get_by_test_id("stPopoverBody")
    tab.until(body, button.click)
    said = body.evaluate(READ)
    tab.page.keyboard.press("Escape")
    body.wait_for(state="detached", timeout=PATIENCE * 1000)
    return said


@pytest.fixture(scope="module")
def visits(server, context, small_run, distilled_run):
    tab = Tab(context.new_page(), server)
    found = []
    for file, _ in pages():
        name = file.removeprefix("pages/").removesuffix(".py").partition("_")[2] if file != "app.py" else ""
        run = distilled_run if name == "Dataset_distillation" else small_run
        for view in ["", *TABS.get(name, [])]:
            found.append(visit(tab, f"{name}?run={run.key}&{view}"))
    assert not tab.errors
    tab.close()
    return found


def test_formulas_are_typeset(visits):
    assert sum(len(each.definitions) for each in visits) > 15
    for each in visits:
        for text in (each.text, *each.definitions):
            assert not re.search(r"\$|\\[a-z]|katex-error", text), (each.link, text)


def test_no_figure_offers_to_send_its_data_anywhere(visits):
    for each in visits:
        for figure in each.figures:
            assert figure["buttons"], "the toolbar was not looked at"
            assert not re.search("cloud|share|studio|edit", " ".join(figure["buttons"]), re.IGNORECASE), each.link


def test_no_two_ticks_of_an_axis_say_the_same(visits):
    for each in visits:
        for figure in each.figures:
            for ticks in figure["ticks"]:
                said = [tick for tick in ticks if "%" in tick]
                assert len(set(said)) == len(said), (each.link, figure["name"], ticks)


def test_every_table_has_named_columns_and_gives_the_figure_back(visits):
    checked = 0
    for each in visits:
        for figure in each.figures:
            rows = list(csv.DictReader(io.StringIO(each.tables[figure["name"]])))
            assert not {"x", "y", "value", "undefined"} & set(rows[0]), (each.link, figure["name"])
            assert all(None not in row for row in rows)
            wanted = [point for trace in figure["traces"] for point in points(trace)]
            assert len(rows) == len(wanted), (each.link, figure["name"])
            for row, numbers in zip(rows, wanted, strict=True):
                held = [float(cell) for cell in row.values() if is_number(cell)]
                assert all(any(math.isclose(n, h, rel_tol=1e-6, abs_tol=1e-300) for h in held) for n in numbers), (
                    figure["name"],
                    row,
                    numbers,
                )
            checked += len(wanted)
    assert checked > 5000


def points(trace: dict) -> list[list[float]]:
    """The numbers of every point of a trace, in order."""
    if trace["z"]:
        columns, rows = trace["x"] or range(len(trace["z"][0])), trace["y"] or range(len(trace["z"]))
        return [
            numeric(x, y, z)
            for y, line in zip(rows, trace["z"], strict=True)
            for x, z in zip(columns, line, strict=True)
        ]
    return [numeric(x, y) for x, y in zip(trace["x"], trace["y"], strict=True)]


def numeric(*values) -> list[float]:
    return [float(value) for value in values if isinstance(value, (int, float)) and math.isfinite(value)]


def is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
