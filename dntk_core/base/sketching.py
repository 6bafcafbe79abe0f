"""How many classes are sketched, and how projected gradients are kept."""

from dataclasses import dataclass

from dntk_core.base.schema import require, require_numbers

# How numbers of projected gradients are kept; half as wide takes half the disk. bfloat16 has the range of float32.
KEPT = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class SketchSpec:
    """How many classes are sketched: q random sums of the logits in the place of all C, 0 = every class by itself.

    q:     sums, each a backward pass
    error: of the mean kernel, from which q is chosen where it is 0
    exact: classes that have gradients of their own beside the sums, numbers separated by commas
    """

    q: int = 0
    error: float = 0.0
    exact: str = ""
    seed: int = 0

    @property
    def used(self) -> bool:
        return self.q > 0 or self.error > 0

    @property
    def chosen(self) -> tuple[int, ...]:
        """The exact classes, ascending."""
        return tuple(sorted({int(number) for number in self.exact.split(",")})) if self.exact else ()


def check_sketch(sketch: SketchSpec) -> None:
    """Refuse a sketch that cannot be made."""
    require_numbers("exact classes", sketch.exact)
    require(sketch.q >= 0, f"the class sketch q must be at least 0, got {sketch.q}")
    require(0 <= sketch.error < 1, f"the class sketch's error must be at least 0, below 1: {sketch.error}")
