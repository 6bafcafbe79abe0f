"""Ridge readouts of distilled gradients, and how well they do: a `Problem` and a mixing give `Scores`.

`ridge` fits one (READOUTS: in which way), `metrics` judges it (METRICS: by what). `curves`, `grid` and `comparison`
score many at once, `leave_one_out` and `intervals` say how far to trust them, `bounds` where the error comes from.
"""

from dntk_core.readout.bounds import error_budget
from dntk_core.readout.comparison import compare, comparison_table
from dntk_core.readout.curves import Curve, rank_curve, ridge_curve, size_curve
from dntk_core.readout.grid import Grid, grid_search
from dntk_core.readout.leave_one_out import LeaveOneOut
from dntk_core.readout.metrics import METRICS, Judged, Metric
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import READOUTS, Readout, evaluate, predict
from dntk_core.readout.scores import Scores, score

__all__ = [
    "METRICS",
    "READOUTS",
    "Curve",
    "Grid",
    "Judged",
    "LeaveOneOut",
    "Metric",
    "Problem",
    "Readout",
    "Scores",
    "compare",
    "comparison_table",
    "error_budget",
    "evaluate",
    "grid_search",
    "predict",
    "rank_curve",
    "ridge_curve",
    "score",
    "size_curve",
]
