"""Soft labels: a network's raw logits on distilled images, and the shares that another network learns."""

import numpy as np

# At temperature 1 the shares are nearly one-hot and say little more than the class.
TEMPERATURE = 4.0


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Return softmax(z / T), (n, C), for logits z (n, C)."""
    scaled = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    return scaled / scaled.sum(axis=1, keepdims=True)


def shares(logits: np.ndarray) -> np.ndarray:
    """Return the shares of the classes that a student learns: softmax(z / T), (m, C), for soft labels z (m, C)."""
    return softmax(logits, TEMPERATURE)
