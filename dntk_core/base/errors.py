"""What the package raises when a person can do something about it."""


class DNTKError(ValueError):
    """Bad input or a failed run: one sentence that says what was expected, what came, what to do."""


class Cancelled(Exception):
    """Raised by a progress callback to stop a stage; whatever was finished stays in the cache."""


class Vanished(DNTKError):
    """A folder of the cache was deleted while it was in use."""
