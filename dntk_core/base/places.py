"""Where files lie: in a checkout beside the code, installed in the user's own folders."""

import os
import sys
from pathlib import Path


def checkout() -> Path | None:
    """The folder of app.py, pages/ and cache/ if the code runs from a checkout; None if it is installed."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() and (root / "app.py").is_file() else None


def cache_folder() -> Path:
    """Where runs are kept: $DNTK_CACHE_DIR, else cache/ of the checkout, else the user's cache folder."""
    if named := os.environ.get("DNTK_CACHE_DIR"):
        return Path(named)
    root = checkout()
    return root / "cache" if root else _user_cache() / "dntk" / "runs"


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = Path(os.environ.get("XDG_CACHE_HOME") or "")
    # By its standard, a relative path does not count.
    return named if named.is_absolute() else Path.home() / ".cache"
