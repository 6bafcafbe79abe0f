"""Calibration on digits: network, kernels full and distilled, beside `laplace-torch` on the same network and inputs.

    python -m benchmarks.uncertainty

Laplace approximations are fitted to the kernel inputs, their prior chosen by marginal likelihood; left out where the
package is not installed. One table; seconds are of one process.
"""

import time
import warnings

import numpy as np
import torch

from dntk_core import Compute, Live, Run, RunSpec, load_or_build
from dntk_core.base.terminal import Bar
from dntk_core.data.dataset import load_data
from dntk_core.data.images import as_images
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen
from dntk_core.run.doubt import Doubt, judged
from dntk_core.run.insight import Insight
from dntk_core.uses.calibration import JUDGEMENTS, auroc

SIZES = (50, 10)
# Of the functional Laplace approximation: its time grows with inputs times test inputs, 200 took more than a minute.
FEW = 20


def laplace(run: Run, subset: str, structure: str) -> np.ndarray:
    """Probabilities of the test inputs by a Laplace approximation, probit: (t, C)."""
    from laplace import Laplace

    data = load_data(run.spec.data)
    model = load_network(run.spec, data, run.artifacts["model"], Compute("cpu")).eval()
    x = Seen(data, as_images(run.artifacts["inputs"]["images"]))[:]
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(x, torch.from_numpy(run.train_labels)), batch_size=100
    )
    more = {"n_subset": FEW} if structure == "gp" else {}
    fitted = Laplace(model, "classification", subset_of_weights=subset, hessian_structure=structure, **more)
    fitted.fit(loader)
    fitted.optimize_prior_precision(method="marglik")
    test = Seen(data, data.test_inputs, np.array(run.artifacts["inputs"]["test_index"]))[:]
    pred = "gp" if structure == "gp" else "glm"
    found = (fitted(part, pred_type=pred, link_approx="probit") for part in test.split(10))
    return np.concatenate([part.detach().numpy() for part in found])


PEERS = {
    "laplace, last layer (full)": ("last_layer", "full"),
    "laplace, last layer (Kronecker)": ("last_layer", "kron"),
    f"laplace, functional ({FEW} inputs)": ("all", "gp"),
}


def main() -> None:
    """Print one table."""
    warnings.simplefilter("ignore")
    run = load_or_build(RunSpec.default(), Bar())
    titles = [*(one.title for one in JUDGEMENTS.values()), "AUROC errors", "seconds"]
    print(f"{'':36}" + "".join(f"{title:>18}" for title in titles))

    def line(name: str, row: dict[str, float], seconds: float) -> None:
        shown = [f"{row[key]:18.4f}" if key in row else f"{'–':>18}" for key in (*JUDGEMENTS, "errors")]
        print(f"{name:36}{''.join(shown)}{seconds:18.2f}", flush=True)

    for size in SIZES:
        live = Live(run.problem)
        started = time.process_time()
        found = judged(Doubt(Insight(run, live), live.distil("local-global", size, 1e-4)).test(), run.test_labels)
        seconds = time.process_time() - started
        for name, row in found.items():
            if name.startswith("distilled"):
                line(f"{name}, s = {size}", row, seconds)
            elif size == SIZES[0]:
                line(name, row, seconds)
    wrong = run.test_logits.argmax(axis=1) != run.test_labels
    chosen = run.test_logits.argmax(axis=1)
    for name, (subset, structure) in PEERS.items():
        started = time.process_time()
        try:
            p = laplace(run, subset, structure)
        except ImportError as error:
            print(f"{name:36} not installed ({error.name})")
            continue
        except Exception as error:
            print(f"{name:36} failed: {type(error).__name__}: {str(error)[:80]}")
            continue
        row = {key: one.function(p, run.test_labels) for key, one in JUDGEMENTS.items()}
        row["errors"] = auroc(1 - p[np.arange(len(p)), chosen], wrong)
        line(name, row, time.process_time() - started)


if __name__ == "__main__":
    main()
