"""Print a script that teaches a shell the commands and flags.

bash: source <(dntk completion bash) · zsh: source <(dntk completion zsh) · fish: dntk completion fish | source
"""

import shlex
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator

HELP = "a script that teaches your shell the commands and flags"


def add(parser: ArgumentParser) -> None:
    """Describe the argument."""
    parser.add_argument("shell", choices=SHELLS, help="the shell the script is for")


def run(arguments: Namespace) -> tuple[str, str]:
    """Write the script from the parsers themselves."""
    script = SHELLS[arguments.shell](arguments.commands)
    return script, script


def options(parser: ArgumentParser) -> Iterator[tuple[str, Action]]:
    """Every flag of a command."""
    for action in parser._actions:
        for flag in action.option_strings:
            yield flag, action


def values(action: Action) -> list[str]:
    """The words that may follow a flag, where they are known."""
    return [shlex.quote(str(choice)) for choice in action.choices or ()]


def bash(commands: dict[str, ArgumentParser]) -> str:
    """Complete the command, then its flags, then a flag's values; where none are known, a file."""
    cases = []
    for name, parser in commands.items():
        for flag, action in options(parser):
            if action.nargs != 0:
                cases.append(f"    '{name} {flag}') words=({' '.join(values(action))}) ;;")
        positional = [word for action in parser._actions if not action.option_strings for word in values(action)]
        flags = [flag for flag, _ in options(parser)]
        cases.append(f"    '{name} '*) words=({' '.join([*positional, *flags])}) ;;")
    return "\n".join(
        [
            "_dntk() {",
            "  local IFS=$'\\n' here=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=()",
            '  case "${COMP_WORDS[1]} $before" in',
            *cases,
            "  esac",
            f"  (( COMP_CWORD == 1 )) && words=({' '.join(commands)})",
            "  COMPREPLY=()",
            '  for word in "${words[@]}"; do',
            '    [[ $word == "$here"* ]] && COMPREPLY+=("$(printf %q "$word")")',
            "  done",
            "}",
            "complete -o default -F _dntk dntk",
            "",
        ]
    )


def zsh(commands: dict[str, ArgumentParser]) -> str:
    """The same script, by zsh's own bridge to bash's completion."""
    return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands)


def fish(commands: dict[str, ArgumentParser]) -> str:
    """One line per command and per flag, with its help."""
    lines = []
    for name, parser in commands.items():
        lines.append(f"complete -c dntk -f -n __fish_use_subcommand -a {name} -d {shlex.quote(_short(parser))}")
        for flag, action in options(parser):
            kind = "-l" if flag.startswith("--") else "-s"
            known = f" -x -a {shlex.quote(' '.join(values(action)))}" if action.choices else ""
            needs = "" if known or action.nargs == 0 else " -r"
            text = shlex.quote((action.help or "").replace("%%", "%"))
            seen = shlex.quote(f"__fish_seen_subcommand_from {name}")
            lines.append(f"complete -c dntk -n {seen} {kind} {flag.lstrip('-')}{known}{needs} -d {text}")
    return "\n".join(lines) + "\n"


def _short(parser: ArgumentParser) -> str:
    return (parser.description or "").splitlines()[0]


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
