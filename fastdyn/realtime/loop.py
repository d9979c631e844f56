"""A loop at a fixed rate, and an empty loop beside it that shows what the host alone causes.

Deadlines are absolute: cycle k is due k periods after the start, however long the earlier ones took. The loop sleeps
until `spin` seconds before (200 us: an ordinary kernel wakes a process 50 to 150 us late) and then polls the clock. A
late cycle begins at once; a cycle whose whole period has passed is skipped, so that no burst of outdated commands
follows a pause.

The empty loop runs by the same rules on the same core, half a period later: it wakes and polls the clock for as long as
the computation typically took in the warm-up. Delays that it sees are the host's.
"""

from __future__ import annotations

import math
import platform
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn.control.bindable import Bindable
from fastdyn.errors import ArgumentError
from fastdyn.output import machine
from fastdyn.realtime import system
from fastdyn.realtime.report import Record, Report

if TYPE_CHECKING:
    from fastdyn.calls.bound import Bound

Step = Callable[["Bound", float], Any]

NAP = 50_000_000  # ns: the longest sleep, so that Ctrl-C ends slow loops soon


class Loop:
    """A loop at a fixed rate on a robot bound to fixed memory.

    rate: Hz; quantities: those that steps call, all if none is named (only these are compiled); fifo: SCHED_FIFO at
    this priority; core: the only core to run on; lock_memory: keep all pages in memory; spin: seconds before each
    deadline at which sleeping ends and polling the clock begins; warm_up: seconds at the beginning of a run that do not
    count. Settings that the system refuses are reported; all are undone after the run.

    >>> import fastdyn as fd
    >>> loop = Loop(fd.robots.two_link(g=10.0), rate=200, quantities=["gravity_forces"])
    >>> report = loop.run(lambda bound, t: bound.gravity_forces(), seconds=0.1)
    >>> report.ended, loop.bound.tau.round(12)
    ('after 0.1 s', array([20.,  5.]))
    """

    def __init__(
        self,
        robot: Bindable,
        rate: float = 1000.0,
        *,
        quantities: Sequence[str] = (),
        fifo: int | None = None,
        core: int | None = None,
        lock_memory: bool = False,
        spin: float = 2e-4,
        warm_up: float = 0.1,
    ) -> None:
        self.robot, self.bound = robot, robot.bind(*quantities)
        self.rate = _number(rate, "rate", "Hz", positive=True)
        self.spin = _number(spin, "spin", "seconds")
        self.warm_up = _number(warm_up, "warm_up", "seconds")
        for name, value in (("fifo", fifo), ("core", core)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise ArgumentError(f"{name} is {value!r}: expected a whole number from zero, or None")
        self.fifo, self.core, self.lock_memory = fifo, core, lock_memory

    def run(self, step: Step, seconds: float = 10.0, after: Step | None = None, control: bool = True) -> Report:
        """Calls step(bound, t) once a period, t = 0, 1 / rate, ..., and reports.

        A step that returns anything but 0 or None (the status of bound calls) ends the run, and so does Ctrl-C.
        after: called with the same arguments after each step and not timed: a simulated arm, a log. control: whether
        the empty loop runs too; it takes as much processor time again.
        """
        _number(seconds, "seconds", "seconds", positive=True)
        period = round(1e9 / self.rate)
        warm = math.ceil(self.warm_up * self.rate)
        log = _Log(warm, warm + max(1, round(seconds * self.rate)), control)
        with ExitStack() as stack:
            stop = stack.enter_context(system.ctrl_c())
            settings = {
                "scheduler": stack.enter_context(system.fifo(self.fifo)),
                "core": stack.enter_context(system.pinned(self.core)),
                "memory": stack.enter_context(system.locked(self.lock_memory)),
                "garbage collector": stack.enter_context(system.uncollected()),
                "waiting": f"sleep until {self.spin * 1e6:.0f} us before each deadline, then spin",
            }
            status = self._cycles(step, after, log, period, stop)
        if status:
            ended = self._ended_by(status)
        else:
            ended = "by Ctrl-C" if stop.is_set() else f"after {seconds:g} s"
        return Report(
            robot=self.robot.name,
            rate=self.rate,
            ended=ended,
            settings=settings,
            machine=f"{machine()}, {platform.system()} {platform.release()}, Python {platform.python_version()}",
            date=datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
            loop=log.loop.record(warm, period),
            control=log.empty.record(warm, period) if control else None,
            spun=max(log.typical, 0),
        )

    def _ended_by(self, status: Any) -> str:
        try:
            return f"by status {status}: {self.bound.explain(status)}"
        except ArgumentError:  # the step's own value
            return f"by {status!r}"

    def _cycles(self, step: Step, after: Step | None, log: _Log, period: int, stop: threading.Event) -> Any:
        """Both loops in one. No objects accumulate in here."""
        clock, sleep, bound, stopped = time.perf_counter_ns, time.sleep, self.bound, stop.is_set
        last, dt, spin = len(log.loop.number), 1.0 / self.rate, round(self.spin * 1e9)
        k = j = 0  # next cycle of the loop, and of the empty loop
        start = clock() + max(period, spin)
        empty_start = start + period // 2
        while k < last:
            at = start + k * period
            empty_at = empty_start + j * period
            # the empty loop runs if it will be done before the next cycle is due
            empty = log.typical >= 0 and max(clock(), empty_at) + log.typical < at
            if empty:
                at = empty_at
            while (rest := at - spin - clock()) > 0 and not stopped():
                sleep(min(rest, NAP) * 1e-9)
            if stopped():
                break
            while (begun := clock()) < at:
                pass
            if empty:
                until = begun + log.typical
                while (done := clock()) < until:
                    pass
                log.empty.add(j, begun - at, done - begun)
                j = log.empty.next = max(j + 1, (clock() - empty_start) // period)
                continue
            status = step(bound, k * dt)
            done = clock()
            log.loop.add(k, begun - at, done - begun)
            log.loop.next = k + 1
            if status:
                return status
            if after is not None:
                after(bound, k * dt)
            if log.loop.count == log.settles:
                log.settle()
            k = log.loop.next = max(k + 1, (clock() - start) // period)
            if begun < empty_at <= clock():
                j = log.empty.next = j + 1  # the loop itself was in its way, so it does not count as skipped
        return 0


class _Samples:
    """The times of a loop's cycles, in memory that is mapped before the loop begins."""

    def __init__(self, size: int) -> None:
        # np.zeros would be mapped when first used
        self.number, self.late, self.took = (np.full(size, -1, np.int64) for _ in range(3))
        self.count = 0
        self.next = 0  # number of the next cycle

    def add(self, number: int, late: int, took: int) -> None:
        i = self.count
        self.number[i], self.late[i], self.took[i] = number, late, took
        self.count = i + 1

    def record(self, warm: int, period: int) -> Record:
        counted = self.number >= warm
        due = max(0, min(self.next, len(self.number)) - warm)
        return Record.of(self.late[counted], self.took[counted], period, due)


class _Log:
    """The samples of both loops."""

    def __init__(self, warm: int, cycles: int, control: bool) -> None:
        self.loop, self.empty = _Samples(cycles), _Samples(cycles if control else 0)
        self.settles = max(1, warm // 2) if control else -1  # number of cycles before the empty loop begins
        self.typical = -1  # ns that the empty loop polls the clock, once known

    def settle(self) -> None:
        self.typical = int(np.median(self.loop.took[: self.loop.count]))


def _number(value: float, name: str, unit: str, positive: bool = False) -> float:
    if not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise ArgumentError(f"{name} is {value!r}: expected a number of {unit} {'above' if positive else 'from'} zero")
    return float(value)
