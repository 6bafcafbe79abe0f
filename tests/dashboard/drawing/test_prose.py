"""Markdown and LaTeX become HTML and MathML; text from outside stays text."""

import re

from dntk_core.dashboard.drawing.prose import html
from dntk_core.dashboard.sections import budget, containment, coverage, curves, dataset, distillation, grid, ledger
from dntk_core.dashboard.sections import spectra as spectra_section
from tests import hostile

MODULES = (budget, containment, coverage, curves, dataset, distillation, grid, ledger, spectra_section)


def test_no_definition_is_left_with_raw_latex():
    texts = [value for module in MODULES for value in vars(module).values() if isinstance(value, str) and "$" in value]
    texts += curves.DEFINITIONS.values()
    assert len(texts) > 15
    for text in texts:
        page = html(text)
        assert page.count("<math") == len(re.findall(r"\$\$.+?\$\$|\$[^$]+\$", text, re.DOTALL)), text
        assert not re.search(r"\$|\\[a-zA-Z]", page), page


def test_structure_is_kept():
    page = html("**a** *b*\n\n- one\n- two\n\n| x | y |\n|---|---|\n| 1 | 2 |\n")
    assert "<strong>a</strong> <em>b</em>" in page and page.count("<li>") == 2 and page.count("<td>") == 2


def test_text_from_outside_makes_no_elements():
    for name in hostile.NAMES:
        assert not re.search("<(img|script|a|b|svg|iframe)[ >]", html(name))
