"""What a run will take, in a sentence beside the button that starts it."""

from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import duration, size
from dntk_core.run.forecast import forecast


def takes(spec: RunSpec, classes: int) -> str:
    """What a run will take, in a sentence."""
    found = forecast(spec, classes)
    if found is None:
        return "How long this takes, and how much room, is known once its data have been read."
    time = "Time: not known before it begins, no run of this network on these data is in the cache"
    if found.seconds is not None:
        time = f"About {duration(found.seconds)} on this machine" if found.seconds else "In the cache already"
    return f"{time} · {size(found.memory)} of memory · {size(found.disk)} of disk."
