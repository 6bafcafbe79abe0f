"""How things are counted for people: arrays count from 0, every page, table and sentence from 1."""

FIRST = 1


def number(index: int) -> int:
    """The number of what an array has at `index`.

    >>> number(0)
    1
    """
    return index + FIRST
