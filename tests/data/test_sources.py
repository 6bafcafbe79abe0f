"""Datasets from files: decoded on demand, broken files passed over and named, bad input refused in one sentence."""

import pickle
import tracemalloc

import numpy as np
import pytest
from PIL import Image

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec, InputSpec, RunSpec
from dntk_core.data.dataset import choose_inputs, load_data
from dntk_core.data.images import ImageFiles, in_batches
from dntk_core.run.pinning import pin
from tests import hostile, watch


def paint(path, colour, size=(20, 16), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path)


@pytest.fixture
def folder(tmp_path):
    """Two classes, red and blue, three training and two validation images each."""
    for split, count in (("train", 3), ("val", 2)):
        for i in range(count):
            paint(tmp_path / split / "blue" / f"{i}.png", (0, 0, 255))
            paint(tmp_path / split / "red" / f"{i}.jpg", (255, 0, 0))
    return tmp_path


def spec(path, **more):
    return DataSpec("folder", str(path), size=8, **more)


def test_a_folder_of_class_folders(folder):
    data = load_data(spec(folder))
    assert data.class_names == ("blue", "red") and data.train_labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.train_images.shape == (6, 3, 8, 8)
    blue = data.train_images[[0]]
    assert blue.dtype == np.float32 and blue[0, 2].min() == 1.0 and blue[0, 0].max() == 0.0
    np.testing.assert_allclose(data.mean, (0.485, 0.456, 0.406))


def test_the_shorter_side_is_resized_and_the_middle_taken(tmp_path):
    image = np.zeros((40, 80, 3), np.uint8)
    image[:, 20:60] = 255
    Image.fromarray(image).save(tmp_path / "x.png")
    cut = ImageFiles((tmp_path / "x.png",), size=20, resize=20)[[0]]
    assert cut.shape == (1, 3, 20, 20) and cut.min() > 0.8
    wider = ImageFiles((tmp_path / "x.png",), size=20, resize=40)[[0]]
    assert wider.min() == 1.0


@pytest.mark.parametrize(("mode", "colour"), [("L", 128), ("RGBA", (255, 0, 0, 10)), ("P", 3), ("CMYK", (0, 0, 0, 0))])
def test_grey_alpha_palette_and_cmyk_become_rgb(tmp_path, mode, colour):
    suffix = "tif" if mode == "CMYK" else "png"
    paint(tmp_path / f"x.{suffix}", colour, mode=mode)
    assert ImageFiles((tmp_path / f"x.{suffix}",), 8, 8)[[0]].shape == (1, 3, 8, 8)


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


def refused(data_spec) -> str:
    with pytest.raises(DNTKError) as caught:
        load_data(data_spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_bad_folders_are_refused_in_one_sentence(folder, tmp_path_factory):
    assert "needs a path" in refused(DataSpec("folder"))
    assert "there is no" in refused(spec(folder / "nowhere"))
    assert "no folder train" in refused(spec(folder / "train"))
    empty = tmp_path_factory.mktemp("empty")
    (empty / "train").mkdir()
    (empty / "val").mkdir()
    assert "no class folders" in refused(spec(empty))
    for split in ("train", "val"):
        (empty / split / "red").mkdir()
    assert "no image files" in refused(spec(empty))
    (folder / "val" / "green").mkdir()
    assert "different classes: green" in refused(spec(folder))


def write_npz(path, **changes):
    rng = np.random.default_rng(0)
    arrays = {
        "train_images": rng.integers(0, 255, (8, 1, 6, 6), dtype=np.uint8),
        "train_labels": np.arange(8) % 2,
        "test_images": rng.integers(0, 255, (4, 1, 6, 6), dtype=np.uint8),
        "test_labels": np.arange(4) % 2,
    } | changes
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return DataSpec("npz", str(path))


def test_npz(tmp_path):
    data = load_data(write_npz(tmp_path / "a.npz"))
    assert data.train_images[:].max() <= 1 and data.channels == 1 and data.class_names == ("0", "1")
    seen = data.normalise(data.train_images[:])
    np.testing.assert_allclose([seen.mean(), seen.std()], [0, 1], atol=1e-5)
    named = load_data(write_npz(tmp_path / "b.npz", class_names=np.array(["cat", "dog"])))
    assert named.class_names == ("cat", "dog")
    from dataclasses import replace

    assert load_data(replace(write_npz(tmp_path / "c.npz"), size=12)).train_images[:2].shape == (2, 1, 12, 12)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"train_labels": None}, "lacks train_labels"),
        ({"train_images": np.zeros((8, 6, 6), np.uint8)}, "must be"),
        ({"train_labels": np.zeros(3, int)}, "must be 8 integers"),
        ({"train_labels": np.full(8, -1)}, "must lie in"),
        ({"test_labels": np.full(4, 5)}, "must lie in"),
        ({"train_images": np.full((8, 1, 6, 6), 3.0)}, "0, 1"),
        ({"train_images": np.full((8, 1, 6, 6), np.nan)}, "0, 1"),
        ({"train_images": np.array([{}] * 8)}, "cannot be read"),
        ({"class_names": np.array(["cat", "cat"])}, "same name"),
        ({"class_names": np.array(["cat", "do\ng"])}, "one line of text"),
        ({"class_names": np.array(["cat", "d" * 300])}, "one line of text"),
    ],
)
def test_bad_npz_is_refused_in_one_sentence(tmp_path, changes, says):
    assert says in refused(write_npz(tmp_path / "a.npz", **changes))


@pytest.mark.parametrize("name", ["class_names", "train_labels", "test_images"])
def test_npz_arrays_of_no_shape_are_refused(tmp_path, name):
    refused(write_npz(tmp_path / "a.npz", **{name: np.array(3)}))


def test_a_label_cannot_ask_for_a_billion_classes(tmp_path):
    labels = np.array([0, 10**12, *[0] * 6])
    assert "must lie in" in refused(write_npz(tmp_path / "a.npz", train_labels=labels))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, train_images=np.zeros((100, 1, 1024, 1024), np.uint8))
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    assert "more than 200 times its size" in refused(DataSpec("npz", str(path)))
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_an_archive_of_many_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"a{i}": np.zeros(1) for i in range(101)})
    assert "101 files" in refused(DataSpec("npz", str(tmp_path / "a.npz")))


def test_a_planted_pickle_in_npz_does_not_run(tmp_path):
    planted = hostile.Planted(tmp_path / "executed")
    np.savez(tmp_path / "array.npz", train_images=np.array([planted]))
    (tmp_path / "whole.npz").write_bytes(pickle.dumps(planted))
    for name in ("array.npz", "whole.npz"):
        assert "cannot be read as .npz" in refused(DataSpec("npz", str(tmp_path / name)))
    assert not (tmp_path / "executed").exists()


HARMFUL = {
    "80 megapixels": hostile.png(9_000, 9_000),
    "400 megapixels": hostile.png(20_000, 20_000),
    "largest": hostile.png(2**31 - 1, 2**31 - 1),
    "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n",
    "empty": b"",
}


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("content", HARMFUL.values(), ids=HARMFUL)
def test_an_image_made_to_do_harm_is_passed_over(folder, content):
    (folder / "train" / "red" / "0.jpg").write_bytes(content)
    data = load_data(spec(folder))
    kernel, _ = choose_inputs(data, InputSpec(kernel=5, test=4))
    assert len(kernel) == 5 and 3 not in kernel
    with pytest.raises(DNTKError, match="only 5 of the kernel images"):
        choose_inputs(data, InputSpec(kernel=6, test=4))


def test_a_long_thin_image_is_refused_before_it_is_enlarged(tmp_path):
    Image.new("RGB", (1, 20_000)).save(tmp_path / "x.png")
    with pytest.raises(DNTKError, match="1 × 20000 pixels"):
        ImageFiles((tmp_path / "x.png",), 224, 224)[[0]]


def test_postscript_starts_no_program(tmp_path):
    (tmp_path / "x.png").write_bytes(HARMFUL["postscript"])
    with watch.outside(tmp_path) as found, pytest.raises(DNTKError, match="cannot be read as an image"):
        ImageFiles((tmp_path / "x.png",), 8, 8)[[0]]
    assert not found


def test_scale_can_be_set(folder):
    data = load_data(spec(folder, mean="0.5,0.5,0.5", std="1,1,2"))
    assert data.mean == (0.5, 0.5, 0.5) and data.std == (1, 1, 2)
    assert "3 numbers" in refused(spec(folder, mean="0.5", std="1"))
    assert "3 numbers" in refused(spec(folder, mean="0,0,0", std="1,1,0"))


def test_the_key_follows_the_content_not_the_path(folder, tmp_path_factory):
    import shutil

    copy = tmp_path_factory.mktemp("copy") / "data"
    shutil.copytree(folder, copy)
    here, there = (pin(RunSpec(data=spec(path))) for path in (folder, copy))
    assert here.key == there.key and here.data.fingerprint
    paint(copy / "train" / "red" / "new.jpg", (9, 9, 9))
    assert pin(RunSpec(data=spec(copy))).key != here.key
    with pytest.raises(DNTKError, match="no longer what"):
        pin(RunSpec(data=spec(copy, fingerprint=here.data.fingerprint)))


def test_batches_are_decoded_one_ahead_and_no_more():
    asked = []

    class Images:
        def __getitem__(self, index):
            asked.append(len(index))
            return index

    stream = in_batches(Images(), np.arange(10), 4)
    first = next(stream)
    assert first.tolist() == [0, 1, 2, 3] and sum(asked) <= 8
    assert [len(part) for part in stream] == [4, 2]
