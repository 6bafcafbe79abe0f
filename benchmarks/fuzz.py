"""Hand in made-up links, specs, manifests, shards, index entries and exports; count crashes and writes elsewhere.

python -m benchmarks.fuzz --inputs 10000
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests import watch
from tests.fuzz import TARGETS, Target

COLUMNS = ("inputs", "accepted", "refused", "crashes", "writes outside")


def attack(target: Target, inputs: int, folder: Path) -> tuple[Counter, list[str]]:
    """Hand in `inputs` of them: what came of it, and the first crashes in words."""
    take, counts, said = target.prepare(folder), Counter(), []

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
        with watch.outside(folder) as found:
            try:
                counts["accepted" if take(value) else "refused"] += 1
            except Exception as error:
                counts["crashes"] += 1
                said.append(f"{type(error).__name__}: {error} at {value!r}"[:300])
        counts["writes outside"] += len(found)
        said.extend(found)

    hand_in()
    return counts, said[:5]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="of each kind (10,000)")
    parser.add_argument("--only", choices=TARGETS, help="one kind alone")
    arguments = parser.parse_args()
    print(f"| input | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    for name in [arguments.only] if arguments.only else TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            counts, said = attack(TARGETS[name], arguments.inputs, Path(folder))
        print(f"| {name} | {' | '.join(f'{counts[column]:,}' for column in COLUMNS)} |", flush=True)
        for line in said:
            print(f"    {line}")


if __name__ == "__main__":
    main()
