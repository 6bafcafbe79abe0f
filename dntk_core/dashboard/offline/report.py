"""One self-contained HTML file with every figure of the dashboard; it needs no internet."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType

from plotly.offline import get_plotlyjs

from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.drawing.prose import html

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #1B2430; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; }} h2 {{ margin-top: 3rem; border-bottom: 1px solid #DDE2E8; }} h3 {{ margin-bottom: 0; }}
.read, summary {{ color: #55606E; }} pre {{ background: #F4F6F8; padding: 0.8rem; white-space: pre-wrap; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #DDE2E8; padding: 0.2rem 0.7rem; text-align: left; }}
.figure {{ overflow-x: auto; }} details {{ margin: 0.3rem 0 1.5rem; }} math {{ font-size: 1.05em; }}
</style>
<script>{plotly}</script></head><body>
<h1>{title}</h1>
<pre>{command}</pre>
{body}
</body></html>
"""

# Nothing leaves this file.
_CONFIG = {"displaylogo": False, "showSendToCloud": False, "responsive": True}


def report(
    title: str,
    command: str,
    sections: Iterable[tuple[str, Sequence[Panel]]],
    tables: Mapping[str, Sequence[Sequence[str]]] = MappingProxyType({}),
) -> str:
    """Write all panels below each other, with `command` to reproduce the numbers.

    tables: of settings and scores, by title, before the figures; the first row of each is its head
    """
    body = "\n".join(f"<h2>{escape(name)}</h2>\n{_table(rows)}" for name, rows in tables.items())
    body += "\n".join(f"<h2>{escape(name)}</h2>\n{''.join(map(_panel, panels))}" for name, panels in sections if panels)
    return _PAGE.format(title=escape(title), command=escape(command), plotly=get_plotlyjs(), body=body)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = rows
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in others]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>\n"


def _panel(panel: Panel) -> str:
    figure = panel.figure.to_html(full_html=False, include_plotlyjs=False, config=_CONFIG)
    return (
        f"<h3>{escape(panel.title)}</h3>\n<p class='read'>{escape(panel.read)}</p>\n"
        f"<div class='figure' role='img' aria-label='{escape(panel.title)}'>{figure}</div>\n"
        f"<details><summary>Definition</summary>{html(panel.definition)}</details>\n"
    )
