"""A run is named, tagged and starred; a view is saved and opened again from another page."""

from dntk_core.run.notes import read_notes


def test_a_run_has_a_name_and_a_view_to_come_back_to(tab, small_run):
    one = tab(f"Containment?run={small_run.key}&H=7&pick=cluster 2").unfold("Notes and saved views")
    one.fill("Name of this run", "the small one").fill("Tags, with commas between them", "quick, digits")
    one.press("Keep", lambda: read_notes(small_run.key).tags == ("quick", "digits"))
    one.fill("Save this view as", "second of seven")
    one.press("Save view", lambda: "second of seven" in read_notes(small_run.key).views)

    two = tab(f"?run={small_run.key}")
    two.see("the small one: ")
    two.unfold("Notes and saved views")
    two.page.get_by_role("link", name="second of seven").click()
    two.see("Cluster 2 of the mean kernel")
    assert (two.parameter("H"), two.parameter("pick")) == ("7", "cluster 2")
    two.unfold("Notes and saved views").press("Forget", lambda: not read_notes(small_run.key).views)
