"""The run's own images beside every selection of real ones, judged by what their gradients span."""

import numpy as np

from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Steps
from dntk_core.cache.artifact import Contents
from dntk_core.data.dataset import choose_inputs
from dntk_core.dataset.chain_rule import chain_rule_error
from dntk_core.dataset.judgement import Inputs, judge
from dntk_core.dataset.tangent import sensitivities
from dntk_core.gradients.extraction import project_images
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import projector
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen, tensor
from dntk_core.run.work import Work

# Distilled inputs on which the chain rule is checked.
CHECKED_INPUTS = 24


def build(work: Work) -> Contents:
    """Judge the run's own images and every selection of as many real ones; the note has it all.

    Images were chosen by the network trained on real ones; gradients are those of the network under study.
    """
    spec, data, device = work.spec, work.data, resolve_device(work.compute.device)
    selected, distilled, features = (work.made[name] for name in ("selected", "distilled", "features"))
    labels = np.array(distilled["labels"])
    real, test = choose_inputs(data, spec.inputs)
    others = {name: i for i, name in enumerate(selected.note["names"]) if name != spec.dataset.method}
    total = len(others) * len(labels) + len(real)
    x = tensor(data.normalise(distilled["images"][:CHECKED_INPUTS])).to(device)
    network = prepare(load_network(spec, data, work.network, work.compute), x, spec.outputs)
    through = projector(network, spec.projection, device)

    def gradients(name: str, index: np.ndarray, weights: np.ndarray, before: int) -> Inputs:
        images = Seen(data, data.train_inputs, index)
        steps = Steps(work.report, "judged", before, total)
        found = project_images(network, through, images, work.compute, work.bench, f"{name}-gradients", steps)
        return Inputs(np.asarray(found.features), found.outputs, data.train_labels[index], weights)

    known = gradients("real", real, np.ones(len(real)), 0)
    held_out = Inputs(features["test_features"], features["test_outputs"], data.test_labels[test], np.ones(len(test)))
    own = Inputs(features["features"], features["outputs"], labels, np.array(distilled["weights"]))
    selections = {spec.dataset.method: lambda: own} | {
        name: lambda name=name, i=i, place=place: gradients(
            name, np.array(selected["index"][i]), np.array(selected["weights"][i]), len(real) + place * len(labels)
        )
        for place, (name, i) in enumerate(others.items())
    }
    judgements = judge(selections, known, held_out, network.P, spec.outputs)
    delta = sensitivities(own.outputs[:CHECKED_INPUTS], labels[:CHECKED_INPUTS], spec.outputs)
    note = {
        "judgements": [judgement.to_json() for judgement in judgements],
        "k": through.k,
        "chain_rule_error": chain_rule_error(network, through, x, own.features[:, :CHECKED_INPUTS], delta),
    }
    return {}, note
