"""The processes that torchrun starts, connected by torch.distributed."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from dntk_core.base.errors import DNTKError
from dntk_core.base.processes import world_size
from dntk_core.kernels.together import Alone, Together

ENDED = "another process of this job ended; start the same command again: what is finished is kept"


class Ranks:
    """All processes of one job, over Gloo: sums and gathers of arrays in memory."""

    def __init__(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def sum(self, array: np.ndarray) -> np.ndarray:
        found = torch.from_numpy(np.ascontiguousarray(array).copy())
        dist.all_reduce(found)
        return found.numpy()

    def gather(self, array: np.ndarray) -> np.ndarray:
        rows = torch.zeros(self.size, dtype=torch.int64)
        rows[self.rank] = len(array)
        dist.all_reduce(rows)
        # Gloo wants parts of one length.
        padding = np.zeros((int(rows.max()) - len(array), *array.shape[1:]), array.dtype)
        own = torch.from_numpy(np.concatenate([array, padding]))
        parts = [torch.empty_like(own) for _ in rows]
        dist.all_gather(parts, own)
        return torch.cat([part[: int(n)] for part, n in zip(parts, rows, strict=True)]).numpy()


@contextmanager
def joined() -> Iterator[Together]:
    """All processes under torchrun, or this one alone; if one of them ends, the others say so in one sentence."""
    if world_size() == 1:
        yield Alone()
        return
    before = signal.signal(signal.SIGTERM, _ended)
    try:
        # torchrun's store outlives a restart, and with it where the processes before were to be met.
        store, rank, size = next(rendezvous("env://"))
        attempt = PrefixStore(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)
        dist.init_process_group("gloo", store=attempt, rank=rank, world_size=size)
        yield Ranks()
        dist.barrier()
    except (RuntimeError, dist.DistError) as error:
        # torchrun's signal may come only now: what is to be said must not be cut short.
        before = signal.SIG_IGN
        if isinstance(error, DNTKError):
            raise
        raise DNTKError(f"{ENDED} ({str(error).splitlines()[0][:120]})") from error
    finally:
        signal.signal(signal.SIGTERM, before)
        if dist.is_initialized():
            dist.destroy_process_group()


def _ended(*_: object) -> None:
    """torchrun ends the others when one process is gone, often before they have noticed themselves."""
    raise DNTKError(ENDED)
