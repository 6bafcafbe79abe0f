"""Slider → figures redrawn, in Chromium: every page beside a bare page with the same figures, measured in turn.

    python benchmarks/dashboard.py [--rounds 20] [--pages Spectra Containment]

Milliseconds from the key press to the last change in a figure that is on the screen. "frames/s" is how often a figure
of the product is drawn anew while its slider is dragged; a bare page's is not, until the slider is let go.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dntk_core import RunSpec, load_or_build
from dntk_core.cache.store import Store
from tests.browser.launch import chromium, serve

# Page → the slider that changes most of it.
SLIDERS = {
    "Spectra": "Truncation",
    "Containment": "Clusters",
    "Gap_coverage": "Clusters",
    "Gradient_distillation": "Clusters",
    "Curves": "Ridge",
    "Grid_search": "Ridge",
    "Error_budget": "Ridge",
    "Compare": "Clusters",
}
LIMIT, AIM = 1.3, 0.6
PLOT = ".js-plotly-plot"
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
QUIET = f"{IDLE} && window.changed() > window.pressed && performance.now() - window.changed() > 700"
DRAWN = "Math.max(...Array.from(document.querySelectorAll('.dntk-plot'), (gd) => Number(gd.dataset.drawn)))"


class Page:
    """One page under measurement."""

    def __init__(self, context, address: str, slider: str):
        self.tab = context.new_page()
        self.tab.set_default_timeout(60_000)
        self.tab.goto(address)
        self.tab.wait_for_selector(f"{PLOT} .main-svg")
        self.tab.wait_for_function(IDLE)
        self.tab.wait_for_timeout(2000)
        self.tab.evaluate(WATCH, PLOT)
        found = self.tab.get_by_test_id("stSlider").filter(has_text=slider)
        self.handle = found.locator("input[type=range]").first

    def move(self, key: str = "ArrowRight") -> float:
        """Press a key on the slider; milliseconds until the last figure stood still."""
        # Browsers draw only what is in front.
        self.tab.bring_to_front()
        self.handle.focus()
        self.tab.keyboard.press(key)
        self.tab.wait_for_function(QUIET, polling=50)
        return self.tab.evaluate("window.changed() - window.pressed")

    def drag(self, seconds: float = 3.0) -> float:
        """Drag the slider to and fro; how often a second a figure was drawn meanwhile."""
        self.tab.bring_to_front()
        thumb = self.handle.locator("xpath=ancestor::div[1]").bounding_box()
        x, y = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2
        before, started, step = self.tab.evaluate(DRAWN), time.monotonic(), 0
        self.tab.mouse.move(x, y)
        self.tab.mouse.down()
        while time.monotonic() - started < seconds:
            step += 1
            self.tab.mouse.move(x + 2 * abs(30 - step % 60), y)
            self.tab.wait_for_timeout(20)
        rate = (self.tab.evaluate(DRAWN) - before) / (time.monotonic() - started)
        self.tab.mouse.up()
        return rate

    def figures(self) -> list[dict]:
        """The figures as they were sent to the page."""
        texts = self.tab.evaluate("() => Array.from(document.querySelectorAll('.dntk-plot'), (gd) => gd.dntkText)")
        return [json.loads(text)["figure"] for text in texts]


def measure(context, product: str, bare: str, folder: Path, name: str, rounds: int) -> tuple[np.ndarray, ...]:
    """Move both pages' sliders in turn; milliseconds of each move, (rounds,) each, and frames a second of a drag."""
    ours = Page(context, f"{product}/{name}", SLIDERS[name])
    sets = [ours.figures()]
    ours.move()
    sets.append(ours.figures())
    (folder / f"{name}.json").write_text(json.dumps(sets))
    stock = Page(context, f"{bare}/?page={name}", "Position")
    stock.move()
    times = [(ours.move(_step(turn)), stock.move()) for turn in range(rounds)]
    rate = ours.drag()
    ours.tab.close()
    stock.tab.close()
    return *np.array(times).T, np.array(rate)


def _step(turn: int) -> str:
    """Selections of ridges are few: go to and fro, never over the end."""
    return "ArrowRight" if (turn // 6) % 2 == 0 else "ArrowLeft"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=20)
    arguments.add_argument("--pages", nargs="+", default=list(SLIDERS), choices=list(SLIDERS))
    arguments = arguments.parse_args()

    run = load_or_build(RunSpec.default())
    if "Compare" in arguments.pages:
        load_or_build(replace(run.spec, projection=replace(run.spec.projection, k=1024)))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        environment = {"DNTK_CACHE_DIR": str(Store().root), "DNTK_BENCH_FIGURES": str(folder), "OMP_NUM_THREADS": "1"}
        with (
            serve("app.py", folder / "product.log", **environment) as product,
            serve("benchmarks/bare_page.py", folder / "bare.log", **environment) as bare,
            chromium() as browser,
        ):
            context = browser.new_context(viewport={"width": 1280, "height": 720})
            header = ("p50 ms", "p95 ms", "bare p50", "bare p95", "p50 ratio", "frames/s")
            print(f"{'page':24} " + " ".join(f"{name:>9}" for name in header), flush=True)
            for name in arguments.pages:
                ours, stock, rate = measure(context, product, bare, folder, name, arguments.rounds)
                ratio = float(np.median(ours) / np.median(stock))
                worst = max(worst, ratio)
                cells = [np.median(ours), np.quantile(ours, 0.95), np.median(stock), np.quantile(stock, 0.95)]
                print(
                    f"{name:24} " + " ".join(f"{cell:9.0f}" for cell in cells) + f" {ratio:9.2f} {rate:9.1f}",
                    flush=True,
                )
    print(f"worst ratio {worst:.2f}; at most {LIMIT}, aim {AIM}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
