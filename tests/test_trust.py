"""docs/trust.md says only what is tested: each name in its brackets is that of a test."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Words joined as in the name of a test, one or several in brackets.
NAMES = re.compile(r"\(((?:`[^`]+`[,;]?\s*)+)")
NAME = re.compile(r"`([a-z0-9]+(?:_[a-z0-9]+)+)`")


def known_tests() -> list[str]:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)]


def test_every_promise_names_its_test():
    text = (ROOT / "docs" / "trust.md").read_text().partition("## Tried")[0]
    named = [name for bracket in NAMES.findall(text) for name in NAME.findall(bracket)]
    known = known_tests()
    assert len(named) > 50 and not [name for name in named if not any(name in each for each in known)]


def test_what_is_said_to_be_repeated_can_be():
    """Commands in the table name modules and tests that are there."""
    text = (ROOT / "docs" / "trust.md").read_text().partition("## Tried")[2]
    for module in re.findall(r"python -m (benchmarks\.\w+)", text):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module
    for file in re.findall(r"tests/[\w/]+\.py", text):
        assert (ROOT / file).is_file(), file
