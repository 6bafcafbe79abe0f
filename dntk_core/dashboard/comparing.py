"""The second run on the Compare page."""

import streamlit as st

from dntk_core.dashboard import cached, literal
from dntk_core.dashboard.metrics import METRICS, interval, of, written
from dntk_core.dashboard.mixing import current_distillation, current_mixing
from dntk_core.dashboard.page import Page, limits
from dntk_core.dashboard.view import restore
from dntk_core.run.pipeline import runs


def choose_other(here: Page) -> Page | None:
    """Let a person choose the run to compare with; it is shown under the same view, as far as it allows."""
    names = {info.key: info.spec.summary for info in runs() if info.finished and info.key != here.run.key}
    if not names:
        st.info("There is only one run in the cache. Compute another on Home, with another k or other inputs, say.")
        return None
    asked = st.query_params.get("other")
    if asked in names and "other" not in st.session_state:
        st.session_state["other"] = asked
    if st.session_state.get("other") not in names:
        st.session_state["other"] = next(iter(names))
    key = st.selectbox("Compare with", names, format_func=lambda key: names[key], key="other", persist_state="session")
    here.link["other"] = key
    run = cached.run(key)
    view, _ = restore(here.link, limits(run))
    return Page(run, cached.live(key), view, here.link)


def scores(one: Page) -> None:
    """The scores of the distilled set on screen, with the full kernel's beside them."""
    mixing = current_mixing(one.live, one.view)
    distilled, full = current_distillation(one.live, one.view).scores(one.live)
    t = len(one.live.problem.labels)
    rows = [("Gradients s", f"{mixing.size}", "", f"{len(one.run.targets)}")]
    for name, metric in METRICS.items():
        value = of(distilled, name)
        rows.append(
            (metric.title, f"{value:{metric.format}}", interval(metric, value, t), written(metric, of(full, name), t))
        )
    with st.container(horizontal=True, gap="medium"):
        for label, value, between, of_full in rows:
            below = f"{between} · full: {of_full}" if between else f"full: {of_full}"
            st.metric(label, value, below, delta_color="off", delta_arrow="off", width="content")
    if mixing.description:
        st.caption(literal.markdown(mixing.description))
