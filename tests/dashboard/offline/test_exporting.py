"""Exports: everybody gets the file of the settings on their own page, however many make one at once."""

from concurrent.futures import ThreadPoolExecutor

from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.offline.exporting import file_stem, make_distilled
from dntk_core.dashboard.page import Page
from dntk_core.run.export import load_distilled
from dntk_core.run.live import Live

SESSIONS, EACH = 10, 3


def test_of_thirty_exports_by_ten_sessions_all_are_their_own(default_run, tmp_path):
    live = Live(default_run.problem)

    def session(number: int) -> list[tuple[str, float, float]]:
        """Export the same number of gradients at three ridges of one's own, and read back what is handed out."""
        found = []
        for turn in range(EACH):
            ridge = 1e-4 * (1 + number + SESSIONS * turn)
            view = View().replace(method="kernel PCA", H=5, tau_v=0.5, ridge=ridge)
            made = make_distilled(Page(default_run, live, view, {}), ".safetensors")
            (folder := tmp_path / f"{number}-{turn}").mkdir()
            (folder / made.name).write_bytes(made.content)
            found.append((made.name, ridge, load_distilled(folder / made.name).manifest["ridge"]))
        return found

    with ThreadPoolExecutor(SESSIONS) as pool:
        exports = [each for session in pool.map(session, range(SESSIONS)) for each in session]
    assert len(exports) == 30 and sum(asked == got for _, asked, got in exports) == 30
    # Nor would one file take another's name where both are kept.
    assert len({name for name, _, _ in exports}) == 30


def test_no_two_settings_share_a_name_whatever_of_them_can_be_read_in_it(default_run):
    live = Live(default_run.problem)
    settings = ({}, {"readout": "nystrom"}, {"rule": "union"}, {"ridge": 1e-3}, {"ridge": 1.0000001e-3}, {"H": 6})
    views = [View().replace(tau_v=0.5, **setting) for setting in settings]
    assert len({file_stem(Page(default_run, live, view, {})) for view in views}) == len(settings)
