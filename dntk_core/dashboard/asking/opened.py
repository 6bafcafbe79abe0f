"""What was clicked, opened below the figures: inputs, the classes they come from, and what else is next to them."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from dntk_core.dashboard.asking.costs import open_cost
from dntk_core.dashboard.asking.errors import open_errors
from dntk_core.dashboard.asking.forming import open_checkpoint, open_formed, open_forming
from dntk_core.dashboard.asking.groups import open_group, open_groups
from dntk_core.dashboard.asking.images import open_class, open_heaviest, open_selection
from dntk_core.dashboard.asking.judging import open_labels, open_spread, open_unseen
from dntk_core.dashboard.asking.settings import open_dimension, open_setting
from dntk_core.dashboard.asking.testing import open_doubted, open_test
from dntk_core.dashboard.choices.kernel import kernel_name
from dntk_core.dashboard.choices.mixing import current_mixing
from dntk_core.dashboard.choices.picks import Pick, pick
from dntk_core.dashboard.choices.view import chosen_class
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.drawing.palette import BLUE, VERMILION
from dntk_core.dashboard.drawing.plot import plot
from dntk_core.dashboard.figures.mix import class_mix
from dntk_core.dashboard.page import Page

# Inputs that are shown of a thing, and neighbours of one of them.
EXEMPLARS, NEIGHBOURS = 24, 12


def opened(here: Page, side: str = "") -> None:
    """Open what was clicked last; what does not exist under these settings says so.

    side: the name of this page, where there are two
    """
    if here.picked is None:
        return
    with st.container(border=True, key="opened"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            title = st.empty()
            st.button("Close", key="close_pick", on_click=pick, args=(None,), type="tertiary", icon=":material/close:")
        heading = OPENED[here.picked.kind](here, here.picked)
        title.markdown(f"#### {side and f'{side} · '}{literal.markdown(heading)}")


def _cluster(here: Page, found: Pick) -> str:
    view, c = here.view, chosen_class(here.view)
    h = found.place("cluster", view.H)
    if h is None:
        return _nothing("cluster", found, f"there are {view.H}")
    parts = here.live.decomposition(view.H, c)
    members = np.flatnonzero(parts.labels == h)
    # The leading local eigenvector is what its inputs have in common.
    lead = np.abs(np.asarray(parts.local[h])[:, 0])
    order = np.argsort(-lead, kind="stable")[:EXEMPLARS]
    shares = np.bincount(here.run.train_labels[members], minlength=len(here.run.class_names)) / len(members)
    rank = int(parts.locals[h].by(view.energy).rank(view.epsilon).high)
    most = literal.markdown(here.run.class_names[int(shares.argmax())])
    st.caption(
        f"{len(members):,} inputs, most of them of class {most}; "
        f"{rank} of its directions hold {100 * (1 - view.epsilon):.3g}% of its variance. "
        "First those that lie most along its leading direction."
    )
    notes = [f"weight {lead[place]:.2f}" for place in order]
    _mixed(here, shares, "the inputs", members[order], notes)
    return f"Cluster {h + 1} of the {kernel_name(here)} kernel"


def _direction(here: Page, found: Pick) -> str:
    known = here.live.spectrum(chosen_class(here.view))
    j = found.place("direction", len(known.values))
    if j is None:
        return _nothing("direction", found, f"{len(known.values):,} are known")
    share = known.values[j] / known.trace if known.trace else 0.0
    st.caption(
        f"Global eigenvector {j + 1} holds {share:.2%} of the variance of the {literal.markdown(kernel_name(here))} "
        "kernel. Inputs that weigh most in it: blue on one side, orange on the other."
    )
    _weights(here, known.vectors[:, j])
    return f"Direction {j + 1}"


def _gradient(here: Page, found: Pick) -> str:
    mixing = current_mixing(here.live, here.view)
    i = found.place("gradient", mixing.size)
    if i is None:
        return _nothing("gradient", found, f"these settings make {mixing.size}")
    origin = mixing.origin[i]
    where = f" of cluster {origin.cluster + 1}" if origin.cluster is not None else ""
    st.caption(
        f"A {origin.kind} gradient{where}: the inputs that weigh most in it, blue added and orange subtracted; "
        f"{int(np.sum(np.abs(mixing.matrix[i]) > 1e-9)):,} of {mixing.matrix.shape[1]:,} inputs take part."
    )
    _weights(here, mixing.matrix[i])
    return f"Gradient {i + 1} of {mixing.size}"


def _input(here: Page, found: Pick) -> str:
    run, live = here.run, here.live
    i = found.place("input", len(run.targets))
    if i is None:
        return _nothing("input", found, f"there are {len(run.targets):,}")
    mixing = current_mixing(live, here.view)
    rows = np.argsort(-np.abs(mixing.matrix[:, i]), kind="stable")[:3]
    heavy = ", ".join(f"{row + 1} ({mixing.matrix[row, i]:+.2f})" for row in rows if mixing.matrix[row, i])
    chosen = run.class_names[int(run.targets[i].argmax())]
    label = run.class_names[run.train_labels[i]]
    st.caption(
        f"Labelled {literal.markdown(label)}; the network says {literal.markdown(chosen)}. It weighs most in gradients "
        f"{heavy or '–'}. Behind it its nearest inputs by the cosine of their gradients."
    )
    near, cosines = neighbours(here, i)
    notes = ["this input", *(f"cosine {value:.3f}" for value in cosines)]
    _thumbnails(here, np.append(i, near), notes, [BLUE, *[""] * len(near)])
    return f"Input {i + 1}"


def _pair(here: Page, found: Pick) -> str:
    m = len(here.run.targets)
    ends = [Pick("input", (part,)).place("input", m) for part in found.parts[:2]]
    if len(ends) < 2 or None in ends:
        return _nothing("pair", found, f"there are {m:,} inputs")
    i, j = (int(end) for end in ends if end is not None)
    labels = here.live.labels(here.view.H, chosen_class(here.view))
    notes = [f"cluster {labels[place] + 1}" for place in (i, j)]
    cosine = _cosines(here, i)[j]
    st.caption(f"The cosine of their gradients is {cosine:.3f}. Click one to open it.")
    _thumbnails(here, [i, j], notes)
    with st.container(horizontal=True):
        for h in sorted({int(labels[i]), int(labels[j])}):
            st.button(f"Open cluster {h + 1}", key=f"open_cluster_{h}", on_click=pick, args=(Pick.of("cluster", h),))
    return f"Inputs {i + 1} and {j + 1}"


def neighbours(here: Page, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The inputs whose gradients point most as that of input i does, and their cosines."""
    cosines = _cosines(here, i)
    cosines[i] = -np.inf
    near = np.argsort(-cosines, kind="stable")[: min(NEIGHBOURS, len(cosines) - 1)]
    return near, cosines[near]


def _cosines(here: Page, i: int) -> np.ndarray:
    kernel = here.live.kernel(chosen_class(here.view))
    norms = np.sqrt(np.clip(kernel.diagonal(), np.finfo(float).tiny, None))
    return kernel.rows(np.array([i]))[0] / (norms * norms[i])


def _weights(here: Page, weights: np.ndarray) -> None:
    """The heaviest inputs of a vector over inputs, and the classes that its energy lies in."""
    order = np.argsort(-np.abs(weights), kind="stable")[:EXEMPLARS]
    order = order[weights[order] != 0]
    energy = np.bincount(here.run.train_labels, weights**2, minlength=len(here.run.class_names))
    colours = [BLUE if weights[place] > 0 else VERMILION for place in order]
    notes = [f"weight {weights[place]:+.2f}" for place in order]
    _mixed(here, energy / max(energy.sum(), np.finfo(float).tiny), "its energy", order, notes, colours)


def _mixed(
    here: Page,
    shares: np.ndarray,
    what: str,
    indices: Sequence[int] | np.ndarray,
    notes: Sequence[str],
    colours: Sequence[str] = (),
) -> None:
    left, right = st.columns([1, 2], gap="medium")
    with left:
        plot(class_mix(shares, here.run.class_names, what), key="opened_mix", title="Classes", read="")
    with right:
        _thumbnails(here, indices, notes, colours)


def _thumbnails(
    here: Page, indices: Sequence[int] | np.ndarray, notes: Sequence[str], colours: Sequence[str] = ()
) -> None:
    chosen = [int(i) for i in indices]
    show_inputs(
        here.run, "kernel", chosen, notes, colours, key="opened_inputs", on_click=lambda i: pick(Pick.of("input", i))
    )


def _nothing(kind: str, found: Pick, there: str) -> str:
    st.caption(f"There is no such {kind} at these settings: {literal.markdown(there)}.")
    return found.text.capitalize()


OPENED: dict[str, Callable[[Page, Pick], str]] = {
    "cluster": _cluster,
    "direction": _direction,
    "gradient": _gradient,
    "input": _input,
    "pair": _pair,
    "errors": open_errors,
    "test": open_test,
    "doubted": open_doubted,
    "class": open_class,
    "selection": open_selection,
    "heaviest": open_heaviest,
    "cost": open_cost,
    "spread": open_spread,
    "labels": open_labels,
    "unseen": open_unseen,
    "setting": open_setting,
    "dimension": open_dimension,
    "group": open_group,
    "groups": open_groups,
    "checkpoint": open_checkpoint,
    "formed": open_formed,
    "forming": open_forming,
}
