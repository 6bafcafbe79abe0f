"""What the server computes for every slider of every page, in processor time: whatever else the machine does.

    python -m benchmarks.frames [--pages Spectra Containment]

"new": a value that nobody has looked at yet, median of three; "again": the same values once more. These are the figures
that the browser fetches while a slider moves; what the browser itself takes to draw them is in `benchmarks.dashboard`.
The first look is the page's whole script in a fresh process, the run already open, in seconds.
"""

import argparse
import os
import subprocess
import sys
from statistics import median
from time import process_time, thread_time

from dntk_core import RunSpec
from dntk_core.dashboard.choices.controls import CONTROLS
from dntk_core.dashboard.drawing.navigation import pages, site

NEW = 3


def look(page: str, run: str) -> None:
    """Print the rows of one page, in this process."""
    from streamlit.testing.v1 import AppTest

    from dntk_core.dashboard import cached

    cached.live(run)
    app = AppTest.from_file(str(site() / page), default_timeout=600)
    app.query_params["run"] = run
    started = process_time()
    app.run()
    first = process_time() - started
    answer = app.session_state["frames"].answer
    if answer is None:
        return
    title = page.split("_", 1)[1].removesuffix(".py").replace("_", " ")
    for slider in (*app.sidebar.slider, *app.sidebar.select_slider):
        name = slider.key.removeprefix("view_")
        found = [(spent(answer, name, value), spent(answer, name, value)) for value in values(slider, name)]
        new, again = (median(column) for column in zip(*found, strict=True))
        print(f"| {title} | {CONTROLS[name].label} | {new:.0f} | {again:.0f} | {first:.1f} |", flush=True)


def values(slider, name: str) -> list[str]:
    """Texts of the values beside the one where a slider stands."""
    if name == "H":
        return [str(slider.value + step) for step in range(1, NEW + 1)]
    texts = list(slider.options)
    here = min(range(len(texts)), key=lambda place: abs(float(texts[place]) - slider.value))
    return sorted(texts, key=lambda text: abs(texts.index(text) - here))[1 : NEW + 1]


def spent(answer, name: str, value: str) -> float:
    """Milliseconds of processor time of one frame."""
    started = thread_time()
    answer({name: value})
    return 1000 * (thread_time() - started)


def main() -> int:
    """Print one table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pages", nargs="+", default=[label for _, label in pages()[1:]])
    options.add_argument("--run", default=RunSpec.default().key, help="a finished run; Layers asks for one with groups")
    options.add_argument("--child", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.child:
        look(arguments.child, arguments.run)
        return 0
    print("| page | slider | new, ms | again, ms | first look, s |\n|---|---|---|---|---|", flush=True)
    for file, label in pages()[1:]:
        if label in arguments.pages:
            command = [sys.executable, "-m", "benchmarks.frames", "--child", file, "--run", arguments.run]
            # On one core no thread helps out, whose time would not be counted.
            one = os.environ | {"OMP_NUM_THREADS": "1"}
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL, env=one)
    return 0


if __name__ == "__main__":
    sys.exit(main())
