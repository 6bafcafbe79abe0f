"""What others might send: names that would do harm if they were anything but text, pickles, images."""

import struct
import zlib

NAMES = (
    '<img src=x onerror="window.pwned=1">',
    "<b>bold</b>",
    '<a href="javascript:window.pwned=1">x</a>',
    "[x](javascript:alert(1))",
    "![x](http://127.0.0.1:9/x.png)",
    "$x$",
    ":red[x]",
    ":streamlit:",
    "www.example.org <- a@b.org",
    "&lt;i&gt; %{y} </script>",
)


class Planted:
    """Unpickling this would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def png(width: int, height: int) -> bytes:
    """A PNG that says it is this large and has no pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [b"IHDR" + header, b"IDAT" + zlib.compress(b""), b"IEND"]
    sealed = [struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(sealed)
