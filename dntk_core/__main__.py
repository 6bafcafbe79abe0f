"""`python -m dntk_core` is `dntk`."""

import sys

from dntk_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
