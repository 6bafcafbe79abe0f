"""What a person has clicked: one thing at a time, shared by the figures of all pages, kept in the link."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from dntk_core.dashboard.choices.kept import keep, recall

NAME, SIDE = "pick", "side"
# What can be opened.
KINDS = (
    *("cluster", "direction", "gradient", "input", "pair"),
    *("errors", "test", "doubted", "spread", "labels", "unseen"),
    *("class", "selection", "heaviest", "cost"),
    *("setting", "dimension", "group", "groups", "checkpoint", "formed", "forming"),
)


@dataclass(frozen=True)
class Pick:
    """A thing and which one: its numbers count from 1, as pages do.

    >>> Pick.read("cluster 3"), Pick("pair", ("2", "7")).text
    (Pick(kind='cluster', parts=('3',)), 'pair 2 7')
    """

    kind: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, kind: str, *places: int) -> "Pick":
        """The thing at some places, counted from 0."""
        return cls(kind, tuple(str(place + 1) for place in places))

    @classmethod
    def read(cls, text: str) -> "Pick":
        """From the text of a link."""
        kind, *parts = text.split(" ")
        if kind not in KINDS or not parts or len(text) > 60:
            raise ValueError(text)
        return cls(kind, tuple(parts))

    @property
    def text(self) -> str:
        return " ".join((self.kind, *self.parts))

    def place(self, kind: str, count: int) -> int | None:
        """Where it lies among `count` things of a kind, from 0; None if it is none of these."""
        first = self.parts[0]
        if self.kind != kind or not first.isdecimal() or len(first) > 9:
            return None
        return int(first) - 1 if 1 <= int(first) <= count else None


def picked(link: dict[str, str]) -> Pick | None:
    """What is open, if anything."""
    key = recall(NAME, Pick.read, None)
    found = st.session_state[key]
    keep(link, NAME, found.text if found else "")
    return found


def pick(found: Pick | None, side: str | None = None) -> None:
    """Open a thing, or nothing, from a callback; `side`: of which of two pages it is, where there are two."""
    st.session_state[f"kept_{NAME}"] = found
    if side is not None:
        st.session_state[f"kept_{SIDE}"] = side


def picked_side(link: dict[str, str], first: str) -> str:
    """Of which of two pages, A or B, the open thing is."""

    def read(text: str) -> str:
        if text not in ("A", "B"):
            raise ValueError(text)
        return text

    found = st.session_state[recall(SIDE, read, first)]
    keep(link, SIDE, found if NAME in link else "")
    return found


def on_click(find: Callable[[dict], Pick | None], side: str | None = None) -> Callable[[dict], None]:
    """A callback for a figure, of a function that says what a point stands for."""

    def clicked(point: dict) -> None:
        found = find(point)
        if found:
            pick(found, side)

    return clicked
