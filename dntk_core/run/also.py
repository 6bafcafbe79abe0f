"""Other inputs beside a run's own, under a name: gradients of theirs through its network and projection, no labels."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Report, Steps, ignore
from dntk_core.base.text import is_line
from dntk_core.cache.artifact import Artifact, Contents
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.data.archives import read_npz
from dntk_core.data.dataset import load_data
from dntk_core.data.images import ImageArray, ImageFiles, Images, find_images
from dntk_core.data.inputs import IMAGE
from dntk_core.data.kinds import KINDS
from dntk_core.run.fingerprints import fingerprint
from dntk_core.run.pinning import pin
from dntk_core.run.pipeline import Run

STAGE, HOLDS = "also", ("features", "outputs", "images", "name")
# More would take long and show no more.
MOST = 1000
LONGEST_NAME = 40


def add_inputs(
    run: Run,
    name: str,
    path: Path,
    report: Report = ignore,
    compute: Compute | None = None,
    store: Store | None = None,
) -> Artifact:
    """Add the images of a folder or of an .npz file (its array `images`) to a run, at most MOST of them."""
    if not name or not is_line(name, LONGEST_NAME):
        raise DNTKError(f"a set of inputs needs a name of one line, at most {LONGEST_NAME} letters")
    if run.kind != IMAGE:
        raise DNTKError(f"only images can be added to a run; these are {KINDS[run.kind].many}")
    spec, store = pin(run.spec), store or Store()
    images = other_images(path, run.images.shape[1:])
    compute = replace(compute or Compute(), precision=spec.precision)
    features = spec.stage_key("features")
    content = fingerprint(path)
    key = hashlib.sha256(f"{features} {name} {content}".encode()).hexdigest()[:20]
    return store.load_or_build(
        STAGE, key, spec.to_json(), lambda bench: _build(run, name, images, report, compute, bench), holds=HOLDS
    )


def added(run: Run, store: Store | None = None) -> dict[str, Artifact]:
    """The sets that were added to a run, by name."""
    store, features = store or Store(), run.spec.stage_key("features")
    keys = [key for stage, key in store.all() if stage == STAGE]
    own = [key for key in keys if store.note(STAGE, key).get("features_key") == features]
    found = filter(None, (store.get(STAGE, key, HOLDS) for key in own))
    return {artifact.note["name"]: artifact for artifact in found}


def other_images(path: Path, shape: tuple[int, ...]) -> Images:
    """Images of a folder or an .npz file, each of a shape (channels, height, width)."""
    if path.is_dir():
        files, _ = find_images(path)
        images: Images = ImageFiles(files, shape[-1], shape[-1])
    elif path.is_file():
        arrays = read_npz(path)
        if "images" not in arrays:
            raise DNTKError(f"{path} lacks images; it needs an array images (n, channels, height, width)")
        array = arrays["images"]
        if array.dtype.kind not in "buif" or array.ndim != 4 or (array.dtype != np.uint8 and not _in_range(array)):
            raise DNTKError(f"images in {path} must be (n, channels, height, width), 8-bit or in [0, 1]")
        _check(array.shape[1:], tuple(shape), path)
        images = ImageArray(array if array.dtype == np.uint8 else array.astype(np.float32), array.shape[-1])
    else:
        raise DNTKError(f"{path} is neither a folder of images nor an .npz file")
    if not len(images):
        raise DNTKError(f"{path} holds no images")
    _check(tuple(images.shape[1:]), tuple(shape), path)
    return images


def _check(found: tuple[int, ...], wanted: tuple[int, ...], path: Path) -> None:
    if found != wanted:
        raise DNTKError(f"the run's inputs are {wanted}, those of {path} {found}; bring them to that shape")


def _in_range(array: np.ndarray) -> bool:
    return not array.size or bool(array.min() >= 0 and array.max() <= 1)


def _build(run: Run, name: str, images: Images, report: Report, compute: Compute, bench: Workbench) -> Contents:
    # Loading torch takes seconds; opening a set does without.
    from dntk_core.base.device import resolve_device
    from dntk_core.gradients.extraction import project_images
    from dntk_core.gradients.preparation import prepare
    from dntk_core.gradients.stream import projector
    from dntk_core.models.artifact import load_network
    from dntk_core.models.seen import Seen

    spec, data, device = run.spec, load_data(run.spec.data), resolve_device(compute.device)
    chosen = images[np.unique(np.linspace(0, len(images) - 1, min(len(images), MOST)).round().astype(int))]
    x = Seen(data, chosen)
    model = load_network(spec, data, run.artifacts[spec.network_stage], compute)
    network = prepare(model, x[:8].to(device), spec.outputs)
    steps = Steps(report, STAGE, 0, len(x))
    found = project_images(network, projector(network, spec.projection, device), x, compute, bench, STAGE, steps)
    contents = {"features": found.features, "outputs": found.outputs, "images": np.asarray(chosen, np.float32)}
    return contents, {"name": name, "features_key": spec.stage_key("features"), "seconds": found.seconds}
