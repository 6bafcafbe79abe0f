"""The Dataset distillation page: all figures of a distilled run, and the way there from any other."""

import re

from tests.browser.test_analysis import wait_for

FIGURES = {"dataset_gallery", "dataset_losses", "dataset_map", "dataset_judged", "dataset_bases"}


def test_a_distilled_run_is_shown_and_the_ridge_moves_only_the_curves(tab, distilled_run):
    one = tab(f"Dataset_distillation?run={distilled_run.key}")
    before = wait_for(one, FIGURES)
    assert "20 images for 1,297" in one.text() and "Compute the network trained on distilled images" in one.text()
    one.move("Ridge", 4).wait(
        """before => [...document.querySelectorAll('.dntk-plot[data-drawn]')]
            .some(gd => gd.dntk.name === 'dataset_bases' && Number(gd.dataset.drawn) > before)""",
        before["dataset_bases"],
    )
    after = wait_for(one, FIGURES)
    assert {name for name in FIGURES if after[name] != before[name]} == {"dataset_bases"}


def test_a_run_on_real_images_says_how_to_distil_them(tab, default_run):
    one = tab(f"Dataset_distillation?run={default_run.key}")
    one.see(one.page.get_by_role("button", name="Distil these images"))
    one.see("python -m dntk_core build --dataset-method wmdd --per-class 10")
    one.see(re.compile("About .* on this machine"))
