"""Export: the distilled set, tables, the manifest and a report, to take elsewhere."""

from pathlib import Path

import streamlit as st

from dntk_core.base.terminal import size
from dntk_core.dashboard.choices.mixing import USES
from dntk_core.dashboard.choices.tabs import tab
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.offline.exporting import (
    as_parquet,
    file_stem,
    load_code,
    make_distilled,
    said,
    tables,
    write_all,
    write_report,
)
from dntk_core.dashboard.offline.handing import offer
from dntk_core.dashboard.page import page
from dntk_core.run.export import EXPORTS

with page("Export", uses=USES) as here:
    left, right = st.columns(2, gap="large")
    stem = file_stem(here)

    with left:
        st.markdown("#### Distilled gradient set")
        st.markdown(literal.markdown(said(here)))
        st.caption("Features AΦ, targets AY, the mixing A, and inside them a manifest with all that made them.")
        suffix = tab(here, "format", tuple(EXPORTS), label="Format")
        wanted = (here.run.key, here.view, suffix)
        if st.button("Make the file", type="primary"):
            with st.spinner("Writing the file and reading it back"):
                st.session_state["exported"] = (wanted, make_distilled(here, suffix))
        made, file = st.session_state.get("exported", (None, None))
        if made == wanted and file is not None:
            st.success(
                f"{file.gradients} gradients, {size(len(file.content))}. "
                "Read back: predictions identical to this page's."
            )
            with st.container(horizontal=True):
                offer("Download the set", lambda: file.content, file.name)
                offer("Download the manifest", lambda: file.manifest, f"{Path(file.name).stem}.json")
            with st.expander("Manifest"):
                st.code(file.manifest, language="json")
            with st.expander("Load it in Python"):
                st.code(load_code(here.run.key, file.name), language="python")

        st.markdown("#### Report")
        st.caption("Settings, scores and every figure of every page for this view, in one file that needs no internet.")
        offer("Make and download the report", lambda: write_report(here), f"{stem}-report.html")

        st.markdown("#### Everything")
        st.caption("The set, its manifest, all tables and the report of this view, with the code that loads it.")
        offer("Make and download the zip", lambda: write_all(here, suffix), f"{stem}.zip")

    with right:
        st.markdown("#### Tables")
        st.caption("The distilled set and the spectra as plain tables.")
        found = tables(here)
        name = tab(here, "table", tuple(found), label="Table")
        table = found[name]
        st.dataframe(table.head(100), height=420, hide_index=True)
        st.caption(f"{len(table):,} rows" + ("; the first 100 are shown." if len(table) > 100 else "."))
        with st.container(horizontal=True):
            offer("CSV", lambda: table.to_csv(index=False), f"{stem}-{name}.csv")
            offer("Parquet", lambda: as_parquet(table), f"{stem}-{name}.parquet")
