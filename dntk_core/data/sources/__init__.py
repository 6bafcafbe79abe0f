"""Where datasets come from: one file for each source, one row of SOURCES.

A source is a function of a DataSpec that returns a RawDataset.
"""

from dntk_core.data.sources import digits, folder, hugging_face, imagenette, npz, torchvision_arrays
from dntk_core.data.sources.source import Loader, RawDataset, Split

__all__ = ["SOURCES", "Loader", "RawDataset", "Split"]

SOURCES: dict[str, Loader] = {
    "digits": digits.load,
    "folder": folder.load,
    "npz": npz.load,
    "hf": hugging_face.load,
    "imagenette": imagenette.load,
    "mnist": torchvision_arrays.loader("MNIST", flip=False),
    "fashion_mnist": torchvision_arrays.loader("FashionMNIST", flip=True),
    "kmnist": torchvision_arrays.loader("KMNIST", flip=False),
    "cifar10": torchvision_arrays.loader("CIFAR10", flip=True),
    "cifar100": torchvision_arrays.loader("CIFAR100", flip=True),
}
