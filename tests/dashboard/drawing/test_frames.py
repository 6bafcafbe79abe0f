"""Frames: what the browser fetches while a slider moves is what the page shows when the slider has arrived."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from dntk_core.dashboard.drawing import frames, navigation
from dntk_core.dashboard.sections import uncertainty

PAGES = [
    ("1_Spectra", {"H": "3", "epsilon": "0.2"}),
    ("2_Containment", {"H": "3", "rank": "5"}),
    ("3_Gap_coverage", {"H": "3", "tau_g": "0.9"}),
    ("4_Gradient_distillation", {"H": "3", "ridge": "0.01"}),
    ("5_Curves", {"ridge": "0.01"}),
    ("8_Error_budget", {"ridge": "0.01"}),
    ("9_Predictions", {"tau_v": "0.6"}),
    ("11_Kernel_health", {"ridge": "0.01"}),
]


def opened(page: str, run: str, **parameters: str) -> frames.Frames:
    """A page in a session of its own."""
    app = AppTest.from_file(str(navigation.site() / "pages" / f"{page}.py"), default_timeout=120)
    app.query_params.update({"run": run, **parameters})
    app.run()
    assert not app.exception and not app.error
    return app.session_state["frames"]


@pytest.mark.parametrize(("page", "moved"), PAGES)
def test_a_frame_is_what_the_page_shows_there(page, moved, tiny_run):
    before, after = opened(page, tiny_run.key), opened(page, tiny_run.key, **moved)
    shown = after.answer({})
    assert before.answer(moved) == shown
    assert before.answer({}) != shown


def test_only_a_session_that_is_there_and_values_that_it_allows_are_answered(tiny_run):
    found = opened("1_Spectra", tiny_run.key)
    client = TestClient(Starlette(routes=[frames.route()]))
    frames._sessions[found.name] = found

    def ask(name: str, **parameters: str) -> tuple[int, list[str]]:
        answer = client.get(f"{frames.PATH}/{name}", params=parameters)
        return answer.status_code, answer.text.split("\n")[::2]

    assert ask(found.name, H="3") == (200, ["spectra", "redundancy", "kernel"])
    for H in ("0", "-1", "x", "1e9", ""):
        assert ask(found.name, H=H) == (204, [""])
    assert ask("nobody", H="3") == (204, [""])
    assert ask(found.name, run="another", H="3") == ask(found.name, H="3")


def test_uncertainty_shows_no_slider_that_its_figures_ignore(tiny_run):
    found = opened("10_Uncertainty", tiny_run.key)
    assert "ridge" not in uncertainty.USES and found.answer({}) == found.answer({"ridge": "0.1"})


def test_what_is_made_ahead_of_a_move_gives_way_and_is_the_same(tiny_run, monkeypatch):
    monkeypatch.setattr(frames, "REST", 0.0)
    found = opened("1_Spectra", tiny_run.key)
    client = TestClient(Starlette(routes=[frames.route()]))
    frames._sessions[found.name] = found

    def ask(**headers: str):
        return client.get(f"{frames.PATH}/{found.name}", params={"H": "3"}, headers=headers)

    other = frames.Frames()
    with frames.awaited.by(other):
        assert ask(Purpose="prefetch").status_code == 204, "someone waits for something else"
    assert ask(Purpose="prefetch").status_code == 204, "someone else waited a moment ago"
    monkeypatch.setattr(frames, "ALONE", 0.0)
    with frames.awaited.by(found):
        pass
    ahead = ask(Purpose="prefetch")
    assert ahead.status_code == 200 and ahead.content == ask().content
    found.took = 2 * frames.LONG
    assert ask(Purpose="prefetch").status_code == 204, "it takes long"
