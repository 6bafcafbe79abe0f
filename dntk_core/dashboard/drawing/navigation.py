"""Links between pages that carry the view along: a page switch is one entry in the browser's history."""

from pathlib import Path

import streamlit as st
from streamlit.components.v2 import component
from streamlit.delta_generator import DeltaGenerator

from dntk_core.base.places import checkout

_CSS = """
.dntk-links { display: flex; flex-direction: column; }
.dntk-links a {
  border-radius: var(--st-base-radius); color: var(--st-text-color); text-decoration: none;
  padding: 0 0.5rem; line-height: 1.5rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
}
.dntk-links a:hover, .dntk-links a:focus-visible { background: rgba(128, 128, 128, 0.15); }
.dntk-links a[aria-current] { background: rgba(128, 128, 128, 0.25); font-weight: 600; }
"""

_render = component(
    "dntk_links",
    html='<nav class="dntk-links" aria-label="Pages"></nav>',
    css=_CSS,
    js=Path(__file__).with_name("navigation.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def site() -> Path:
    """The folder of app.py and pages/: the checkout's, or the copy that travels in the installed package."""
    return checkout() or Path(__file__).parents[1] / "site"


def pages() -> list[tuple[str, str]]:
    """(file, label) of every page in order of its number: pages/3_Gap_coverage.py is "Gap coverage"."""
    numbered = sorted((int(path.stem.split("_")[0]), path) for path in (site() / "pages").glob("[0-9]*_*.py"))
    others = [(f"pages/{path.name}", path.stem.split("_", 1)[1].replace("_", " ")) for _, path in numbered]
    return [("app.py", "Home"), *others]


def base_path() -> str:
    """What stands before every page's name in the address; nothing, unless a proxy asks for it."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}" if base else ""


def links(place: DeltaGenerator, parameters: dict[str, str]) -> None:
    """Draw a link to every page; one that was clicked is followed, with what the address says and `parameters`."""
    found = {file: [file, "" if file == "app.py" else label.replace(" ", "_"), label] for file, label in pages()}
    data = {"base": base_path(), "pages": list(found.values())}
    with place:
        clicked = _render(key="links", data=data, on_page_change=lambda: None).page
    # Said by the browser, so it may be anything: only a page of the list is followed.
    if isinstance(clicked, str) and clicked in found:
        st.switch_page(clicked, query_params=st.session_state.get("published", {}) | parameters)
