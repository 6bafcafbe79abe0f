"""The dashboard opened on a run from Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

from dntk_core.run.show import RECORD, serving

ROOT = Path(__file__).resolve().parents[2]
CODE = """
from dntk_core import RunSpec, load_or_build
run = load_or_build(RunSpec.default())
assert run.show(browser=False, wait=False) == run.show(wait=False)
from urllib.request import HTTPCookieProcessor, build_opener
assert build_opener(HTTPCookieProcessor()).open(run.show(browser=False, wait=False)).status == 200
"""


def test_show_starts_one_server_finds_it_again_and_takes_it_along(default_run, store_folder):
    # A browser that does nothing.
    environment = os.environ | {"DNTK_CACHE_DIR": str(store_folder), "PYTHONPATH": str(ROOT), "BROWSER": "true %s"}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and len(set(lines)) == 1 and lines[0].endswith(f"&run={default_run.key}")
    # The server ended with the Python that started it; its record is not believed.
    assert json.loads((store_folder / RECORD).read_text())["port"] and serving(store_folder) is None


def test_what_is_no_record_of_a_server_is_not_believed(tmp_path):
    assert serving(tmp_path) is None
    for text in ("", "[]", '{"port": "x"}', json.dumps({"port": 1, "pid": os.getpid(), "token": ""})):
        (tmp_path / RECORD).write_text(text)
        assert serving(tmp_path) is None
