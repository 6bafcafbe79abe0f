"""A computation: started in one session, seen in another, survives a reload, is cancelled and resumed."""

from dataclasses import replace

import numpy as np
import pytest

from dntk_core.base.spec import InputSpec
from dntk_core.cache.locks import locked
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.run.analyses import CLUSTERS, Analysed
from dntk_core.run.from_features import from_features
from tests.browser.conftest import SMALL

SPEC = replace(SMALL, inputs=InputSpec(kernel=100, test=50))


def test_a_computation_is_seen_elsewhere_survives_a_reload_is_cancelled_and_resumed(tab, small_run, store_folder):
    # The form begins with the settings of the open run.
    one, two = tab(f"?run={small_run.key}"), tab(f"?run={small_run.key}")
    here, there = (each.page.locator(f".st-key-job_{SPEC.key}") for each in (one, two))
    one.unfold("Compute another run")
    one.fill("Kernel inputs m", "100").fill("Test inputs t", "50")
    bench = Workbench(store_folder / "partial" / f"features-{SPEC.stage_key('features')}")
    bench.open()
    # As if another process were at the second half of the kernel inputs: the job does the first and waits.
    with locked(bench.folder / "features-50.lock", wait=True):
        one.press("Compute", until=here)
        two.see(there.get_by_text("Features: 50 of 150"))
        one.reload().see(here.get_by_text("Features: 50 of 150"))
        two.press(there.get_by_role("button", name="Cancel"), until=there.get_by_text("Cancelled."))
    one.see(here.get_by_text("Cancelled."))
    one.press(here.get_by_role("button", name="Resume"), until=lambda: not here.get_by_text("Cancelled.").is_visible())
    two.see(there.get_by_text("Done."))
    # One on the job's card, one in the list of runs.
    two.reload().see(two.page.get_by_role("button", name="Open", exact=True).nth(1))
    opened = two.page.get_by_text(f"Run: {SPEC.summary}")
    two.press(there.get_by_role("button", name="Open", exact=True), until=opened)
    assert two.parameter("run") == SPEC.key
    # What is clicked next goes on from there.
    two.follow("Spectra").see(opened)
    assert two.parameter("run") == SPEC.key


def test_the_form_says_beside_each_field_what_makes_no_sense_and_starts_nothing(tab, small_run):
    one = tab(f"?run={small_run.key}").unfold("Compute another run")
    button = one.page.get_by_role("button", name="Compute", exact=True)

    def refused():
        """While the page is drawn anew the button may stand there twice."""
        return button.count() == 1 and button.is_disabled()

    assert "of memory" in one.text() and button.is_enabled()
    one.enter("Network", "alexnet-9000").see("unknown network; choose one of the list")
    one.until(refused, lambda: None)
    one.enter("Network", "resnet18").settle()
    for classes in ("abc", "-1"):
        one.fill("Outputs used", classes).see("numbers separated by commas")
        one.until(refused, lambda: None)
    one.fill("Outputs used", "").see("no run of this network on these data is in the cache")
    for typed in ("1e20", "0", "2.5", "many"):
        one.fill("Dimension k", typed)
        one.until(refused, lambda: None)
    one.fill("Dimension k", "6e1").see("choose k of at least")
    assert one.page.get_by_role("button", name="Cancel").count() == 0 and "Traceback" not in one.text()


def test_another_dataset_brings_what_goes_well_with_it(tab, small_run):
    one = tab(f"?run={small_run.key}").unfold("Compute another run").choose("Dataset", "imagenette")
    one.until(lambda: one.combobox("Network").input_value() == "resnet18", lambda: None)
    assert one.page.get_by_label("Training epochs", exact=True).input_value() == "8"


@pytest.fixture
def many_inputs(store_folder):
    """A run that is treated as one of very many inputs."""
    rng = np.random.default_rng(0)
    phi, logits = rng.standard_normal((2, 160, 12)), rng.standard_normal((160, 2))
    halves = (slice(0, 120), slice(120, None))
    given = [*(phi[:, half] for half in halves), *(logits[half] for half in halves)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dntk_core.kernels.feature_kernels.LARGEST_DENSE", 100)
        return from_features(*given, *(each.argmax(axis=1) for each in given[2:]), store=Store(store_folder))


def test_a_run_of_many_inputs_is_analysed_by_itself_and_offers_what_was(tab, many_inputs, store_folder):
    one = tab(f"Gradient_distillation?run={many_inputs.key}")
    one.plots(1)
    found = Analysed(many_inputs, Store(store_folder))
    one.until(lambda: found.clusters() == tuple(sorted(CLUSTERS)), lambda: None)
    one.reload().move("Clusters", 1)
    assert one.parameter("H") == "15"
