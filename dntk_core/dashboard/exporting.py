"""What the Export page offers: files made on the server, read back and checked before they are handed out."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import streamlit as st

from dntk_core.base.places import cache_folder
from dntk_core.dashboard.mixing import current_distillation, current_mixing
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.recipe import scores_command
from dntk_core.dashboard.report import report
from dntk_core.dashboard.sections import SECTIONS
from dntk_core.run.export import Distilled, export_distilled
from dntk_core.run.tables import gradients_table, predictions_table, spectra_table, weights_table


def offer(label: str, make: Callable[[], str | bytes | BinaryIO], name: str) -> None:
    """A button that makes a file when clicked; the page does not run again, which would void the other buttons."""
    st.download_button(label, data=make, file_name=name, on_click="ignore")


def write_distilled(here: Page, suffix: str) -> tuple[Path, Distilled]:
    """Write the distilled set on screen into the cache."""
    mixing = current_mixing(here.live, here.view)
    folder = cache_folder() / "exports"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"distilled-{here.run.key}-{mixing.size}{suffix}"
    chosen = current_distillation(here.live, here.view)
    command = chosen.command(here.run.key)
    return path, export_distilled(here.run, mixing, path, chosen.ridge, chosen.settings, command, chosen.readout)


def tables(here: Page) -> dict[str, pd.DataFrame]:
    """The tables on offer, by name."""
    problem, names = here.live.problem, here.run.class_names
    mixing = current_mixing(here.live, here.view)
    return {
        "gradients": gradients_table(problem, mixing, names),
        "weights": weights_table(mixing),
        "predictions": predictions_table(problem, mixing, here.view.ridge, names, here.view.readout),
        "spectra": spectra_table(here.live.spectra(), names),
    }


def as_parquet(table: pd.DataFrame) -> bytes:
    """A table as a Parquet file."""
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def write_report(here: Page) -> str:
    """All figures of all pages for the current view, as one HTML file."""
    sections = [(name, panels(here)) for name, panels in SECTIONS.items()]
    return report(f"DNTK: {here.run.spec.summary}", scores_command(here), sections)
