"""SHIFTS: ways to make images harder without changing what they show, each at STRENGTHS from mild to severe."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter, rotate

STRENGTHS = (1, 2, 3, 4, 5)
# (images (n, channels, height, width) in [0, 1], strength, random numbers) → images in [0, 1]
Shift = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


def noise(images: np.ndarray, strength: int, generator: np.random.Generator) -> np.ndarray:
    """Add Gaussian noise of standard deviation 0.08 a step."""
    return np.clip(images + 0.08 * strength * generator.standard_normal(images.shape), 0, 1)


def blur(images: np.ndarray, strength: int, generator: np.random.Generator) -> np.ndarray:
    """Blur by a Gaussian, 2.5 % of the image's side a step."""
    sigma = 0.025 * strength * images.shape[-1]
    return gaussian_filter(images, (0, 0, sigma, sigma))


def contrast(images: np.ndarray, strength: int, generator: np.random.Generator) -> np.ndarray:
    """Draw pixels to their image's mean, 18 % of the way a step."""
    mean = images.mean(axis=(1, 2, 3), keepdims=True)
    return mean + (1 - 0.18 * strength) * (images - mean)


def rotation(images: np.ndarray, strength: int, generator: np.random.Generator) -> np.ndarray:
    """Turn by 15° a step."""
    return np.clip(rotate(images, 15.0 * strength, axes=(3, 2), reshape=False, order=1, mode="nearest"), 0, 1)


SHIFTS: dict[str, Shift] = {"noise": noise, "blur": blur, "contrast": contrast, "rotation": rotation}
