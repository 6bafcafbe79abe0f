"""Which columns of projected gradients belong to which group of parameters."""

from collections.abc import Mapping
from dataclasses import dataclass

from dntk_core.base.errors import DNTKError


@dataclass(frozen=True)
class Columns:
    """A group of P parameters and its columns [start, stop); exact: whether these are the gradients themselves."""

    group: str
    start: int
    stop: int
    P: int

    @property
    def exact(self) -> bool:
        return self.stop - self.start == self.P

    @property
    def part(self) -> slice:
        """Its columns, to index features by."""
        return slice(self.start, self.stop)


def share_out(sizes: Mapping[str, int], k: int) -> list[Columns]:
    """Share k columns out evenly; a group of fewer parameters takes as many as it has, and its gradients stay exact.

    >>> [columns.stop - columns.start for columns in share_out({"a": 100, "b": 3, "c": 100}, 21)]
    [9, 3, 9]
    """
    if k < len(sizes):
        raise DNTKError(f"k = {k:,} dimensions cannot be shared by {len(sizes):,} groups; choose a larger k")
    widths, left = {}, k
    for place, (group, P) in enumerate(sorted(sizes.items(), key=lambda item: item[1])):
        widths[group] = min(P, left // (len(sizes) - place))
        left -= widths[group]
    found, start = [], 0
    for group, P in sizes.items():
        found.append(Columns(group, start, start + widths[group], P))
        start += widths[group]
    return found


def in_words(columns: list[Columns], k: int) -> str:
    """What keeping groups costs, said before a run: nothing in time and disk, something in precision.

    >>> in_words(share_out({"a": 100, "b": 3, "c": 100}, 21), 21).split(": ")[1]
    '1 kept exactly, 9 dimensions each for the others, whose own kernels are 1.5 times less precise than the whole one'
    """
    sketched = [each.stop - each.start for each in columns if not each.exact]
    exact = len(columns) - len(sketched)
    sentence = f"{len(columns)} groups share k = {k:,}, no more time or disk: {exact} kept exactly"
    if not sketched:
        return sentence
    least, most = min(sketched), max(sketched)
    each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return (
        f"{sentence}, {each} dimensions each for the others, whose own kernels are {(k / least) ** 0.5:.1f} times less "
        "precise than the whole one"
    )
