"""What a kernel is for: it explains predictions, doubts them, and tells whether it is fit for its targets.

`fit` is a readout as a linear map, full or distilled. `attribution` (ATTRIBUTIONS) says which kernel inputs made a
prediction; `uncertainty` and `calibration` (JUDGEMENTS) how sure it is and whether that can be trusted; `health` if
kernel, targets and labels fit together; `similarity` how alike two kernels are, `groups` what each group of parameters
brings. All from kernels and cached gradients: nothing is back-propagated.
"""

from dntk_core.uses.attribution import ATTRIBUTIONS, Attribution, Evidence, strongest
from dntk_core.uses.calibration import JUDGEMENTS, auroc
from dntk_core.uses.fit import DistilledFit, FactoredFit, FullFit, fit

__all__ = [
    "ATTRIBUTIONS",
    "JUDGEMENTS",
    "Attribution",
    "DistilledFit",
    "Evidence",
    "FactoredFit",
    "FullFit",
    "auroc",
    "fit",
    "strongest",
]
