"""A small artifact, and how to put it into a store."""

import multiprocessing

import numpy as np

fork = multiprocessing.get_context("fork")


def build_small(bench):
    return {"numbers": np.arange(6.0).reshape(2, 3), "raw.bin": b"abc"}, {"remark": 1}


def put(store, stage="model", key="k", build=build_small):
    return store.load_or_build(stage, key, "{}", build)
