"""Dataset distillation: n training images become m kernel inputs, each class its few.

WMDD (`wmdd`, with `barycenter`, `encoder`, `synthesis`) makes images; `selections` chooses real ones; both see the
training images through `classes`. `judgement` and `tangent` say what the gradients of so few images span.
"""

from dntk_core.dataset.judgement import Judgement, judgement_table
from dntk_core.dataset.sizes import evenly_sized
from dntk_core.dataset.soft_labels import shares

__all__ = ["Judgement", "evenly_sized", "judgement_table", "shares"]
