"""More rows than features, solved for weights of features, against the same rows solved by themselves."""

import numpy as np
from numpy.testing import assert_allclose

from dntk_core.distill.mixing import selection
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.rotated import Products, rotated
from dntk_core.readout.compressed import Compressed, Featured
from dntk_core.readout.ridge import predictions, solutions

C, M, K, LAM = 2, 12, 5, 0.3


def test_weights_of_features_predict_as_those_of_rows_do():
    rng = np.random.default_rng(0)
    Phi, tests, y = (rng.standard_normal(shape).astype(np.float32) for shape in ((C, M, K), (C, 4, K), (C, M)))
    kernels = FeatureKernels(Phi, tests)
    rows = Compressed(selection(np.arange(M), M).matrix, np.stack([f @ f.T for f in Phi.astype(float)]), y, mixed=Phi)
    none = np.zeros((C, 0, K), np.float32)
    chosen = rotated(np.arange(M), Phi, none).choose(np.arange(M), none, np.arange(0))
    weighed = np.stack([f.T @ b for f, b in zip(Phi.astype(float), y, strict=True)])
    features = Featured(None, Products(chosen), weighed, rows=M)
    left, right = (np.stack([*predictions(kernels, each, solutions(each, LAM))]) for each in (features, rows))
    assert_allclose(left, right, rtol=1e-6)
    assert features.size == rows.size == M
    assert_allclose(features.ends, rows.ends, rtol=1e-6, atol=1e-6 * rows.ends.max())
