"""Kill a run with SIGKILL at random moments in all of its stages, and start it again each time; ask for one eightfold.

    python -m benchmarks.kills [--rounds 50] [--together 8]

Each time: nothing that was finished is computed again. In the end: every array is, byte for byte, that of an
undisturbed run, checksums fit, nothing is left over. Then as many processes as --together says ask for a new run at
once: every stage must be computed by one of them alone, but for shards of gradients. Exits with 1 on any fault.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.kills import build_together, kill_again_and_again, short_run


def main() -> int:
    """Print how often each stage was struck, and every fault."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--together", type=int, default=8)
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_again_and_again(Path(folder), arguments.rounds, arguments.seed)
    print("| stage | kills |\n|---|---|")
    for stage, count in outcome.kills.items():
        print(f"| {stage} | {count} |")
    print(f"{sum(outcome.kills.values())} kills, {outcome.finished} runs finished, {len(outcome.faults)} faults")
    print("\n".join(outcome.faults))
    with tempfile.TemporaryDirectory() as folder:
        told = build_together(short_run(Path(folder)), Path(folder) / "cache", arguments.together)
    # Whoever helps with gradients loads the data for that.
    twice = [stage for stage, who in told.items() if len(who) > 1 and stage not in ("data", "features")]
    print(f"{arguments.together} processes at once: {len(told)} kinds of work, {len(twice)} done twice {twice or ''}")
    return int(bool(outcome.faults or twice))


if __name__ == "__main__":
    sys.exit(main())
