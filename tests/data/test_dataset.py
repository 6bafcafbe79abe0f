"""Inputs of a run: balanced over classes, broken files skipped, what cannot be distilled refused."""

import numpy as np
import pytest
from pictures import HARMFUL, spec
from PIL import Image

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import InputSpec
from dntk_core.data.dataset import choose_inputs, load_data


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
    chosen = {data.train_images.paths[i].name for i in kernel}
    assert len(kernel) == 4 and chosen <= {"0.png", "2.png", "1.jpg", "2.jpg"}
    assert [name.endswith("notes.txt") for name in data.skipped] == [True]
    with pytest.raises(DNTKError, match="only 4 of the kernel images can be read"):
        choose_inputs(data, InputSpec(kernel=5, test=4))
    with pytest.raises(DNTKError, match="cannot be read as an image"):
        data.train_images[:]


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("content", HARMFUL.values(), ids=HARMFUL)
def test_an_image_made_to_do_harm_is_passed_over(folder, content):
    (folder / "train" / "red" / "0.jpg").write_bytes(content)
    data = load_data(spec(folder))
    kernel, _ = choose_inputs(data, InputSpec(kernel=5, test=4))
    assert len(kernel) == 5 and 3 not in kernel
    with pytest.raises(DNTKError, match="only 5 of the kernel images"):
        choose_inputs(data, InputSpec(kernel=6, test=4))
