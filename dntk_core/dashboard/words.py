"""Numbers and runs in words."""

from dntk_core.spec import RunSpec


def duration(seconds: float) -> str:
    """Seconds for people.

    >>> duration(0.04), duration(7.2), duration(75), duration(7500)
    ('0.0 s', '7 s', '1 min 15 s', '2 h 5 min')
    """
    if seconds < 3:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def size(count: int) -> str:
    """Bytes for people.

    >>> size(900), size(41_500_000)
    ('900 B', '41.5 MB')
    """
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def run_title(spec: RunSpec) -> str:
    """One line that names a run.

    >>> run_title(RunSpec.default())
    'digits · small_resnet · m = 500 · k = 2,048'
    """
    k = "exact" if spec.projection.name == "identity" else f"k = {spec.projection.k:,}"
    return f"{spec.data.name} · {spec.model.name} · m = {spec.inputs.kernel:,} · {k}"
