"""Text from outside that a page, a terminal and a file system can all show."""

from unicodedata import category


def is_line(text: str, longest: int) -> bool:
    """Whether this is one line: no control characters, no half characters, not too long.

    >>> is_line("café", 10), is_line("a\\nb", 10), is_line("\\ud800", 10)
    (True, False, False)
    """
    return len(text) <= longest and not any(category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text)
