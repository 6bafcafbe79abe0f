"""Networks as people bring them: the engine's kernels are autograd's, or a sentence says why not."""

import pytest
from zoo import ZOO, deviation, specimen

from dntk_core.base.errors import DNTKError

EXACT = [name for name, animal in ZOO.items() if not animal.says]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.filterwarnings("ignore:There is a performance drop", "ignore:`torch.jit")
def test_kernels_are_those_of_autograd(name):
    assert deviation(*specimen(name))[0] < ZOO[name].tolerance


@pytest.mark.parametrize("name", [name for name in ZOO if name not in EXACT])
def test_what_has_no_kernel_is_refused_in_one_sentence(name):
    with pytest.raises(DNTKError, match=ZOO[name].says) as caught:
        deviation(*specimen(name))
    assert "\n" not in str(caught.value)
