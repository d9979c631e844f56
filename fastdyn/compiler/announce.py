"""Says on stderr what is being compiled, when it takes long."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds

_running = threading.local()


@contextmanager
def announced(what: str, doing: str = "compiling {}, once per machine ...") -> Iterator[None]:
    """Says what is being compiled if the block takes more than PATIENCE seconds; blocks inside this one say nothing.

    Silent if stderr is not a terminal, or FASTDYN_QUIET is set to anything but 0.
    """
    if getattr(_running, "inside", False) or quiet():
        yield
        return
    line = f"fastdyn: {doing.format(what)}"
    timer = threading.Timer(PATIENCE, lambda: print(line, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    _running.inside = True
    try:
        yield
    finally:
        _running.inside = False
        timer.cancel()


def quiet() -> bool:
    """Whether nothing is to be said: stderr is not a terminal, or FASTDYN_QUIET is set to anything but 0."""
    return os.environ.get("FASTDYN_QUIET", "0") != "0" or sys.stderr is None or not sys.stderr.isatty()
