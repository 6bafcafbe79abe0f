"""Who may reach the dashboard: this machine, unless its owner says otherwise in so many words."""

import logging
import tomllib
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dntk_core.dashboard.server.settings import Settings, parse, refusal

CONFIG = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text())


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "127.8.8.8", "::1"])
def test_this_machine_is_served(address):
    assert refusal(address, xsrf=True, remote=False) == ""


@pytest.mark.parametrize("address", [None, "", "0.0.0.0", "::", "10.0.0.5", "gpu1.lab", "localhost.example", "127"])
def test_other_machines_only_with_the_flag(address):
    assert "-- --remote" in refusal(address, xsrf=True, remote=False)
    assert refusal(address, xsrf=True, remote=True) == ""


def test_no_page_without_xsrf_protection():
    assert "XSRF" in refusal("localhost", xsrf=False, remote=True)


def test_arguments_name_roots_and_nothing_else_counts(tmp_path, caplog):
    (tmp_path / "data").mkdir()
    assert parse([]) == Settings()
    assert parse(["--remot", "--verbose", "x"]) == Settings()
    words = ["--root", str(tmp_path / "data" / ".." / "data"), "--remote", "--root", str(tmp_path / "none")]
    with caplog.at_level(logging.WARNING):
        assert parse(words) == Settings(True, (tmp_path / "data",))
    assert "is no folder" in caplog.text
    (tmp_path / "sent").mkdir()
    words += ["--uploads", str(tmp_path / "sent")]
    assert parse(words) == Settings(True, (tmp_path / "data", tmp_path / "sent"), tmp_path / "sent")
    assert parse(["--uploads", str(tmp_path / "none")]) == Settings()
    assert parse(["--uploads", "", "--root", ""]) == parse(["--remote", "--uploads"]) == Settings()


def test_the_server_is_set_up_to_tell_nobody_and_take_nothing():
    server = CONFIG["server"]
    assert refusal(server["address"], server["enableXsrfProtection"], remote=False) == ""
    assert server["allowedHosts"] == ["localhost", "127.0.0.1"]
    assert server["maxUploadSize"] == 1 and server["enableAgentApi"] is False
    assert CONFIG["browser"]["gatherUsageStats"] is False and CONFIG["client"]["showErrorDetails"] == "none"


def test_what_fails_unexpectedly_is_one_sentence_without_its_trace():
    def script():
        from dntk_core.dashboard.page import frame

        with frame("Test"):
            raise RuntimeError("the secret")

    app = AppTest.from_function(script).run()
    assert [error.value for error in app.error] == [
        "This page could not be drawn. The server's log has the details; reload to try again."
    ]
    assert not app.exception and "secret" not in str(app.main)
