"""The real images of a run, class by class: as the network's encoder sees them, and as gradients."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.randomness import generator
from dntk_core.base.selections import SELECTIONS
from dntk_core.base.spec import RunSpec
from dntk_core.cache.artifact import Artifact
from dntk_core.data.dataset import Dataset
from dntk_core.data.images import in_batches
from dntk_core.dataset.encoder import ClassStatistics, Encoder, class_statistics, make_encoder
from dntk_core.dataset.selections import Choice, choose
from dntk_core.gradients.hardware import laid_out
from dntk_core.gradients.network import Network
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.projections import Projector
from dntk_core.gradients.stream import projector, stream
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen

# Selections look at no more images of a class than this, drawn at random: they form an n_c × n_c kernel.
CANDIDATES = 4000
# Gradients of one class held at once for a selection, in bytes.
GRADIENT_BYTES = 2**30


@dataclass(frozen=True)
class Classes:
    """Training images by class, normalised, with the network trained on them."""

    spec: RunSpec
    data: Dataset
    model: Artifact
    compute: Compute

    def __len__(self) -> int:
        return len(self.data.class_names)

    @cached_property
    def device(self) -> torch.device:
        return resolve_device(self.compute.device)

    @cached_property
    def encoder(self) -> Encoder:
        network = load_network(self.spec, self.data, self.model, self.compute)
        example = self.images(np.array([0]))[:].to(self.device)
        return make_encoder(laid_out(network, self.spec.dataset.precision), example)

    def members(self, c: int) -> np.ndarray:
        """Indices of class c's training images."""
        return np.flatnonzero(self.data.train_labels == c)

    def images(self, index: np.ndarray) -> Seen:
        """Training images as the network sees them, decoded batch by batch."""
        return Seen(self.data, self.data.train_inputs, index)

    def statistics(self, c: int) -> ClassStatistics:
        """Features and batch-norm statistics of all images of class c."""
        return class_statistics(self.encoder, self.images(self.members(c)), self.compute.memory)

    @torch.no_grad()
    def encode(self, x: torch.Tensor | Seen) -> tuple[np.ndarray, np.ndarray]:
        """Features (n, d) and logits (n, C) of normalised images."""
        parts = in_batches(x, np.arange(len(x)), self.encoder.batch(self.compute.memory))
        encodings = [self.encoder(part.to(self.device)) for part in parts]
        features, logits = (torch.cat([getattr(each, name) for each in encodings]) for name in ("features", "logits"))
        return features.cpu().numpy(), logits.cpu().numpy()

    def gradients(self, index: np.ndarray) -> np.ndarray:
        """Projected gradients of training images, all logits side by side: (n, C·k)."""
        network, through = self._gradient_network
        batches = [features.numpy() for features, _ in stream(network, through, self.images(index), self.compute)]
        return np.concatenate(batches, axis=1).transpose(1, 0, 2).reshape(len(index), -1)

    def choose(self, name: str, c: int) -> Choice:
        """Choose training images of class c by a selection; indices are into all training images."""
        spec = self.spec.dataset
        members = self.members(c)
        room = CANDIDATES
        if SELECTIONS[name].uses_gradients:
            room = min(room, GRADIENT_BYTES // (4 * len(self) * self._gradient_network[1].k))
        pool = generator(spec.seed, "candidates", c).permutation(members)[: max(room, spec.per_class)]
        pool.sort()
        if SELECTIONS[name].uses_gradients:
            points = self.gradients(pool)
        else:
            points = class_statistics(self.encoder, self.images(pool), self.compute.memory).features.numpy()
        chosen = choose(name, points, spec.per_class, generator(spec.seed, name, c))
        return Choice(pool[chosen.index], chosen.weights)

    @cached_property
    def _gradient_network(self) -> tuple[Network, Projector]:
        # A network of its own: the encoder's parameters are frozen.
        network = load_network(self.spec, self.data, self.model, self.compute)
        network = prepare(network, self.images(np.array([0]))[:].to(self.device), self.spec.outputs)
        return network, projector(network, self.spec.projection, self.device)
