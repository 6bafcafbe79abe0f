"""Export: the distilled set, tables, the manifest and a report, to take elsewhere."""

import json

import streamlit as st

from dntk_core.base.terminal import size
from dntk_core.dashboard.exporting import as_parquet, offer, tables, write_distilled, write_report
from dntk_core.dashboard.mixing import USES
from dntk_core.dashboard.page import page
from dntk_core.run.export import EXPORTS

with page("Export", uses=USES) as here:
    left, right = st.columns(2, gap="large")

    with left:
        st.markdown("#### Distilled gradient set")
        st.caption("Features AΦ, targets AY, the mixing A, and inside them a manifest with all that made them.")
        suffix = st.segmented_control("Format", list(EXPORTS), default=next(iter(EXPORTS)), required=True)
        wanted = (here.run.key, here.view, suffix)
        if st.button("Make the file", type="primary"):
            with st.spinner("Writing the file and reading it back"):
                path, distilled = write_distilled(here, suffix)
                manifest = json.dumps(distilled.manifest, indent=2, sort_keys=True)
                st.session_state["exported"] = (wanted, path, len(distilled.targets), manifest)
        made, path, count, manifest = st.session_state.get("exported", (None,) * 4)
        if made == wanted:
            st.success(
                f"{count} gradients, {size(path.stat().st_size)}. Read back: predictions identical to this page's."
            )
            with st.container(horizontal=True):
                offer("Download the set", lambda: path.open("rb"), path.name)
                offer("Download the manifest", lambda: manifest, f"{path.stem}.json")
            with st.expander("Manifest"):
                st.code(manifest, language="json")
            with st.expander("Load it in Python"):
                st.code(
                    "from dntk_core.run.export import load_distilled\n\n"
                    f'distilled = load_distilled("{path.name}")\n'
                    "predictions = distilled.predict(run.kernels)  # or predict_features(Φ*)",
                    language="python",
                )

    with right:
        st.markdown("#### Tables")
        st.caption("The distilled set and the spectra as plain tables.")
        found = tables(here)
        name = st.segmented_control("Table", list(found), default="gradients", required=True)
        table = found[name]
        st.dataframe(table.head(100), height=240, hide_index=True)
        st.caption(f"{len(table):,} rows; the first {min(len(table), 100)} are shown.")
        with st.container(horizontal=True):
            offer("CSV", lambda: table.to_csv(index=False), f"{name}.csv")
            offer("Parquet", lambda: as_parquet(table), f"{name}.parquet")

        st.markdown("#### Report")
        st.caption("Every figure of every page for this view, in one HTML file that needs no internet.")
        offer("Make and download the report", lambda: write_report(here), "report.html")
