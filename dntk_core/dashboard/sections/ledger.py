"""Home: what the kernel costs and what distillation saves."""

from dntk_core.dashboard.choices.mixing import current_mixing
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures.ledger import COLUMNS, WAYS, ledgers
from dntk_core.dashboard.page import Page
from dntk_core.data.inputs import IMAGE
from dntk_core.run.ledger import IMAGENET, Counts, Description, ledger

TITLE = "Cost"
DEFINITION = r"""
Training side only; every way needs the same test gradients. Two counts, because they answer two questions:

- **As the paper counts**: one kernel alone, from gradients that are there. FLOPs $n^2P$ for the naive kernel, $n^2k$
  projected, $m^2k$ for DNTK; bytes of the gradients, $8\,nP$, $8\,nk$ and $8\,mk$.
- **Everything, gradients included**: gradients $(1 + 2C)\,F$ per input with $F$ FLOPs of a forward pass, projection
  $2CP$ per input, all $C$ kernels, Cholesky $C\,s^3/3$, gradient distillation, and dataset distillation where there is
  one; bytes of gradients and kernels, $8\,C\,(n^2 + nP)$, $8\,C\,(n^2 + nk)$ and $8\,C\,(m^2 + mk)$.
- **Jacobians**: inputs whose gradients are computed, $n$, $n$ and $m$.
"""
LARGEST = (
    "\nThe second row counts ImageNet with ResNet-50 at 50 distilled inputs and one distilled gradient per class.\n"
)


def description(here: Page) -> Description:
    """The sizes of the open run and of the distilled set on screen."""
    run = here.run
    return Description(
        n=run.artifacts["inputs"].note["n"],
        m=len(run.targets),
        P=run.parameters,
        C=len(run.class_names),
        k=run.k,
        s=current_mixing(here.live, here.view).size,
        forward=run.artifacts["features"].note["forward_flops"],
        iterations=run.spec.dataset.iterations if run.spec.dataset.method == "wmdd" else 0,
        sees=run.preprocessing,
    )


def counted(here: Page) -> dict[str, Counts]:
    """The cost of the open run and, beside one of images, of the paper's largest."""
    own = {"this run": ledger(description(here))}
    return own | ({"ImageNet": ledger(IMAGENET)} if here.run.kind == IMAGE else {})


def panels(here: Page) -> tuple[Panel, ...]:
    """The same, three ways, counted twice."""
    rows = counted(here)
    saved = [count.saving("flops") for count in (rows["this run"].paper, rows["this run"].everything)]
    read = (
        f"Shorter is cheaper, each gridline ten times: DNTK takes {saved[0]:,.0f} times fewer FLOPs than the naive "
        f"kernel as the paper counts, {saved[1]:,.0f} times fewer with all gradients included."
    )
    definition = DEFINITION + (LARGEST if "ImageNet" in rows else "")
    if sees := rows["this run"].sees:
        definition += f"\nCounted for inputs as the network sees them: {literal.markdown(sees)}.\n"
    return (Panel("ledger", ledgers(rows), "What the kernel costs", read, definition, "Click a bar for its terms."),)


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The way, and the run, that a bar stands for."""
    way = {label: way for way, (label, _) in WAYS.items()}.get(str(point.get("series")))
    # Panels count row by row, a row per run.
    row = (int(point["axis"][1:] or 1) - 1) // len(COLUMNS)
    return Pick("cost", (list(counted(here))[row].replace(" ", "_"), way)) if way else None
