"""Home: what the kernel costs and what distillation saves."""

from dntk_core.dashboard.figures.ledger import ledgers
from dntk_core.dashboard.mixing import current_mixing
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.run.ledger import IMAGENET, Description, ledger

TITLE = "Cost"
DEFINITION = r"""
Training side only; every way needs the same test gradients.

- **Jacobians**: inputs whose gradients are computed, $n$, $n$ and $m$.
- **FLOPs**: gradients $(1 + 2C)\,F$ per input with $F$ those of a forward pass, projection $2CP$ per input,
  kernels $C\,n^2P$, $C\,n^2k$ and $C\,m^2k$, Cholesky $C\,s^3/3$, dataset distillation where there is one.
- **Bytes held**: kernels and projected gradients, $8\,C\,(n^2 + nk)$.

The second row counts ImageNet with ResNet-50 at 50 distilled images and one distilled gradient per class.
"""


def description(here: Page) -> Description:
    """The sizes of the open run and of the distilled set on screen."""
    run = here.run
    return Description(
        n=run.artifacts["inputs"].note["n"],
        m=len(run.targets),
        P=run.parameters,
        C=len(run.class_names),
        k=run.features.shape[2],
        s=current_mixing(here.live, here.view).size,
        forward=run.artifacts["features"].note["forward_flops"],
        iterations=run.spec.distill.iterations if run.spec.distill.method == "wmdd" else 0,
    )


def panels(here: Page) -> tuple[Panel, ...]:
    """The cost of the open run and of the paper's largest, three ways."""
    rows = {"this run": ledger(description(here)), "ImageNet": ledger(IMAGENET)}
    saved = 10 ** rows["this run"].saved("flops"), 10 ** rows["ImageNet"].saved("flops")
    read = (
        f"Shorter is cheaper, each gridline ten times: DNTK takes {saved[0]:,.0f} times fewer FLOPs "
        f"than the naive kernel here and {saved[1]:,.0f} times fewer on ImageNet."
    )
    return (Panel("ledger", ledgers(rows), "What the kernel costs", read, DEFINITION),)
