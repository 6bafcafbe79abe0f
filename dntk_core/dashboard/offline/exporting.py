"""What the Export page offers: files made on the server, read back and checked before they are handed out."""

import hashlib
import io
import json
import re
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dntk_core.dashboard.choices.controls import CONTROLS, Choice
from dntk_core.dashboard.choices.mixing import current_distillation, current_mixing
from dntk_core.dashboard.choices.view import link
from dntk_core.dashboard.drawing.metrics import METRICS, of, written
from dntk_core.dashboard.drawing.recipe import scores_command
from dntk_core.dashboard.offline.report import report
from dntk_core.dashboard.page import Page, limits
from dntk_core.dashboard.sections import PRINTED
from dntk_core.run.export import export_distilled
from dntk_core.run.tables import gradients_table, predictions_table, spectra_table, weights_table


@dataclass(frozen=True)
class Exported:
    """A file that was read back and gives the page's predictions: its bytes, and what is said of it."""

    name: str
    content: bytes
    gradients: int
    manifest: str


def make_distilled(here: Page, suffix: str) -> Exported:
    """Make a file of the distilled set on screen; its name tells it from that of any other settings."""
    mixing = current_mixing(here.live, here.view)
    chosen = current_distillation(here.live, here.view)
    # In a folder of its own: what is handed out is what was verified, whatever other sessions make meanwhile.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{file_stem(here)}{suffix}"
        command = chosen.command(here.run.key)
        made = export_distilled(here.run, mixing, path, chosen.ridge, chosen.settings, command, chosen.readout)
        manifest = json.dumps(made.manifest, indent=2, sort_keys=True)
        return Exported(path.name, path.read_bytes(), len(made.targets), manifest)


def said(here: Page) -> str:
    """Which set is on offer."""
    mixing = current_mixing(here.live, here.view)
    made = mixing.description or f"by {here.view.method}"
    return f"{mixing.size} gradients in the place of {len(here.run.targets):,}: {made}."


def load_code(key: str, name: str) -> str:
    """Python that reads a downloaded set and predicts the run's test inputs with it, as it stands."""
    return f"""from dntk_core.run.export import load_distilled
from dntk_core.run.pipeline import open_run

distilled = load_distilled("{name}")
run = open_run("{key}")
predictions = distilled.predict(run.kernels)  # (t, C), bit for bit those of the page

# Elsewhere, without the run: from the projected gradients (C, t, k) of any inputs.
features = run.test_features
print(abs(distilled.predict_features(features) - predictions).max())"""


def tables(here: Page) -> dict[str, pd.DataFrame]:
    """The tables on offer, by name."""
    problem, names = here.live.problem, here.run.class_names
    mixing = current_mixing(here.live, here.view)
    return {
        "gradients": gradients_table(problem, mixing, names),
        "weights": weights_table(mixing),
        "predictions": predictions_table(problem, mixing, here.view.ridge, names, here.view.readout),
        "spectra": spectra_table(here.live.spectra(), tuple(names[c] for c in problem.kernels.chosen)),
    }


def as_parquet(table: pd.DataFrame) -> bytes:
    """A table as a Parquet file."""
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def write_report(here: Page) -> str:
    """All figures of all pages for the current view, with its settings and scores, as one HTML file."""
    sections = [(name, panels(here)) for name, panels in PRINTED.items()]
    tables = {"Settings": _settings(here), "Scores": _scores(here)}
    return report(f"DNTK: {here.run.spec.summary}", scores_command(here), sections, tables)


def _settings(here: Page) -> list[tuple[str, str]]:
    """What the run is, and where every slider and choice stands."""
    run, bounds = here.run, limits(here.run)
    rows = [("setting", "value"), ("run", run.key), ("what", run.spec.summary)]
    rows += [("parameters", f"{run.parameters:,}"), ("projected to", f"{run.k:,} dimensions")]
    for name, control in CONTROLS.items():
        value = here.view[name]
        rows.append((control.label, control.shown(value, bounds) if isinstance(control, Choice) else f"{value:g}"))
    return rows


def _scores(here: Page) -> list[tuple[str, ...]]:
    """The distilled set beside all gradients and the network itself."""
    live, t = here.live, len(here.live.problem.labels)
    mixing = current_mixing(live, here.view)
    distilled, full = current_distillation(live, here.view).scores(live)
    rows: list[tuple[str, ...]] = [
        ("score", f"{mixing.size} distilled gradients", f"all {len(here.run.targets):,}", "network")
    ]
    network = {"accuracy": f"{here.run.test_accuracy:.1%}"}
    for name, metric in METRICS.items():
        values = (written(metric, float(of(each, name)), t) for each in (distilled, full))
        rows.append((metric.title, *values, network.get(name, "–")))
    return rows


def file_stem(here: Page) -> str:
    """A name for files of this view that people can read and no other view has.

    Data, network, method, size and settings, then the start of a hash of all settings.
    """
    chosen = current_distillation(here.live, here.view)
    words = [here.run.spec.data.name, here.run.spec.model.name, here.view.method]
    words += [f"s{current_mixing(here.live, here.view).size}"]
    words += [f"{name}{value:g}" for name, value in chosen.settings.items() if isinstance(value, (int, float))]
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(words)).strip("-.")[:80]
    settings = [here.run.key, sorted(chosen.settings.items()), chosen.ridge, chosen.readout, link(here.view)]
    text = json.dumps(settings, default=str, sort_keys=True)
    return f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def write_all(here: Page, suffix: str) -> bytes:
    """Everything of this view in one .zip: the set and its manifest, all tables, the report, and how to use them."""
    stem, buffer = file_stem(here), io.BytesIO()
    made = make_distilled(here, suffix)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{stem}/{made.name}", made.content)
        archive.writestr(f"{stem}/manifest.json", made.manifest)
        for name, table in tables(here).items():
            archive.writestr(f"{stem}/{name}.csv", table.to_csv(index=False))
        archive.writestr(f"{stem}/report.html", write_report(here))
        archive.writestr(f"{stem}/load.py", load_code(here.run.key, f"{stem}{suffix}") + "\n")
    return buffer.getvalue()
