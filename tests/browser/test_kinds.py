"""Runs on tables and texts: pages work and none speaks of images."""

import re

import kinds
import pytest

from dntk_core import load_or_build, runs
from dntk_core.base.compute import Compute
from dntk_core.dashboard.drawing.navigation import pages

PAGES = [label for _, label in pages()][1:]
# Both go where single inputs are shown most, and share the other pages.
BOTH = ("Gradient distillation", "Predictions")
TOKENS = ("Dataset distillation", "Uncertainty", "Kernel health", "Compare")
VISITED = {
    "table": [page for page in PAGES if page not in TOKENS],
    "tokens": [page for page in PAGES if page in BOTH + TOKENS],
}
# What a tile and a card of the gallery say.
SAID = {"table": ("length", "width"), "tokens": ("word",)}


@pytest.fixture(scope="module")
def run_of(store_folder, distilled_run, tmp_path_factory):
    """A run of a kind of inputs, with a network of the user's own, in a cache that has one of images too."""
    place = tmp_path_factory.mktemp("kinds")
    kinds.write_networks(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        specs = {"table": kinds.table_spec(place), "tokens": kinds.tokens_spec(place)}
        yield lambda kind: load_or_build(specs[kind], compute=Compute("cpu", own_code=True))


@pytest.mark.parametrize("kind", SAID)
def test_pages_fit_the_inputs(tab, run_of, kind):
    run = run_of(kind)
    here = tab(f"?run={run.key}")
    assert "as they are" in here.text()
    for page in VISITED[kind]:
        here.follow(page).settle()
        assert run.key.startswith(here.parameter("run")[:20]), page
        said = here.text()
        # Compare names another run, which may be one of images.
        for other in runs():
            said = said.replace(other.spec.summary, "") if other.key != run.key else said
        assert not re.search(r"could not be drawn|is not in this cache", said), page
        assert not re.search(r"\bimages?\b", said, re.IGNORECASE), page
        if page == "Gradient distillation":
            here.plots(2)
            drawn = here.page.locator(".dntk-plot").all_inner_texts()
            assert all(any(word in text for text in drawn) for word in SAID[kind])


def test_a_page_says_that_the_code_is_no_longer_the_run_s(tab, run_of):
    run = run_of("table")
    (path,) = run.artifacts["model"].note["code"]
    here = tab(f"Spectra?run={run.key}")
    assert "changed since this run" not in here.text()
    with open(path, "a") as file:
        file.write("\n\ndef more():\n    pass\n")
    here.reload().see("own_kinds.py changed since this run was computed")
