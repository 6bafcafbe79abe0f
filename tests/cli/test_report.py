"""`report` writes what the Export page does."""

import re

from dntk_core.dashboard.offline.exporting import write_report
from dntk_core.dashboard.offline.pages import open_page

VIEW = {"H": "4", "tau_v": "0.7", "tau_g": "0.9", "rule": "union", "ridge": "0.001"}
FLAGS = [word for name, value in VIEW.items() for word in (f"--{name.replace('_', '-')}", value)]


def test_report_writes_the_report_of_the_page(distilled_run, call, tmp_path):
    seen = ("--epsilon", "0.1", "--energy", "kernel")
    call("report", "--run", distilled_run.key, *FLAGS, *seen, "--out", tmp_path / "report.html")
    page = write_report(open_page(distilled_run, VIEW | {"epsilon": "0.1", "energy": "kernel"}))
    # Plotly numbers its figures at random.
    one, other = (
        re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", text) for text in ((tmp_path / "report.html").read_text(), page)
    )
    assert one == other and one.count("plotly-graph-div") > 10
