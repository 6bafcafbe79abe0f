"""A computation: started in one session, seen in another, survives a reload, is cancelled and resumed."""

from dataclasses import replace

from dntk_core import RunSpec
from dntk_core.base.spec import InputSpec
from dntk_core.cache.files import locked
from dntk_core.cache.workbench import Workbench

DEFAULT = RunSpec.default()
SPEC = replace(DEFAULT, model=replace(DEFAULT.model, epochs=0), inputs=InputSpec(kernel=100, test=50))


def test_a_computation_is_seen_elsewhere_survives_a_reload_is_cancelled_and_resumed(tab, store_folder):
    one, two = tab(), tab()
    here, there = (each.page.locator(f".st-key-job_{SPEC.key}") for each in (one, two))
    one.unfold("Compute another run")
    for label, value in (("Model epochs", "0"), ("Inputs kernel", "100"), ("Inputs test", "50")):
        one.fill(label, value)
    bench = Workbench(store_folder / "partial" / f"features-{SPEC.stage_key('features')}")
    bench.open()
    # As if another process were at the second half of the kernel inputs: the job does the first and waits.
    with locked(bench.folder / "features-50.lock", wait=True):
        one.press("Compute", until=here)
        two.see(there.get_by_text("Features: 50 of 150"))
        one.reload().see(here.get_by_text("Features: 50 of 150"))
        two.press(there.get_by_role("button", name="Cancel"), until=there.get_by_text("Stopping after this step"))
    one.see(here.get_by_text("Cancelled."))
    one.press(here.get_by_role("button", name="Resume"), until=lambda: not here.get_by_text("Cancelled.").is_visible())
    two.see(there.get_by_text("Done."))
    # One on the job's card, one in the list of runs.
    two.reload().see(two.page.get_by_role("button", name="Open", exact=True).nth(1))


def test_a_form_that_makes_no_sense_says_why(tab):
    one = tab().unfold("Compute another run")
    one.fill("Model name", "alexnet-9000")
    card = one.page.locator("[class*=st-key-job_]").filter(has_text="unknown model 'alexnet-9000'")
    one.press("Compute", until=card)
    assert "Traceback" not in one.text()
    one.press(card.get_by_role("button", name="Dismiss"), until=lambda: card.count() == 0)
