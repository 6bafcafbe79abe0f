"""How well chosen inputs stand for all: the numbers of one selection, to and from JSON."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.dataset.tangent import (
    Capture,
    KernelError,
    OneStep,
    Reference,
    capture,
    centred,
    kernel_error,
    loss_gradients,
    of_all_classes,
    one_step,
    reference,
    sensitivities,
    smoothness,
    subspace,
    together,
)


@dataclass(frozen=True)
class Inputs:
    """Inputs as the network under study sees them: features (C, n, k), outputs (n, C), labels (n,), weights (n,)."""

    features: np.ndarray
    outputs: np.ndarray
    labels: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Judgement:
    """What the tangent subspace of one selection's inputs captures.

    classes, classes_held_out: of each logit's centred gradients by that logit's own subspace, summed over logits
    kernel:                    the class kernels that these subspaces leave
    stacked, stacked_held_out: of all logits' centred gradients by V(D̃), the subspace of all logits
    step:                      one step on the selection, seen by the loss of every real input
    None where the subspace fills too much of R^k to be judged.
    """

    name: str
    classes: Capture | None = None
    classes_held_out: Capture | None = None
    kernel: KernelError | None = None
    stacked: Capture | None = None
    stacked_held_out: Capture | None = None
    step: OneStep | None = None

    def to_json(self) -> dict:
        """As plain numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict) -> "Judgement":
        """Read what `to_json` wrote."""
        kinds = {"kernel": KernelError, "step": OneStep}
        parts = {name: part and kinds.get(name, Capture)(**part) for name, part in value.items() if name != "name"}
        return cls(value["name"], **parts)


def judge(
    selections: dict[str, Callable[[], Inputs]], real: Inputs, held_out: Inputs, P: int, outputs: str
) -> list[Judgement]:
    """Judge selections by real inputs and by held-out ones; each is loaded when its turn comes.

    P: the number of parameters that the features are projected from
    """
    judge_classes, judge_stacked = _class_judge(real, held_out, P), _stacked_judge(real, held_out, P, outputs)
    judgements = []
    for name, load in selections.items():
        chosen = load()
        judgements.append(Judgement(name, **_unless_full(judge_classes, chosen), **_unless_full(judge_stacked, chosen)))
    return judgements


def _class_judge(real: Inputs, held_out: Inputs, P: int) -> Callable[[Inputs], dict]:
    """Judge each logit's gradients by that logit's own subspace."""
    plain = [reference(np.asarray(Phi, dtype=np.float64)) for Phi in real.features]
    known, unknown = ([reference(centred(Phi[None])) for Phi in inputs.features] for inputs in (real, held_out))

    def judged(chosen: Inputs) -> dict:
        spaces = [subspace(Phi, P) for Phi in chosen.features]
        return {
            "classes": together([capture(*pair) for pair in zip(known, spaces, strict=True)]),
            "classes_held_out": together([capture(*pair) for pair in zip(unknown, spaces, strict=True)]),
            "kernel": of_all_classes([kernel_error(*pair) for pair in zip(plain, spaces, strict=True)]),
        }

    return judged


def _stacked_judge(real: Inputs, held_out: Inputs, P: int, outputs: str) -> Callable[[Inputs], dict]:
    """Judge all logits' gradients, and the loss gradients, by V(D̃)."""

    @cache
    def references() -> tuple[Reference, Reference]:
        # Large, and for many classes never needed: V(D̃) then fills R^k.
        return reference(centred(real.features)), reference(centred(held_out.features))

    tasks = loss_gradients(real.features, sensitivities(real.outputs, real.labels, outputs))
    L = smoothness(real.features, outputs)

    def judged(chosen: Inputs) -> dict:
        V = subspace(chosen.features, P)
        known, unknown = references()
        return {
            "stacked": capture(known, V),
            "stacked_held_out": capture(unknown, V),
            "step": one_step(tasks, update(chosen, outputs), V, L),
        }

    return judged


def update(chosen: Inputs, outputs: str) -> np.ndarray:
    """Return g_D̃ = Φ̃ᵀδ̃ of the weighted mean loss with the images' classes as labels: (k,).

    With the network's own soft labels δ̃ would be 0: it has nothing to learn from itself.
    """
    delta = sensitivities(chosen.outputs, chosen.labels, outputs)
    return (chosen.weights / chosen.weights.sum()) @ loss_gradients(chosen.features, delta)


def _unless_full(judged: Callable[[Inputs], dict], chosen: Inputs) -> dict:
    try:
        return judged(chosen)
    except DNTKError:
        return {}


def judgement_table(judgements: Sequence[Judgement]) -> str:
    """The captured energies in text, one line per selection; 1 is what PCA of the same rank misses."""
    titles = {"classes": "class", "classes_held_out": "held out", "stacked": "V(D̃)", "stacked_held_out": "held out"}
    heads = "".join(f"{title:>18}" for title in titles.values())
    lines = [f"{'captured energy':20}{heads}   kernel error / bound   loss residual"]
    for each in judgements:
        cells = "".join(_cell(getattr(each, name)) for name in titles)
        kernel = (
            each.kernel and f"{each.kernel.error / each.kernel.norm:10.2%} /{each.kernel.bound / each.kernel.norm:7.1%}"
        )
        step = each.step and f"{each.step.residual / each.step.gradient:16.2%}"
        lines.append(f"{each.name:20}{cells}{kernel or '':>23}{step or ''}")
    return "\n".join([*lines, "in brackets: how many times more is missed than by PCA of the same rank"])


def _cell(found: Capture | None) -> str:
    return f"{'–':>18}" if found is None else f"{found.energy:10.2%} ({found.relative:4.2f}×)"
