"""The wheel, installed where there is no checkout: builds a run in the user's cache and serves its pages."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.browser.launch import free_port, running
from tests.browser.tab import Tab

ROOT = Path(__file__).resolve().parents[1]
TINY = "--epochs 0 --kernel-inputs 60 --test-inputs 60 --k 256 --json".split()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of a new environment's programs: the wheel alone, everything else from this environment."""
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = ["wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--wheel-dir", str(place)]
    subprocess.run([*pip, *wheel], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True)
    python = str(place / "venv" / "bin" / "python")
    subprocess.run([*pip, "--python", python, "install", "--no-deps", *map(str, place.glob("dntk-*.whl"))], check=True)
    library = next((place / "venv" / "lib").glob("python*/site-packages"))
    (library / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "venv" / "bin"


def test_build_and_serve_from_the_wheel(installed, chromium, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name not in ("DNTK_CACHE_DIR", "PYTHONPATH")}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "kept"), "OMP_NUM_THREADS": "1"}
    command = [str(installed / "dntk"), "build", *TINY]
    built = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    key = json.loads(built.stdout)["key"]
    assert list((tmp_path / "kept" / "dntk" / "runs" / "artifacts").glob(f"kernels-{key}"))

    port, log = free_port(), tmp_path / "server.log"
    command = [str(installed / "dntk"), "serve", "--no-token", "--port", str(port)]
    with running(command, port, log, tmp_path, environment) as address:
        tab = Tab(chromium.new_page(), address).goto(f"Spectra?run={key}")
        tab.plots(1)
        tab.follow("Containment").plots(1)
        assert tab.parameter("run") == key and not tab.errors
        # The settings came along: Streamlit's own list of pages is off.
        assert not tab.page.get_by_test_id("stSidebarNav").count()
        tab.close()
    assert "Traceback" not in log.read_text()
