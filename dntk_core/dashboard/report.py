"""One self-contained HTML file with every figure of the dashboard; it needs no internet."""

from collections.abc import Iterable
from html import escape

from plotly.offline import get_plotlyjs

from dntk_core.dashboard.panel import Panel

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #1B2430; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; }} h2 {{ margin-top: 3rem; border-bottom: 1px solid #DDE2E8; }} h3 {{ margin-bottom: 0; }}
.read, summary {{ color: #55606E; }} pre {{ background: #F4F6F8; padding: 0.8rem; white-space: pre-wrap; }}
</style>
<script>{plotly}</script></head><body>
<h1>{title}</h1>
<pre>{command}</pre>
{body}
</body></html>
"""


def report(title: str, command: str, sections: Iterable[tuple[str, Iterable[Panel]]]) -> str:
    """Write all panels below each other, with `command` to reproduce the numbers."""
    body = "\n".join(f"<h2>{escape(name)}</h2>\n{''.join(map(_panel, panels))}" for name, panels in sections)
    return _PAGE.format(title=escape(title), command=escape(command), plotly=get_plotlyjs(), body=body)


def _panel(panel: Panel) -> str:
    figure = panel.figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False})
    return (
        f"<h3>{escape(panel.title)}</h3>\n<p class='read'>{escape(panel.read)}</p>\n"
        f"<div role='img' aria-label='{escape(panel.title)}'>{figure}</div>\n"
        f"<details><summary>Definition</summary><pre>{escape(panel.definition)}</pre></details>\n"
    )
