"""The stage that sets the distilled images beside every selection of real ones."""

import numpy as np

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Report, Steps
from dntk_core.base.spec import RunSpec
from dntk_core.cache.store import Artifact, Contents, Workbench
from dntk_core.data.dataset import choose_inputs, load_data
from dntk_core.dataset.chain_rule import chain_rule_error
from dntk_core.dataset.judgement import Inputs, judge
from dntk_core.dataset.tangent import sensitivities
from dntk_core.gradients.extraction import project_images
from dntk_core.gradients.network import prepare
from dntk_core.gradients.stream import projector
from dntk_core.models.artifact import load_network
from dntk_core.models.training import Seen, tensor

# Distilled inputs on which the chain rule is checked.
PROBE = 24


def build_selections_stage(
    spec: RunSpec,
    network_under_study: Artifact,
    choices: Artifact,
    distilled: Artifact,
    features: Artifact,
    compute: Compute,
    report: Report,
    bench: Workbench,
) -> Contents:
    """Judge the run's own images and every selection of as many real ones by what their gradients span.

    Choices are made by the network trained on real images; gradients are those of the network under study.
    """
    data = load_data(spec.data)
    device, m = resolve_device(compute.device), len(distilled["labels"])
    real, test = choose_inputs(data, spec.inputs)
    others = {name: i for i, name in enumerate(choices.note["names"]) if name != spec.distill.method}
    total = len(others) * m + len(real)
    x = tensor(data.normalise(distilled["images"][:PROBE])).to(device)
    network = prepare(load_network(spec, data, network_under_study, compute), x, spec.outputs)
    through = projector(network, spec.projection, device)

    def gradients(name: str, index: np.ndarray, weights: np.ndarray, before: int) -> Inputs:
        images = Seen(data, data.train_images, index)
        steps = Steps(report, "selections", before, total)
        found = project_images(network, through, images, compute, bench, f"{name}-gradients", steps)
        return Inputs(found.features.joined(), found.outputs, data.train_labels[index], weights)

    judged = gradients("real", real, np.ones(len(real)), 0)
    held_out = Inputs(features["test_features"], features["test_outputs"], data.test_labels[test], np.ones(len(test)))
    labels = np.array(distilled["labels"])
    own = Inputs(features["features"], features["outputs"], labels, np.array(distilled["weights"]))
    selections = {spec.distill.method: lambda: own} | {
        name: lambda name=name, i=i, place=place: gradients(
            name, np.array(choices["index"][i]), np.array(choices["weights"][i]), len(real) + place * m
        )
        for place, (name, i) in enumerate(others.items())
    }
    judgements = judge(selections, judged, held_out, network.P, spec.outputs)
    delta = sensitivities(own.outputs[:PROBE], labels[:PROBE], spec.outputs)
    note = {
        "judgements": [judgement.to_json() for judgement in judgements],
        "k": through.k,
        "chain_rule_error": chain_rule_error(network, through, x, own.features[:, :PROBE], delta),
    }
    return {}, note
