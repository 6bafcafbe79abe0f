"""A newcomer's walk from Home to an exported set: at each step, what is read on the page says what to do next."""

from dntk_core.run.export import load_distilled


def read(tab, *sentences: str) -> None:
    """See that a newcomer, who has nothing but the page, reads this on it."""
    said = " ".join(tab.settle().text().split())
    for sentence in sentences:
        assert sentence in said, (sentence, said)


def test_from_home_to_an_exported_set(tab, default_run, tmp_path):
    one = tab()
    # What is this, what does it give me, where do I begin?
    read(
        one,
        "A trained network can be studied through the gradients of its outputs",
        "How many gradients it takes",
        "distilled gradients predict as the network does for",
        "1. Look at this run.",
        "2. Move one slider.",
        "3. Bring your own.",
        "Run: digits · small_resnet",
    )
    one.until(lambda: "/Spectra" in one.page.url, one.page.get_by_role("link", name="Open Spectra").click)
    # Is there anything to gain?
    read(
        one,
        "Run: digits · small_resnet",
        "directions hold 95% of the mean kernel's variance",
        "inputs share one direction",
    )
    home = one.page.get_by_test_id("stSidebar").get_by_role("link", name="Home", exact=True)
    one.until(lambda: "Where to begin" in one.text(), home.click)
    link = one.page.get_by_role("link", name="Open Gradient distillation")
    one.until(lambda: "/Gradient_distillation" in one.page.url, link.click)
    before = one.see("synthetic gradients stand in for 500").inner_text()
    one.move("Clusters", -3)
    one.until(lambda: one.page.get_by_text(before).count() == 0, lambda: None)
    # What did the slider do?
    read(one, "synthetic gradients stand in for 500: fidelity", "with all.", "Synthetic gradients")
    one.follow("Export")
    # How do I take it along?
    read(one, "Distilled gradient set", "gradients in the place of 500: H = 7,", "Features AΦ", "Everything")
    one.press("Make the file", until="predictions identical to this page's")
    got = one.download("Download the set")
    got.save_as(path := tmp_path / got.suggested_filename)
    assert load_distilled(path).manifest["settings"]["H"] == 7 and "H7" in path.name
