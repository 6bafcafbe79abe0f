"""A computation: started in one session, seen in another, survives a reload, is cancelled and resumed."""

import re


def test_a_computation_is_seen_elsewhere_survives_a_reload_is_cancelled_and_resumed(tab):
    one, two = tab(), tab()
    here, card = (each.page.locator("[class*=st-key-job_]") for each in (one, two))
    one.page.get_by_text("Compute another run").click()
    for label, value in (("Model epochs", "0"), ("Inputs kernel", "200"), ("Inputs test", "100")):
        one.page.get_by_label(label, exact=True).fill(value)
    one.page.get_by_role("button", name="Compute", exact=True).click()

    card.get_by_text(re.compile("Features: [1-9]")).wait_for(timeout=180_000)
    one.reload()
    here.get_by_text(re.compile("Features: [1-9]")).wait_for()

    card.get_by_role("button", name="Cancel").click()
    here.get_by_text("Cancelled.").wait_for(timeout=60_000)
    here.get_by_role("button", name="Resume").click()
    card.get_by_text("Done.").wait_for(timeout=240_000)
    two.reload()
    # One on the job's card, one in the list of runs.
    two.page.get_by_role("button", name="Open", exact=True).nth(1).wait_for()


def test_a_form_that_makes_no_sense_says_why(tab):
    one = tab()
    one.page.get_by_text("Compute another run").click()
    one.page.get_by_label("Model name", exact=True).fill("alexnet-9000")
    one.page.get_by_role("button", name="Compute", exact=True).click()
    card = one.page.locator("[class*=st-key-job_]").filter(has_text="unknown model 'alexnet-9000'")
    card.wait_for(timeout=60_000)
    assert "Traceback" not in one.text()
    card.get_by_role("button", name="Dismiss").click()
    card.wait_for(state="detached")
