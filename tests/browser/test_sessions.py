"""Links, sessions, history: what a person pastes, moves and goes back to."""

import os
import shutil

import pytest


@pytest.fixture
def spectra(tab, small_run):
    """Open Spectra of the small run with these settings: what is asked here does not depend on the run."""
    return lambda settings: tab(f"Spectra?run={small_run.key}&{settings}")


def test_a_deep_link_restores_the_view_in_a_fresh_session(spectra, tab):
    one = spectra("H=7&epsilon=0.1&kernel=3&ridge=0.03")
    for name, value in (("H", "7"), ("epsilon", "0.1"), ("kernel", "3"), ("ridge", "0.03")):
        one.wait_for_parameter(name, value)
    assert one.slider("Clusters").input_value() == "7"
    two = tab(one.page.evaluate("location.href.slice(location.origin.length + 1)"))
    assert two.slider("Clusters").input_value() == "7"
    assert two.parameter("kernel") == "3"


def test_the_view_goes_along_to_other_pages_and_back(spectra):
    one = spectra("H=7")
    one.move("Clusters", 1).wait_for_parameter("H", "8")
    one.follow("Containment")
    assert one.parameter("H") == "8" and one.slider("Clusters").input_value() == "8"
    one.back().wait("location.pathname === '/Spectra'").settle()
    assert one.parameter("H") == "8"
    one.back().wait_for_parameter("H", "7").settle()
    one.wait("document.querySelector('[data-testid=stSlider] input')?.value === '7'")


def test_tabs_are_in_the_link(tab, small_run):
    one = tab(f"Curves?run={small_run.key}").pick("Rank").wait_for_parameter("over", "rank")
    two = tab(one.page.evaluate("location.href.slice(location.origin.length + 1)"))
    assert two.page.get_by_role("radio", name="Rank", exact=True).is_checked()
    one.follow("Spectra")
    assert one.parameter("over") == ""
    one.follow("Curves").wait_for_parameter("over", "rank")
    one.pick("Ridge").wait_for_parameter("over", "ridge")
    one.back().wait_for_parameter("over", "rank").settle()
    assert one.page.get_by_role("radio", name="Rank", exact=True).is_checked()


def test_fast_key_presses_are_never_thrown_back(spectra):
    one = spectra("H=5")
    one.slider("Clusters").focus()
    for _ in range(15):
        one.page.keyboard.press("ArrowRight")
    one.wait_for_parameter("H", "20").settle()
    assert one.parameter("H") == "20" and one.slider("Clusters").input_value() == "20"


def test_an_invalid_link_is_refused_softly(tab):
    one = tab("Spectra?H=900&kernel=%3Cscript%3E&run=")
    one.told("The link asks for H = 900").wait_for_parameter("H", "10")
    assert one.parameter("kernel") == "mean"


def test_an_unknown_run_is_explained_and_left_in_one_click(tab):
    one = tab("Spectra?run=nosuchrun")
    assert "nosuchrun is not in this cache" in one.text()
    one.press("Open the embedded run", until=one.page.locator(".dntk-plot").first).plots(1)


def test_two_sessions_never_mix(spectra):
    one, two = spectra("H=5"), spectra("H=15")
    one.move("Clusters", 1).wait_for_parameter("H", "6")
    two.move("Clusters", 1).wait_for_parameter("H", "16")
    one.reload()
    assert one.parameter("H") == "6" and two.parameter("H") == "16"
    assert one.slider("Clusters").input_value() == "6"
    assert two.slider("Clusters").input_value() == "16"


def test_the_server_outlives_its_cache(tab, store_folder, small_run):
    """What is in memory goes on, what is on disk is asked for in one sentence, and all is well when it is back."""
    one = tab(f"Spectra?run={small_run.key}&H=5")
    one.plots(1)
    away = store_folder.with_name("away")
    store_folder.rename(away)
    try:
        one.move("Clusters", 1).wait_for_parameter("H", "6")
        assert "could not be drawn" not in one.text()
        missing = tab("Spectra?run=0123456789")
        assert "not in this cache" in missing.text()
        assert "Runs in the cache" in tab("").text()
        gallery = tab(f"Gradient_distillation?run={small_run.key}")
        assert "was deleted while it was in use" in gallery.text()
    finally:
        if store_folder.exists():
            shutil.rmtree(store_folder)
        away.rename(store_folder)
    assert "was deleted" not in gallery.reload().text()
    # Nor does it end when a file is cut that it is reading.
    images = store_folder / "artifacts" / f"inputs-{small_run.spec.stage_key('inputs')}" / "images.npy"
    whole = images.read_bytes()
    os.truncate(images, len(whole) // 2)
    try:
        assert "was cut while it was in use" in gallery.reload().text()
    finally:
        images.write_bytes(whole)
    assert "was cut" not in gallery.reload().text()
