"""JSON documents that carry their own checksum, so that a flipped bit in a number or a name is seen."""

import hashlib
import json
from typing import Any

from dntk_core.base.errors import Damaged

SEAL = "sha256"


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """Add the checksum of all that a document says."""
    bare = {name: value for name, value in document.items() if name != SEAL}
    return bare | {SEAL: _checksum(bare)}


def check_seal(document: dict[str, Any]) -> None:
    """Raise Damaged unless a document says what it did when it was sealed; older versions did not seal theirs."""
    bare = {name: value for name, value in document.items() if name != SEAL}
    if SEAL in document and document[SEAL] != _checksum(bare):
        raise Damaged("its description does not match its checksum")


def _checksum(document: dict[str, Any]) -> str:
    """Of the content, however it is written down."""
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise Damaged("its description has an unknown form") from None
    return hashlib.sha256(text.encode()).hexdigest()
