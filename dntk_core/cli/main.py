"""The program: the same stages, the same numbers as the dashboard."""

import argparse
import json
import os
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from dntk_core.base.errors import DNTKError
from dntk_core.base.processes import rank
from dntk_core.cli import (
    analyse,
    attribute,
    build,
    compare,
    compare_runs,
    completion,
    evaluate,
    export,
    gc,
    health,
    layers,
    paper,
    report,
    runs,
    series,
    serve,
    train,
    uncertainty,
)

COMMANDS: dict[str, ModuleType] = {
    "build": build,
    "train": train,
    "runs": runs,
    "analyse": analyse,
    "evaluate": evaluate,
    "compare": compare,
    "series": series,
    "compare-runs": compare_runs,
    "layers": layers,
    "attribute": attribute,
    "uncertainty": uncertainty,
    "health": health,
    "export": export,
    "report": report,
    "serve": serve,
    "paper": paper,
    "gc": gc,
    "completion": completion,
}
# As a shell reports a program that wrote to a closed pipe.
BROKEN_PIPE = 141


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise DNTKError(f"{message}; see {self.prog} --help")


def main(argv: list[str] | None = None) -> int:
    """Run one command; bad input is one line and status 2."""
    try:
        try:
            return _main(argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has enough, as `head` does; Python must not try again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def parser() -> argparse.ArgumentParser:
    """Describe all commands and their flags."""
    called = Path(sys.argv[0]).name
    prog = "dntk" if called == "dntk" else "python -m dntk_core"
    top = Parser(prog=prog, description="Distilled neural tangent kernels.")
    commands = top.add_subparsers(dest="command", required=True, metavar="command", parser_class=Parser)
    for name, module in COMMANDS.items():
        module.add(commands.add_parser(name, help=module.HELP, description=module.__doc__))
    top.set_defaults(commands=commands.choices)
    return top


def _main(argv: list[str] | None) -> int:
    # A user's own modules lie where they are; `python -m` looks there, an installed program does not.
    if "" not in sys.path:
        sys.path.append("")
    try:
        arguments = parser().parse_args(argv)
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            result, text = COMMANDS[arguments.command].run(arguments)
        # Of several ranks under torchrun the first speaks for all.
        if rank() == 0:
            print(json.dumps(result, indent=1) if getattr(arguments, "json", False) else text)
        return 0
    except DNTKError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130


def _warn(message: Warning | str, *_: object) -> None:
    """Tell a warning as a sentence, without the line of code that gave it."""
    if rank() == 0:
        print(f"warning: {message}", file=sys.stderr)
