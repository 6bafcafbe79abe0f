"""One forward pass, watched: every operation that takes a parameter, whichever module or function calls it.

A tensor computed of parameters and constants alone (a transpose, a slice, a normalised weight) counts as a parameter
itself; its gradient is led on to the parameters it was made of.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, Node, get_gradient_edge
from torch.overrides import TorchFunctionMode

from dntk_core.gradients.rules import COMPOSITES, OPERATIONS, Call, Leaf
from dntk_core.gradients.rules.operation import Arguments, Operation


class Recorder(TorchFunctionMode):
    """Record the calls of a forward pass of b inputs.

    calls: operations with a rule, in order; unknown: parameters that entered any other operation
    """

    def __init__(self, module: nn.Module, b: int):
        super().__init__()
        self.b = b
        self.calls: list[Call] = []
        self.unknown: set[str] = set()
        named = dict(module.named_parameters())
        self.sources: dict[int, tuple[str, ...]] = {id(p): (name,) for name, p in named.items() if p.requires_grad}
        # Tensors are known by their ids, so those made on the way are kept alive.
        self.constants = {id(t) for t in (*module.buffers(), *(p for p in named.values() if not p.requires_grad))}
        self.kept: list[Tensor] = []
        # Calls by what came out of them, and those that signals go past.
        self.noted: dict[int, Call] = {}
        self.passed: list[Call] = []

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        given = list(_tensors((args, kwargs)))
        leaves = [t for t in given if id(t) in self.sources]
        data = any(id(t) not in self.sources and id(t) not in self.constants for t in given)
        if leaves and func in COMPOSITES:
            with self:
                result = COMPOSITES[func](*args, **kwargs)
            if result is not None:
                return result
        for operation in OPERATIONS.get(func, ()) if leaves else ():
            bound = _bind(operation, args, kwargs)
            if bound is not None and self._takes(bound, leaves):
                y = operation.compute(func, args, kwargs, bound)
                if isinstance(y, Tensor) and self._by_input(bound, y, data):
                    if y.requires_grad:
                        self._note(operation, bound, y)
                    return y
                return self._other(leaves, data, y)
        return self._other(leaves, data, func(*args, **kwargs))

    def _takes(self, bound: Arguments, leaves: list[Tensor]) -> bool:
        """Whether all parameters are in roles that the rule knows."""
        roles = {id(t) for t in bound.roles.values() if t is not None}
        return all(id(leaf) in roles for leaf in leaves)

    def _by_input(self, bound: Arguments, y: Tensor, data: bool) -> bool:
        """Whether the first axis of what came out is the batch's."""
        if not y.ndim:
            return False
        if not data:
            return len(y) == self.b
        return len(y) % self.b == 0 and bound.x.ndim > 0 and len(bound.x) == len(y)

    def _note(self, operation: Operation, bound: Arguments, y: Tensor) -> None:
        # The edge is taken now: a later in-place operation would move the output's history on.
        edge = get_gradient_edge(y)
        self._call(operation, bound, y, edge)
        if past := getattr(y, "past", None):
            before, again = past
            first = self.noted[id(before)]
            self.passed.append(first)
            self._call(first.operation, again, y, edge)

    def _call(self, operation: Operation, bound: Arguments, y: Tensor, edge: GradientEdge) -> None:
        leaves = {role: self._leaf(t) for role, t in bound.roles.items() if t is not None and id(t) in self.sources}
        source = get_gradient_edge(bound.x) if bound.x.requires_grad else None
        call = Call(operation, _single(bound.x), bound.settings, leaves, y.shape, edge, self.b, source)
        self.calls.append(call)
        self.noted[id(y)] = call
        self.kept.append(y)

    def calls_behind(self, y: Tensor) -> tuple[Call, ...]:
        """Calls without those whose signals all go past them."""
        past = {call.edge.node for call in self.passed if call.edge is not None}
        if past:
            past -= nodes_behind(y)
        return tuple(call for call in self.calls if call.edge is None or call.edge.node not in past)

    def _leaf(self, t: Tensor) -> Leaf:
        made = not t.is_leaf
        return Leaf(t.shape, self.sources[id(t)], made, get_gradient_edge(t) if made else None)

    def _other(self, leaves: list[Tensor], data: bool, result: Any) -> Any:
        """Follow what came out of an operation without a rule."""
        made = list(_tensors((result,)))
        if leaves and any(t.requires_grad for t in made):
            names = dict.fromkeys(name for leaf in leaves for name in self.sources[id(leaf)])
            if data:
                self.unknown.update(names)
            else:
                self.kept += made
                self.sources.update({id(t): tuple(names) for t in made if t.requires_grad})
        elif not data:
            self.kept += made
            self.constants.update(map(id, made))
        else:
            # A constant that data was written into is none any more.
            self.constants.difference_update(map(id, made))
        return result


def nodes_behind(y: Tensor) -> set[Node]:
    """All operations of autograd that y was computed by."""
    seen: set[Node] = {y.grad_fn} if y.grad_fn is not None else set()
    waiting = list(seen)
    while waiting:
        for following, _ in waiting.pop().next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return seen


def entered(y: Tensor, module: nn.Module, chosen: Iterable[str]) -> dict[str, int]:
    """Count for some parameters how often they enter what y was computed by, seen or not by a recorder."""
    names = {id(p): name for name, p in module.named_parameters()}
    found: Counter[str] = Counter()
    for node in nodes_behind(y):
        for following, _ in node.next_functions:
            variable = getattr(following, "variable", None)
            if variable is not None:
                found[names.get(id(variable), "")] += 1
    return {name: found[name] for name in chosen}


def lead_on(leaf: Leaf, gradient: Tensor, parameters: dict[str, Tensor]) -> dict[str, Tensor]:
    """Lead gradients (b, …) of a leaf on to the parameters it was made of: name → (b, p)."""
    if leaf.edge is None:
        return {leaf.sources[0]: gradient.flatten(1)}
    behind = [parameters[name] for name in leaf.sources]
    gradient = gradient.reshape(len(gradient), *leaf.shape).to(behind[0].dtype)
    how = {"retain_graph": True, "allow_unused": True}
    try:
        found = torch.autograd.grad(leaf.edge, behind, gradient, is_grads_batched=True, **how)
    except RuntimeError:
        # Some operations have no batching rule.
        each = [torch.autograd.grad(leaf.edge, behind, g, **how) for g in gradient]
        found = [None if of_one[0] is None else torch.stack(of_one) for of_one in zip(*each, strict=True)]
    # What autograd returns may be one tensor for several parameters.
    return {name: g.flatten(1).float().clone() for name, g in zip(leaf.sources, found, strict=True) if g is not None}


def _bind(operation: Operation, args: tuple, kwargs: dict) -> Arguments | None:
    try:
        return operation.bind(*args, **kwargs)
    except TypeError:
        # Called in a way that the rule does not know.
        return None


def _single(x: Tensor) -> Tensor:
    """What is kept of an input: float32 of any precision, integers as they are."""
    return x.detach().float() if x.is_floating_point() else x.detach()


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """All tensors in nested lists, tuples and dictionaries."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, dict):
            yield from _tensors(value.values())
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
