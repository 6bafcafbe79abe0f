"""Clicks open what a point stands for; the pick is shared by figures and pages, kept in the link, and closed."""

import re

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


def test_a_link_to_what_is_not_there_says_so(tab):
    one = tab("Containment?H=5&pick=cluster 9")
    one.see("There is no such cluster at these settings")
