"""Results as tables for other tools: one row per thing, plain columns, counted from 1 as on the pages."""

import numpy as np
import pandas as pd

from dntk_core.base.numbering import FIRST, number
from dntk_core.distill import Mixing
from dntk_core.kernels.spectrum import Spectrum
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import predict


def gradients_table(problem: Problem, mixing: Mixing, class_names: tuple[str, ...]) -> pd.DataFrame:
    """One row per distilled gradient: where it came from and its soft label A Y."""
    labels = mixing.matrix @ problem.targets
    return pd.DataFrame(
        {
            "gradient": FIRST + np.arange(mixing.size),
            "origin": [row.kind for row in mixing.origin],
            "cluster": pd.array(
                [None if row.cluster is None else number(row.cluster) for row in mixing.origin], dtype="Int64"
            ),
            "index": [number(row.index) for row in mixing.origin],
        }
        | {f"target {name}": labels[:, c] for c, name in enumerate(class_names)}
    )


def weights_table(mixing: Mixing) -> pd.DataFrame:
    """One row per entry of A that is not zero."""
    gradient, source = np.nonzero(mixing.matrix)
    weights = mixing.matrix[gradient, source]
    return pd.DataFrame({"gradient": gradient + FIRST, "input": source + FIRST, "weight": weights})


def predictions_table(
    problem: Problem, mixing: Mixing, ridge: float, class_names: tuple[str, ...], by: str = "paper"
) -> pd.DataFrame:
    """One row per test input: its class, and what the network and the distilled kernel say."""
    predictions = predict(problem.kernels, problem.targets, mixing, ridge, by)
    names = np.array(class_names)
    columns = {
        "input": FIRST + np.arange(len(predictions)),
        "class": names[problem.labels],
        "network": names[problem.logits.argmax(axis=1)],
        "distilled": names[predictions.argmax(axis=1)],
    }
    for c, name in enumerate(class_names):
        columns |= {f"network {name}": problem.logits[:, c], f"distilled {name}": predictions[:, c]}
    return pd.DataFrame(columns)


def spectra_table(spectra: tuple[Spectrum, ...], class_names: tuple[str, ...]) -> pd.DataFrame:
    """One row per eigenvalue of every class kernel, largest first."""
    parts = [
        pd.DataFrame({"class": name, "index": np.arange(1, len(each.values) + 1), "eigenvalue": each.values})
        for name, each in zip(class_names, spectra, strict=True)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["class", "index", "eigenvalue"])
