"""Which of the processes that torchrun started this one is; alone, it is the first of one."""

import os


def rank() -> int:
    """This process among all."""
    return int(os.environ.get("RANK", "0"))


def world_size() -> int:
    """How many processes there are."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """This process among those on its machine: the number of its GPU."""
    return int(os.environ.get("LOCAL_RANK", "0"))
