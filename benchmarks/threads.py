"""The first look at every page of the embedded run: as the dashboard does it, and with other numbers of BLAS threads.

    python -m benchmarks.threads [--pages Spectra Curves] [--busy 2]

Every look is a process of its own, in turn: ours, then BLAS on 1, 2 and all cores with nothing side by side. With
--busy, so many other programs compute at the same time. Prints seconds by the clock, the ratio of ours to the best of
the others, and our processor time; exits with 1 if a ratio exceeds 1.3 or a page takes more than 3 s of processor time.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

LIMIT, PROCESSOR = 1.3, 3.0
OURS = 0


def look(name: str, threads: int) -> None:
    """Print seconds by the clock and of the processor for one page in this process; OURS leaves all as it is."""
    from threadpoolctl import threadpool_limits

    from dntk_core import RunSpec, load_or_build
    from dntk_core.base import threads as product
    from dntk_core.dashboard.choices.view import View
    from dntk_core.dashboard.offline.pages import page_of
    from dntk_core.dashboard.sections import SECTIONS, budget, curves

    # What these two show first; the rest is asked for, or computed once the page stands.
    first = {"Curves": lambda here: curves.panel(here, "size"), "Error budget": lambda here: budget.panels(here, False)}
    run = load_or_build(RunSpec.default())
    if threads != OURS:
        product._limit = lambda threads: None
        product.cores = lambda: 1
        threadpool_limits(threads)
    clock, processor = perf_counter(), process_time()
    first.get(name, SECTIONS[name])(page_of(run, View()))
    print(perf_counter() - clock, process_time() - processor)


def timed(name: str, threads: int) -> tuple[float, float]:
    """Look at a page in a process of its own."""
    free = {key: value for key, value in os.environ.items() if not key.endswith("NUM_THREADS")}
    command = [sys.executable, "-m", "benchmarks.threads", "--child", name, str(threads)]
    said = subprocess.run(command, env=free, check=True, capture_output=True, text=True).stdout
    clock, processor = map(float, said.split())
    return clock, processor


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Let so many other programs compute."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()


def main() -> int:
    """Print one table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pages", nargs="+")
    options.add_argument("--busy", type=int, default=0)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--child", nargs=2)
    arguments = options.parse_args()
    if arguments.child:
        look(arguments.child[0], int(arguments.child[1]))
        return 0
    from dntk_core.dashboard.sections import SECTIONS

    others = sorted({1, 2, os.cpu_count() or 1})
    print(f"{'page':24} {'ours, s':>8} " + " ".join(f"{n:>3} thr." for n in others) + "   ratio  processor, s")
    missed = False
    with busy(arguments.busy):
        for name in arguments.pages or SECTIONS:
            rounds = [[timed(name, threads) for threads in (OURS, *others)] for _ in range(arguments.rounds)]
            # The least of the rounds: other programs only lengthen.
            clock = [min(each[i][0] for each in rounds) for i in range(len(others) + 1)]
            processor = min(each[0][1] for each in rounds)
            ratio = clock[0] / min(clock[1:])
            missed |= ratio > LIMIT or processor > PROCESSOR
            cells = " ".join(f"{value:8.2f}" for value in clock)
            print(f"{name:24} {cells} {ratio:7.2f} {processor:9.2f}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
