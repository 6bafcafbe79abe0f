"""Datasets from files: bad ones are refused in one sentence, a new source is one row of the table."""

from dataclasses import replace

import numpy as np
import pytest
from pictures import refused, spec, write_npz

from dntk_core.base.spec import DataSpec, InputSpec
from dntk_core.data.dataset import choose_inputs, load_data
from dntk_core.data.sources import SOURCES, RawDataset, Split, npz


def test_a_folder_of_class_folders(folder):
    data = load_data(spec(folder))
    assert data.class_names == ("blue", "red") and data.train_labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.train_inputs.shape == (6, 3, 8, 8)
    blue = data.train_inputs[[0]]
    assert blue.dtype == np.float32 and blue[0, 2].min() == 1.0 and blue[0, 0].max() == 0.0
    np.testing.assert_allclose(data.mean, (0.485, 0.456, 0.406))


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


def test_npz(tmp_path):
    data = load_data(write_npz(tmp_path / "a.npz"))
    assert data.train_inputs[:].max() <= 1 and data.channels == 1 and data.class_names == ("0", "1")
    seen = data.normalise(data.train_inputs[:])
    np.testing.assert_allclose([seen.mean(), seen.std()], [0, 1], atol=1e-5)
    named = load_data(write_npz(tmp_path / "b.npz", class_names=np.array(["cat", "dog"])))
    assert named.class_names == ("cat", "dog")
    assert load_data(replace(write_npz(tmp_path / "c.npz"), size=12)).train_inputs[:2].shape == (2, 1, 12, 12)


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
        ({"vocabulary": np.zeros(1_000_001, "U1")}, "must be a list of at most 1,000,000 words"),
        ({"feature_names": np.zeros((2, 2))}, "must be a list"),
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
    # Nor are their names made first.
    names = npz._names({"train_labels": labels, "train_images": np.zeros((8, 1, 6, 6))}, tmp_path)
    assert len(names) == 8


def test_a_new_source_is_one_row_of_the_table(monkeypatch):
    stripes = np.tile(np.linspace(0, 1, 4, dtype=np.float32), (6, 1, 4, 1))

    def striped(spec):
        half = Split(stripes, np.arange(6) % 2)
        return RawDataset(half, half, ("up", "down"), flip=True)

    assert "unknown dataset 'stripes'" in refused(DataSpec("stripes"))
    monkeypatch.setitem(SOURCES, "stripes", striped)
    data = load_data(DataSpec("stripes"))
    assert data.class_names == ("up", "down") and data.channels == 1 and data.flip
    assert [len(index) for index in choose_inputs(data, InputSpec(kernel=4, test=6))] == [4, 6]


def test_the_digits_are_split_once_and_for_all():
    one, two = load_data(DataSpec("digits")), load_data(DataSpec("digits"))
    assert one.train_inputs.shape == (1297, 1, 8, 8) and one.test_inputs.shape == (500, 1, 8, 8)
    assert np.array_equal(one.test_inputs[:], two.test_inputs[:]) and one.class_names == tuple("0123456789")


def test_what_cannot_be_downloaded_is_said_in_one_sentence(monkeypatch, tmp_path):
    import torchvision.datasets

    def offline(*args, **how):
        raise OSError("no network")

    for name, theirs in (("mnist", "MNIST"), ("imagenette", "Imagenette")):
        monkeypatch.setattr(torchvision.datasets, theirs, offline)
        assert "nor could it be downloaded: no network" in refused(DataSpec(name, str(tmp_path)))


def save(path, labels=8, **arrays):
    """An .npz of any inputs; what is given for training is given for testing too."""
    both = {f"{part}_{name}": array for name, array in arrays.items() for part in ("train", "test")}
    labelled = {f"{part}_labels": np.arange(labels) % 2 for part in ("train", "test")}
    np.savez(path, **both, **labelled)
    return DataSpec("npz", str(path))


def test_npz_holds_tables_as_they_are(tmp_path):
    table = np.linspace(-100, 1e6, 40).reshape(8, 5)
    data = load_data(save(tmp_path / "a.npz", inputs=table))
    assert data.kind == "table" and data.channels == 0 and not data.flip
    np.testing.assert_allclose(data.normalise(data.train_inputs[:]), table, rtol=1e-6)
    assert "for images; scale the rows" in refused(replace(save(tmp_path / "a.npz", inputs=table), mean="0"))


def test_npz_holds_tokens_and_integers_stay_integers(tmp_path):
    ids = np.arange(24, dtype=np.uint16).reshape(8, 3)
    data = load_data(save(tmp_path / "a.npz", **{"inputs.ids": ids, "inputs.mask": np.ones((8, 3))}))
    batch = data.train_inputs[np.array([1])]
    assert data.kind == "tokens" and batch["ids"].dtype == np.uint16 and batch["ids"].tolist() == [[3, 4, 5]]
    several = load_data(save(tmp_path / "b.npz", **{"inputs.0": ids, "inputs.1": ids + 1}))
    assert [part.tolist() for part in several.test_inputs[:1]] == [[[0, 1, 2]], [[1, 2, 3]]]


def test_a_kind_can_be_declared(tmp_path):
    squares = np.arange(8 * 3 * 4 * 6.0).reshape(8, 3, 4, 6)
    spec = save(tmp_path / "a.npz", inputs=squares / squares.max())
    assert load_data(spec).kind == "array"
    declared = load_data(replace(spec, kind="image"))
    assert declared.kind == "image" and declared.channels == 3 and declared.image_shape == (3, 4, 6)
    assert "must lie in [0, 1]" in refused(replace(save(tmp_path / "b.npz", inputs=squares), kind="image"))
    assert "to be a table" in refused(replace(spec, kind="table"))
    assert "holds images" in refused(DataSpec("digits", kind="table"))


def test_images_need_not_be_square(tmp_path):
    images = np.arange(8 * 4 * 6 * 10, dtype=np.uint32).reshape(8, 4, 6, 10).astype(np.uint8)
    spec = save(tmp_path / "a.npz", images=images)
    data = load_data(spec)
    assert data.image_shape == (4, 6, 10) and np.array_equal(data.train_inputs[[3]] * 255, images[[3]])
    # Asked for a size, the middle is taken: nothing is stretched.
    assert np.array_equal(load_data(replace(spec, size=6)).train_inputs[[3]] * 255, images[[3], :, :, 2:8])
