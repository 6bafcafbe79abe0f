"""The words that token ids stand for, from a file: one word per line, or JSON with words and their ids."""

import json
from pathlib import Path
from typing import Any

from dntk_core.base.errors import DNTKError
from dntk_core.base.text import as_line

# A word takes some ten bytes; lists of nothing take thirty times their size in memory.
LARGEST_FILE = 16 * 2**20
MOST_WORDS, LONGEST_WORD = 1_000_000, 255


def read_vocabulary(path: Path) -> tuple[str, ...]:
    """Read the word of every id: lines in the order of ids, or a JSON object {word: id} or list of words."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DNTKError(f"the vocabulary {path} is larger than {LARGEST_FILE >> 20} MiB; give the words alone")
        text = path.read_text(encoding="utf-8")
        words = _from_json(json.loads(text)) if path.suffix == ".json" else text.rstrip("\n").split("\n", MOST_WORDS)
    except (OSError, ValueError, RecursionError) as error:
        raise DNTKError(f"the vocabulary {path} cannot be read: {str(error).partition(chr(10))[0]}") from None
    return shown_words(words)


def shown_words(words: list[Any]) -> tuple[str, ...]:
    """Words as pages can show them."""
    if len(words) > MOST_WORDS:
        raise DNTKError(f"a vocabulary has at most {MOST_WORDS:,} words")
    return tuple(as_line(str(word), LONGEST_WORD) for word in words)


def _from_json(value: Any) -> list[Any]:
    if isinstance(value, dict) and all(type(i) is int and 0 <= i < MOST_WORDS for i in value.values()):
        words = {i: word for word, i in value.items()}
        return [words.get(i, "") for i in range(max(words, default=-1) + 1)]
    if isinstance(value, list):
        return value
    raise ValueError("it must be a list of words or an object {word: id}")
