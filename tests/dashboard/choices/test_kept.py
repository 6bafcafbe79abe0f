"""What a page asks for itself: the link speaks first, then the person, and what makes no sense is the default."""

import pytest
from streamlit.testing.v1 import AppTest


def script():
    import streamlit as st

    from dntk_core.dashboard.choices.kept import keep, recall

    link: dict[str, str] = {}
    key = recall("count", int, 5)
    st.number_input("Count", 0, 100, key=key)
    keep(link, "count", str(st.session_state[key]))
    st.session_state["published"] = link
    st.query_params.from_dict(link)
    st.text(st.session_state[key])


@pytest.mark.parametrize("text, value", [(None, "5"), ("7", "7"), ("seven", "5"), ("", "5")])
def test_the_link_is_read_once(text, value):
    app = AppTest.from_function(script)
    if text is not None:
        app.query_params["count"] = text
    assert app.run().text[0].value == value and not app.exception


def test_what_a_person_enters_is_in_the_link_and_a_changed_link_wins_later():
    app = AppTest.from_function(script)
    app.query_params["count"] = "7"
    app.run().number_input[0].set_value(9).run()
    assert app.text[0].value == "9" and app.query_params["count"] in ("9", ["9"])
    app.query_params["count"] = "11"
    assert app.run().text[0].value == "11"
