"""The analysis pages: each draws its figures, each slider changes what it must and nothing else, clicks apply."""

import re

import pytest

PAGES = {
    "Spectra": {"spectra", "kernel", "redundancy"},
    "Containment": {"containment"},
    "Gap_coverage": {"coverage"},
    "Gradient_distillation": {"distillation", "gradients"},
    "Curves": {"curve_size"},
    "Grid_search": {"grid", "frontier", "counts"},
    "Error_budget": {"budget_ridge", "budget_dimension"},
}
# link: (slider, steps, figures that must change; all others on the page must stay untouched)
MOVES = {
    "Spectra": [
        ("Clusters", 1, {"kernel"}),
        ("Truncation", 2, {"spectra", "redundancy"}),
    ],
    "Containment": [
        ("Clusters", 1, {"containment"}),
        ("Truncation", 2, {"containment"}),
        ("Rank", 1, {"containment"}),
    ],
    "Gap_coverage": [
        ("Clusters", 1, {"coverage"}),
        ("Gap threshold", 2, {"coverage"}),
        ("Truncation", 2, {"coverage"}),
    ],
    # Few gradients, whatever the network: more of them change the first page of the gallery.
    "Gradient_distillation?H=2&tau_v=0.5&tau_g=0.9": [
        ("Gap threshold", 20, {"distillation", "gradients"}),
        ("Variance kept", 40, {"distillation", "gradients"}),
        ("Clusters", 1, {"distillation", "gradients"}),
        ("Ridge", 4, {"distillation"}),
    ],
    "Curves?method=random": [("Ridge", 4, {"curve_size"}), ("Variance kept", 20, {"curve_size"})],
    "Grid_search": [
        ("Gap threshold", 1, {"grid", "frontier"}),
        ("Gap threshold", -1, {"grid", "frontier"}),
        ("Variance kept", 1, {"grid", "frontier"}),
        ("Variance kept", -1, {"grid", "frontier"}),
        ("Clusters", 1, {"grid", "frontier"}),
    ],
    "Error_budget": [("Ridge", 1, {"budget_ridge"}), ("Truncation", 4, {"budget_dimension"})],
}
STATE = """() => Object.fromEntries([...document.querySelectorAll('.dntk-plot[data-drawn]')]
    .map(gd => [gd.dntk.name, Number(gd.dataset.drawn)]))"""


def wait_for(tab, names: set[str]) -> dict[str, int]:
    """Wait until exactly these figures are on the idle page; how often each was drawn."""
    tab.wait(f"names => JSON.stringify(Object.keys(({STATE})()).sort()) === JSON.stringify(names)", sorted(names))
    return tab.settle().page.evaluate(STATE)


@pytest.mark.parametrize("link", MOVES)
def test_the_page_draws_its_figures_and_each_slider_changes_what_it_must_and_nothing_else(tab, link):
    one = tab(link)
    names = PAGES[link.split("?")[0]]
    before = wait_for(one, names)
    assert one.page.get_by_test_id("stAlert").count() == 0
    for figure in one.plots(len(names)).all():
        assert figure.locator("svg.main-svg").count() >= 1 and figure.get_attribute("aria-label")
    assert one.page.locator(".dntk-save").count() == len(names)
    assert one.page.get_by_text("Copy as Python").count() == 1
    for slider, steps, changed in MOVES[link]:
        one.move(slider, steps).wait(
            f"([names, before]) => {{ const now = ({STATE})(); return names.every(name => now[name] > before[name]) }}",
            [sorted(changed), before],
        )
        after = one.settle().page.evaluate(STATE)
        assert {name for name in after if after[name] != before[name]} == changed, slider
        before = after


def test_the_kernel_of_a_class_can_be_chosen(tab):
    one = tab("Containment")
    assert "the mean kernel" in one.text()
    one.choose("Kernel", "3").wait_for_parameter("kernel", "3").see("the 3 kernel")


def test_a_click_on_a_grid_cell_opens_a_setting_to_take_and_a_pareto_setting_is_chosen_by_keyboard(tab):
    one = tab("Grid_search")
    wait_for(one, PAGES["Grid_search"])
    panel = one.plots(3).first.locator(".nsewdrag").nth(2)
    panel.scroll_into_view_if_needed()

    def click() -> None:
        box = panel.bounding_box()
        # Third column from the left, third row from the top, of 11 by 10.
        x, y = box["x"] + box["width"] * 2.5 / 11, box["y"] + box["height"] * 2.5 / 10
        one.page.mouse.move(x, y)
        one.page.get_by_text("accuracy").locator("visible=true").first.wait_for()
        assert "H = 15" in one.page.locator(".hoverlayer").first.text_content()
        one.page.mouse.click(x, y)

    def choose() -> None:
        one.combobox("Pareto").focus()
        one.page.keyboard.press("ArrowDown")
        one.page.keyboard.press("Enter")

    one.until(lambda: one.parameter("pick") == "setting 15 0.95 0.8", click)
    one.press(one.page.locator(".st-key-use_setting button"), lambda: one.parameter("H") == "15")
    assert (one.parameter("tau_v"), one.parameter("tau_g")) == ("0.95", "0.8")
    assert one.slider("Clusters").input_value() == "15"
    one.until(lambda: one.parameter("H") == "5", choose)


def test_the_grid_answers_an_objective_with_one_setting_and_a_button(tab):
    one = tab("Grid_search?clusters=4 8&objective=best&most=20")
    wait_for(one, PAGES["Grid_search"])
    answer = one.see("gap), fidelity").inner_text()
    H, s = re.search(r"H = (\d+)", answer)[1], re.search(r"s = (\d+)", answer)[1]
    assert H in ("4", "8") and int(s) <= 20
    one.press("Use this setting", lambda: one.parameter("H") == H)
    one.pick("Fewest gradients").fill("with fidelity at least, in percent", "100.00")
    one.see("No setting of this grid does that").wait_for()
    assert one.parameter("clusters") == "4 8" and one.parameter("objective") == "fewest"


def test_the_gallery_turns_its_pages_and_survives_that_they_vanish(tab):
    one = tab("Gradient_distillation?tau_v=0.9")
    wait_for(one, PAGES["Gradient_distillation"])
    gallery = one.page.locator(".dntk-plot").nth(1)
    pages = one.page.get_by_test_id("stPagination").get_by_role("button")

    def begins() -> bool:
        return gallery.evaluate("gd => gd.layout.yaxis.ticktext[0].startsWith('<b>1<')")

    assert begins()
    one.press(pages.nth(pages.count() - 2), lambda: not begins())
    one.move("Variance kept", -60)
    assert begins()


def test_curves_over_rank_and_ridge_and_all_methods(tab, small_run):
    one = tab(f"Curves?run={small_run.key}")
    wait_for(one, {"curve_size"})
    for view, name in (("Rank", "curve_rank"), ("Ridge", "curve_ridge"), ("All methods", "methods")):
        wait_for(one.pick(view), {name})


def test_all_classes_are_shown_as_small_multiples(tab):
    one = tab("Gap_coverage")
    wait_for(one, {"coverage"})
    wait_for(one.pick("Every class"), {"coverage_classes"})
    titles = one.page.locator(".dntk-plot .annotation-text").all_text_contents()
    assert sum(bool(re.search("uncovered", title)) for title in titles) == 10
