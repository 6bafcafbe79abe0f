"""The figure component: updated in place, its zoom kept, its downloads, its text for screen readers."""

import re

from tests.browser.tab import Tab

DATA = "gd => JSON.stringify(gd._fullData.map(trace => Array.from(trace.y ?? [])))"
RANGE = "gd => gd._fullLayout.xaxis.range"


def zoom_in(tab, figure) -> list[float]:
    """Drag a box over the middle of the first panel; the range it leaves."""
    box = figure.locator(".nsewdrag").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * 0.6, middle, steps=5)
    tab.page.mouse.up()
    return figure.evaluate(RANGE)


def test_a_slider_redraws_figures_in_place_and_keeps_the_zoom(tab):
    one = tab("Containment")
    figure = one.plots(1).first
    figure.evaluate("gd => { gd.mark = 1 }")
    whole, before = figure.evaluate(RANGE), figure.evaluate(DATA)
    zoomed = zoom_in(one, figure)
    assert zoomed[1] - zoomed[0] < 0.5 * (whole[1] - whole[0])
    one.move("Clusters", 1).wait_for_parameter("H", "11")
    one.wait("document.querySelector('.dntk-plot')?.dataset.drawn > 1")
    assert figure.evaluate(DATA) != before
    assert figure.evaluate("gd => gd.mark") == 1, "the figure was made anew"
    assert figure.evaluate(RANGE) == zoomed


def test_pictures_and_data_can_be_downloaded(tab):
    one = tab("Spectra")
    figure = one.plots(1).first
    contents = {}
    for name in ("SVG", "PNG", "CSV"):
        button = one.page.locator(".dntk-save").first.get_by_role("button", name=name)
        got = one.download(button)
        assert re.fullmatch(r"spectra-\w{8}-H10-.*\.(svg|png|csv)", got.suggested_filename), got.suggested_filename
        contents[name] = got.path().read_bytes()
    assert contents["SVG"].startswith(b"<svg") and contents["PNG"].startswith(b"\x89PNG")
    lines = contents["CSV"].decode().splitlines()
    drawn = "gd => gd._fullData.filter(t => t.hoverinfo !== 'skip').reduce((n, t) => n + t.y.length, 0)"
    points = figure.evaluate(drawn)
    assert lines[0].startswith("series,") and len(lines) == points + 1
    assert len(figure.get_attribute("aria-label")) > 20


def test_the_theme_is_followed(chromium, server):
    with chromium.new_context(color_scheme="dark") as context:
        one = Tab(context.new_page(), server).goto("Spectra")
        colour = one.page.evaluate("getComputedStyle(document.querySelector('.dntk-plot .xtick text')).fill")
    assert min(int(part) for part in colour[4:-1].split(",")) > 150, f"ticks are dark on dark: {colour}"


def test_a_figure_follows_a_slider_while_it_is_dragged(tab):
    one = tab("Containment?H=2")
    figure, handle = one.plots(1).first, one.slider("Clusters")
    thumb = handle.locator("xpath=ancestor::div[1]").bounding_box()
    x, y = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2
    before = figure.evaluate(DATA)
    one.page.mouse.move(x, y)
    one.page.mouse.down()
    for end in (40, 80):
        one.page.mouse.move(x + end, y, steps=5)
        one.wait("([gd, before]) => " + f"({DATA})(gd) !== before", [figure.element_handle(), before])
        before = figure.evaluate(DATA)
    # Let go at once after the last step: the page ends where the pointer did, not where it last followed.
    one.page.mouse.move(x + 120, y)
    last = handle.input_value()
    one.page.mouse.up()
    one.wait_for_parameter("H", last).settle()
    assert int(last) > 4 and handle.input_value() == last
    ahead = [url for url in one.asked if "/frames/" in url]
    reached = any(url.endswith(f"?H={last}") for url in ahead)
    assert len(ahead) >= 3 and reached, "the figures did not come ahead of Streamlit's run"
    text = "gd => gd.dntkText"
    assert figure.evaluate(text) == tab(f"Containment?H={last}").plots(1).first.evaluate(text)
