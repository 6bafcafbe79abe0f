"""Sealed documents: any change of what they say is seen, another way to write the same is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import Damaged
from dntk_core.cache.sealed import SEAL, check_seal, sealed
from tests.synthetic import examples

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
documents = st.dictionaries(st.text().filter(lambda name: name != SEAL), values, min_size=1, max_size=4)


@examples
@given(documents, st.data())
def test_every_change_is_seen(document, data):
    whole = sealed(document)
    check_seal(json.loads(json.dumps(whole, indent=3)))
    name = data.draw(st.sampled_from(sorted(document)))
    other = data.draw(values.filter(lambda value: json.dumps(value) != json.dumps(document[name])))
    for changed in (whole | {name: other}, {key: value for key, value in whole.items() if key != name}):
        with pytest.raises(Damaged):
            check_seal(changed)


def test_a_document_without_a_seal_is_an_older_version_s():
    check_seal({"a": 1})


def test_what_cannot_be_written_down_is_damaged():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(Damaged, match="unknown form"):
        check_seal({"a": deep, SEAL: "x"})
