"""What the package raises when a person can do something about it."""

# Of a sentence that quotes a hostile file, the middle is left out.
LONGEST = 2000


class DNTKError(ValueError):
    """Bad input or a failed run: one sentence that says what was expected, what came, what to do."""

    def __init__(self, sentence: str = ""):
        half = LONGEST // 2
        super().__init__(sentence if len(sentence) <= LONGEST else f"{sentence[:half]} … {sentence[-half:]}")


class Cancelled(Exception):
    """Raised by a progress callback to stop a stage; whatever was finished stays in the cache."""


class Vanished(DNTKError):
    """A folder of the cache was deleted while it was in use."""


class Unreadable(DNTKError):
    """A file cannot be read at the moment; it may be sound."""


class Damaged(DNTKError):
    """A file of the cache is not what its description says."""
