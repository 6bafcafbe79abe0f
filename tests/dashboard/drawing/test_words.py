"""Inputs that are no pictures, in words."""

import numpy as np
import pytest

from dntk_core.dashboard.drawing.words import described

IDS, MASK = np.array([2, 1, 0, 0]), np.array([1, 1, 0, 0])
WORDS = ("<pad>", "cat", "the")


@pytest.mark.parametrize(
    ("kind", "one", "words", "said"),
    [
        ("table", np.array([1.5, -2.0]), ("age", "mass"), "age 1.5\nmass -2"),
        ("table", np.array([1.5, 123456.0]), ("age",), "age 1.5\n2 1.23e+05"),
        ("table", np.arange(9.0), (), "1 0\n2 1\n3 2\n4 3\n5 4\n6 5\n…"),
        ("tokens", IDS, WORDS, "the cat <pad> <pad>"),
        ("tokens", {"ids": IDS, "mask": MASK}, WORDS, "the cat"),
        ("tokens", {"attention_mask": MASK, "input_ids": IDS}, WORDS, "the cat"),
        ("tokens", {"input_ids": IDS, "token_type_ids": 0 * IDS, "attention_mask": MASK}, WORDS, "the cat"),
        ("tokens", (IDS, MASK.astype(bool)), (), "2 1"),
        ("tokens", np.array([7, 2]), WORDS, "7 the"),
        ("array", {"a": np.zeros((2, 3)), "b": np.array(1.0)}, (), "2 × 3, 0 to 0\none number, 1 to 1"),
    ],
)
def test_an_input_in_words(kind, one, words, said):
    assert described(kind, one, words) == said


def test_a_long_text_is_cut():
    assert described("tokens", np.ones(500, int), WORDS).endswith("cat …")
