"""Ctrl-C while the command `fastdyn` is still being imported: exit code 130 instead of a traceback.

The package imports this module before anything else. In other processes than those of its own commands it does nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

INTERRUPTED = 130  # exit code, as in shells


def handle_again() -> None:
    """Lets Ctrl-C raise KeyboardInterrupt again: the command has begun, and catches it."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: Any) -> None:
    os.write(2, b"fastdyn: interrupted\n")
    os._exit(INTERRUPTED)


def _is_command() -> bool:
    """Whether this process runs `fastdyn`, or `python -m fastdyn` or one of its modules."""
    name = (sys.argv or [""])[0]
    if name == "-m":  # while the interpreter imports the packages of the module that it will run
        ran = sys.orig_argv[sys.orig_argv.index("-m") + 1 :] if "-m" in sys.orig_argv else []
        return bool(ran) and ran[0].partition(".")[0] == "fastdyn"
    return os.path.basename(name).partition(".")[0] == "fastdyn"


if (
    _is_command()
    and threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, _end)
