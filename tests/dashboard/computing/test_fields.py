"""The form's table: its lists are those of the code, its names those of a spec's settings."""

from dataclasses import fields, is_dataclass

import torchvision.models

from dntk_core.base.spec import RunSpec
from dntk_core.dashboard.computing.fields import FIELDS, GROUPS, MODELS, PROJECTION_NAMES, SUGGESTED
from dntk_core.data.sources import SOURCES
from dntk_core.gradients.projections import PROJECTIONS
from dntk_core.models.architectures import OWN


def settings() -> set[str]:
    spec = RunSpec.default()
    parts = {f.name: getattr(spec, f.name) for f in fields(spec)}
    found = {name for name, value in parts.items() if not is_dataclass(value)}
    return found | {f"{name}.{f.name}" for name, part in parts.items() if is_dataclass(part) for f in fields(part)}


def test_lists_that_would_load_pytorch_say_what_it_would():
    assert set(MODELS) == {*OWN, *torchvision.models.list_models(module=torchvision.models)}
    assert set(PROJECTION_NAMES) == set(PROJECTIONS)


def test_every_row_is_a_setting_and_has_help():
    named = {name for names in GROUPS.values() for name in names}
    assert FIELDS.keys() | named <= settings()
    assert all(field.label and field.help.endswith(".") for field in FIELDS.values())
    assert SUGGESTED.keys() <= SOURCES.keys() and {name for each in SUGGESTED.values() for name in each} <= settings()
