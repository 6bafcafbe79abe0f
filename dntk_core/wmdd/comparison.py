"""The stage that sets the distilled images beside every selection of real ones."""

import numpy as np

from dntk_core.compute import Compute
from dntk_core.data import choose_inputs, load_data
from dntk_core.gradients import projector, resolve_device
from dntk_core.network import prepare
from dntk_core.progress import Progress, Report, Steps
from dntk_core.spec import RunSpec
from dntk_core.stages import Contents, load_network, project_images, tensor
from dntk_core.store import Artifact, Workbench
from dntk_core.training import Seen
from dntk_core.wmdd.chain_rule import chain_rule_error
from dntk_core.wmdd.classes import Classes
from dntk_core.wmdd.judgement import Inputs, judge
from dntk_core.wmdd.selection import SELECTIONS
from dntk_core.wmdd.tangent import sensitivities

# Distilled inputs on which the chain rule is checked.
PROBE = 24


def build_selections_stage(
    spec: RunSpec,
    model: Artifact,
    network_under_study: Artifact,
    distilled: Artifact,
    features: Artifact,
    compute: Compute,
    report: Report,
    bench: Workbench,
) -> Contents:
    """Judge the run's own images and every selection of as many real ones by what their gradients span.

    Selections are made by the network trained on real images; gradients are those of the network under study.
    chosen: (selections, m) training indices, -1 for synthetic images, in the order of the note's judgements
    """
    data = load_data(spec.data)
    classes = Classes(spec, data, model, compute)
    device, C, m = resolve_device(compute.device), len(classes), len(distilled["labels"])
    real, test = choose_inputs(data, spec.inputs)
    others = [name for name in SELECTIONS if name != spec.distill.method]
    total = len(others) * (C + m) + len(real)

    chosen = {}
    for i, name in enumerate(others):
        shards = []
        for c in range(C):
            shards.append(bench.shard(f"{name}-class-{c}", lambda name=name, c=c: vars(classes.choose(name, c))))
            report(Progress("selections", i * C + c + 1, total, f"{name}, class {data.class_names[c]}"))
        chosen[name] = {part: np.concatenate([shard[part] for shard in shards]) for part in ("index", "weights")}

    x = tensor(data.normalise(distilled["images"][:PROBE])).to(device)
    network = prepare(load_network(spec, data, network_under_study, compute), x, spec.outputs)
    through = projector(network, spec.projection, device)

    def gradients(name: str, index: np.ndarray, weights: np.ndarray, before: int) -> Inputs:
        images = Seen(data, data.train_images, index)
        steps = Steps(report, "selections", before, total)
        found = project_images(network, through, images, compute, bench, f"{name}-gradients", steps)
        return Inputs(found.features, found.outputs, data.train_labels[index], weights)

    before = len(others) * C
    judged = gradients("real", real, np.ones(len(real)), before)
    held_out = Inputs(features["test_features"], features["test_outputs"], data.test_labels[test], np.ones(len(test)))
    labels = np.array(distilled["labels"])
    own = Inputs(features["features"], features["outputs"], labels, np.array(distilled["weights"]))
    selections = {spec.distill.method: lambda: own} | {
        name: lambda name=name, i=i: gradients(name, **chosen[name], before=before + len(real) + i * m)
        for i, name in enumerate(others)
    }
    judgements = judge(selections, judged, held_out, network.P, spec.outputs)
    delta = sensitivities(own.outputs[:PROBE], labels[:PROBE], spec.outputs)
    note = {
        "judgements": [judgement.to_json() for judgement in judgements],
        "k": through.k,
        "chain_rule_error": chain_rule_error(network, through, x, own.features[:, :PROBE], delta),
    }
    index = [np.array(distilled["origin"]), *(chosen[name]["index"] for name in others)]
    return {"chosen": np.stack(index)}, note
