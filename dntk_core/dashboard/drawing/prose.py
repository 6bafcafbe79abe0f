"""Definitions outside the dashboard: Markdown with LaTeX as HTML with MathML, which browsers draw without a script."""

import re

from latex2mathml.converter import convert
from markdown_it import MarkdownIt

_FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$]+?)\$", re.DOTALL)
# Stands for a formula while the text around it becomes HTML; no text of ours has it.
_MARK = "\ue000{}\ue001"
# Text may come from outside: what looks like HTML in it is shown, not obeyed.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink"])
# What the converter does not know, in words that it does.
_WORDS = {r"\dots": r"\ldots", r"\,": r"\;", r"\big(": "(", r"\big)": ")", r"\Big\{": r"\{", r"\Big\}": r"\}"}


def html(text: str) -> str:
    """Markdown with $…$ and $$…$$ as HTML.

    >>> html("A *rank*, $r$.").startswith("<p>A <em>rank</em>, <math ")
    True
    """
    formulas: list[str] = []

    def keep(found: re.Match) -> str:
        block = found["block"]
        formulas.append(mathml(block or found["inline"], "block" if block else "inline"))
        return _MARK.format(len(formulas) - 1)

    page = _MARKDOWN.render(_FORMULA.sub(keep, text))
    return re.sub(_MARK.format(r"(\d+)"), lambda found: formulas[int(found[1])], page)


def mathml(formula: str, display: str) -> str:
    """One formula."""
    for word, known in _WORDS.items():
        formula = formula.replace(word, known)
    return convert(" ".join(formula.split()), display=display)
