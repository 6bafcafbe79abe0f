"""What the kernel is for, in the browser: an explanation, a shift, a suspicious label."""

from dataclasses import replace

from tests.browser.conftest import SMALL


def test_an_explanation_follows_the_gallery_and_the_link(tab, small_run):
    one = tab(f"Predictions?run={small_run.key}&input=7&explain=3&way=leave-one-out&targets=labels&filter=uncertain")
    one.plots(3)
    one.see("Test input 7")
    one.see("For and against: 3")
    one.see("Leave-one-out effect:")
    one.pick("All")
    card = one.page.locator('[data-index="11"]').first
    one.until("Test input 12", card.click)
    one.wait_for_parameter("input", "12").wait_for_parameter("filter", "all")
    one.choose("Inputs behind gradient", "2").wait_for_parameter("gradient", "2")
    one.pick("full").wait("() => !document.body.innerText.includes('Synthetic gradients at work')")
    one.wait_for_parameter("through", "full").wait_for_parameter("explain", "3").wait_for_parameter("targets", "labels")
    assert "Its label is" in one.text()


def test_a_suspicious_label_is_looked_at_and_linked_to(tab, small_run):
    one = tab(f"Kernel_health?run={small_run.key}")
    one.see("rank 1 of 60")
    card = one.page.locator(".dntk-inputs [data-index]").nth(2)
    number = card.get_attribute("data-index")
    one.until("rank 3 of 60", card.click)
    one.wait_for_parameter("looked_at", number).reload().see("rank 3 of 60")


def test_a_shift_is_computed_followed_and_linked_to(tab, build_once):
    # Twenty shifts of each test input take their gradients.
    few = build_once(replace(SMALL, inputs=replace(SMALL.inputs, test=12)))
    one = tab(f"Uncertainty?run={few.key}&noise=leave-one-out&shift=blur&strength=5")
    one.press("Compute shifted inputs", until="Doubt at strength 5")
    one.see("Under blur")
    one.pick("rotation").see("Under rotation")
    one.wait_for_parameter("shift", "rotation").wait_for_parameter("strength", "5")
    one.wait_for_parameter("noise", "leave-one-out")
    assert "the network's accuracy goes from" in one.text()
