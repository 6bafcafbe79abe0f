"""Clicks open what a point stands for; the pick is shared by figures and pages, kept in the link, and closed."""

import re

import pytest

PICTURES = ".dntk-inputs .dntk-input img"


def middle(figure, x: float, y: float) -> dict:
    """Where a place of a figure's plot area lies, as shares of it."""
    box = figure.locator(".nsewdrag").first.bounding_box()
    return {"x": box["x"] + box["width"] * x, "y": box["y"] + box["height"] * y}


def test_a_click_on_the_kernel_opens_a_cluster_that_other_pages_know_and_a_thumbnail_opens_an_input(tab):
    one = tab("Spectra")
    kernel = one.plots(3).nth(1)

    def click() -> None:
        place = middle(kernel, 0.03, 0.03)
        one.page.mouse.click(place["x"], place["y"])

    one.until("Cluster 1 of the mean kernel", click)
    assert one.parameter("pick") == "cluster 1"
    shapes = "gd => gd.layout.shapes.length"
    assert kernel.evaluate(shapes) == 1
    assert one.page.locator(PICTURES).count() > 10
    sizes = one.page.locator(PICTURES).first.bounding_box()
    assert abs(sizes["width"] - sizes["height"]) < 1, "square"

    one.follow("Containment").see("Cluster 1 of the mean kernel")
    one.reload().see("Cluster 1 of the mean kernel")
    one.press(one.page.locator("button.dntk-input").nth(2), "Behind it its nearest inputs")
    assert one.parameter("pick").startswith("input ")
    one.press("Close", lambda: one.parameter("pick") == "")
    assert one.page.locator(PICTURES).count() == 0


def test_a_score_opens_the_inputs_behind_it_by_class(tab):
    one = tab("Gradient_distillation")
    outcome = one.plots(2).first

    def click() -> None:
        box = outcome.locator(".nsewdrag").nth(2).bounding_box()
        one.page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.9)

    one.until("Disagreements with the network of the distilled set", click)
    assert one.parameter("pick") == "errors fidelity distilled"
    seen = "() => document.querySelector('.st-key-opened').getBoundingClientRect().top < innerHeight - 40"
    one.wait(seen)
    every = one.page.locator(".dntk-inputs .dntk-input").count()
    assert f"all ({every})" in one.text()
    first = one.page.get_by_role("radio", name=re.compile(r"\(\d+\)$")).nth(1)
    one.until(lambda: one.page.locator(".dntk-inputs .dntk-input").count() < every, first.click)
    one.press(one.page.locator("button.dntk-input").first, "the kernel inputs that speak most for the network's choice")
    assert one.parameter("pick").startswith("test ")
    explain = one.page.get_by_role("link", name="Explain it")
    one.until(
        lambda: "/Predictions" in one.page.url and f"Test input {one.parameter('input')}" in one.text(), explain.click
    )


def test_a_link_to_what_is_not_there_says_so(tab):
    one = tab("Containment?H=5&pick=cluster 9")
    one.see("There is no such cluster at these settings")


# A click as plotly tells it: on the point of a trace, wherever that lies on the screen.
CLICK = """([name, series, place]) => {
  const gd = [...document.querySelectorAll('.dntk-plot[data-drawn]')].find((each) => each.dntk.name === name);
  const trace = gd.data.findIndex((each) => (each.name ?? "") === series && each.hoverinfo !== "skip");
  const data = gd.data[trace], { x, y, customdata } = data, at = (list) => list?.[place];
  const point = { x: at(gd._fullData[trace].x ?? x), y: at(gd._fullData[trace].y ?? y), customdata: at(customdata) };
  gd.emit('plotly_click', { points: [{ ...point, curveNumber: trace, pointNumber: place, data }] });
}"""
# Page: figure, series, point, what the address then says.
CLICKS = {
    "Curves": [("curve_size", "accuracy, averaged targets", 3, "pick", "errors accuracy local-global:10")],
    "Predictions": [
        ("predictions_synthetic", "", 1, "pick", "gradient 2"),
        ("predictions_logits", "network", 4, "explain", "4"),
    ],
    "Uncertainty": [("uncertainty_trust", "network", 0, "pick", "doubted network bin")],
    "Kernel_health": [
        ("health_targets", "targets", 2, "pick", "direction 3"),
        ("health_ridge", "left out", 2, "ridge", "1e-07"),
    ],
}


@pytest.mark.parametrize("page", CLICKS)
def test_a_point_of_any_figure_opens_what_it_stands_for(tab, small_run, page):
    one = tab(f"{page}?run={small_run.key}")
    for name, series, place, parameter, value in CLICKS[page]:
        one.until(
            lambda parameter=parameter, value=value: one.parameter(parameter).startswith(value),
            lambda click=(name, series, place): one.page.evaluate(CLICK, list(click)),
        )
    assert one.page.locator(".st-key-opened").count() == 1 and one.page.get_by_test_id("stAlert").count() == 0
