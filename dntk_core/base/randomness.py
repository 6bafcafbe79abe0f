"""Random numbers that are a pure function of a seed and names: same for every device, batch and process."""

import hashlib

import numpy as np


def generator(seed: int, *names: object) -> np.random.Generator:
    """Return a counter-based (Philox) generator keyed by (seed, names)."""
    digest = hashlib.sha256("/".join(map(str, (seed, *names))).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


def signs(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw independent ±1, float32."""
    count = int(np.prod(shape))
    bits = np.unpackbits(np.frombuffer(rng.bytes((count + 7) // 8), dtype=np.uint8), count=count)
    return (bits.astype(np.float32) * 2 - 1).reshape(shape)
