"""Figures fetched before a slider moves: drawn at once, the right ones, and never those of another view."""

from tests.browser.tab import Tab

TEXT = "gd => gd.dntkText"
# What the server answers now for the figure, as a slider's move would ask for it.
ANSWER = """async (gd, question) => {
  const lines = (await (await fetch(`${dntkScrub.frames}?${question}`)).text()).split("\\n");
  return lines[lines.indexOf(gd.dntk.name) + 1];
}"""
DRAWN = """gd => {
  gd.texts = [];
  const drawn = gd.dntkFrame;
  gd.dntkFrame = (text) => { gd.texts.push(text); drawn(text); };
}"""


def beside(one: Tab, *values: int) -> None:
    """Focus H and wait until the figures of these values have come; a server that is busy has none at first."""
    handle, come = one.settle().slider("Clusters"), set()
    one.page.on("response", lambda got: come.add(got.url.split("?")[-1]) if got.status == 200 else None)

    def focus() -> None:
        handle.blur()
        handle.focus()

    one.until(lambda: {f"H={value}" for value in values} <= come, focus)


def asked(one: Tab, question: str) -> int:
    """How often the figures of a value were asked for."""
    return sum("/frames/" in url and url.endswith(f"?{question}") for url in one.asked)


def test_the_next_stop_is_drawn_without_asking_and_is_what_the_server_says(tab):
    one = tab("Containment?H=10")
    figure = one.plots(1).first
    wanted = figure.evaluate(ANSWER, "H=11")
    beside(one, 11, 9)
    before = asked(one, "H=11")
    figure.evaluate(DRAWN)
    one.page.keyboard.press("ArrowRight")
    one.wait("([gd, text]) => gd.dntkText === text", [figure.element_handle(), wanted])
    assert figure.evaluate("gd => gd.texts") == [wanted]
    one.wait_for_parameter("H", "11").settle()
    assert asked(one, "H=11") == before and figure.evaluate(TEXT) == wanted


def test_what_was_fetched_for_another_view_is_never_drawn(tab):
    one = tab("Containment?H=10")
    figure = one.plots(1).first
    stale = figure.evaluate(ANSWER, "H=11")
    beside(one, 11, 9)
    shown = figure.evaluate(TEXT)
    one.choose("Energy", "of the kernel, λ²").wait_for_parameter("energy", "kernel").settle()
    # Streamlit hands each figure over anew: what watches it must come after.
    one.wait("([gd, text]) => gd.dntkText !== text", [figure.element_handle(), shown])
    figure.evaluate(DRAWN)
    one.move("Clusters", 1).wait_for_parameter("H", "11").settle()
    wanted = figure.evaluate(ANSWER, "H=11")
    assert wanted != stale, "the view did not change"
    assert set(figure.evaluate("gd => gd.texts")) == {wanted} and figure.evaluate(TEXT) == wanted
