"""On a phone: sliders leave the figure in sight, nothing lies on anything, every tab can be reached."""

import pytest

from tests.browser.tab import Tab

WIDTH, HEIGHT = 390, 844
OUTSIDE = """() => [...document.querySelectorAll('[data-testid=stMain] [role=radio], [data-testid=stMain] button')]
  .filter((each) => each.offsetParent && each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.textContent)"""
# Whatever lies over the middle of a tab.
COVERED = """() => [...document.querySelectorAll('[data-testid=stMain] [role=radio]')].filter((each) => {
  each.scrollIntoView({block: 'center'});
  const box = each.getBoundingClientRect();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return !each.contains(top) && !each.closest('label')?.contains(top);
}).map((each) => each.textContent)"""


@pytest.fixture
def phone(chromium, server, small_run):
    with chromium.new_context(viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True, is_mobile=True) as context:
        yield lambda path: Tab(context.new_page(), server).goto(f"{path}?run={small_run.key}")


def test_sliders_leave_the_figure_that_they_change_in_sight(phone):
    one = phone("Gap_coverage")
    figure = one.plots(1).first
    sidebar = one.page.get_by_test_id("stSidebar")
    handle = one.slider("Clusters")
    opened = one.page.get_by_test_id("stExpandSidebarButton").click
    one.until(lambda: sidebar.get_attribute("data-collapsed") == "false", opened)
    sheet = sidebar.bounding_box()
    assert sheet["y"] >= 0.5 * HEIGHT and abs(sheet["width"] - WIDTH) < 3
    box = handle.bounding_box()
    assert box["y"] < HEIGHT and box["y"] > sheet["y"], "the first slider needs no scrolling"
    figure.evaluate("gd => gd.scrollIntoView({block: 'start'})")
    drawn = figure.locator(".nsewdrag").first.bounding_box()
    assert drawn["y"] >= 0 and drawn["y"] + 0.9 * drawn["height"] < sheet["y"]
    one.move("Clusters", 1).wait_for_parameter("H", "11")
    one.close()


@pytest.mark.parametrize("page", ["Export", "Curves", "Compare"])
def test_every_tab_can_be_reached_and_no_toolbar_lies_on_one(phone, page):
    one = phone(page)
    assert one.page.evaluate(OUTSIDE) == [] and one.page.evaluate(COVERED) == []
    assert one.page.locator(".modebar-btn").locator("visible=true").count() == 0
    one.close()
