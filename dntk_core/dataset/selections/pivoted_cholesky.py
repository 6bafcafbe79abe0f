"""Images drawn by what earlier ones leave unexplained."""

from dntk_core.dataset.selections.pool import Choice, Pool, equal
from dntk_core.distill.pivoted_cholesky import pivoted_cholesky


def choose(pool: Pool) -> Choice:
    """Draw pivots of the kernel's Cholesky factor, each as likely as its residual is large."""
    return equal(pivoted_cholesky(pool.kernel, pool.size, pool.rng))
