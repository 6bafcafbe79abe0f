"""TRAK as the packages `traker` and `dattri` compute it, on a run's own network and inputs: (t, m) each."""

import time
from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory

import numpy as np
import torch

from dntk_core import Compute, Run
from dntk_core.data.dataset import Dataset, load_data
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen

BATCH = 64
# dattri draws its projection anew for every batch: large ones are kindest.
LARGE = 512


def parts(run: Run) -> tuple[Dataset, torch.nn.Module, list, list]:
    """Data, network, and the batches (images, labels) of training and test inputs in order."""
    data = load_data(run.spec.data)
    model = load_network(run.spec, data, run.artifacts["model"], Compute("cpu")).eval()
    train = Seen(data, data.train_inputs)[:], torch.from_numpy(data.train_labels)
    index = np.array(run.artifacts["inputs"]["test_index"])
    test = Seen(data, data.test_inputs, index)[:], torch.from_numpy(data.test_labels[index])
    batched = [list(zip(x.split(BATCH), y.split(BATCH), strict=True)) for x, y in (train, test)]
    return data, model, *batched


def traker(
    run: Run, k: int, regularisers: Sequence[float], block: int = 0
) -> Iterator[tuple[float, np.ndarray, float]]:
    """traker's TRAKer with its own CPU projector into k dimensions, at each regulariser, and its processor seconds.

    Regularisers are in units of the mean squared gradient. Gradients are projected once; their time counts for each.
    block: dimensions that are drawn at a time, for every batch anew, the package's way with 100; 0 draws all once
    """
    from trak import TRAKer
    from trak.projectors import BasicProjector

    started = time.process_time()
    data, model, train, test = parts(run)
    P = sum(p.numel() for p in model.parameters())
    projector = BasicProjector(P, k, 0, "rademacher", "cpu", block_size=block or k)
    if not block:
        # A single block that is set free between stages would not be drawn again.
        projector.free_memory = lambda: None
    with TemporaryDirectory() as folder:
        tracer = TRAKer(
            model,
            "image_classification",
            len(data.train_labels),
            save_dir=folder,
            device="cpu",
            proj_dim=k,
            projector=projector,
            use_half_precision=False,
            logging_level=40,
        )
        tracer.load_checkpoint(model.state_dict(), model_id=0)
        for batch in train:
            tracer.featurize(batch=batch, num_samples=len(batch[1]))
        tracer.finalize_features()
        total = sum(len(y) for _, y in test)
        tracer.start_scoring_checkpoint("test", model.state_dict(), model_id=0, num_targets=total)
        for batch in test:
            tracer.score(batch=batch, num_samples=len(batch[1]))
        shared = time.process_time() - started
        unit = float(np.mean(np.sum(np.square(tracer.saver.current_store["grads"]), axis=1)))
        for regulariser in regularisers:
            started = time.process_time()
            tracer.score_computer.lambda_reg = regulariser * unit
            tracer.saver.model_ids[0]["is_finalized"] = 0
            tracer.finalize_features()
            found = np.array(tracer.finalize_scores(exp_name="test")).T
            yield regulariser, found, shared + time.process_time() - started


def dattri(run: Run, k: int, regulariser: float) -> tuple[np.ndarray, float]:
    """dattri's TRAK attributor with its own projector, and its processor seconds; the regulariser in the same unit."""
    from dattri.algorithm.trak import TRAKAttributor
    from dattri.func.projection import random_project
    from dattri.task import AttributionTask

    started = time.process_time()
    _, model, train, test = parts(run)

    def margin(parameters, batch):
        x, y = batch
        logits = torch.func.functional_call(model, parameters, x.unsqueeze(0))
        # Under vmap a label is no index.
        own = torch.arange(logits.shape[1]) == y
        return torch.where(own, logits[0], 0).sum() - torch.where(own, -torch.inf, logits[0]).logsumexp(0)

    def probability(parameters, batch):
        return torch.sigmoid(margin(parameters, batch))

    task = AttributionTask(loss_func=margin, model=model, checkpoints=model.state_dict())
    projection = {"proj_dim": k, "device": "cpu", "proj_type": "normal", "proj_max_batch_size": 32}
    attributor = TRAKAttributor(
        task=task, correct_probability_func=probability, device="cpu", projector_kwargs=projection
    )
    with torch.no_grad():
        parameters, _ = task.get_param(ckpt_idx=0)
        some = attributor.grad_loss_func(parameters, train[0]) / attributor.norm_scaler
        projected = random_project(some, len(some), **attributor.projector_kwargs)(some, ensemble_id=0)
        attributor.regularization = regulariser * float(projected.square().sum(dim=1).mean())
        attributor.cache(_loader(train))
        return attributor.attribute(_loader(test)).numpy().T, time.process_time() - started


def _loader(batches: list) -> torch.utils.data.DataLoader:
    x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=LARGE)
