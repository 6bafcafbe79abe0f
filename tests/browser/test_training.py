"""Training and Layers in the browser: a series scrubbed by its slider, groups computed and shown."""

from dataclasses import replace

import pytest

from dntk_core.run.across import build_series
from dntk_core.run.series import trained_series


@pytest.fixture(scope="module")
def followed(server, small_run):
    """The runs of a short series."""
    spec = replace(small_run.spec, model=replace(small_run.spec.model, epochs=2))
    runs, _ = build_series(trained_series(spec, (0, 1, 2)))
    return runs


def test_a_series_is_scrubbed_and_the_link_keeps_the_checkpoint(tab, followed, small_run):
    one = tab(f"Training?run={followed[-1].key}&checkpoint=epoch+1")
    one.plots(5)
    one.see("At epoch 1 inputs of one cluster")
    one.see("Is the network its own tangent?")

    def back() -> None:
        one.slider("Checkpoint").focus()
        one.page.keyboard.press("ArrowLeft")

    one.until("At epoch 0 inputs of one cluster", back)
    one.wait_for_parameter("checkpoint", "epoch 0")
    # One epoch is no series; the page says how to get one.
    tab(f"Training?run={small_run.key}").see("No series of this network is known")
    # On the same inputs kernels are compared, and how far that can be trusted is measured when asked.
    two = tab(f"Compare?run={followed[-1].key}&other={small_run.key}")
    two.see("How alike are the kernels?")
    two.see("Between classes")
    two.press("Measure it on 24 inputs", until="with exact kernels CKA is off by")


def test_blocks_are_computed_and_shown(tab, small_run):
    one = tab(f"Layers?run={small_run.key}")
    one.press("Compute with blocks apart", until="What every group brings")
    one.plots(2)
    assert one.parameter("run") != small_run.key
    one.see("Groups against each other")
