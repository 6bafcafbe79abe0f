"""How many classes are sketched, and how projected gradients are kept."""

import re
from dataclasses import dataclass

from dntk_core.base.schema import require, require_numbers

# How numbers of projected gradients are kept; half as wide takes half the disk. bfloat16 has the range of float32.
KEPT = ("float32", "float16", "bfloat16")
# Exact classes by how often they are among the largest outputs, such as "top20".
MOST_OFTEN = re.compile(r"top([1-9][0-9]{0,4})")


@dataclass(frozen=True)
class SketchSpec:
    """How many classes are sketched: q random sums of the logits in the place of all C, 0 = every class by itself.

    q:     sums, each a backward pass
    error: of the mean kernel, from which q is chosen where it is 0
    exact: classes that have gradients of their own beside the sums: numbers separated by commas, or "top20", the twenty
           that stand most often among the five largest outputs of a kernel input
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
        """The exact classes that are named, ascending."""
        named = self.exact and not self.most_often
        return tuple(sorted({int(number) for number in self.exact.split(",")})) if named else ()

    @property
    def most_often(self) -> int:
        """How many exact classes are taken by how often they are among the largest outputs; 0 where they are named."""
        found = MOST_OFTEN.fullmatch(self.exact)
        return int(found[1]) if found else 0

    @property
    def beside(self) -> int:
        """How many exact classes there are."""
        return self.most_often or len(self.chosen)


def check_sketch(sketch: SketchSpec) -> None:
    """Refuse a sketch that cannot be made."""
    if not sketch.most_often:
        require_numbers("exact classes", sketch.exact)
    require(sketch.q >= 0, f"the class sketch q must be at least 0, got {sketch.q}")
    require(0 <= sketch.error < 1, f"the class sketch's error must be at least 0, below 1: {sketch.error}")
