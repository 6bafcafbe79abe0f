"""What tests of commands share."""

import json

import pytest

from dntk_core.cli.main import main


@pytest.fixture
def call(capsys):
    """Run a command and read its answer."""

    def answer(*words: str):
        assert main([*map(str, words), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return answer
