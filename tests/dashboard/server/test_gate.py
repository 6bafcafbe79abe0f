"""When a token is asked for; tests/browser/test_gate.py tries the gate itself with real sockets."""

from collections import namedtuple

import pytest

from dntk_core.dashboard.server import gate
from dntk_core.dashboard.server.gate import shared_machine, wants_token
from dntk_core.dashboard.server.settings import Settings

Account = namedtuple("Account", "pw_uid pw_shell")
SYSTEM = [Account(0, "/bin/bash"), Account(33, "/usr/sbin/nologin"), Account(65534, "/bin/sh")]


@pytest.mark.parametrize(
    ("accounts", "shared"),
    [
        ([], False),
        ([Account(1000, "/bin/zsh")], False),
        ([Account(1000, "/bin/zsh"), Account(1001, "/bin/bash")], True),
        ([Account(1000, "/bin/zsh"), Account(1001, "/usr/sbin/nologin")], False),
    ],
)
def test_a_machine_with_other_peoples_accounts_is_shared(monkeypatch, accounts, shared):
    monkeypatch.setattr("os.getuid", lambda: 1000)
    monkeypatch.setattr("pwd.getpwall", lambda: SYSTEM + accounts)
    monkeypatch.setattr(gate, "Path", lambda place: type("Nothing", (), {"glob": lambda self, pattern: []})())
    assert shared_machine() is shared


@pytest.mark.parametrize("shared", [False, True])
def test_a_token_is_asked_for_where_others_could_come_and_as_the_owner_says(monkeypatch, shared):
    monkeypatch.setattr(gate, "shared_machine", lambda: shared)
    assert wants_token(Settings()) is shared and wants_token(Settings(remote=True))
    assert wants_token(Settings(token=True)) and not wants_token(Settings(remote=True, token=False))
