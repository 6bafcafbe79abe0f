"""Every slider of every page in Chromium: how long until the figures follow, beside a bare page with the same figures.

    python benchmarks/dashboard.py [--rounds 10] [--pages Spectra Containment]

"ms": from the key press to the last change in a figure that is on the screen, median of the rounds. The bare page
alternates between the figures before and after one move, ready-made, as Streamlit's own charts. Both pages are scrolled
to the first figure that the slider changes and measured in turn. Between two moves both rest, so ours has mostly
fetched the next stops by then; a move without such a rest asks the server, as every frame of a drag does. "frames/s":
how often a figure is drawn anew while the slider is dragged over its whole length, to and fro in two seconds; a bare
page's is not, until it is let go.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dntk_core import RunSpec, load_or_build
from dntk_core.cache.store import Store
from dntk_core.dashboard.drawing.navigation import pages
from dntk_core.run.across import build_series
from dntk_core.run.series import default_series
from tests.browser.launch import chromium, serve

PAGES = [label.replace(" ", "_") for _, label in pages()]
RATIO, MILLISECONDS, FRAMES = 0.6, 250, 5
PLOT = ".js-plotly-plot"
TRACK = "*[@data-testid='stSlider']"
# When each figure last changed since the last key press; of those, only what is on the screen counts.
WATCH = """plot => {
  const inside = (node) => (node.nodeType === 1 ? node : node.parentElement)?.closest(plot);
  const changes = new Map();
  new MutationObserver((records) => {
    for (const figure of new Set(records.map(({ target }) => inside(target)))) changes.set(figure, performance.now());
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  document.addEventListener("keydown", () => { window.pressed = performance.now(); changes.clear(); }, true);
  const shown = ({ top, bottom }) => bottom > 0 && top < innerHeight;
  window.changed = () => Math.max(0, ...[...changes].map(
    ([figure, when]) => (figure?.isConnected && shown(figure.getBoundingClientRect()) ? when : 0)));
}"""
IDLE = "document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'"
# A figure may twitch before its new data comes: done is when the script has ended and all has stood still since.
STILL = f"quiet => {IDLE} && performance.now() - Math.max(window.pressed, window.changed()) > quiet"
# Milliseconds; ours draws figures off screen after 400, which must not fall into the next move.
QUIET, BARE_QUIET = 700, 300
DRAWN = "Array.from(document.querySelectorAll('.dntk-plot'), (gd) => Number(gd.dataset.drawn ?? 0))"
TEXTS = "() => Array.from(document.querySelectorAll('.dntk-plot'), (gd) => gd.dntkText)"


class Page:
    """One page under measurement."""

    def __init__(self, context, address: str, quiet: int = QUIET):
        self.tab, self.quiet = context.new_page(), quiet
        self.tab.set_default_timeout(60_000)
        self.tab.goto(address)
        self.tab.wait_for_selector(".stHeading, .stSlider")
        self.tab.wait_for_timeout(1000)
        self.tab.wait_for_function(IDLE)
        self.tab.wait_for_timeout(1000)
        self.tab.evaluate(WATCH, PLOT)

    def sliders(self) -> list[str]:
        """The labels of all sliders, without what they say of the run."""
        found = self.tab.get_by_test_id("stSlider").get_by_test_id("stWidgetLabel").all_inner_texts()
        return [re.split(r" · |\n", label)[0] for label in found]

    def handle(self, slider: str):
        """A slider's handle, on the screen."""
        found = self.tab.get_by_role("slider", name=re.compile(f"^{re.escape(slider)}")).first
        found.scroll_into_view_if_needed()
        return found

    def move(self, slider: str, step: int = 1) -> float:
        """Press a key on the slider; milliseconds until the last figure stood still, 0 if none stirred."""
        # Browsers draw only what is in front.
        self.tab.bring_to_front()
        self.handle(slider).focus()
        self.tab.keyboard.press("ArrowRight" if step > 0 else "ArrowLeft")
        self.tab.wait_for_function(STILL, arg=self.quiet, polling=50)
        return self.tab.evaluate("Math.max(0, window.changed() - window.pressed)")

    def room(self, slider: str) -> int:
        """The direction in which a slider has more room."""
        low, high, value = self.handle(slider).evaluate("s => [s.min, s.max, s.value].map(Number)")
        return 1 if high - value >= value - low else -1

    def drag(self, slider: str, seconds: float = 3.0) -> float:
        """Drag the slider to and fro and back; how often a second a figure was drawn meanwhile."""
        self.tab.bring_to_front()
        handle = self.handle(slider)
        thumb, track = (handle.locator(f"xpath=ancestor::{at}").bounding_box() for at in ("div[1]", TRACK))
        x, y, width = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2, track["width"]
        self.tab.mouse.move(x, y)
        self.tab.mouse.down()
        before, started = np.array(self.tab.evaluate(DRAWN)), time.monotonic()
        while (passed := time.monotonic() - started) < seconds:
            self.tab.mouse.move(track["x"] + width * abs(passed % 2 - 1), y)
            self.tab.wait_for_timeout(10)
        rate = float((self.tab.evaluate(DRAWN) - before).max() / passed)
        self.tab.mouse.move(x, y)
        self.tab.mouse.up()
        self.tab.wait_for_timeout(1000)
        self.tab.wait_for_function(IDLE)
        return rate

    def show(self, place: int) -> None:
        """Scroll to one of the figures."""
        self.tab.locator(PLOT).nth(place).evaluate("gd => gd.scrollIntoView({ block: 'center' })")
        self.tab.wait_for_timeout(500)


def measure(ours: Page, context, bare: str, figures: Path, slider: str, rounds: int) -> tuple[float, ...] | None:
    """Move both pages' sliders in turn; milliseconds of either (medians) and frames a second. None: no figure moves."""
    step, before = ours.room(slider), ours.tab.evaluate(TEXTS)
    ours.move(slider, step)
    after = ours.tab.evaluate(TEXTS)
    changed = [place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other]
    if not changed or len(before) != len(after):
        return None
    sets = [[json.loads(text)["figure"] for text in texts] for texts in (before, after)]
    figures.write_text(json.dumps(sets))
    stock = Page(context, f"{bare}/?set={time.monotonic_ns()}", BARE_QUIET)
    for page in (ours, stock):
        page.show(changed[0])
    stock.move("Position")
    # To and fro, never over the end: half of the values are new.
    turns = [step if (turn // 5) % 2 == 0 else -step for turn in range(rounds)]
    times = np.array([(ours.move(slider, turn), stock.move("Position")) for turn in turns])
    stock.tab.close()
    return *np.median(times, axis=0), ours.drag(slider)


def prepare() -> dict[str, str]:
    """Compute all that pages show; the run to open by page, where it is not the embedded one."""
    run = load_or_build(RunSpec.default())
    other = load_or_build(replace(run.spec, projection=replace(run.spec.projection, k=1024)))
    apart = load_or_build(replace(run.spec, projection=replace(run.spec.projection, groups="blocks")))
    build_series(default_series())
    return {"Layers": f"?run={apart.key}", "Compare": f"?run={run.key}&other={other.key}"}


def main() -> int:
    """Print one table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=10)
    arguments.add_argument("--pages", nargs="+", default=PAGES, choices=PAGES)
    arguments = arguments.parse_args()

    links, missed = prepare(), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        environment = {"DNTK_CACHE_DIR": str(Store().root), "DNTK_BENCH_FIGURES": str(folder / "figures.json")}
        with (
            serve("app.py", folder / "product.log", **environment) as product,
            serve("benchmarks/bare_page.py", folder / "bare.log", **environment) as bare,
            chromium() as browser,
        ):
            context = browser.new_context(viewport={"width": 1280, "height": 720})
            print("| page | slider | ms | bare page, ms | ratio | frames/s |\n|---|---|---|---|---|---|", flush=True)
            for name in arguments.pages:
                address = f"{product}/{'' if name == 'Home' else name}{links.get(name, '')}"
                page = Page(context, address)
                for slider in page.sliders():
                    found = measure(page, context, bare, folder / "figures.json", slider, arguments.rounds)
                    title = f"| {name.replace('_', ' ')} | {slider} |"
                    if found is None:
                        print(f"{title} no figure follows | | | |", flush=True)
                        continue
                    ours, stock, rate = found
                    missed += ours > MILLISECONDS or ours > RATIO * stock or rate < FRAMES
                    print(f"{title} {ours:.0f} | {stock:.0f} | {ours / stock:.2f} | {rate:.1f} |", flush=True)
                page.tab.close()
    print(f"\n{missed} sliders miss {MILLISECONDS} ms, a ratio of {RATIO} or {FRAMES} frames a second")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
