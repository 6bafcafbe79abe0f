"""List the runs in the cache, newest first: key, date, size, the network's accuracy, what it is, where it lies."""

import json
import time
from argparse import ArgumentParser, Namespace

from dntk_core.base.terminal import size
from dntk_core.cache.index import RunInfo
from dntk_core.cli.flags import add_json
from dntk_core.run import pipeline
from dntk_core.run.series import Series, all_series

HELP = "list what is cached"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """List the runs and the series they form."""
    found = pipeline.runs()
    runs = [
        {
            "key": info.key,
            "created": info.created,
            "bytes": info.bytes,
            "finished": info.finished,
            "path": info.spec.data.path,
            "test_accuracy": info.accuracy,
            "spec": json.loads(info.spec.to_json()),
        }
        for info in found
    ]
    grouped = all_series()
    series = [{"key": each.key, "labels": list(each.labels), "runs": list(each.keys)} for each in grouped]
    finished = {info.key for info in found if info.finished}
    lines = [*map(_line, found), *(_series(each, finished) for each in grouped)]
    return {"runs": runs, "series": series}, "\n".join(lines) or "no runs yet; `build` computes the embedded one"


def _series(series: Series, finished: set[str]) -> str:
    done = sum(key in finished for key in series.keys)
    state = "" if done == len(series.keys) else f"  ({done} computed: the same command goes on)"
    return f"{series.key}  series of {series.title}: {' '.join(key[:8] for key in series.keys)}{state}"


def _line(info: RunInfo) -> str:
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.created))
    accuracy = "    –" if info.accuracy is None else f"{info.accuracy:.3f}"
    places = " ".join(filter(None, (info.spec.data.path, info.spec.model.weights)))
    state = "" if info.finished else "  (unfinished: build it again to resume, or dismiss it with `gc --unfinished`)"
    return (
        f"{info.key}  {day}  {size(info.bytes):>10}  accuracy {accuracy}  {info.spec.summary}"
        f"{f'  {places}' if places else ''}{state}"
    )
