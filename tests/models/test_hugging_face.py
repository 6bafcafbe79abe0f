"""Networks of transformers, LoRA and timm: tiny ones, made here and saved as their libraries save them."""

import io
import json
import shutil

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from dntk_core import DNTKError, load_or_build, study
from dntk_core.base.compute import Compute
from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.store import Store
from dntk_core.data.dataset import load_data
from dntk_core.data.images import ImageFiles
from dntk_core.data.sources.hugging_face import Cell
from dntk_core.models.hugging_face import files, load

transformers = pytest.importorskip("transformers")
IDS, LABELS = np.random.default_rng(0).integers(0, 30, (24, 6)), np.arange(24) % 3
SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12, "num_labels": 3}


def bert():
    torch.manual_seed(0)
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(vocab_size=30, max_position_embeddings=8, **SMALL)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("hf") / "bert"
    bert().save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Token ids as a dataset on disk."""
    datasets = pytest.importorskip("datasets")
    rows = {"ids": IDS.tolist(), "label": LABELS.tolist()}
    features = datasets.Features(
        {"ids": datasets.Sequence(datasets.Value("int64")), "label": datasets.ClassLabel(names=["a", "b", "c"])}
    )
    part = datasets.Dataset.from_dict(rows, features=features).rename_column("ids", "input_ids")
    place = tmp_path_factory.mktemp("hf") / "data"
    datasets.DatasetDict(train=part, validation=part).save_to_disk(place)
    return place


def test_a_saved_network_is_loaded_with_its_weights_and_nothing_else_is_trusted(folder, tmp_path):
    model = load(folder).eval()
    ids = torch.from_numpy(IDS)
    assert torch.equal(model(ids), bert().eval()(ids).logits)
    settings = json.loads((folder / "config.json").read_text())
    for change, says in (
        ({"auto_map": {"AutoModel": "evil.Model"}}, "code of its own"),
        ({"architectures": ["BertModel"]}, "holds BertModel"),
    ):
        (tmp_path / "config.json").write_text(json.dumps(settings | change))
        (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
        with pytest.raises(DNTKError, match=says):
            load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(settings))
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(DNTKError, match=r"no \.safetensors"):
        load(tmp_path)
    with pytest.raises(DNTKError, match=r"no config\.json"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("config.json", {"inner": [{"auto_map": {}}]}, "code of its own"),
        ("config.json", {"attn_implementation": "somebody/attention"}, "fetched and run"),
        ("config.json", {"text_config": {"_attn_implementation": "flash_attention_2"}}, "fetched and run"),
        ("config.json", {"transformers_weights": "other.safetensors"}, "names other weights"),
        ("adapter_config.json", {"base_model_name_or_path": "/elsewhere"}, "holds an adapter"),
        ("model.safetensors.index.json", {"weight_map": {"w": "../model.safetensors"}}, "lists other files"),
        ("model.safetensors.index.json", {"weight_map": {"w": "pytorch_model.bin"}}, "lists other files"),
        ("model.safetensors.index.json", {"weight_map": {"w": ["model.safetensors"]}}, "lists other files"),
    ],
)
def test_a_saved_network_neither_runs_code_nor_leads_elsewhere(folder, tmp_path, file, change, says):
    shutil.copytree(folder, tmp_path / "hf")
    (tmp_path / "hf" / "pytorch_model.bin").write_bytes(b"")
    shutil.copy(folder / "model.safetensors", tmp_path)
    before = json.loads((tmp_path / "hf" / file).read_text()) if file == "config.json" else {}
    (tmp_path / "hf" / file).write_text(json.dumps(before | change))
    with pytest.raises(DNTKError, match=says):
        load(tmp_path / "hf")


def test_weights_in_several_files_are_loaded_and_known_by_their_list_too(folder, tmp_path):
    bert().save_pretrained(tmp_path, max_shard_size="2KB")
    assert len([*tmp_path.glob("*.safetensors")]) > 1
    ids = torch.from_numpy(IDS)
    assert torch.equal(load(tmp_path).eval()(ids), load(folder).eval()(ids))
    assert "model.safetensors.index.json" in {path.name for path in files(tmp_path)}


@pytest.mark.parametrize("name", ["../other", "/elsewhere", "::http://127.0.0.1:9/x", "", "a/b", 3])
@pytest.mark.parametrize("part", ["split", "file"])
def test_a_saved_dataset_names_only_files_of_its_own(saved, tmp_path, name, part):
    shutil.copytree(saved, tmp_path / "data")
    shutil.copytree(saved / "train", tmp_path / "other")
    path = tmp_path / "data" / ("dataset_dict.json" if part == "split" else "train/state.json")
    document = json.loads(path.read_text())
    changed = {"splits": ["train", name]} if part == "split" else {"_data_files": [{"filename": name}]}
    path.write_text(json.dumps(document | changed))
    with pytest.raises(DNTKError, match="no file of its own"):
        load_data(DataSpec("hf", str(tmp_path / "data")))


def test_other_columns_of_a_saved_dataset_are_not_decoded(tmp_path, monkeypatch):
    """A second image, or a sound, may name any file or address."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.Image, "decode_example", lambda *rest, **more: pytest.fail("decoded"))
    labels = {"label": datasets.ClassLabel(names=["a", "b", "c"])}
    second = {"second": [{"bytes": None, "path": "/etc/passwd"}] * 9, "label": LABELS[:9].tolist()}
    for place, more, column in (
        ("images", {"image": datasets.Image()}, {"image": [encoded(np.zeros((8, 8, 3), np.uint8))] * 9}),
        ("numbers", {"x": datasets.Value("float32")}, {"x": [1.0] * 9}),
    ):
        kind = datasets.Image() if place == "images" else [datasets.Image()]
        rows = {name: value if place == "images" else [[v] for v in value] for name, value in second.items()}
        part = datasets.Dataset.from_dict(
            column | rows | {"label": second["label"]}, features=datasets.Features(more | {"second": kind} | labels)
        )
        datasets.DatasetDict(train=part, test=part).save_to_disk(tmp_path / place)
        data = load_data(DataSpec("hf", str(tmp_path / place), size=8 if place == "images" else 0))
        assert len(data.train_inputs[:2])


def test_a_run_of_a_saved_network_on_a_saved_dataset(folder, saved, tmp_path):
    spec = RunSpec(
        DataSpec("hf", str(saved)),
        ModelSpec("hf", str(folder)),
        inputs=InputSpec(12, 6),
        projection=ProjectionSpec(k=300),
    )
    run = load_or_build(spec, store=Store(tmp_path), compute=Compute("cpu"))
    assert run.class_names == ("a", "b", "c") and run.kind == "tokens" and run.spec.model.fingerprint
    inputs = {name: torch.from_numpy(np.array(value)) for name, value in run.inputs[:].items()}
    np.testing.assert_allclose(run.targets, bert().eval()(**inputs).logits.detach(), atol=1e-5)


def encoded(pixels):
    """The bytes of a file, as a row of a saved dataset holds them."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return {"bytes": file.getvalue(), "path": None}


def test_a_run_of_a_saved_vision_transformer_on_saved_images(tmp_path):
    datasets = pytest.importorskip("datasets")
    torch.manual_seed(0)
    config = transformers.ViTConfig(image_size=8, patch_size=4, **SMALL)
    transformers.ViTForImageClassification(config).save_pretrained(tmp_path / "vit")
    pixels = np.random.default_rng(0).integers(0, 256, (9, 8, 8, 3), dtype=np.uint8)
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["a", "b", "c"])})
    rows = {"image": [encoded(image) for image in pixels], "label": LABELS[:9].tolist()}
    part = datasets.Dataset.from_dict(rows, features=features)
    datasets.DatasetDict(train=part, test=part).save_to_disk(tmp_path / "data")
    spec = RunSpec(
        DataSpec("hf", str(tmp_path / "data"), size=8),
        ModelSpec("hf", str(tmp_path / "vit")),
        inputs=InputSpec(6, 3),
        projection=ProjectionSpec(k=64),
    )
    run = load_or_build(spec, store=Store(tmp_path / "cache"), compute=Compute("cpu"))
    assert run.kind == "image" and run.class_names == ("a", "b", "c") and "minus 0.485" in run.preprocessing
    index = np.array(run.artifacts["inputs"]["kernel_index"])
    np.testing.assert_allclose(run.images[:], pixels[index].transpose(0, 3, 1, 2) / 255, atol=1e-6)
    seen = torch.from_numpy(load_data(run.spec.data).normalise(run.images[:])).float()
    np.testing.assert_allclose(run.targets, load(tmp_path / "vit").eval()(seen).detach(), atol=1e-5)


def test_of_saved_images_only_bytes_are_decoded_and_no_path_is_followed(tmp_path):
    good = encoded(np.zeros((8, 8, 3), np.uint8))
    (tmp_path / "secret.png").write_bytes(good["bytes"])
    held = [good, {"bytes": b"broken", "path": None}, {"bytes": None, "path": str(tmp_path / "secret.png")}, None]
    rows = [{"image": value} for value in held]
    images = ImageFiles(tuple(Cell("train", rows, "image", i) for i in range(4)), 8, 8)
    assert [images.readable(i) for i in range(4)] == [True, False, False, False]
    with pytest.raises(DNTKError, match=r"3 files cannot be read .* image 1 of train, image 2 of train"):
        images[:]


def test_lora_studies_what_requires_gradients(tmp_path):
    peft = pytest.importorskip("peft")
    model = peft.get_peft_model(bert(), peft.LoraConfig(r=2, target_modules=["query", "value"], task_type="SEQ_CLS"))
    wanted = sum(p.numel() for p in model.parameters() if p.requires_grad)
    data = (torch.from_numpy(IDS), LABELS)
    run = study(
        model, data, data, kernel_inputs=12, test_inputs=6, store=Store(tmp_path), forward=lambda m, x: m(x).logits
    )
    assert run.parameters == wanted < 200 and run.spec.projection.name == "identity" and run.kind == "tokens"


def test_timm_by_name():
    timm = pytest.importorskip("timm")
    assert isinstance(timm.create_model("test_resnet", num_classes=3), nn.Module)
