"""Export: what is downloaded gives back the page's predictions; tables and report open elsewhere."""

import io

import numpy as np
import pandas as pd

from dntk_core.distill import local_global
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.readout.ridge import predict
from dntk_core.run.export import load_distilled


def test_the_distilled_set_round_trips(tab, default_run, tmp_path):
    one = tab("Export?H=5&tau_v=0.7&tau_g=0.9&ridge=0.001")
    one.press("Make the file", until="predictions identical")
    got = one.download("Download the set")
    got.save_as(path := tmp_path / got.suggested_filename)

    labels = spectral_clusters(default_run.kernels.mean, 5, 0)
    mixing = local_global(default_run.kernels.mean, labels, 0.7, 0.9, "ratio")
    wanted = predict(default_run.kernels, default_run.targets, mixing, 0.001)
    distilled = load_distilled(path)
    # The server has checked that every bit agrees; another number of threads rounds differently.
    np.testing.assert_allclose(distilled.predict(default_run.kernels), wanted, rtol=1e-8, atol=1e-8)
    assert distilled.manifest["settings"]["H"] == 5


def test_tables_and_report(tab, tmp_path):
    one = tab("Export")
    csv = pd.read_csv(one.download("CSV").path())
    parquet = pd.read_parquet(io.BytesIO(one.download("Parquet").path().read_bytes()))
    pd.testing.assert_frame_equal(csv, parquet, check_dtype=False)
    html = one.download("Make and download the report").path().read_text()
    assert html.count("plotly-graph-div") >= 5
    assert "cdn.plot.ly" not in html.split("</script>", 1)[1]
