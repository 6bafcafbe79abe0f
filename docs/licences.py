"""The licence of every package that a release installs, as a Markdown table, from what a recent pip says of them.

pip install --quiet --dry-run --ignore-installed --report - -r requirements.lock | python docs/licences.py
"""

import json
import sys

HEAD = """# Licences

What a release installs (Linux, x86-64), each under the licence that its authors declare. DNTK itself is under the MIT
licence and contains no code of others. Made by `docs/licences.py`.

| package | version | licence |
|---|---|---|"""


def licence(metadata: dict) -> str:
    """The licence by its short name; the classifiers say it where the field holds a whole text or nothing."""
    if expression := metadata.get("license_expression"):
        return expression
    names = [name.rpartition(" :: ")[2] for name in metadata.get("classifier", []) if name.startswith("License ::")]
    named = [name for name in names if name != "OSI Approved"]
    field = metadata.get("license", "").strip()
    if named or not field:
        return ", ".join(named) or "declares none"
    return field if "\n" not in field and len(field) < 60 else "see its LICENSE file"


def main() -> None:
    packages = [entry["metadata"] for entry in json.load(sys.stdin)["install"]]
    print(HEAD)
    for metadata in sorted(packages, key=lambda metadata: metadata["name"].lower()):
        print(f"| {metadata['name']} | {metadata['version']} | {licence(metadata)} |")


if __name__ == "__main__":
    main()
