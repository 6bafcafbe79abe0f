"""The command line: one module per command, each with HELP, `add(parser)` and `run(arguments)`.

`run` answers with what `--json` prints and with text for people; `main.COMMANDS` lists the modules by name.
Nothing is exported: the program is `main.main`.
"""

__all__ = []
