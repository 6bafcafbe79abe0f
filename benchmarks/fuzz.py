"""Hand in made-up links, specs, manifests, listings, exports, datasets, weights, images; count crashes.

    python -m benchmarks.fuzz [--inputs 10000] [--only KIND]

Prints how many were accepted and refused, for how many reasons, how many lines of the parser were run, how often it
crashed, and what was written elsewhere. Exits with 1 on a crash, a write elsewhere, or a parser that was not reached.
"""

import argparse
import gc
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests import watch
from tests.fuzz import REASONS, TARGETS, Target
from tests.fuzz_files import FILES
from tests.fuzz_saved import SAVED
from tests.reach import Reach

COLUMNS = ("inputs", "accepted", "refused", "reasons", "lines reached, %", "crashes", "writes outside")
KINDS = TARGETS | FILES | SAVED
# Of a parser's lines; the rest is for what a disk does.
REACHED = 70


def attack(target: Target, inputs: int, folder: Path) -> tuple[Counter, list[str]]:
    """Hand in `inputs` of them: what came of it, and the first crashes in words."""
    take, counts, said, reach = target.prepare(folder), Counter(), [], Reach(target.parser)

    @seed(0)
    @settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.inputs)
    def hand_in(value):
        counts["inputs"] += 1
        # Finalizers of others' garbage would fail at the depth of nested JSON.
        gc.disable()
        with watch.outside(folder) as found, reach.watching():
            try:
                counts["accepted" if take(value) else "refused"] += 1
            except Exception as error:
                counts["crashes"] += 1
                said.append(f"{type(error).__name__}: {error} at {value!r}"[:300])
        gc.enable()
        counts["writes outside"] += len(found)
        said.extend(found)

    REASONS.clear()
    hand_in()
    counts["reasons"], counts["lines reached, %"] = len(REASONS), round(100 * reach.share)
    missed = [f"not reached: {Path(file).name}:{line}" for file, line in reach.missed]
    return counts, [*said[:5], *missed[:5]]


def main() -> int:
    """Print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="of each kind (10,000)")
    parser.add_argument("--only", choices=KINDS, help="one kind alone")
    arguments = parser.parse_args()
    failed = False
    print(f"| input | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    for name in [arguments.only] if arguments.only else KINDS:
        with tempfile.TemporaryDirectory() as folder:
            counts, said = attack(KINDS[name], arguments.inputs, Path(folder))
        print(f"| {name} | {' | '.join(f'{counts[column]:,}' for column in COLUMNS)} |", flush=True)
        print("".join(f"    {line}\n" for line in said), end="")
        failed |= counts["crashes"] + counts["writes outside"] > 0
        failed |= not (counts["accepted"] and counts["refused"] and counts["lines reached, %"] >= REACHED)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
