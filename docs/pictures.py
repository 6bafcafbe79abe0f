"""The pages as README shows them, taken in Chromium from a dashboard of their own; about two minutes.

python -m docs.pictures [home training …]
"""

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

from dntk_core import RunSpec, load_or_build
from dntk_core.run.across import build_series
from dntk_core.run.series import default_series
from tests.browser.launch import chromium, serve
from tests.browser.tab import Tab

FOLDER = Path(__file__).parent / "pictures"
WIDTH, LOWEST = 1440, 400
# Picture: the link it is taken at, and how many pixels of it are kept; 0 is all.
PAGES = {
    "home": ("", 705),
    "spectra": ("Spectra", 0),
    "gradient_distillation": ("Gradient_distillation", 0),
    "grid_search": ("Grid_search", 0),
    "predictions": ("Predictions?filter=disagree&input=133", 1275),
    "training": ("Training", 1365),
}
HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"


def take(tab: Tab, link: str, kept: int) -> Image.Image:
    """One page from its top, as long as it is or as is kept of it."""
    tab.page.set_viewport_size({"width": WIDTH, "height": LOWEST})
    tab.goto(link)
    tab.page.set_viewport_size({"width": WIDTH, "height": kept or tab.page.evaluate(HEIGHT)})
    tab.page.wait_for_timeout(1000)
    return Image.open(BytesIO(tab.settle().page.screenshot())).convert("RGB")


def _rounded(value: int) -> int:
    """A colour's part to four: nobody sees it, and a quarter of the file is gone."""
    return min(255, (value + 2) // 4 * 4)


def main() -> None:
    wanted = sys.argv[1:] or list(PAGES)
    load_or_build(RunSpec.default())
    if "training" in wanted:
        build_series(default_series())
    log = Path(tempfile.mkdtemp()) / "log"
    with serve("app.py", log) as address, chromium() as browser:
        tab = Tab(browser.new_page(color_scheme="light"), address)
        for name in wanted:
            path = FOLDER / f"{name}.png"
            take(tab, *PAGES[name]).point(_rounded).save(path, optimize=True)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
