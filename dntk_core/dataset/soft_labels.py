"""Soft labels: a network's raw logits on distilled images, and the shares that another network learns."""

import numpy as np

from dntk_core.readout.probabilities import softmax

# At temperature 1 the shares are nearly one-hot and say little more than the class.
TEMPERATURE = 4.0


def shares(logits: np.ndarray) -> np.ndarray:
    """Return the shares of the classes that a student learns: softmax(z / T), (m, C), for soft labels z (m, C)."""
    return softmax(logits, TEMPERATURE)
