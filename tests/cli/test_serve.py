"""What `serve` asks of Streamlit; that it runs is shown by the installed wheel's test."""

import sys

import pytest

from dntk_core.cli.main import main, parser
from dntk_core.cli.serve import words
from dntk_core.dashboard.server.settings import Settings, parse, refusal


def split(*flags: str) -> tuple[list[str], Settings]:
    """Streamlit's options, and what the dashboard makes of its own."""
    found = words(parser().parse_args(["serve", *flags]))
    cut = found.index("--")
    return found[:cut], parse(found[cut + 1 :])


def test_this_machine_alone_is_served_unless_asked_for():
    options, settings = split("--port", "8600")
    assert options == ["--server.port", "8600"] and settings == Settings()
    options, settings = split("--remote", "--host", "gpu1.lab")
    assert settings.remote and refusal(options[options.index("--server.address") + 1], True, True) == ""
    names = [options[i + 1] for i, word in enumerate(options) if word == "--server.allowedHosts"]
    assert names == ["localhost", "127.0.0.1", "gpu1.lab"]
    assert options[options.index("--browser.serverAddress") + 1] == "gpu1.lab"
    assert [split(*flags)[1].token for flags in ((), ("--token",), ("--no-token",))] == [None, True, False]


def test_folders_are_named_to_the_dashboard(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "sent").mkdir()
    monkeypatch.chdir(tmp_path)
    options, settings = split("--root", "data", "--uploads", "sent", "--upload-size", "7")
    assert settings == Settings(False, (tmp_path / "data", tmp_path / "sent"), tmp_path / "sent")
    assert options[options.index("--server.maxUploadSize") + 1] == "7"


def test_it_becomes_a_server_of_the_checkout(monkeypatch):
    started = []

    class Replaced(BaseException):
        pass

    def execv(program, command):
        started.append((program, command))
        raise Replaced

    monkeypatch.setattr("os.execv", execv)
    with pytest.raises(Replaced):
        main(["serve"])
    [(program, command)] = started
    assert program == sys.executable and command[3:5] == ["streamlit", "run"] and command[5].endswith("/app.py")
