"""Text from outside that a page, a terminal and a file system can all show."""

from collections.abc import Iterable, Sequence
from html import escape
from unicodedata import category

_NOT_SHOWN = ("Cc", "Cs", "Zl", "Zp")


def is_line(text: str, longest: int) -> bool:
    """Whether this is one line: no control characters, no half characters, not too long.

    >>> is_line("café", 10), is_line("a\\nb", 10), is_line("\\ud800", 10)
    (True, False, False)
    """
    return len(text) <= longest and not any(category(letter) in _NOT_SHOWN for letter in text)


def as_line(text: str, longest: int) -> str:
    """The same text as one line: what cannot be shown becomes a dot, what is too long is cut.

    >>> as_line("a\\nb", 10), as_line("abcdef", 4)
    ('a·b', 'abc…')
    """
    line = "".join("·" if category(letter) in _NOT_SHOWN else letter for letter in text[: longest + 1])
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def html_table(titles: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as HTML for a notebook, every cell as text.

    >>> html_table(["a"], [["<b>"]])
    '<table><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f"<th>{escape(str(title))}</th>" for title in titles)
    body = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{cells}</tr>' for cells in body)}</table>"
