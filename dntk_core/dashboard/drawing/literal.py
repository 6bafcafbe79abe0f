"""Text from outside, written so that it is shown as it is: names of classes and files, errors, links."""

import re
from html import escape
from string import punctuation

_PUNCTUATION = re.compile(f"[{re.escape(punctuation)}]")
# What Streamlit turns into links, arrows and pictures even where the punctuation is escaped.
_TURNED = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)|(?<=[<>=~-])(?=[<>=~-])|(?<=:)(?=streamlit:)", re.IGNORECASE)
# Takes no room and breaks no line.
JOINER = "\u2060"


def markdown(text: str) -> str:
    """Text for Streamlit's or GitHub's Markdown.

    >>> print(markdown("<b> [x](y)"))
    \\<b\\> \\[x\\]\\(y\\)
    """
    line = " ".join(text.encode(errors="replace").decode().split())
    return _PUNCTUATION.sub(r"\\\g<0>", _TURNED.sub(JOINER, line))


def plotly(text: str) -> str:
    """Text for labels, legends and hover, which take tags, entities and %{…}.

    >>> plotly("<b> %{y} &")
    '&lt;b&gt; &#37;{y} &amp;'
    """
    return escape(text, quote=False).replace("%{", "&#37;{")
