"""The process of a job: reads a task, says line by line what it does, and ends with the server that started it.

    python -m dntk_core.dashboard.computing.child

A process of its own can be ended at any moment, in a batch of gradients or in a decoder; a file that was made to crash
its reader, or memory that runs out, ends it and not the server.
"""

import json
import logging
import os
import sys
from dataclasses import asdict
from queue import SimpleQueue
from threading import Thread
from typing import Any, TextIO

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Report
from dntk_core.dashboard.computing.task import Task

log = logging.getLogger(__name__)

UNEXPECTED = "The computation failed unexpectedly; the server's log has the details."


def main() -> None:
    """Perform one task after the other, until the server ends or this process holds a GPU."""
    out, tasks = _own_output(), SimpleQueue[str]()
    Thread(target=_listen, args=(tasks,), daemon=True).start()
    if tasks.empty():
        # While nothing is asked for: loading PyTorch takes seconds.
        import dntk_core.run.estimate  # noqa: F401
    while not _holds_a_gpu():
        why = _performed(tasks.get(), lambda event: _say(out, asdict(event)))
        _say(out, {"ended": why})
    # Not by returning: another thread still listens.
    os._exit(0)


def _performed(line: str, report: Report) -> str:
    """Perform a task; returns why it failed, empty if it did not."""
    try:
        task = Task.from_json(line)
        # This process may have been started for another cache.
        os.environ["DNTK_CACHE_DIR"] = str(task.cache)
        task.perform(report)
    except DNTKError as error:
        return str(error)
    # Nobody sees this process: a job must not end without a word, whatever ends it.
    except BaseException:
        log.exception("a job failed")
        return UNEXPECTED
    return ""


def _listen(tasks: SimpleQueue[str]) -> None:
    """Take what the server asks for; nobody asks any more when it has ended."""
    for line in sys.stdin:
        tasks.put(line)
    os._exit(0)


def _holds_a_gpu() -> bool:
    """Whether a job has left memory of a GPU to this process, which others want while it waits."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized()


def _own_output() -> TextIO:
    """What the server reads; whatever else is printed goes to its log."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return out


def _say(out: TextIO, message: dict[str, Any]) -> None:
    print(json.dumps(message), file=out, flush=True)


if __name__ == "__main__":
    main()
