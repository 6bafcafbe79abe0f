"""Pages without a server: for the paper's results and the report of the command line."""

import logging
from collections.abc import Mapping

from dntk_core.base.errors import DNTKError
from dntk_core.dashboard import cached
from dntk_core.dashboard.choices.controls import CONTROLS
from dntk_core.dashboard.choices.view import View, link, restore
from dntk_core.dashboard.page import Page, limits
from dntk_core.run.pipeline import Run


def page_of(run: Run, view: View) -> Page:
    """A run as its pages see it."""
    # Outside a server Streamlit's caches work, and warn at every call.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    return Page(run, cached.live(run.key), view, {"run": run.key, **link(view)})


def open_page(run: Run, settings: Mapping[str, str]) -> Page:
    """The page that a link with these settings shows; DNTKError for what this run does not allow."""
    bounds = limits(run)
    for name, value in settings.items():
        if restore({name: value}, bounds)[1]:
            raise DNTKError(f"{name} = {value[:20]} is not possible here; allowed is {CONTROLS[name].describe(bounds)}")
    return page_of(run, restore(settings, bounds)[0])
