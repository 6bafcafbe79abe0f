"""What a release installs: every package pinned, with hashes, from nowhere in particular, its licence listed."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements.lock").read_text()


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    """The version of each package in requirements.txt."""
    lines = [line.partition("==") for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line]
    return {normal(name.partition("[")[0]): version for name, _, version in lines}


def locked() -> dict[str, str]:
    """What follows each name and version, by name==version."""
    parts = re.split(r"^(?=[A-Za-z])", LOCK, flags=re.MULTILINE)[1:]
    return {normal(name) + part[len(name) :].split()[0]: part for part in parts if (name := part.partition("==")[0])}


def test_the_lock_holds_every_requirement_at_its_version():
    wanted = {f"{name}=={version}" for name, version in pinned().items()}
    assert len(wanted) > 10 and wanted <= set(locked())


def test_every_requirement_lies_in_the_range_that_the_package_declares():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ranges = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    declared = {normal(range.name): range.specifier for range in map(Requirement, ranges) if range.name != "dntk"}
    assert set(declared) == set(pinned())
    assert all(declared[name].contains(version) for name, version in pinned().items())


def test_every_package_has_hashes_and_no_address():
    assert len(locked()) > 50
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", part) for part in locked().values())
    assert "://" not in LOCK and "--index" not in LOCK and "--find-links" not in LOCK


def test_every_package_of_a_release_has_its_licence_listed():
    rows = [line.split("|") for line in (ROOT / "docs" / "licences.md").read_text().splitlines() if "|" in line][2:]
    listed = {f"{normal(row[1].strip())}=={row[2].strip()}" for row in rows if row[3].strip()}
    # Another system or Python needs others.
    conditional = {name for name, part in locked().items() if ";" in part.splitlines()[0]}
    assert set(locked()) - conditional <= listed
