"""ImageNette: ten classes of ImageNet as image files."""

from dataclasses import replace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.sources import folder
from dntk_core.data.sources.source import RawDataset, download_folder


def load(spec: DataSpec) -> RawDataset:
    """Load ImageNette as class folders, downloaded if it is not there."""
    import torchvision.datasets

    edition = "160px" if 0 < spec.size <= 160 else "320px" if 0 < spec.size <= 320 else "full"
    root = download_folder(spec)
    try:
        for split in ("train", "val"):
            torchvision.datasets.Imagenette(root, split, edition, download=True)
    except (OSError, RuntimeError) as error:
        raise DNTKError(f"ImageNette is neither in {root} nor could it be downloaded: {error}") from None
    name = "imagenette2" if edition == "full" else f"imagenette2-{edition[:-2]}"
    return folder.load(replace(spec, path=str(Path(root) / name)))
