"""Inputs as tiles: images as pictures, one by one or many on one sheet, other inputs in words."""

import base64
import re
from collections.abc import Callable
from io import BytesIO
from textwrap import wrap

import numpy as np
from PIL import Image

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE, VERMILION
from dntk_core.data.images import Images
from dntk_core.data.pictures import SIDE

# Pixels of a tile's longer side on a sheet, whatever its image has.
TILE = 64
# Room around each tile, its frame, and the room below it for its weight.
PAD, FRAME, BELOW = 8, 2, 21
WIDE, HIGH = TILE + 2 * PAD, TILE + PAD + BELOW
# For the axis across a sheet: a cell keeps its shape, however wide the figure is.
SQUARE = {"scaleanchor": "y", "scaleratio": WIDE / HIGH, "constrain": "domain", "constraintoward": "left"}
# Pixels of a picture up to which it is sent as it is, and drawn as squares; up to SIDE it is twice what is shown.
SMALL = 40
# Letters of a line and lines of a tile with words.
LETTERS, LINES = 11, 4


# What inputs look like: images, or a function that says one of them in words.
Faces = Images | Callable[[int], str]


def drawn(faces: Faces, heavy: np.ndarray, weights: np.ndarray) -> tuple[list[dict], list[dict]]:
    """Tiles of inputs in rows at whole numbers: pictures for a layout, and traces of words for inputs without any.

    heavy: (rows, tiles) which inputs, weights: of each; where that is 0 nothing is drawn
    """
    rows, columns = heavy.shape
    if callable(faces):
        return [], [_words(faces, heavy, weights)]
    picture = {
        "source": sheet(faces, heavy, weights),
        "xref": "x", "yref": "y", "x": -0.5, "y": -0.5, "sizex": columns, "sizey": rows,
        "xanchor": "left", "yanchor": "top", "sizing": "stretch", "layer": "below",
    }  # fmt: skip
    return [picture], []


def _words(text_of: Callable[[int], str], heavy: np.ndarray, weights: np.ndarray) -> dict:
    """The start of what each input says in its tile, coloured by sign; all of it where the pointer is."""
    lines, tiles = np.indices(heavy.shape)
    texts = [text_of(int(i)) if w else "" for i, w in zip(heavy.ravel(), weights.ravel(), strict=True)]
    return {
        "type": "scatter",
        "name": "input",
        "mode": "text",
        "x": tiles.ravel(),
        "y": lines.ravel(),
        "text": ["<br>".join(literal.plotly(line) for line in _cut(text)) for text in texts],
        "textfont": {"size": 10, "color": [BLUE if w > 0 else VERMILION for w in weights.ravel()]},
        "textposition": "middle center",
        "hovertext": [literal.plotly(text).replace("\n", "<br>") for text in texts],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "meta": {"x": "place", "y": "row"},
    }


def _cut(text: str) -> list[str]:
    """A text on the few short lines of a tile; of several lines each keeps its last word, a column's value."""
    parts = text.split("\n")
    lines = wrap(text, LETTERS) if len(parts) == 1 else [_shortened(part) for part in parts]
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"]


def _shortened(line: str) -> str:
    """A column's name and value on one short line: of a long name the last word, without its unit, tells most."""
    name, _, value = line.rpartition(" ")
    room = LETTERS - len(value) - 1
    words = re.sub(r"\(.*?\)", "", name).split()
    name = words[-1] if words and len(name) > room else name
    return f"{name if len(name) <= room else f'{name[: max(room - 1, 1)]}…'} {value}"


def picture(image: np.ndarray) -> str:
    """An image (channels, height, width) in [0, 1] as a data address, at most SIDE pixels long."""
    drawn = pixels(image)
    drawn.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    buffer = BytesIO()
    drawn.save(buffer, "WEBP", lossless=max(drawn.size) <= SMALL, quality=88, method=2)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def pixels(image: np.ndarray) -> Image.Image:
    """An image (1, 3 or 4 channels, height, width) in [0, 1] in colour; a fourth channel is not shown."""
    scaled = (255 * np.clip(image[:3], 0, 1)).round().astype(np.uint8)
    return Image.fromarray(np.ascontiguousarray(np.broadcast_to(scaled, (3, *image.shape[1:])).transpose(1, 2, 0)))


def sheet(images: Images, heavy: np.ndarray, weights: np.ndarray) -> str:
    """One picture of all tiles, each in a square, framed by the colour of their sign, as a data address."""
    rows, columns = heavy.shape
    sheet = np.zeros((rows * HIGH, columns * WIDE, 4), np.uint8)
    for i in range(rows):
        for j in range(columns):
            if weights[i, j] == 0:
                continue
            tile = _fitted(images[heavy[i, j]])
            height, width = tile.shape[:2]
            top, left = i * HIGH + PAD + (TILE - height) // 2, j * WIDE + PAD + (TILE - width) // 2
            sign = BLUE if weights[i, j] > 0 else VERMILION
            edge = [int(sign[k : k + 2], 16) for k in (1, 3, 5)]
            sheet[top - FRAME : top + height + FRAME, left - FRAME : left + width + FRAME] = [*edge, 255]
            sheet[top : top + height, left : left + width, :3] = tile
    buffer = BytesIO()
    Image.fromarray(sheet).save(buffer, "PNG", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _fitted(image: np.ndarray) -> np.ndarray:
    """An image as bytes (height, width, 3), its longer side TILE; pixels are repeated or averaged."""
    longer = max(image.shape[1:])
    height, width = (max(1, round(side * TILE / longer)) for side in image.shape[1:])
    kept = Image.Resampling.NEAREST if longer < TILE else Image.Resampling.BOX
    return np.asarray(pixels(image).resize((width, height), kept))
