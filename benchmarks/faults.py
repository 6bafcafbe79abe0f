"""Let the disk fail once at every call that opens, lists, computes, notes, deletes or cleans runs; count what is lost.

    python -m benchmarks.faults [--every 1] [--only ACTION]

Every open, read, write, fsync, rename, look, map and lock below the cache fails in turn, with each of seven errors.
Then the same is done undisturbed: it must end byte for byte as if nothing had happened. Exits with 1 if
anything was lost, or if anything but one sentence came of it.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults import ACTIONS, ERRNOS, Tally, prepare, strike


def main() -> int:
    """Print injected, recovered, lost, uncaught for every action and error."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--every", type=int, default=1, help="only every so many calls (1)")
    options.add_argument("--only", choices=ACTIONS, help="one action alone")
    arguments = options.parse_args()
    totals = Tally()
    print("| action | calls | error | injected | recovered | sound artifacts lost | uncaught exceptions |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        sound = prepare(Path(folder))
        for action in [arguments.only] if arguments.only else ACTIONS:
            for code in ERRNOS:
                found = Tally()
                strike(Path(folder), sound, action, (code,), arguments.every, found)
                counts = (found.injected, found.recovered, len(found.lost), len(found.uncaught))
                print(f"| {action} | {found.calls.total()} | {code} | {' | '.join(map(str, counts))} |", flush=True)
                totals.injected, totals.recovered = totals.injected + counts[0], totals.recovered + counts[1]
                totals.lost += found.lost
                totals.uncaught += found.uncaught
                totals.calls |= found.calls
    print(f"calls by kind: {dict(totals.calls)}")
    print(
        f"injected {totals.injected}, recovered {totals.recovered}, sound artifacts lost {len(totals.lost)}, "
        f"uncaught exceptions {len(totals.uncaught)}"
    )
    print("\n".join([*totals.lost, *totals.uncaught][:40]))
    return int(bool(totals.lost or totals.uncaught or totals.recovered < totals.injected))


if __name__ == "__main__":
    sys.exit(main())
