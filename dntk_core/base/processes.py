"""Which of the processes started by torchrun this is; a process alone is the first of one."""

import os


def rank() -> int:
    """The number of this process among all."""
    return int(os.environ.get("RANK", "0"))


def world_size() -> int:
    """How many processes there are."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_size() -> int:
    """How many of them are on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def local_rank() -> int:
    """The number of this process among those on its machine, and so of its GPU."""
    return int(os.environ.get("LOCAL_RANK", "0"))
