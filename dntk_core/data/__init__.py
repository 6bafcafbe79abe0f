"""Datasets as inputs of a run: images that are decoded when they are asked for, labels, class names, scale.

`load_data` loads one by its spec; a new source is a file in `sources` and a row of SOURCES;
`archives` reads files that others made, bounded in number and size.
"""

from dntk_core.data.dataset import Dataset, check_distillable, choose_inputs, load_data
from dntk_core.data.images import ImageArray, ImageFiles, Images, as_images, in_batches
from dntk_core.data.sources import SOURCES, RawDataset, Split

__all__ = [
    "SOURCES",
    "Dataset",
    "ImageArray",
    "ImageFiles",
    "Images",
    "RawDataset",
    "Split",
    "as_images",
    "check_distillable",
    "choose_inputs",
    "in_batches",
    "load_data",
]
