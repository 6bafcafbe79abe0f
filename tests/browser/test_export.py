"""Export: what is downloaded gives back the page's predictions; tables and report open elsewhere."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from dntk_core.distill import local_global
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.readout.ridge import predict
from dntk_core.run.export import load_distilled

ROOT = Path(__file__).parents[2]


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
    assert path.name.startswith("digits-small-resnet-local-global-s") and "H5" in path.name
    # What the page offers to copy runs as it stands.
    one.unfold("Load it in Python")
    code = one.page.get_by_test_id("stCode").filter(has_text="load_distilled").inner_text()
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and float(done.stdout) < 1e-4, done.stderr


def test_tables_and_everything_in_one_zip(tab, chromium, small_run, tmp_path):
    one = tab(f"Export?run={small_run.key}&H=5&tau_v=0.9")
    csv = pd.read_csv(one.download("CSV").path())
    parquet = pd.read_parquet(io.BytesIO(one.download("Parquet").path().read_bytes()))
    pd.testing.assert_frame_equal(csv, parquet, check_dtype=False)

    got = one.download("Make and download the zip")
    with zipfile.ZipFile(got.path()) as archive:
        files = {Path(name).name: archive.read(name) for name in archive.namelist()}
        archive.extractall(tmp_path)
    stem = got.suggested_filename.removesuffix(".zip")
    tables = {"gradients.csv", "weights.csv", "predictions.csv", "spectra.csv"}
    assert files.keys() == {f"{stem}.safetensors", "manifest.json", "report.html", "load.py", *tables}
    pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(files["gradients.csv"])), csv)
    assert json.loads(files["manifest.json"])["run"] == small_run.key

    page, asked = chromium.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / stem / "report.html").as_uri())
    page.wait_for_selector(".ytick text")
    text, read = page.content(), page.locator("body").inner_text()
    assert len(asked) == 1, "it asked for more than itself"
    assert page.locator("details").count() > 15 and page.locator("math").count() > 100
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert not re.search(r"\$\$|\\\\frac|\\\\mathrm", page.locator("body").inner_text())
    heads = page.evaluate(
        "[...document.querySelectorAll('h2')].map(h => [h.textContent, h.nextElementSibling?.tagName])"
    )
    assert all(then not in (None, "H2") for _, then in heads), heads
    assert [name for name, _ in heads][:4] == ["Settings", "Scores", "Overview", "Cost"]
    assert f"{len(csv)} distilled gradients" in read and "Clusters H" in read
    assert f"of {len(csv)}" in page.locator("h3").all_inner_texts()[-1] or any(
        title.endswith(f"to {len(csv)} of {len(csv)}") for title in page.locator("h3").all_inner_texts()
    )
    assert not re.search("Share chart", text.split("</script>", 1)[1])
    titles = page.evaluate("[...document.querySelectorAll('.modebar-btn')].map(button => button.dataset.title)")
    assert titles and not [title for title in titles if re.search("share|cloud", title, re.IGNORECASE)]
    page.close()
