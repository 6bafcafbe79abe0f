"""Shell completion: every command, every flag, known values."""

import subprocess

import pytest

from dntk_core.cli.completion import SHELLS, options
from dntk_core.cli.main import COMMANDS, main, parser


def script(capsys, shell: str) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_all_commands_and_flags_are_in_the_script(capsys, shell):
    text = script(capsys, shell)
    for name, command in parser().get_default("commands").items():
        assert name in text
        for flag, _ in options(command):
            assert flag in text if shell != "fish" else f" {flag.lstrip('-')} " in text


@pytest.mark.parametrize(
    "typed, offered",
    [
        ("dntk ", set(COMMANDS)),
        ("dntk ev", {"evaluate"}),
        ("dntk build --kernel", {"--kernel-inputs"}),
        ("dntk build --precision ", {"float32", "bfloat16"}),
        ("dntk evaluate --method k", {r"k-means\ medoids", r"k-means\ centroids", r"kernel\ PCA"}),
        ("dntk build --json --outputs log", {"logits", "log_softmax"}),
        ("dntk completion ", {"bash", "zsh", "fish", "-h", "--help"}),
        # Nothing of ours: the shell offers files.
        ("dntk build --spec ", set()),
    ],
)
def test_bash_completes(capsys, tmp_path, typed, offered):
    (tmp_path / "dntk.sh").write_text(script(capsys, "bash"))
    typed_words = typed.split(" ")
    quoted = " ".join(f"'{word}'" for word in typed_words)
    ask = f"source {tmp_path}/dntk.sh; COMP_WORDS=({quoted}); COMP_CWORD={len(typed_words) - 1}; _dntk; "
    done = subprocess.run(["bash", "-c", ask + 'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True)
    assert done.stderr == "" and {line for line in done.stdout.splitlines() if line} == offered
