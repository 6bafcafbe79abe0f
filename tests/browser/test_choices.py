"""What the pages decide and say: a ridge without test data, two readouts, random clusters, what cannot be tested."""

from dntk_core.dashboard.choices.controls import RIDGES
from dntk_core.run.live import Live

NAMES = "() => [...document.querySelectorAll('.dntk-plot')].flatMap(gd => gd.data.map(trace => trace.name))"


def test_the_ridge_is_chosen_without_test_data(tab, default_run):
    one = tab("Gradient_distillation?ridge=1.0")
    found = Live(default_run.problem).leave_one_out(RIDGES)
    one.press(one.page.get_by_role("button", name="Choose ridge"), "by leave-one-out on the 500 kernel inputs")
    one.wait_for_parameter("ridge", str(found.best))
    assert found.best != 1.0 and one.see(f"MSE {found.mse.min():.3g}, no test data.")
    one.move("Ridge", 1).settle()
    assert one.page.get_by_text("by leave-one-out on the 500 kernel inputs").count() == 0


def test_another_readout_gives_other_scores(tab):
    one = tab("Gradient_distillation?H=5&tau_v=0.3")
    one.plots(2)
    averaged = one.see("synthetic gradients stand in for").inner_text()
    one.choose("Readout", "every target (Nyström)").wait_for_parameter("readout", "nystrom")
    every = one.settle().see("synthetic gradients stand in for").inner_text()
    assert averaged != every and averaged.split(":")[0] == every.split(":")[0]
    assert "H = 5, τ_v = 0.3" in every


def test_clusters_are_shown_beside_random_ones(tab):
    one = tab("Containment")
    one.plots(1)
    assert "mean over random clusters" in one.page.evaluate(NAMES)
    assert "random clusters of the same sizes" in one.text() and "than chance" in one.text()
    one.goto("Gap_coverage").plots(1)
    assert "mean random cluster, of its own part" in one.page.evaluate(NAMES)
    assert "Mean misalignment" in one.text() and "Uncovered variance" in one.text()


def test_what_is_arithmetic_is_not_called_a_finding(tab):
    one = tab("Containment?H=10&rank=20")
    one.plots(1)
    assert "Not testable here" not in one.text()
    one.goto("Containment?H=40&rank=60").plots(1)
    one.see("Not testable here: no cluster of the mean kernel has more than")


def test_a_dimension_near_the_number_of_inputs_is_said_before_the_run(tab):
    one = tab("").unfold("Compute another run")
    one.fill("Dimension k", "500").see("choose k of at least 2,000 or at most 250")
    again = one.page.get_by_role("button", name="Compute it all the same")
    assert again.is_visible() and one.page.get_by_role("button", name="Compute", exact=True).count() == 0
    one.fill("Dimension k", "2048")
    assert one.page.get_by_role("button", name="Cancel").count() == 0, "it was started without a word"


def test_a_slider_that_a_tab_ignores_is_not_shown_there(tab):
    one = tab("Curves?over=rank")
    assert one.slider("Rank").count() == 1 and one.slider("Clusters").count() == 0
    one.pick("Size").see(one.slider("Clusters"))
    assert one.settle().slider("Rank").count() == 0
    two = tab("Gap_coverage?kernels=every")
    assert two.combobox("Gap rule").count() == 0 and two.slider("Gap threshold").count() == 1


def test_an_old_link_opens_to_the_same_settings_and_every_stop_says_what_it_makes(tab):
    one = tab("Gradient_distillation?H=10&tau_v=0.8&tau_g=0.805")
    assert (one.parameter("tau_v"), one.parameter("tau_g")) == ("0.8", "0.805")
    one.see("Gap threshold τ_g · 0 gaps")
    one.move("Gap threshold", 6).see("Gap threshold τ_g · 5 gaps")
