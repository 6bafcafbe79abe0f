"""Every field of a spec has a flag."""

from operator import attrgetter

from dntk_core.cli.main import parser
from dntk_core.cli.spec_flags import FLAGS, spec_of


def test_every_flag_sets_its_field_and_old_names_still_do():
    for flag in FLAGS:
        value = flag.choices[-1] if flag.choices else {str: "1", int: 7, float: 0.5}[type(flag.default)]
        for name in flag.names.split():
            spec = spec_of(parser().parse_args(["build", name, str(value)]))
            assert attrgetter(flag.field)(spec) == value, name
    assert {"--distill", "--distill-seed"} <= {name for flag in FLAGS for name in flag.names.split()}
