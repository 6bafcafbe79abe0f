"""Inputs of a run: balanced over classes, broken files skipped, what cannot be distilled refused."""

from dataclasses import replace

import numpy as np
import pytest
from pictures import HARMFUL, spec
from PIL import Image

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec, InputSpec
from dntk_core.data.dataset import check_distillable, choose_inputs, load_data


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_broken_files_are_passed_over_and_others_named(folder):
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "train" / "red" / "0.jpg")
    truncate(folder / "train" / "red" / "0.jpg")
    (folder / "train" / "blue" / "1.png").write_bytes(b"not a picture")
    (folder / "train" / "blue" / "notes.txt").write_text("hello")
    data = load_data(spec(folder))
    kernel, _ = choose_inputs(data, InputSpec(kernel=4, test=4))
    chosen = {data.train_inputs.paths[i].name for i in kernel}
    assert len(kernel) == 4 and chosen <= {"0.png", "2.png", "1.jpg", "2.jpg"}
    assert [name.endswith("notes.txt") for name in data.skipped] == [True]
    with pytest.raises(DNTKError, match="only 4 of the kernel inputs can be read"):
        choose_inputs(data, InputSpec(kernel=5, test=4))
    with pytest.raises(DNTKError, match="cannot be read as an image"):
        data.train_inputs[:]


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("content", HARMFUL.values(), ids=HARMFUL)
def test_an_image_made_to_do_harm_is_passed_over(folder, content):
    (folder / "train" / "red" / "0.jpg").write_bytes(content)
    data = load_data(spec(folder))
    kernel, _ = choose_inputs(data, InputSpec(kernel=5, test=4))
    assert len(kernel) == 5 and 3 not in kernel
    with pytest.raises(DNTKError, match="only 5 of the kernel inputs"):
        choose_inputs(data, InputSpec(kernel=6, test=4))


def test_inputs_are_balanced_and_drawn_from_the_seed():
    data = load_data(DataSpec())
    kernel, test = choose_inputs(data, InputSpec(kernel=25, test=30))
    counts = np.bincount(data.train_labels[kernel], minlength=10)
    assert counts.min() == 2 and counts.max() == 3 and np.bincount(data.test_labels[test]).tolist() == [3] * 10
    assert len(set(kernel)) == 25 and (np.diff(data.train_labels[kernel]) >= 0).all()
    again, other = (choose_inputs(data, InputSpec(kernel=25, test=30, seed=seed))[0] for seed in (0, 1))
    assert np.array_equal(kernel, again) and not np.array_equal(kernel, other)


def test_normalised_images_come_back():
    data = load_data(DataSpec())
    images = data.train_inputs[:3]
    np.testing.assert_allclose(data.denormalise(data.normalise(images)), images, atol=1e-6)


def test_what_cannot_be_distilled_is_refused():
    data = load_data(DataSpec())
    check_distillable(data, 100)
    for changed, per_class, says in (
        (data, 1000, "has only"),
        (replace(data, train_inputs=data.train_inputs * 255), 10, r"finite numbers in \[0, 1\]"),
        (replace(data, train_inputs=np.full_like(data.train_inputs, np.nan)), 10, r"finite numbers in \[0, 1\]"),
        (replace(data, class_names=(*data.class_names, "none")), 10, "class 'none' has no training images"),
    ):
        with pytest.raises(DNTKError, match=says):
            check_distillable(changed, per_class)
