"""What random clusters of the same sizes give: without it, properties (A) and (B) say nothing about the clusters."""

from collections.abc import Sequence

import streamlit as st

from dntk_core.dashboard.page import Page
from dntk_core.kernels.spectrum import Between


def wanted(here: Page, null: bool | None) -> bool:
    """Whether random clusters are shown: as asked, else where kernels are arrays and five clusterings cost little."""
    return here.live.problem.kernels.dense if null is None else null


def offered(here: Page) -> bool:
    """Ask a person where random clusters cost much."""
    if here.live.problem.kernels.dense:
        return True
    return st.toggle("Compare with random clusters", key="null_model", help="With so many inputs, this takes a while.")


def against(value: float, random: Sequence[float]) -> str:
    """The end of a sentence on a share: what random clusters have, and whether this is more."""
    if not random:
        return "."
    low, high = min(random), max(random)
    share = f"{low:.1%}" if f"{low:.1%}" == f"{high:.1%}" else f"{100 * low:.1f}–{high:.1%}"
    points, word = (value - high, "more") if value > high else (low - value, "less")
    # What rounds to nothing is nothing.
    verdict = f"{100 * points:.1f} points {word} than chance" if points >= 0.0005 else "no more than chance"
    return f", random clusters of the same sizes {share}: {verdict}."


def cut_short(shown: int, rank: Between) -> str:
    """A sentence where fewer directions are known than the truncation rank asks for, else nothing."""
    return "" if rank.exact else f" Shown are the first {shown:,} of {rank:,.0f} directions."
