"""Features that are already there: a run whose numbers are theirs, refused where they do not fit together."""

import numpy as np
import pytest

from dntk_core import DNTKError, Live, from_features, open_run
from dntk_core.cache.store import Store
from dntk_core.run.asked import known
from tests.synthetic import draw

DRAWN = draw()
LABELS = DRAWN.problem.targets.argmax(axis=1)
WHOLE = {
    "phi": DRAWN.features,
    "test_phi": DRAWN.test_features,
    "logits": DRAWN.problem.targets,
    "test_logits": DRAWN.problem.logits,
    "labels": LABELS,
    "test_labels": DRAWN.problem.labels,
}


def test_its_scores_are_those_of_its_kernels_and_it_is_found_again(tmp_path):
    store = Store(tmp_path)
    made = from_features(**WHOLE, classes=["ant", "bee", "cat"], inputs=np.ones((24, 4)), store=store)
    opened = open_run(made.key, store)
    assert opened.class_names == ("ant", "bee", "cat") and opened.parameters == 40 and opened.kind == "table"
    ours, theirs = Live(opened.problem).scores(None, 1e-2), Live(DRAWN.problem).scores(None, 1e-2)
    assert ours.mse == pytest.approx(theirs.mse, rel=1e-4) and ours.fidelity == theirs.fidelity
    assert from_features(**WHOLE, classes=["ant", "bee", "cat"], inputs=np.ones((24, 4)), store=store).key == made.key
    assert from_features(**WHOLE, store=store).key != made.key
    rows = np.arange(34.0).reshape(17, 2)
    tested = known(from_features(**WHOLE, test_inputs=rows, store=store), "test_inputs", store)
    assert tested and np.array_equal(tested["inputs-0"], rows)


@pytest.mark.parametrize(
    "change, says",
    [
        ({"labels": LABELS[:-1]}, r"labels must be \(24,\)"),
        ({"labels": LABELS.astype(float)}, "labels must be integers"),
        ({"test_logits": DRAWN.problem.logits[:, :2]}, r"test_logits must be \(17, 3\)"),
        ({"phi": DRAWN.features[:1]}, "two classes"),
        ({"logits": DRAWN.problem.targets * np.inf}, "must be finite"),
        ({"classes": ["one"]}, "3 classes, 1 names"),
        ({"inputs": np.ones((5, 2))}, "24 features and 5 inputs"),
        ({"test_inputs": np.ones((5, 2))}, "17 test features"),
    ],
)
def test_what_does_not_fit_together_is_one_sentence_and_leaves_nothing(tmp_path, change, says):
    with pytest.raises(DNTKError, match=says):
        from_features(**(WHOLE | change), store=Store(tmp_path))
    assert not list(tmp_path.glob("artifacts/*"))
