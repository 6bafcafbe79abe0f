"""scikit-learn's bundled 8×8 digits."""

from typing import Any

import numpy as np

from dntk_core.base.spec import DataSpec
from dntk_core.data.sources.source import RawDataset, Split, resized


def load(spec: DataSpec) -> RawDataset:
    """Load 1,297 for training, 500 for testing, split once and for all."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    bundled: Any = load_digits()
    images = (bundled.images / 16).astype(np.float32)[:, None]
    labels = bundled.target.astype(np.int64)
    halves = train_test_split(np.arange(len(labels)), test_size=500, stratify=labels, random_state=0)
    names = tuple(str(name) for name in bundled.target_names)
    train, test = (Split(resized(images[half], spec), labels[half]) for half in halves)
    return RawDataset(train, test, names, flip=False)
