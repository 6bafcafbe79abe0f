"""What speaks against a run's k, said where its numbers are shown and before a new one is computed."""

import streamlit as st

from dntk_core.base.spec import RunSpec
from dntk_core.dashboard.drawing import literal
from dntk_core.run.cautions import cautions
from dntk_core.run.pipeline import Run


def warn(run: Run) -> None:
    """Say what to beware of in an open run."""
    warn_of(run.spec, len(run.class_names))


def warn_of(spec: RunSpec, classes: int) -> bool:
    """Say what to beware of in a spec, one warning each; whether there was anything."""
    found = cautions(spec, classes)
    for sentence in found:
        st.warning(literal.markdown(f"{sentence}."), icon=":material/warning:")
    return bool(found)
