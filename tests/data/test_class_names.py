"""Classes of ImageNette and ImageWoof."""

from dntk_core.data.class_names import CLASSES, IMAGENET_INDEX, in_words


def test_every_class_has_a_name_and_an_output_of_its_own():
    assert len(CLASSES) == len({name for name, _ in CLASSES.values()}) == len(set(IMAGENET_INDEX.values())) == 20
    assert all(0 <= index < 1000 for index in IMAGENET_INDEX.values())
    # ImageNet's outputs are in the order of the WordNet ids.
    assert sorted(IMAGENET_INDEX.values()) == [IMAGENET_INDEX[name] for name in sorted(IMAGENET_INDEX)]


def test_unknown_names_stay():
    assert in_words("n01440764") == "tench" and in_words("7") == "7"
