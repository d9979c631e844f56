"""Settings of the operating system and of Python for the time of a run: scheduler, core, memory, garbage collector.

Each function is a context manager that makes a setting and undoes it; it yields what was set, or why it was refused.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

Change = Callable[[], Callable[[], Any]]  # makes a change and returns the function that undoes it


@contextmanager
def _setting(what: str, change: Change | None = None, hint: str = "") -> Iterator[str]:
    """Makes a change if the system allows it, and undoes it in the end."""
    undo: Callable[[], Any] = int
    if change is not None:
        try:
            undo = change()
        except (OSError, OverflowError) as problem:
            what = f"{what} refused: {getattr(problem, 'strerror', problem)}; {hint}"
        except AttributeError:
            what = f"{what} refused: not available on this system"
    try:
        yield what
    finally:
        undo()


def fifo(priority: int | None) -> AbstractContextManager[str]:
    """The scheduler: SCHED_FIFO at this priority."""

    def change() -> Callable[[], Any]:
        policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(priority or 0)))
        return lambda: os.sched_setscheduler(0, policy, parameters)

    if priority is None:
        return _setting("unchanged")
    return _setting(f"SCHED_FIFO {priority}", change, "it needs a priority from 1 to 99, and root or CAP_SYS_NICE")


def pinned(core: int | None) -> AbstractContextManager[str]:
    """The only core to run on."""

    def change() -> Callable[[], Any]:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {int(core or 0)})
        return lambda: os.sched_setaffinity(0, before)

    if core is None:
        return _setting("any")
    return _setting(f"{core}", change, f"this host has cores 0 to {(os.cpu_count() or 1) - 1}")


def locked(wanted: bool) -> AbstractContextManager[str]:
    """Whether all pages are kept in memory."""

    def change() -> Callable[[], Any]:
        libc = ctypes.CDLL(None, use_errno=True)
        before = locked_memory()
        if libc.mlockall(1 | 2):  # MCL_CURRENT, MCL_FUTURE
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return int if before else libc.munlockall  # memory that was locked before stays locked

    if not wanted:
        return _setting("not locked")
    return _setting("locked", change, "it needs root, CAP_IPC_LOCK or a higher `ulimit -l`")


def locked_memory() -> int:
    """kB that this process has locked; 0 if the system does not tell."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmLck"))
    except (OSError, StopIteration):
        return 0


def uncollected() -> AbstractContextManager[str]:
    """No garbage collection."""

    def change() -> Callable[[], Any]:
        enabled, frozen = gc.isenabled(), gc.get_freeze_count()
        gc.collect()
        gc.freeze()
        gc.disable()

        def undo() -> None:
            if not frozen:
                gc.unfreeze()
            if enabled:
                gc.enable()

        return undo

    return _setting("off during the run", change)


@contextmanager
def ctrl_c() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets (in the main thread); a second one raises KeyboardInterrupt."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
