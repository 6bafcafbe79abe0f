"""What a bar of the ledger is made of: every term of one way to a kernel, counted both ways."""

import pandas as pd
import streamlit as st

from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.figures.ledger import WAYS
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections.ledger import counted
from dntk_core.run.ledger import Cost

TERMS = {
    "jacobians": "inputs whose gradients are computed",
    "distillation": "FLOPs to synthesise the kernel inputs",
    "gradients": "FLOPs for the gradients and their projection",
    "kernel": "FLOPs for the kernels and their distillation",
    "solve": "FLOPs to factorise the systems",
    "flops": "all FLOPs",
    "bytes": "bytes held",
}


def open_cost(here: Page, found: Pick) -> str:
    """List the terms of one way."""
    name, way = (*found.parts, "")[:2]
    counts = counted(here).get(name.replace("_", " "))
    if counts is None or way not in WAYS:
        st.caption("There is no such cost.")
        return "Cost"
    both = {"as the paper counts": counts.paper, "everything": counts.everything}
    costs: dict[str, Cost] = {count: getattr(ledger, way) for count, ledger in both.items()}
    rows = [{"term": words} | {count: f"{getattr(cost, term):,.4g}" for count, cost in costs.items()}
            for term, words in TERMS.items()]  # fmt: skip
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    return f"What {WAYS[way][0]} costs for {name.replace('_', ' ')}"
