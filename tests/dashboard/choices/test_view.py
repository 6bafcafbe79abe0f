"""The view in a link: what is written is read back, what is not allowed is refused softly."""

from urllib.parse import parse_qsl

import pytest

from dntk_core.dashboard.choices.controls import CONTROLS, RIDGES, Choice, Limits, Slider
from dntk_core.dashboard.choices.view import View, first_view, link, restore

LIMITS = Limits(inputs=100, classes=("cat", "dog"))


def test_a_link_restores_the_view():
    view = View(
        H=7,
        tau_v=0.755,
        tau_g=0.31,
        epsilon=0.125,
        rank=33,
        ridge=RIDGES[3],
        kernel=1,
        method="kernel PCA",
        rule="union",
        energy="kernel",
    )
    assert restore(link(view), LIMITS) == (view, [])


def test_an_empty_link_is_the_default():
    assert restore({}, LIMITS) == (first_view(LIMITS), [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("H", "0"),
        ("H", "51"),
        ("H", "2.5"),
        ("H", "1" * 5000),
        ("tau_v", "nan"),
        ("tau_v", "1e999"),
        ("tau_g", "-0.1"),
        ("epsilon", "abc"),
        ("rank", "101"),
        ("ridge", "0.5"),
        ("ridge", "-1e-4"),
        ("kernel", "2"),
        ("kernel", "-1"),
        ("kernel", "<script>"),
        ("method", "magic"),
        ("rule", ""),
    ],
)
def test_values_that_a_run_does_not_allow_are_refused_softly(name, text):
    view, notices = restore({name: text, "tau_g": "0.4"} if name != "tau_g" else {name: text}, LIMITS)
    assert view[name] == first_view(LIMITS)[name]
    assert len(notices) == 1 and name in notices[0] and len(notices[0]) < 100 + len(CONTROLS[name].describe(LIMITS))
    if name != "tau_g":
        assert view.tau_g == 0.4


def test_the_default_fits_the_smallest_run():
    limits = Limits(1, ("a", "b"))
    assert all(CONTROLS[name].allows(value, limits) for name, value in first_view(limits).items())


def test_a_link_of_an_earlier_release_opens_as_it_did():
    old = (
        "H=10&tau_v=0.8&tau_g=0.95&epsilon=0.05&rank=20&ridge=0.0001&kernel=mean&method=local-global&rule=union&run=abc"
    )
    assert restore(dict(parse_qsl(old)), LIMITS) == (View(tau_g=0.95, rule="union"), [])


def test_a_view_is_a_frozen_value():
    view = View(H=3)
    assert view == View().replace(H=3) and hash(view) == hash(View().replace(H=3)) and view != View()
    assert dict(view)["H"] == view["H"] == view.H == 3
    with pytest.raises(AttributeError, match="frozen"):
        view.H = 4
    with pytest.raises(TypeError, match="no control G"):
        View(G=1)
    with pytest.raises(AttributeError, match="no control G"):
        _ = view.G


@pytest.mark.parametrize(
    ("control", "text", "value"),
    [
        (Slider("Width", "How wide.", 1.5, lambda limits: (1.0, limits.inputs / 10), 0.5, float), "4.5", 4.5),
        (Choice("Colour", "Which one.", "red", lambda limits: ("red", *limits.classes)), "dog", "dog"),
    ],
)
def test_a_row_of_the_table_is_all_that_a_link_needs(monkeypatch, control, text, value):
    monkeypatch.setitem(CONTROLS, "toy", control)
    assert link(View())["toy"] == str(control.default)
    view, notices = restore({"toy": text}, LIMITS)
    assert view.toy == value and not notices and restore(link(view), LIMITS) == (view, [])
    view, notices = restore({"toy": "11"}, LIMITS)
    assert view.toy == control.default and "toy = 11" in notices[0] and control.describe(LIMITS) in notices[0]
