"""Colours that colour-blind people can tell apart and that work on light and dark ground (Okabe and Ito, 2008)."""

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILION = "#D55E00"
SKY = "#56B4E9"
PURPLE = "#CC79A7"
GREY = "#8A94A0"
# Three more, told apart from those by hue and lightness.
VIOLET = "#7B5CC4"
BROWN = "#8C5A3C"
OLIVE = "#A3A500"

SERIES = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, VIOLET, BROWN, OLIVE, GREY)

# The parts of a distilled set, the same everywhere.
LOCAL, GAP, REMOVED = BLUE, ORANGE, GREY
FULL = GREY

# Readable on light and dark ground: where no hue of its own is meant.
TEXT = "#66717F"
SEQUENTIAL = "Cividis"


def series(index: int) -> str:
    """The colour of series `index`; after ten they repeat, so vary dash or marker as well."""
    return SERIES[index % len(SERIES)]


def faded(colour: str, alpha: float) -> str:
    """`colour` made transparent, for bands and shares."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
