"""What images are normalised with."""

from pictures import refused, spec

from dntk_core.data.dataset import load_data


def test_scale_can_be_set(folder):
    data = load_data(spec(folder, mean="0.5,0.5,0.5", std="1,1,2"))
    assert data.mean == (0.5, 0.5, 0.5) and data.std == (1, 1, 2)
    assert "3 numbers" in refused(spec(folder, mean="0.5", std="1"))
    assert "3 numbers" in refused(spec(folder, mean="0,0,0", std="1,1,0"))
