"""Logits as probabilities."""

import numpy as np


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Return softmax(z / T), (n, C), for logits z (n, C).

    >>> softmax(np.array([[0.0, 0.0], [1e4, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    scaled = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    return scaled / scaled.sum(axis=1, keepdims=True)
