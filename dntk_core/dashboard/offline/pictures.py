"""Figures as PNG files, drawn by any Chrome or Chromium there is."""

import base64
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import plotly.graph_objects as go
from PIL import Image
from plotly.offline import get_plotlyjs

from dntk_core.base.errors import DNTKError

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH = 1000
# Axes make room for their labels, as the page's theme has them.
_DRAW = """async ([text, width]) => {
  const figure = JSON.parse(text);
  const roomy = {xaxis: {automargin: true}, yaxis: {automargin: true}};
  const layout = {paper_bgcolor: "white", plot_bgcolor: "white", ...figure.layout, template: {layout: roomy}};
  return await Plotly.toImage({data: figure.data, layout}, {format: "png", width, height: layout.height, scale: 2});
}"""


def launch_options(*flags: str) -> dict:
    """Which browser Playwright is to start, and how: $DNTK_CHROME first, else what is installed, else its own."""
    found = [os.environ.get("DNTK_CHROME"), *map(shutil.which, NAMES)]
    return {"executable_path": next(filter(None, found), None), "args": [*FLAGS, *flags]}


@contextmanager
def chromium(*flags: str) -> Iterator:
    """Start a browser, with flags beside the usual ones, and end it."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise DNTKError("pictures need Playwright; `pip install playwright`") from None
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(**launch_options(*flags))
        except Error:
            raise DNTKError("no Chrome or Chromium was found; install one, or set DNTK_CHROME to it") from None
        try:
            yield browser
        finally:
            browser.close()


def save_pictures(figures: dict[Path, go.Figure]) -> None:
    """Draw each figure into its file."""
    # In a thread of its own: a notebook's has an event loop already, beside which Playwright starts no other.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_draw_all, figures).result()


def _draw_all(figures: dict[Path, go.Figure]) -> None:
    with chromium() as browser:
        page = browser.new_page()
        page.set_content("<html><body></body></html>")
        page.add_script_tag(content=get_plotlyjs())
        for path, figure in figures.items():
            picture = page.evaluate(_DRAW, [figure.to_json(), WIDTH])
            drawn = Image.open(BytesIO(base64.b64decode(picture.partition(",")[2]))).convert("RGB")
            # Few colours: a third of the size, and nothing that can be seen is lost.
            drawn.quantize(256).save(path, optimize=True)
