"""Selections of real images: distinct, weighted, seeded, and each what its name says."""

import sys
from types import ModuleType

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.base.selections import SELECTIONS, Selection
from dntk_core.base.spec import DatasetSpec, RunSpec
from dntk_core.dataset.selections import Choice, choose

POINTS = np.random.default_rng(0).standard_normal((40, 5)) + 3 * np.repeat(np.eye(5)[:4], 10, axis=0)


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("size", [1, 7, 40])
def test_images_are_distinct_weights_sum_to_one_and_the_seed_decides(name, size):
    first, again = (choose(name, POINTS, size, np.random.default_rng(3)) for _ in range(2))
    assert len(np.unique(first.index)) == size == len(first.weights)
    assert 0 <= first.index.min() and first.index.max() < 40
    assert first.weights.min() > 0 and first.weights.sum() == pytest.approx(1)
    assert np.array_equal(first.index, again.index) and np.array_equal(first.weights, again.weights)


def test_a_new_selection_is_its_module_and_a_row_of_the_table(monkeypatch):
    first = ModuleType("first")
    first.choose = lambda pool: Choice(np.arange(pool.size), np.full(pool.size, 1 / pool.size))
    monkeypatch.setitem(sys.modules, "first", first)
    monkeypatch.setitem(SELECTIONS, "first", Selection("first", "the first images"))
    assert RunSpec(dataset=DatasetSpec("first")).distilled
    assert choose("first", POINTS, 3, np.random.default_rng(0)).index.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", SELECTIONS)
def test_more_images_than_the_class_has_is_refused(name):
    with pytest.raises(DNTKError, match="41 images of a class asked for, but it has only 40"):
        choose(name, POINTS, 41, np.random.default_rng(0))


def covering_radius(index):
    return max(min(np.linalg.norm(point - POINTS[i]) for i in index) for point in POINTS)


def mean_distance(index):
    return np.linalg.norm(POINTS[index].mean(axis=0) - POINTS.mean(axis=0))


def unexplained(index):
    S = POINTS[index]
    return np.sum((POINTS - POINTS @ np.linalg.pinv(S) @ S) ** 2)


def quantisation(index):
    return np.mean([min(np.sum((point - POINTS[i]) ** 2) for i in index) for point in POINTS])


@pytest.mark.parametrize(
    "name, measure",
    [
        ("k-center", covering_radius),
        ("herding", mean_distance),
        ("k-means medoids", quantisation),
        ("pivoted Cholesky", unexplained),
    ],
)
def test_each_beats_most_random_draws_at_what_it_is_for(name, measure):
    ours = np.mean([measure(choose(name, POINTS, 4, np.random.default_rng(seed)).index) for seed in range(20)])
    random = [measure(choose("random", POINTS, 4, np.random.default_rng(seed)).index) for seed in range(60)]
    assert ours < np.median(random)


def test_medoids_weigh_as_many_images_as_they_stand_for():
    points = np.concatenate([np.zeros((30, 2)), np.full((10, 2), 9.0)]) + 0.01 * np.random.default_rng(0).random(
        (40, 2)
    )
    chosen = choose("k-means medoids", points, 2, np.random.default_rng(0))
    assert sorted(chosen.weights) == pytest.approx([0.25, 0.75])
