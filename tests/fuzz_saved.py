"""What other programs and earlier sessions have saved, altered at random: series, words, networks, datasets."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from dntk_core.base.spec import DataSpec, ProjectionSpec, RunSpec
from dntk_core.cache.store import Store
from dntk_core.data import vocabulary
from dntk_core.data.sources import hugging_face as saved_data
from dntk_core.models import hugging_face
from dntk_core.run import series
from dntk_core.run.series import Series, find_series, keep_series
from tests.fuzz import Target, changed, refused, sealing, softly, texts, values

SPEC = RunSpec.default()
SERIES = Series(("a", "b"), (0.0, 1.0), (SPEC, replace(SPEC, projection=ProjectionSpec(k=7))))
KEPT = {"labels": SERIES.labels, "times": SERIES.times, "created": 1.7e9}
KEPT |= {"specs": [spec.to_json() for spec in SERIES.specs]}


def take_series(folder: Path) -> Callable:
    store = Store(folder)
    keep_series(SERIES, store)

    def take(text: str) -> bool:
        (folder / "series" / f"{SERIES.key}.json").write_bytes(text.encode(errors="surrogatepass"))
        return find_series(SERIES.key, store) is not None or refused("a series")

    return take


WORDS = st.lists(texts, max_size=5)


def take_words(folder: Path) -> Callable:
    def take(given: tuple) -> bool:
        text, suffix = given
        path = folder / f"v{suffix}"
        path.write_bytes(text.encode(errors="surrogatepass"))
        return softly(lambda: vocabulary.read_vocabulary(path))

    return take


# Networks: settings, and the list of their files.
SETTINGS = {"architectures": ["BertForSequenceClassification"], "attn_implementation": "sdpa", "inner": {"a": [1]}}
INDEX = {"weight_map": {"w": "model.safetensors"}}
forbidden = st.sampled_from(
    [
        {"auto_map": {}},
        {"inner": [{"_attn_implementation": "x/y"}]},
        {"transformers_weights": "x"},
        {"architectures": 3},
    ]
)


def take_networks(folder: Path) -> Callable:
    place = folder / "hf"
    place.mkdir()

    def take(given: tuple) -> bool:
        settings, index, weights, adapter = given
        for name, text in (("config.json", settings), ("model.safetensors.index.json", index)):
            (place / name).write_bytes(text.encode(errors="surrogatepass"))
        for name, there in (("model.safetensors", weights), ("adapter_config.json", adapter)):
            (place / name).write_bytes(b"{}") if there else (place / name).unlink(missing_ok=True)
        return softly(lambda: hugging_face._task(place))

    return take


# Datasets: their list of splits, and what is said of the files and columns of one.
LISTS = ("dataset_dict.json", "train/state.json", "train/dataset_info.json")


def take_saved(folder: Path) -> Callable:
    import datasets

    datasets.disable_progress_bars()
    rows = {"input_ids": np.zeros((4, 3), int).tolist(), "label": [0, 1, 0, 1]}
    part = datasets.Dataset.from_dict(rows)
    datasets.DatasetDict(train=part, test=part).save_to_disk(folder / "data")
    shutil.copytree(folder / "data" / "train", folder / "other")
    sound = {name: json.loads((folder / "data" / name).read_text()) for name in LISTS}

    def take(given: tuple) -> bool:
        which, steps = given
        for name in LISTS:
            (folder / "data" / name).write_text(json.dumps(sound[name]))
        name = LISTS[which]
        text = steps(sound[name])
        (folder / "data" / name).write_bytes(text.encode(errors="surrogatepass"))
        return softly(lambda: saved_data.load(DataSpec("hf", str(folder / "data"))).train.inputs[:2])

    return take


elsewhere = st.sampled_from(["../other", "/etc", "::http://127.0.0.1:9/x", "a/b", ""])
alterations = st.one_of(
    st.just(json.dumps),
    elsewhere.map(lambda name: lambda document: json.dumps(document | {"splits": ["train", name]})),
    elsewhere.map(lambda name: lambda document: json.dumps(document | {"_data_files": [{"filename": name}]})),
    st.tuples(st.integers(0, 60), texts).map(lambda cut: lambda document: json.dumps(document)[: -cut[0]] + cut[1]),
    st.tuples(st.integers(0, 10**6), values).map(lambda put: lambda document: _put(document, *put)),
)


def _put(document: dict, at: int, value: object) -> str:
    """The document with one of its fields replaced."""
    return json.dumps(document | {sorted(document)[at % len(document)]: value})


SAVED = {
    "series": Target(sealing(json.loads(json.dumps(KEPT))), take_series, (series._read, Series.__post_init__)),
    "vocabulary": Target(
        st.tuples(
            WORDS.map("\n".join) | WORDS.map(json.dumps) | changed({"a": 0, "b": 1}), st.sampled_from([".txt", ".json"])
        ),
        take_words,
        (vocabulary.read_vocabulary, vocabulary.shown_words, vocabulary._from_json),
    ),
    "saved network": Target(
        st.tuples(
            changed(SETTINGS) | st.just(json.dumps(SETTINGS)) | forbidden.map(lambda more: json.dumps(SETTINGS | more)),
            st.just(json.dumps(INDEX)) | st.just(json.dumps(INDEX)) | changed(INDEX),
            st.sampled_from([True] * 9 + [False]),
            st.sampled_from([False] * 9 + [True]),
        ),
        take_networks,
        (
            hugging_face._task,
            hugging_face._json,
            hugging_face._check_settings,
            hugging_face._every,
            hugging_face._check_index,
        ),
    ),
    "saved dataset": Target(
        st.tuples(st.integers(0, 2), alterations),
        take_saved,
        (saved_data._check_names, saved_data._named, saved_data._numbers),
    ),
}
