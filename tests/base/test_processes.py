"""Ranks as torchrun sets them."""

from dntk_core.base.processes import local_rank, rank, world_size


def test_alone_it_is_the_first_of_one(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert (rank(), world_size(), local_rank()) == (0, 1, 0)


def test_ranks_come_from_the_environment(monkeypatch):
    for name, value in (("RANK", "5"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    assert (rank(), world_size(), local_rank()) == (5, 8, 1)
