"""A user's own code, known by its content.

A network named `package.module:factory` is what its source says: a key that held its name alone would give an edited
network the results of the old one.
"""

import ast
import hashlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dntk_core.base.own_functions import is_own


def code_fingerprint(network: nn.Module, *modules: str) -> str:
    """What a network computes: its structure, and the source of its own classes and of the modules given."""
    # Files may lie anywhere.
    files = sorted((Path(path).name, content) for path, content in sources(network, *modules).items())
    hashed = [_structure(network), files]
    return hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()


def state_fingerprint(network: nn.Module) -> str:
    """The content of a network's weights and buffers."""
    hashed = hashlib.sha256()
    for name, value in network.state_dict().items():
        hashed.update(f"{name} {value.dtype} {tuple(value.shape)} ".encode())
        hashed.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return hashed.hexdigest()


def sources(network: nn.Module, *modules: str) -> dict[str, str]:
    """Files with the code of a network and of the modules given, and of what they import, each with its fingerprint."""
    waiting = [*modules, *(type(part).__module__ for part in network.modules())]
    found, seen = {}, set()
    while waiting:
        name = waiting.pop()
        path = None if name in seen else _file(name)
        seen.add(name)
        # Installed code is known by its name: nobody edits it between two runs.
        if path is None or not (name in modules or is_own(path)):
            continue
        found[str(path)] = source_fingerprint(path)
        if is_own(path):
            waiting += _imports(name, path)
    return found


def source_fingerprint(path: Path) -> str:
    """What a file of Python says, comments and layout aside; empty if it cannot be read."""
    try:
        status = path.stat()
        return _parsed(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError, SyntaxError):
        return ""


def changed(files: Mapping[str, str]) -> list[str]:
    """The files that no longer say what they did when they were fingerprinted; nothing is imported."""
    return [path for path, fingerprint in files.items() if source_fingerprint(Path(path)) != fingerprint]


@lru_cache(maxsize=256)
def _parsed(path: Path, changed: int, size: int) -> str:
    return hashlib.sha256(ast.dump(ast.parse(path.read_bytes())).encode()).hexdigest()


def _structure(network: nn.Module) -> list[Any]:
    """Every part of a network: its name, class, plain settings, and the shapes of its parameters and buffers."""
    return [
        [
            name,
            _class(type(part)),
            {key: plain for key, value in vars(part).items() if (plain := _plain(value)) is not None},
            [[key, list(value.shape), str(value.dtype), value.requires_grad] for key, value in _tensors(part)],
        ]
        for name, part in network.named_modules()
    ]


def _tensors(part: nn.Module) -> list[tuple[str, torch.Tensor]]:
    return [*part.named_parameters(recurse=False), *part.named_buffers(recurse=False)]


def _class(kind: type) -> str:
    """A class by name; one that lies in no module's file, as in a notebook, by its source too."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if _file(kind.__module__) is not None or kind.__module__ in sys.builtin_module_names:
        return name
    try:
        return f"{name} {inspect.getsource(kind)}"
    except (OSError, TypeError):
        return name


def _plain(value: Any) -> Any:
    """A setting as JSON: numbers, text, functions by name; nothing for all else."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list) and all(isinstance(each, bool | int | float | str) for each in value):
        return list(value)
    return getattr(value, "__qualname__", None) if callable(value) else None


def _file(name: str) -> Path | None:
    """The file of a module, found without importing it; None for a script or notebook and what has no source."""
    if name == "__main__":
        return None
    if (module := sys.modules.get(name)) is not None:
        file = getattr(module, "__file__", None) or ""
        return Path(file).resolve() if file.endswith(".py") else None
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or not rest:
        return Path(spec.origin).resolve() if spec and spec.origin and spec.origin.endswith(".py") else None
    for place in spec.submodule_search_locations or ():
        below = Path(place, *rest)
        for path in (below.with_name(f"{below.name}.py"), below / "__init__.py"):
            if path.is_file():
                return path.resolve()
    return None


def _imports(name: str, path: Path) -> list[str]:
    """The modules that a file's import statements name, wherever in it they stand."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = []
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            # A name may be a module of the package, or something in it.
            found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return found
