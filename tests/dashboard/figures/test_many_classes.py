"""Figures of a hundred classes: legends, ticks and bars that can still be read."""

import numpy as np

from dntk_core.dashboard.figures import spectra
from dntk_core.dashboard.figures.distillation import TICKS, class_ticks
from dntk_core.dashboard.figures.predictions import CLASSES, logits
from dntk_core.kernels.spectrum import Spectrum
from dntk_core.run.insight import Explanation

NAMES = [f"class {c}" for c in range(100)]


def test_a_legend_names_the_mean_the_chosen_kernel_and_the_extremes():
    found = {
        name: Spectrum(np.geomspace(1, 10.0 ** (-2 - i % 7), 30), np.eye(30), 1.0, 30) for i, name in enumerate(NAMES)
    }
    figure = spectra.spectra({"mean": found["class 3"]} | found, 0.05, "class 50")
    shown = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert {"mean", "class 50"} < set(shown) and len(shown) <= 5
    few = spectra.spectra({name: found[name] for name in NAMES[:10]}, 0.05, "class 5")
    assert all(trace.showlegend is not False for trace in few.data)


def test_ticks_of_many_classes_are_some_of_their_numbers():
    assert class_ticks(NAMES)["ticktext"] == [str(c) for c in range(0, 100, 5)]
    assert len(class_ticks(NAMES[:TICKS])["tickvals"]) == TICKS


def test_scores_are_drawn_of_the_label_and_of_those_that_score_most():
    rng = np.random.default_rng(0)
    network, full = rng.standard_normal(100), rng.standard_normal(100)
    found = Explanation(0, np.eye(100)[7], network, full, None, np.zeros(3), 0.0, None)
    figure = logits(found, NAMES, 7, scaled=False)
    assert len(figure.data[0].x) <= CLASSES and "class 7 (label)" in figure.data[0].x
    assert f"class {network.argmax()}" in "".join(figure.data[0].x)
