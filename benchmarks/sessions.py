"""Many people at once: browser sessions that move sliders on one server.

    python -m benchmarks.sessions [--sessions 25] [--seconds 120]

Every session is a tab of its own on one of four pages, with clusters H of its own, and moves that slider as fast as
the page follows. At the end each tab must say what a fresh session says that opens its link. Prints the time from key
press to the finished page and the server's memory; exits with 1 on any error in a page or the log, a mixed state, or
memory that keeps growing.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.async_api import Browser, Page, async_playwright

from dntk_core import RunSpec, load_or_build
from dntk_core.cache.store import Store
from dntk_core.dashboard.offline.pictures import launch_options
from tests.browser.launch import own_tracebacks, serve

PAGES = ("Spectra", "Containment", "Gap_coverage", "Gradient_distillation")
LARGEST_H = 20
READY = ".stApp[data-test-script-state=notRunning] .stHeading"
# The address and the slider say H, and the script that was told so has ended.
SHOWN = """H => new URL(location.href).searchParams.get('H') === H
  && document.querySelector('.stApp').dataset.testScriptState === 'notRunning'"""
GROWTH = 1.3


class Session:
    """One person: a tab, the H it is at, how long each move took, what went wrong."""

    def __init__(self, number: int, tab: Page, address: str):
        self.tab, self.H = tab, 2 + number % (LARGEST_H - 4)
        self.link = f"{address}/{PAGES[number % len(PAGES)]}?H={self.H}"
        self.times: list[float] = []
        self.errors: list[str] = []
        tab.set_default_timeout(180_000)
        tab.on("pageerror", lambda error: self.errors.append(str(error)))

    async def open(self) -> None:
        await self.tab.goto(self.link)
        await self.tab.wait_for_selector(READY)
        self.slider = self.tab.get_by_test_id("stSlider").filter(has_text="Clusters").locator("input[type=range]").first
        await self.slider.wait_for()

    async def move_until(self, end: float, rng: np.random.Generator) -> None:
        """Move the slider to and fro."""
        while time.monotonic() < end:
            step = 1 if self.H <= 2 else -1 if self.H >= LARGEST_H else int(rng.choice((-1, 1)))
            self.H += step
            started = time.monotonic()
            await self.slider.focus()
            await self.tab.keyboard.press("ArrowRight" if step > 0 else "ArrowLeft")
            await self.tab.wait_for_function(SHOWN, arg=str(self.H))
            self.times.append(time.monotonic() - started)
            if await self.slider.input_value() != str(self.H):
                self.errors.append(f"the slider does not stand at {self.H}")
            await asyncio.sleep(rng.uniform(0.5, 1.5))

    async def text(self) -> str:
        """What the page says, once it is drawn."""
        await self.tab.wait_for_selector(READY)
        await self.tab.wait_for_function("document.querySelectorAll('.dntk-plot[data-drawn]').length > 0")
        await self.tab.wait_for_timeout(1000)
        return await self.tab.get_by_test_id("stMain").inner_text()

    async def check_alone(self) -> None:
        """Compare with a fresh session that opens the same link."""
        mine = await self.text()
        address = self.tab.url
        if parse_qs(urlsplit(address).query)["H"] != [str(self.H)]:
            self.errors.append("the address is another session's")
        await self.tab.goto("about:blank")
        await self.tab.goto(address)
        if mine != await self.text():
            self.errors.append(f"{address} says something else to a fresh session")


def server_memory() -> int:
    """Resident bytes of the Streamlit server that this process started."""
    for child in Path("/proc/self/task").glob("*/children"):
        for pid in child.read_text().split():
            process = Path(f"/proc/{pid}")
            if b"streamlit" in (process / "cmdline").read_bytes():
                (line,) = [x for x in (process / "status").read_text().splitlines() if x.startswith("VmRSS")]
                return int(line.split()[1]) * 1024
    return 0


async def crowd(browser: Browser, address: str, sessions: int, seconds: float) -> tuple[list[Session], list[int]]:
    """Let all sessions move at once; the server's memory at the start, half-way and at the end."""
    context = await browser.new_context(viewport={"width": 1280, "height": 720})
    people = [Session(i, await context.new_page(), address) for i in range(sessions)]
    for person in people:
        await person.open()
    memory, end = [server_memory()], time.monotonic() + seconds
    moves = [asyncio.create_task(person.move_until(end, np.random.default_rng(i))) for i, person in enumerate(people)]
    await asyncio.sleep(seconds / 2)
    memory.append(server_memory())
    await asyncio.gather(*moves)
    memory.append(server_memory())
    for person in people:
        await person.check_alone()
    return people, memory


async def measure(address: str, sessions: int, seconds: float) -> tuple[list[Session], list[int]]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options())
        try:
            return await crowd(browser, address, sessions, seconds)
        finally:
            await browser.close()


def main() -> int:
    """Print one table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sessions", type=int, default=25)
    options.add_argument("--seconds", type=float, default=120)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load_or_build(RunSpec.default(), store=Store(folder))
        log = Path(folder) / "server.log"
        with serve("app.py", log, DNTK_CACHE_DIR=folder, OMP_NUM_THREADS="1") as address:
            people, memory = asyncio.run(measure(address, arguments.sessions, arguments.seconds))
        failed = own_tracebacks(log.read_text())
    times = np.concatenate([person.times for person in people])
    errors = [error for person in people for error in person.errors] + failed
    growth = memory[2] / memory[1]
    print("| sessions | seconds | moves | median, s | p95, s | server MB: start, half, end | errors |")
    print("|---" * 7 + "|")
    megabytes = ", ".join(f"{value / 1e6:.0f}" for value in memory)
    print(
        f"| {len(people)} | {arguments.seconds:.0f} | {len(times)} | {np.median(times):.2f} "
        f"| {np.quantile(times, 0.95):.2f} | {megabytes} | {len(errors)} |"
    )
    print("\n".join(errors[:20]))
    return int(bool(errors) or growth > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
