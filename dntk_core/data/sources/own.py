"""A user's own data: `package.module:factory` returns loaders, datasets or arrays for training and testing."""

from functools import lru_cache

from dntk_core.base.errors import DNTKError
from dntk_core.base.own_functions import as_sentence, import_named
from dntk_core.base.spec import DataSpec
from dntk_core.data.sources.source import RawDataset


def load(spec: DataSpec) -> RawDataset:
    """Call the factory: (train, test) or (train, test, class names), read as `study` reads them."""
    return _called(spec.name, spec.kind)


@lru_cache(maxsize=1)
def _called(name: str, kind: str) -> RawDataset:
    """Once for a run: its content is hashed before it is used."""
    # Loading torch takes seconds; other sources do without.
    from dntk_core.data.loaders import read_data

    factory = import_named(name, "a function without arguments that returns (train, test) or (train, test, names)")
    with as_sentence(f"{name!r} failed"):
        found = factory()
    if not isinstance(found, tuple | list) or len(found) not in (2, 3):
        raise DNTKError(f"{name!r} must return (train, test) or (train, test, class names), not {type(found).__name__}")
    train, test, *names = found
    return read_data(train, test, names[0] if names else None, kind=kind)
