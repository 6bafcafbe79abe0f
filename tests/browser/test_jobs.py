"""A computation: started in one session, seen in another, survives a reload, is cancelled and resumed."""

import re


def features_done(tab) -> int:
    """How many inputs the job card says are done."""
    found = tab.page.get_by_text(re.compile(r"Features: [\d,]+ of 400"))
    return int(re.search(r"Features: ([\d,]+)", found.first.inner_text())[1].replace(",", ""))


def test_a_computation_is_seen_elsewhere_survives_a_reload_is_cancelled_and_resumed(tab):
    one, two = tab(), tab()
    one.page.get_by_text("Compute another run").click()
    for label, value in (("Model epochs", "0"), ("Inputs kernel", "200"), ("Inputs test", "200")):
        one.page.get_by_label(label, exact=True).fill(value)
    one.page.get_by_role("button", name="Compute", exact=True).click()

    card = two.page.locator("[class*=st-key-job_]")
    card.get_by_text(re.compile("Features: [1-9]")).wait_for(timeout=60_000)
    one.reload()
    one.page.get_by_text(re.compile("Features: [1-9]")).wait_for()
    assert "left in this stage" in one.text() or features_done(one) <= 50

    card.get_by_role("button", name="Cancel").click()
    one.page.get_by_role("button", name="Resume").first.wait_for()
    assert "Cancelled" in one.text()

    # The shards that were finished are not computed again.
    one.page.locator("[class*=st-key-job_]").get_by_role("button", name="Resume").click()
    one.page.get_by_text(re.compile("Features: [1-9]")).wait_for()
    card.get_by_text("Done.").wait_for(timeout=60_000)
    two.reload()
    assert two.page.get_by_role("button", name="Open", exact=True).count() >= 2


def test_a_form_that_makes_no_sense_says_why(tab):
    one = tab()
    one.page.get_by_text("Compute another run").click()
    one.page.get_by_label("Model name", exact=True).fill("alexnet-9000")
    one.page.get_by_role("button", name="Compute", exact=True).click()
    one.page.get_by_text("unknown model 'alexnet-9000'").wait_for()
    assert "Traceback" not in one.text()
    one.page.get_by_role("button", name="Dismiss").click()
