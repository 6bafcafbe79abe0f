"""Time a change of test image on the page Predictions: everything the page computes for it, figures included.

    python -m benchmarks.explaining [--m 500 20000]

Runs are of synthetic features, C = 10 classes, k = 2048, 2,000 test inputs; with 20,000 kernel inputs they stay on disk
and are mapped. The 50 distilled gradients are inputs drawn at random: a look takes as long with those of any method,
which need not be waited for here. For every question: the first look, with all that is remembered from then on, and the
median and the longest of looks at other test inputs; processor time of one thread, which on a quiet core is what the
clock shows. Exits with 1 if a change takes more than 50 ms at m = 500 or more than 1 s at m = 20,000.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.scale_m import made
from dntk_core.cache.store import Store
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.inputs import cards
from dntk_core.dashboard.offline.pages import page_of
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import predictions
from dntk_core.distill.mixing import selection
from dntk_core.readout.ridge import READOUTS
from dntk_core.run.pipeline import Run

K, GRADIENTS = 2048, 50
LOOKS = (11, 1999, 503, 77, 1204)
FULL = "full"
# Every way, and every readout where it makes a difference.
QUESTIONS = (
    *(("contribution", "logits", name) for name in ("paper", FULL)),
    *(("leave-one-out", "labels", name) for name in (*READOUTS, FULL)),
    *(("trak", "labels", name) for name in ("paper", FULL)),
    ("cosine", "labels", FULL),
)
# Seconds, up to so many kernel inputs.
LIMITS = {4000: 0.05, 20000: 1.0}


def look(here: Page, question: predictions.Question) -> float:
    """Do what the page does for a test input; its processor seconds."""
    started = process_time()
    shown = predictions.matching(here, "all")[:24].tolist()
    predictions.notes(here, shown)
    found = predictions.explanation(here, question)
    predictions.panels(here, question, found)
    for_, against, _ = found.speakers(predictions.SPEAKERS)
    if found.synthetic is not None:
        predictions.behind(here, question, found, predictions.strongest(found))
    for inputs in (for_, against):
        cards(here.run, "kernel", inputs.tolist())
    return process_time() - started


def table(run: Run) -> bool:
    """Print one line per question; whether the limit is kept."""
    m = len(run.train_labels)
    limit = next(seconds for most, seconds in LIMITS.items() if m <= most)
    print(f"\nm = {m:,}, limit {limit * 1e3:.0f} ms; processor milliseconds")
    print(f"{'way':16} {'targets':8} {'readout':10} {'first look':>12} {'median':>8} {'longest':>8}")
    drawn, kept = selection(np.random.default_rng(0).permutation(m)[:GRADIENTS], m), True
    predictions.current_mixing = lambda live, view: drawn
    for way, targets, name in QUESTIONS:
        here = page_of(run, View(readout=name if name in READOUTS else "paper"))
        first, *times = (
            look(here, predictions.Question(input, None, None, targets, way, name in READOUTS)) * 1e3
            for input in (0, *LOOKS)
        )
        kept &= max(times) <= limit * 1e3
        print(f"{way:16} {targets:8} {name:10} {first:12.0f} {np.median(times):8.1f} {max(times):8.1f}", flush=True)
    return kept


def main() -> int:
    """Print a table per number of inputs."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--m", type=int, nargs="+", default=[500, 20000])
    kept = True
    for m in options.parse_args().m:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["DNTK_CACHE_DIR"] = str(Path(folder) / "cache")
            kept &= table(made(Path(folder), Store(), m, "slow", K))
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
