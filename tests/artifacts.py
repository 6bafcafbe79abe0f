"""A small artifact, and how to put it into a store."""

import json
import multiprocessing

import numpy as np

from dntk_core.cache.sealed import sealed

fork = multiprocessing.get_context("fork")


def build_small(bench):
    return {"numbers": np.arange(6.0).reshape(2, 3), "raw.bin": b"abc"}, {"remark": 1}


def put(store, stage="model", key="k", build=build_small):
    return store.load_or_build(stage, key, "{}", build)


def rewrite(meta, change):
    """Change a description as another version of the program would, with a seal that fits."""
    meta.write_text(json.dumps(sealed(json.loads(meta.read_text()) | change)))
