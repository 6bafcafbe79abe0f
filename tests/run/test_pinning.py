"""A spec tied to the content of its files."""

import shutil

import pytest
from pictures import paint, spec, write_npz
from safetensors.torch import save_file

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec, ModelSpec, RunSpec
from dntk_core.models.architectures import build_model
from dntk_core.run.fingerprints import former_fingerprint
from dntk_core.run.pinning import pin


def test_the_key_follows_the_content_not_the_path(tmp_path):
    folder, copy = tmp_path / "here", tmp_path / "there"
    for split in ("train", "val"):
        paint(folder / split / "red" / "0.jpg", (255, 0, 0))
    shutil.copytree(folder, copy)
    here, there = (pin(RunSpec(data=spec(path))) for path in (folder, copy))
    assert here.key == there.key and here.data.fingerprint
    paint(copy / "train" / "red" / "new.jpg", (9, 9, 9))
    assert pin(RunSpec(data=spec(copy))).key != here.key
    with pytest.raises(DNTKError, match="no longer what"):
        pin(RunSpec(data=spec(copy, fingerprint=here.data.fingerprint)))


def test_a_file_is_known_by_its_bytes(tmp_path):
    one, same = (pin(RunSpec(data=write_npz(tmp_path / f"{name}.npz"))) for name in "ab")
    assert one.key == same.key and len(one.data.fingerprint) == 64
    assert pin(one) == one


def test_a_file_is_found_again_from_another_folder_and_missed_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(tmp_path / "data.npz")
    pinned = pin(RunSpec(data=DataSpec("npz", "data.npz")))
    monkeypatch.chdir("/")
    assert pinned.data.path == str(tmp_path / "data.npz") and pin(pinned) == pinned
    (tmp_path / "data.npz").unlink()
    with pytest.raises(DNTKError, match=r"data\.npz.* is not there any more"):
        pin(pinned)


def test_weights_are_known_by_their_bytes(tmp_path):
    for seed in (0, 1):
        network = build_model(ModelSpec(seed=seed), 1, tuple("0123456789"))
        save_file(network.state_dict(), tmp_path / f"{seed}.safetensors")
    shutil.copy(tmp_path / "0.safetensors", tmp_path / "copy.safetensors")
    files = (str(tmp_path / f"{name}.safetensors") for name in (0, 1, "copy"))
    first, other, copy = (pin(RunSpec(model=ModelSpec(weights=file))).key for file in files)
    assert first == copy != other


def test_what_names_no_file_is_left_as_it_is():
    assert pin(RunSpec.default()) == RunSpec.default()


def test_published_weights_bring_the_size_and_scale_they_were_trained_with():
    published = pin(RunSpec(data=DataSpec("folder"), model=ModelSpec("resnet18", "DEFAULT"))).data
    assert (published.size, published.resize, published.mean) == (224, 256, "0.485,0.456,0.406")
    chosen = DataSpec("folder", size=64, resize=64, mean="0.5,0.5,0.5", std="1,1,1")
    assert pin(RunSpec(data=chosen, model=ModelSpec("resnet18", "DEFAULT"))).data == chosen


def test_replaced_pixels_and_swapped_labels_are_another_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    for split in ("train", "val"):
        for name, colour in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
            paint(folder / split / name / "0.bmp", colour)
    first = pin(RunSpec(data=spec(folder)))
    red, blue = (folder / "train" / name / "0.bmp" for name in ("red", "blue"))
    assert red.stat().st_size == blue.stat().st_size
    contents = red.read_bytes(), blue.read_bytes()
    red.write_bytes(contents[1])
    blue.write_bytes(contents[0])
    assert pin(RunSpec(data=spec(folder))).key != first.key
    red.write_bytes(contents[0])
    blue.write_bytes(contents[1])
    assert pin(RunSpec(data=spec(folder))).key == first.key


def test_a_run_of_an_earlier_version_goes_on(tmp_path):
    for split in ("train", "val"):
        paint(tmp_path / split / "red" / "0.jpg", (255, 0, 0))
    before = former_fingerprint(tmp_path)
    assert pin(RunSpec(data=spec(tmp_path, fingerprint=before))).data.fingerprint == before
    assert pin(RunSpec(data=spec(tmp_path))).data.fingerprint != before
