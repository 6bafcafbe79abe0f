"""Many people exporting at once: browsers that ask one server for the same run at settings of their own.

    python -m benchmarks.exports [--sessions 10] [--each 3]

Every session is a browser profile of its own on the Export page, at a ridge and clusters H that nobody else has. All
press "Make the file" together, download it, and read it back: its manifest must name their own settings, its name must
be nobody else's.
Prints how many were their own; exits with 1 if any was another's, or on an error in the server's log.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from benchmarks.sessions import READY
from dntk_core import RunSpec, load_or_build
from dntk_core.cache.store import Store
from dntk_core.dashboard.offline.pictures import launch_options
from dntk_core.readout.leave_one_out import RIDGES
from dntk_core.run.export import load_distilled
from tests.browser.launch import own_tracebacks, serve

PATIENCE = 300_000


Setting = tuple[float, int]
# Of a file: its name, the ridge and H that were asked for, and those that it was made with.
Exported = tuple[str, Setting, Setting]


async def export(tab: Page, address: str, asked: Setting, folder: Path) -> Exported:
    """Make and download a file."""
    ridge, H = asked
    await tab.goto(f"{address}/Export?H={H}&tau_v=0.5&tau_g=0.9&ridge={ridge:g}")
    await tab.wait_for_selector(READY)
    await tab.get_by_role("button", name="Make the file").click()
    button = tab.get_by_role("button", name="Download the set")
    await button.wait_for()
    async with tab.expect_download() as download:
        await button.click()
    got = await download.value
    folder.mkdir()
    await got.save_as(path := folder / got.suggested_filename)
    manifest = load_distilled(path).manifest
    return path.name, asked, (manifest["ridge"], manifest["settings"]["H"])


async def crowd(browser: Browser, address: str, sessions: int, each: int, folder: Path) -> list[Exported]:
    """All sessions at once, each with one file after the other."""

    async def person(number: int) -> list[Exported]:
        tab = await (await browser.new_context(accept_downloads=True)).new_page()
        tab.set_default_timeout(PATIENCE)
        turns = (divmod(number + sessions * turn, len(RIDGES)) for turn in range(each))
        settings = [(float(RIDGES[place]), 4 + more) for more, place in turns]
        return [await export(tab, address, asked, folder / f"{number}-{i}") for i, asked in enumerate(settings)]

    everybody = await asyncio.gather(*(person(number) for number in range(sessions)))
    return [file for person in everybody for file in person]


async def measure(address: str, sessions: int, each: int, folder: Path) -> list[Exported]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options())
        try:
            return await crowd(browser, address, sessions, each, folder)
        finally:
            await browser.close()


def main() -> int:
    """Print one line."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sessions", type=int, default=10)
    options.add_argument("--each", type=int, default=3)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache, got = Path(folder) / "cache", Path(folder) / "got"
        got.mkdir()
        load_or_build(RunSpec.default(), store=Store(cache))
        log = Path(folder) / "server.log"
        with serve("app.py", log, DNTK_CACHE_DIR=str(cache), OMP_NUM_THREADS="1") as address:
            exports = asyncio.run(measure(address, arguments.sessions, arguments.each, got))
        failed = own_tracebacks(log.read_text())
    foreign = [f"{name}: asked {asked}, got {got}" for name, asked, got in exports if asked != got]
    names = len({name for name, _, _ in exports})
    own = len(exports) - len(foreign)
    print(f"{len(exports)} exports by {arguments.sessions} browsers at once: {own} their own, {names} names")
    print("\n".join([*foreign, *failed]))
    return int(bool(foreign or failed) or names < len(exports))


if __name__ == "__main__":
    sys.exit(main())
