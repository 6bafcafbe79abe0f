"""Links between pages: what a browser may ask for."""

from contextlib import nullcontext
from types import SimpleNamespace

from dntk_core.dashboard.drawing import navigation


def test_only_a_page_of_the_list_is_followed_and_it_keeps_the_view(monkeypatch):
    followed = []
    monkeypatch.setattr(navigation.st, "session_state", {"published": {"H": "3", "other": "abc"}})
    monkeypatch.setattr(navigation.st, "switch_page", lambda page, query_params: followed.append((page, query_params)))
    for asked in (None, "", "/etc/passwd", "../app.py", "pages/none.py", ["app.py"], {"page": "app.py"}, "app.py"):
        monkeypatch.setattr(navigation, "_render", lambda asked=asked, **said: SimpleNamespace(page=asked))
        navigation.links(nullcontext(), {"H": "4"})
    assert followed == [("app.py", {"H": "4", "other": "abc"})]


def test_every_page_has_a_link_with_its_own_address(monkeypatch):
    drawn = {}
    monkeypatch.setattr(navigation, "_render", lambda **said: drawn.update(said) or SimpleNamespace(page=None))
    navigation.links(nullcontext(), {})
    paths = [path for _, path, _ in drawn["data"]["pages"]]
    assert len(paths) == len(set(paths)) == len(navigation.pages())
    assert paths[0] == "" and "Gap_coverage" in paths and drawn["data"]["base"] == ""
