"""The table of selections: every row names a module that chooses, and says what it does."""

from importlib import import_module

import pytest

from dntk_core.base.selections import SELECTIONS


@pytest.mark.parametrize("name", SELECTIONS)
def test_every_row_names_a_module_that_chooses(name):
    row = SELECTIONS[name]
    assert callable(import_module(row.build).choose) and row.summary
