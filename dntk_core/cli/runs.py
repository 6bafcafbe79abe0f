"""List the runs in the cache, newest first."""

import json
import time
from argparse import ArgumentParser, Namespace

from dntk_core.base.terminal import size
from dntk_core.cli.flags import add_json
from dntk_core.run import pipeline

HELP = "list what is cached"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    add_json(parser)


def run(arguments: Namespace) -> tuple[list[dict], str]:
    """List the runs."""
    found = pipeline.runs()
    result = [
        {
            "key": info.key,
            "created": info.created,
            "bytes": info.bytes,
            "finished": info.finished,
            "spec": json.loads(info.spec.to_json()),
        }
        for info in found
    ]
    lines = [
        f"{info.key}  {time.strftime('%Y-%m-%d %H:%M', time.localtime(info.created))}  {size(info.bytes):>10}  "
        f"{info.spec.summary}{'' if info.finished else '  (unfinished: build it again to resume)'}"
        for info in found
    ]
    return result, "\n".join(lines) or "no runs yet; `build` computes the embedded one"
