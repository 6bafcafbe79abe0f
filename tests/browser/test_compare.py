"""Compare: two runs side by side, moved by the same sliders."""


def test_two_runs_side_by_side_under_the_same_sliders(tab, default_run, small_run):
    one = tab(f"Compare?run={default_run.key}&other={small_run.key}")
    figures = one.plots(6)
    names = [figure.evaluate("gd => gd.dntk.name") for figure in figures.all()]
    left, right = ({name[:-2] for name in names if name.endswith(side)} for side in ("_a", "_b"))
    assert left == right and len(names) == 2 * len(left)
    assert default_run.spec.summary in one.text() and small_run.spec.summary in one.text()

    drawn = "() => [...document.querySelectorAll('.dntk-plot')].map(gd => Number(gd.dataset.drawn ?? 0))"
    before = one.settle().page.evaluate(drawn)
    one.move("Clusters", 1).wait_for_parameter("H", "11").wait(
        "before => [...document.querySelectorAll('.dntk-plot')]"
        ".filter((gd, i) => gd.dataset.drawn > before[i]).length >= 2",
        before,
    )
    assert one.parameter("other") == small_run.key
