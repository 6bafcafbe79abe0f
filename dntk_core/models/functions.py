"""What functions compute, where there is no file to read it from: a lambda, a class typed into a notebook."""

import hashlib
import inspect
import json
from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import torch
from torch import nn


def functions_fingerprint(network: nn.Module, forward: Callable[..., Any] | None) -> str:
    """The sha256 of what `forward` and the methods of a network's own classes compute, by their compiled code."""
    seen: dict[str, Any] = {}
    if forward is not None:
        _describe(forward, seen)
    for cls in sorted(
        {type(part) for part in network.modules()}, key=lambda cls: f"{cls.__module__}.{cls.__qualname__}"
    ):
        if not _is_package(cls.__module__):
            for value in vars(cls).values():
                _describe(value, seen)
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()


def _describe(value: Any, seen: dict[str, Any]) -> None:
    """Add a function, and all functions of the user's that it names."""
    if isinstance(value, partial):
        seen[f"partial {len(seen)}"] = [repr(_plain(item)) for item in (*value.args, *value.keywords.items())]
        value = value.func
    value = inspect.unwrap(getattr(value, "__func__", value)) if callable(value) else value
    if not isinstance(value, FunctionType):
        # An object that is called: its class's methods say how.
        called = vars(type(value)).get("__call__")
        if isinstance(called, FunctionType) and not isinstance(value, nn.Module):
            _describe(called, seen)
        return
    name = f"{value.__module__}.{value.__qualname__}"
    if name in seen or _is_package(value.__module__):
        return
    closure = [repr(_plain(cell.cell_contents)) for cell in value.__closure__ or () if _filled(cell)]
    seen[name] = [_code(value.__code__), repr(_plain(value.__defaults__)), closure]
    for used in _names(value.__code__):
        found = value.__globals__.get(used)
        if isinstance(found, FunctionType):
            _describe(found, seen)
        elif isinstance(found, bool | int | float | str | tuple):
            seen[f"{value.__module__}.{used}"] = repr(_plain(found))


def _code(code: CodeType) -> list[Any]:
    constants = [_code(each) if isinstance(each, CodeType) else repr(_plain(each)) for each in code.co_consts]
    return [code.co_code.hex(), constants, list(code.co_names)]


def _names(code: CodeType) -> set[str]:
    inner = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


def _plain(value: Any) -> Any:
    """A value whose text tells its content: tensors by their numbers, other objects by their type alone."""
    if isinstance(value, torch.Tensor):
        return hashlib.sha256(repr((value.shape, value.tolist())).encode()).hexdigest()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if isinstance(value, bool | int | float | complex | str | bytes | type(None)):
        return value
    return getattr(value, "__qualname__", type(value).__qualname__)


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _is_package(module: str | None) -> bool:
    """Whether code is installed rather than the user's own: known by its name and version, not edited."""
    return (module or "").partition(".")[0] in ("torch", "torchvision", "timm", "transformers", "peft", "builtins")
