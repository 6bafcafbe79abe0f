"""Compare: two runs side by side, moved by the same sliders; two settings of one run, one of them pinned."""

from tests.browser.test_picks import CLICK


def test_two_runs_side_by_side_under_the_same_sliders(tab, default_run, small_run):
    one = tab(f"Compare?run={default_run.key}&other={small_run.key}")
    figures = one.plots(6)
    names = [figure.evaluate("gd => gd.dntk.name") for figure in figures.all()]
    left, right = ({name[:-2] for name in names if name.endswith(side)} for side in ("_a", "_b"))
    assert left == right and len(names) == 2 * len(left)
    assert default_run.spec.summary in one.text() and small_run.spec.summary in one.text()
    assert "they are on different inputs" in one.text()

    drawn = "() => [...document.querySelectorAll('.dntk-plot')].map(gd => Number(gd.dataset.drawn ?? 0))"
    before = one.settle().page.evaluate(drawn)
    one.move("Clusters", 1).wait_for_parameter("H", "11").wait(
        "before => [...document.querySelectorAll('.dntk-plot')]"
        ".filter((gd, i) => gd.dataset.drawn > before[i]).length >= 2",
        before,
    )
    assert one.parameter("other") == small_run.key
    # Another test may have given the run a name, which then stands before it.
    assert small_run.spec.summary in one.combobox("Compare with").input_value()
    one.pick("Cost").wait_for_parameter("figures", "Cost")


def test_settings_are_pinned_as_a_and_b_is_tuned_beside_them(tab):
    one = tab("Compare")
    one.plots(6)
    one.press("Pin these settings as A", "A, pinned")
    one.move("Clusters", 2).wait_for_parameter("H", "12")
    one.see("Clusters H 10 → 12")
    axes = "gd => JSON.stringify([gd.layout.xaxis.range, gd.layout.yaxis.range])"
    one.settle()
    ranges = {figure.evaluate("gd => gd.dntk.name"): figure.evaluate(axes) for figure in one.plots(6).all()}
    assert ranges["redundancy_a"] == ranges["redundancy_b"] and "null" not in ranges["spectra_a"]
    # Opened elsewhere, the link is the same two sides; nothing is cut off.
    two = tab(one.page.evaluate("location.pathname + location.search").lstrip("/"))
    two.see("Clusters H 10 → 12")
    two.page.set_viewport_size({"width": 1440, "height": 900})
    two.plots(6)
    assert two.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= innerWidth")
    fits = (
        "() => [...document.querySelectorAll('.dntk-scroll')].every(each => each.scrollWidth <= each.clientWidth + 1)"
    )
    assert two.settle().page.evaluate(fits)
    # A click opens on its own side what it stands for; what is pinned stays.
    two.until("A · Cluster 1 of the mean kernel", lambda: two.page.evaluate(CLICK, ["kernel_a", "", 0]))
    two.until("B · Cluster 1 of the mean kernel", lambda: two.page.evaluate(CLICK, ["kernel_b", "", 0]))
    assert (two.parameter("pick"), two.parameter("side"), two.parameter("H")) == ("cluster 1", "B", "12")
