"""The shared sliders: from the link, into the link, across reruns, never thrown back."""

from streamlit.testing.v1 import AppTest

from dntk_core.dashboard.choices.controls import CONTROLS, Choice, Slider
from dntk_core.dashboard.drawing import literal


def script():
    import streamlit as st

    from dntk_core.dashboard.choices.controls import Limits
    from dntk_core.dashboard.choices.sidebar import apply, publish, sidebar
    from dntk_core.dashboard.choices.view import link

    inputs = st.session_state.get("inputs", 100)
    view = sidebar(Limits(inputs, ("cat", "dog")), ("H", "ridge", "toy"))
    publish({"run": "abc", **link(view)})
    st.button("grid", on_click=apply, kwargs={"H": 5, "tau_v": 0.7, "tau_g": 0.95})
    st.session_state["seen"] = view


def open_app(**parameters):
    app = AppTest.from_function(script)
    for name, text in parameters.items():
        app.query_params[name] = text
    return app.run()


def test_a_link_is_restored_in_a_fresh_session():
    app = open_app(H="4", tau_v="0.6", ridge="0.03", kernel="1", method="kernel PCA")
    view = app.session_state["seen"]
    assert (view.H, view.tau_v, view.ridge, view.kernel, view.method) == (4, 0.6, 0.03, 1, "kernel PCA")
    assert not app.toast and not app.exception


def test_a_slider_changes_view_and_link():
    app = open_app(H="4")
    app.slider(key="view_H").set_value(12).run()
    assert app.session_state["seen"].H == 12
    assert app.query_params["H"] == "12" and app.query_params["run"] == "abc"


def test_an_invalid_link_is_refused_with_a_notice():
    app = open_app(H="4000", tau_v="0.6")
    assert app.session_state["seen"].H == 10 and app.session_state["seen"].tau_v == 0.6
    assert [literal.markdown("H = 4000") in toast.value for toast in app.toast] == [True]
    assert app.query_params["H"] == "10"


def test_a_lagging_link_does_not_throw_a_moved_slider_back():
    app = open_app(H="4")
    app.slider(key="view_H").set_value(12).run()
    app.query_params["H"] = "4"  # the browser had not yet heard of 12
    app.slider(key="view_H").set_value(13).run()
    assert app.session_state["seen"].H == 13


def test_back_in_the_browser_restores_the_earlier_view():
    app = open_app(H="4")
    app.slider(key="view_H").set_value(12).run()
    app.query_params["H"] = "4"
    app.run()
    assert app.session_state["seen"].H == 4 and app.slider(key="view_H").value == 4


def test_a_click_on_the_grid_moves_the_sliders():
    app = open_app()
    app.button[0].click().run()
    assert (app.slider(key="view_H").value, app.session_state["seen"].tau_v) == (5, 0.7)
    assert app.query_params["tau_g"] == "0.95"


def test_a_smaller_run_pulls_the_values_into_its_range():
    app = open_app(H="30", rank="90")
    app.session_state["inputs"] = 40
    app.run()
    assert not app.exception
    assert app.session_state["seen"].H <= 20 and app.session_state["seen"].rank <= 40


def test_a_new_control_is_one_row_of_the_table(monkeypatch):
    monkeypatch.setitem(CONTROLS, "toy", Slider("Toy", "A toy.", 3, lambda limits: (1, limits.inputs), 1, int))
    app = open_app(toy="7")
    assert app.slider(key="view_toy").label == "Toy" and app.session_state["seen"].toy == 7
    app.slider(key="view_toy").set_value(9).run()
    assert app.session_state["seen"].toy == 9 and app.query_params["toy"] == "9"
    assert not app.exception


def test_a_new_choice_is_one_row_of_the_table(monkeypatch):
    row = Choice("Toy", "A toy.", "old", lambda limits: ("old", "new"), shown=lambda value, limits: value.upper())
    monkeypatch.setitem(CONTROLS, "toy", row)
    app = open_app()
    assert app.selectbox(key="view_toy").options == ["OLD", "NEW"]
    app.selectbox(key="view_toy").set_value("new").run()
    assert app.session_state["seen"].toy == "new" and app.query_params["toy"] == "new"
