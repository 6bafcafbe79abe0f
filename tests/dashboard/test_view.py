"""The view in a link: what is written is read back, what is not allowed is refused softly."""

import pytest

from dntk_core.dashboard.view import NAMES, RIDGES, Limits, View, link, restore

LIMITS = Limits(inputs=100, classes=("cat", "dog"), methods=("local-global", "kernel PCA"))


def test_a_link_restores_the_view():
    view = View(7, 0.755, 0.31, 0.125, 33, RIDGES[3], 1, "kernel PCA", "union")
    assert restore(link(view), LIMITS) == (view, [])


def test_an_empty_link_is_the_default():
    assert restore({}, LIMITS) == (LIMITS.default, [])


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
    assert getattr(view, name) == getattr(LIMITS.default, name)
    assert len(notices) == 1 and name in notices[0] and len(notices[0]) < 200
    if name != "tau_g":
        assert view.tau_g == 0.4


def test_the_default_fits_the_smallest_run():
    limits = Limits(1, ("a", "b"), ("local-global",))
    assert all(limits.allows(name, getattr(limits.default, name)) for name in NAMES)
