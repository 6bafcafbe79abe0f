"""Links between pages that carry the view along: a page switch is one entry in the browser's history."""

from pathlib import Path

from streamlit.delta_generator import DeltaGenerator

from dntk_core.base.places import checkout


def site() -> Path:
    """The folder of app.py and pages/: the checkout's, or the copy that travels in the installed package."""
    return checkout() or Path(__file__).with_name("site")


def pages() -> list[tuple[str, str]]:
    """(file, label) of every page in order of its number: pages/3_Gap_coverage.py is "Gap coverage"."""
    numbered = sorted((int(path.stem.split("_")[0]), path) for path in (site() / "pages").glob("[0-9]*_*.py"))
    others = [(f"pages/{path.name}", path.stem.split("_", 1)[1].replace("_", " ")) for _, path in numbered]
    return [("app.py", "Home"), *others]


def links(place: DeltaGenerator, parameters: dict[str, str]) -> None:
    """Draw a link to every page."""
    for file, label in pages():
        place.page_link(file, label=label, query_params=parameters, width="stretch")
