"""What a release installs: every package pinned, with hashes, from nowhere in particular, its licence listed."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements.lock").read_text()


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """What follows each name and version, by name==version."""
    parts = re.split(r"^(?=[A-Za-z])", LOCK, flags=re.MULTILINE)[1:]
    return {normal(name) + part[len(name) :].split()[0]: part for part in parts if (name := part.partition("==")[0])}


def test_the_lock_holds_every_requirement_at_its_version():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = {normal(line.partition("==")[0]) + line[line.index("==") :] for line in lines if "==" in line}
    assert len(wanted) > 10 and wanted <= set(locked())


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
