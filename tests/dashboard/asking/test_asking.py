"""What a click opens has the numbers of the point that was clicked."""

import pytest
from streamlit.testing.v1 import AppTest

from dntk_core.dashboard.asking.errors import errors, lost
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.metrics import METRICS, written
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import health
from dntk_core.run.live import Live


@pytest.fixture(scope="module")
def here(default_run) -> Page:
    return Page(default_run, Live(default_run.problem), View(), {})


def opening(here: Page, text: str) -> AppTest:
    """What a pick opens, by itself."""

    def script(here, pick):
        import streamlit as st

        from dntk_core.dashboard.asking.opened import OPENED

        st.markdown(OPENED[pick.kind](here, pick))

    return AppTest.from_function(script, kwargs={"here": here, "pick": Pick.read(text)}, default_timeout=60).run()


def test_a_setting_is_opened_with_its_scores_and_taken_by_a_button(here):
    app = opening(here, "setting 5 0.9 0.95")
    mixing = here.live.local_global(5, 0.9, 0.95)
    fidelity, t = here.live.scores(mixing, here.view.ridge).fidelity, len(here.run.test_labels)
    row = app.dataframe[0].value.iloc[0]
    assert row["gradients s"].startswith(f"{mixing.size} (")
    assert row["Fidelity"] == written(METRICS["fidelity"], fidelity, t)
    assert any(each.value.startswith(f"{round((1 - fidelity) * t)} of {t}") for each in app.caption)
    app.button(key="use_setting").click().run()
    assert [app.session_state[f"view_{name}"] for name in ("H", "tau_v", "tau_g")] == [5, 0.9, 0.95]
    for wrong in ("setting 5", "setting x 0.9 0.9", "setting 500 0.9 0.9", "setting 5 nan 2"):
        assert "no such setting" in opening(here, wrong).caption[0].value


def test_a_dimension_is_opened_with_what_a_run_of_it_takes(here):
    app = opening(here, "dimension 128")
    assert "128 dimensions" in app.caption[0].value and app.button(key="other_k").label == "Compute it with k = 128"
    assert opening(here, f"dimension {here.run.k}").caption[-1].value == "This is the open run."


def test_inputs_behind_a_rank_and_behind_what_is_left_out_are_as_many_as_their_scores_say(here):
    live, run, t, m = here.live, here.run, len(here.run.test_labels), len(here.run.targets)
    ranked = live.rank_curve([12], here.view.ridge)
    left = health.insight(here).fit("logits", None, here.view.ridge).left_out
    scores = live.leave_one_out([here.view.ridge])
    for metric in ("accuracy", "fidelity"):
        found = errors(live, here.view, metric, "rank:12")
        assert found is not None and len(found.index) == round((1 - ranked[metric][0]) * t)
        unseen = lost(metric, run.targets - left, run.targets, run.train_labels)
        assert len(unseen.index) == round((1 - getattr(scores, metric)[0]) * m)
