"""A control loop on an ordinary computer, and what came of it: how long it computed, how late it woke, who is to blame.

    python -m fastdyn.realtime [--robot puma560] [--rate 1000] [--seconds 10] [--fifo PRIORITY] [--core N]
                               [--lock-memory] [--out FOLDER]

Deadlines are absolute: cycle k is due k periods after the start, however long the ones before took. The loop sleeps
until shortly before (`spin`, 200 us: an ordinary kernel wakes a sleeper 50 to 150 us late) and then reads the clock
until it is time. A cycle that is late begins at once; one whose whole period has passed is skipped, so that no burst of
stale commands follows a pause.

In between, half a period later and on the same core, runs an empty loop by the same rules: it wakes and then does
nothing but read the clock, for as long as the computation typically took in the warm-up. Whatever it suffers is the
host's doing. An ordinary operating system promises no deadline, and the report claims none: it says what was seen.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import os
import platform
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastdyn as fd
from fastdyn.calls.bound import Bound
from fastdyn.mechanism.parts import Array
from fastdyn.output import machine, write

Step = Callable[[Bound, float], Any]
Times = NDArray[np.int64]  # ns

CLOCK = 100  # ns: what reading the clock takes; pictures show nothing shorter
NAP = 50_000_000  # ns: the longest sleep, so that Ctrl-C ends slow loops soon


class Loop:
    """A loop at a fixed rate on a robot bound to fixed memory.

    rate: Hz; fifo: SCHED_FIFO at this priority; core: the only core to run on; lock_memory: keep all pages in memory;
    spin: seconds before each deadline from which on the clock is read instead of sleeping; warm_up: seconds at the
    beginning of a run that do not count. What the system refuses is reported, and everything is as before afterwards.

    >>> import fastdyn as fd
    >>> loop = Loop(fd.robots.two_link(g=10.0), rate=200)
    >>> report = loop.run(lambda bound, t: bound.gravity_forces(), seconds=0.1)
    >>> report.ended, loop.bound.tau.round(12)
    ('after 0.1 s', array([20.,  5.]))
    """

    def __init__(
        self,
        robot: fd.Robot,
        rate: float = 1000.0,
        *,
        fifo: int | None = None,
        core: int | None = None,
        lock_memory: bool = False,
        spin: float = 2e-4,
        warm_up: float = 0.1,
    ) -> None:
        self.robot, self.bound = robot, robot.bind()
        self.rate = _number(rate, "rate", "Hz", positive=True)
        self.spin = _number(spin, "spin", "seconds")
        self.warm_up = _number(warm_up, "warm_up", "seconds")
        for name, value in (("fifo", fifo), ("core", core)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise fd.ArgumentError(f"{name} is {value!r}: expected a whole number from zero, or None")
        self.fifo, self.core, self.lock_memory = fifo, core, lock_memory

    def run(self, step: Step, seconds: float = 10.0, after: Step | None = None, control: bool = True) -> Report:
        """Calls step(bound, t) once a period, t = 0, 1 / rate, ..., and reports.

        A step that answers anything but 0 or None (the status of bound calls) ends the run, and so does Ctrl-C.
        after: called the same way behind each step and not timed, as for a simulated arm or a log. control: whether
        empty cycles run in between; they take as much processor time again.
        """
        _number(seconds, "seconds", "seconds", positive=True)
        period = round(1e9 / self.rate)
        warm = math.ceil(self.warm_up * self.rate)
        log = _Log(warm, warm + max(1, round(seconds * self.rate)), control)
        with ExitStack() as stack:
            stop = stack.enter_context(_ctrl_c())
            settings = {
                "scheduler": stack.enter_context(_setting(*_fifo(self.fifo))),
                "core": stack.enter_context(_setting(*_pinned(self.core))),
                "memory": stack.enter_context(_setting(*_locked(self.lock_memory))),
                "garbage collector": stack.enter_context(_setting(*_uncollected())),
                "waiting": f"sleep until {self.spin * 1e6:.0f} us before each deadline, then spin",
            }
            status = self._cycles(step, after, log, period, stop)
        if status:
            ended = f"by status {status}: {self.bound.explain(status)}" if type(status) is int else f"by {status!r}"
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

    def _cycles(self, step: Step, after: Step | None, log: _Log, period: int, stop: threading.Event) -> Any:
        """The loop itself, and the empty one as its guest: nothing in here leaves an object behind."""
        clock, sleep, bound, stopped = time.perf_counter_ns, time.sleep, self.bound, stop.is_set
        last, dt, spin = len(log.loop.number), 1.0 / self.rate, round(self.spin * 1e9)
        k = j = 0  # the cycles that come next, of the loop and of the empty one
        start = clock() + max(period, spin)
        empty_start = start + period // 2
        while k < last:
            at = start + k * period
            empty_at = empty_start + j * period
            # the empty loop's turn, if it can be done before the other wants to go on
            guest = log.typical >= 0 and max(clock(), empty_at) + log.typical < at
            if guest:
                at = empty_at
            while (rest := at - spin - clock()) > 0 and not stopped():
                sleep(min(rest, NAP) * 1e-9)
            if stopped():
                break
            while (begun := clock()) < at:
                pass
            if guest:
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
                j = log.empty.next = j + 1  # it was the loop that was in its way, not the host
        return 0


class _Samples:
    """What a loop notes of its cycles, in memory that is all there before it begins."""

    def __init__(self, size: int) -> None:
        self.number, self.late, self.took = (np.full(size, -1, np.int64) for _ in range(3))  # zeros would not be there
        self.count = 0
        self.next = 0  # number of the cycle that is not over yet

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
        self.settles = max(1, warm // 2) if control else -1  # the cycle after which the empty loop begins
        self.typical = -1  # ns that it spins, once known

    def settle(self) -> None:
        self.typical = int(np.median(self.loop.took[: self.loop.count]))


# ---------------------------------------------------------------------------------------------- what came of it


@dataclass(frozen=True)
class Spread:
    """How times are spread, in microseconds. pX is the smallest time that X per cent of all do not exceed."""

    p50: float
    p99: float
    p99_9: float
    p99_99: float
    max: float

    @classmethod
    def of(cls, times: Times) -> Spread:
        """Of times in nanoseconds; NaN of none.

        >>> Spread.of(np.arange(1, 10_001) * 1000)
        Spread(p50=5000.0, p99=9900.0, p99_9=9990.0, p99_99=9999.0, max=10000.0)
        """
        if len(times) == 0:
            return cls(*[math.nan] * 5)
        # whole numbers, since 0.999 * 10,000 is not quite 9990
        ranks = [-(-len(times) * share // 10_000) - 1 for share in (5_000, 9_900, 9_990, 9_999, 10_000)]
        return cls(*(np.sort(times)[ranks] / 1000).tolist())


@dataclass(frozen=True, eq=False)
class Record:
    """The cycles of one loop: how late each began and how long it computed, ns, and how often that was too much.

    missed: cycles that were not done when the next one was due; overruns: those whose computation alone took longer
    than a period; skipped: those that never began.
    """

    lateness: Times
    computation: Times
    missed: int
    overruns: int
    skipped: int

    @classmethod
    def of(cls, lateness: Times, computation: Times, period: int, due: int) -> Record:
        """From the times of the cycles that ran, the period, ns, and how many cycles should have run."""
        return cls(
            lateness,
            computation,
            missed=int((lateness + computation > period).sum()),
            overruns=int((computation > period).sum()),
            skipped=due - len(lateness),
        )

    @property
    def cycles(self) -> int:
        """How many ran."""
        return len(self.computation)


@dataclass(frozen=True, eq=False)
class Report:
    """What a run was like. print() shows a table; `save` writes it, its figures and a picture."""

    robot: str
    rate: float  # Hz
    ended: str
    settings: dict[str, str]
    machine: str
    date: str
    loop: Record
    control: Record | None  # the empty loop, on the same core, in between
    spun: int  # ns that the empty loop meant to spin

    def as_dict(self) -> dict[str, Any]:
        """The figures, in microseconds, as JSON takes them: null where nothing was measured."""
        loops = {"loop": self.loop} if self.control is None else {"loop": self.loop, "empty loop": self.control}
        return {
            "robot": self.robot,
            "rate [Hz]": self.rate,
            "ended": self.ended,
            "machine": self.machine,
            "date": self.date,
            "settings": self.settings,
            "empty loop spins [us]": None if self.control is None else self.spun / 1000,
        } | {
            name: {
                "cycles": record.cycles,
                "missed": record.missed,
                "overruns": record.overruns,
                "skipped": record.skipped,
                "computation [us]": _jsonable(Spread.of(record.computation)),
                "lateness [us]": _jsonable(Spread.of(record.lateness)),
            }
            for name, record in loops.items()
        }

    def __str__(self) -> str:
        loops = [("the loop", self.loop)] + ([] if self.control is None else [("an empty loop", self.control)])
        lines = [
            f"{self.robot} at {self.rate:g} Hz, {self.loop.cycles:,} cycles, ended {self.ended}",
            f"{self.machine}; {self.date}",
            *(f"{name}: {setting}" for name, setting in self.settings.items()),
            "",
            f"{'[us]':30}" + "".join(f"{head:>11}" for head in ("p50", "p99", "p99.9", "p99.99", "max")),
        ]
        for what in ("computation", "lateness"):
            for name, record in loops:
                spread = Spread.of(getattr(record, what))
                cells = (spread.p50, spread.p99, spread.p99_9, spread.p99_99, spread.max)
                lines.append(f"{what:15}{name:15}" + "".join(f" {cell:10,.1f}" for cell in cells))
        lines.append(f"{'[cycles]':30}" + "".join(f"{head:>11}" for head in ("run", "missed", "overruns", "skipped")))
        for name, r in loops:
            lines.append(f"{'':15}{name:15}" + "".join(f"{c:11,}" for c in (r.cycles, r.missed, r.overruns, r.skipped)))
        return "\n".join([*lines, "", *self._remarks()])

    def _remarks(self) -> list[str]:
        remarks = []
        if self.loop.cycles < 10_000:
            remarks.append("With fewer than 10,000 cycles p99.99 is the largest value seen.")
        if self.control is not None and self.control.cycles:
            late, long = Spread.of(self.control.lateness), Spread.of(self.control.computation)
            remarks.append(
                f"The empty loop only read the clock, for {self.spun / 1000:.1f} us a cycle. "
                f"The host alone made it up to {late.max:,.1f} us late\nand up to "
                f"{long.max - self.spun / 1000:,.1f} us longer than that: no loop on this host can count on less."
            )
        return [*remarks, "This is what was seen. An ordinary operating system guarantees no deadline."]

    def picture(self) -> Any:
        """A Matplotlib figure: how often which times occurred, of both loops."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 7), layout="constrained")
        period = 1e6 / self.rate
        for axis, what in zip(figure.subplots(2, 1), ("computation", "lateness"), strict=True):
            records = [self.loop] if self.control is None else [self.loop, self.control]
            times = [np.maximum(getattr(record, what), CLOCK) / 1000 for record in records]
            known = np.concatenate(times)
            low, high = (known.min(), known.max()) if len(known) else (1.0, period)
            bins = np.geomspace(low * 0.9, high * 1.1, 80)
            if self.control is not None:
                axis.hist(times[1], bins, color="0.75", label="an empty loop: the host alone")
            axis.hist(times[0], bins, histtype="step", color="black", linewidth=1.3, label="the loop")
            if high > period / 20:
                axis.axvline(period, color="black", linestyle=":", label=f"period, {period:g} us")
            axis.set_xscale("log")
            if len(known):
                axis.set_yscale("log")
                axis.set_ylim(bottom=0.5)
            axis.set_xlabel({"computation": "computation time [us]", "lateness": "late at the start [us]"}[what])
            axis.set_ylabel("cycles")
            axis.legend()
        title = f"{self.robot} at {self.rate:g} Hz, {self.loop.cycles:,} cycles; scheduler {self.settings['scheduler']}"
        figure.suptitle(f"{title}\n{self.machine}\n{self.date}", fontsize="medium")
        return figure

    def save(self, folder: str | Path) -> list[Path]:
        """Writes realtime.txt, realtime.json and realtime.png into a folder; returns their paths."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        paths = [target / f"realtime.{kind}" for kind in ("txt", "json", "png")]
        figure = self.picture()
        write(paths[0], lambda file: file.write(f"{self}\n".encode()))
        write(paths[1], lambda file: file.write(json.dumps(self.as_dict(), indent=1, allow_nan=False).encode()))
        write(paths[2], lambda file: figure.savefig(file, format="png", dpi=120))
        return paths


def _jsonable(spread: Spread) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in vars(spread).items()}


# ---------------------------------------------------------------------------------------------- what the host grants


Change = Callable[[], Callable[[], Any]]  # makes a change and returns what takes it back


@contextmanager
def _setting(what: str, change: Change | None, hint: str = "") -> Iterator[str]:
    """Makes a change where the system allows it and takes it back afterwards; what came of it, in words."""
    undo: Callable[[], Any] = int
    if change is not None:
        try:
            undo = change()
        except (OSError, OverflowError) as problem:
            what = f"{what} refused: {getattr(problem, 'strerror', problem)}; {hint}"
        except AttributeError:
            what = f"{what} refused: this system has no such thing"
    try:
        yield what
    finally:
        undo()


def _fifo(priority: int | None) -> tuple[str, Change | None, str]:
    def change() -> Callable[[], Any]:
        policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(priority or 0)))
        return lambda: os.sched_setscheduler(0, policy, parameters)

    if priority is None:
        return "as it was", None, ""
    return (
        f"SCHED_FIFO {priority}",
        change,
        "it takes a priority from 1 to 99, and the right to it (root, CAP_SYS_NICE)",
    )


def _pinned(core: int | None) -> tuple[str, Change | None, str]:
    def change() -> Callable[[], Any]:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {int(core or 0)})
        return lambda: os.sched_setaffinity(0, before)

    if core is None:
        return "any", None, ""
    return f"{core}", change, f"this host has cores 0 to {(os.cpu_count() or 1) - 1}"


def _locked(wanted: bool) -> tuple[str, Change | None, str]:
    def change() -> Callable[[], Any]:
        libc = ctypes.CDLL(None, use_errno=True)
        before = _locked_memory()
        if libc.mlockall(1 | 2):  # MCL_CURRENT, MCL_FUTURE
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return int if before else libc.munlockall  # what somebody else has locked stays so

    return (
        ("locked", change, "it takes root, CAP_IPC_LOCK or a higher `ulimit -l`")
        if wanted
        else ("not locked", None, "")
    )


def _locked_memory() -> int:
    """kB that this process has locked already, where the system tells."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmLck"))
    except (OSError, StopIteration):
        return 0


def _uncollected() -> tuple[str, Change]:
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

    return "off during the run", change


@contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, in the main thread; a second one interrupts as ever."""
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


# ---------------------------------------------------------------------------------------------- a loop to look at


class ComputedTorque:
    """A step: tau that makes the error e = q_d - q obey e'' + kd e' + kp e = 0 on a robot that is as its model says.

    Each joint swings about the middle of its range. read(q, qd) puts the measured state into the arrays it is given.
    """

    def __init__(self, robot: fd.Robot, read: Callable[[Array, Array], Any], stiffness: float = 400.0) -> None:
        self.read = read
        self.middle, reach, pace = _swing(robot)
        turn = math.pi / 2
        self.reach = np.stack([reach, reach * pace, reach * pace**2])
        self.pace, self.phase = np.stack([pace] * 3), np.full((3, robot.n), [[-turn], [0.0], [turn]])
        self.desired = np.zeros((3, robot.n))  # position, velocity, acceleration
        self.gains = np.full((2, robot.n), [[stiffness], [2 * math.sqrt(stiffness)]])  # no overshoot
        self.errors = np.zeros((2, robot.n))
        self.size, self.worst = np.zeros((2, robot.n))
        self.parts = (*self.desired, *self.errors)  # rows, cut once

    def __call__(self, bound: Bound, t: float) -> int:
        """Measures, compares with where the robot should be at time t, and computes tau."""
        q_d, qd_d, qdd_d, e, ed = self.parts
        self.read(bound.q, bound.qd)
        np.multiply(self.pace, t, out=self.desired)  # middle + reach sin(pace t - pi / 2), and its derivatives
        np.add(self.desired, self.phase, out=self.desired)
        np.sin(self.desired, out=self.desired)
        np.multiply(self.desired, self.reach, out=self.desired)
        np.add(q_d, self.middle, out=q_d)
        np.subtract(q_d, bound.q, out=e)
        np.subtract(qd_d, bound.qd, out=ed)
        np.abs(e, out=self.size)
        np.maximum(self.worst, self.size, out=self.worst)
        np.multiply(self.errors, self.gains, out=self.errors)
        np.add(qdd_d, e, out=qdd_d)
        np.add(qdd_d, ed, out=bound.qdd)
        return bound.inverse_dynamics()


class SimulatedArm:
    """A robot that is as its model says: `read` measures it; as a loop's `after` it moves on under bound.tau."""

    def __init__(self, robot: fd.Robot, rate: float) -> None:
        self.bound = robot.bind()
        middle, reach, _ = _swing(robot)
        self.bound.q[:] = middle - reach
        self.steps = math.ceil(1000 / rate)  # of 1 ms at most
        self.dt = 1.0 / (rate * self.steps)
        self.change = np.zeros(robot.n)

    def read(self, q: Array, qd: Array) -> None:
        """Puts the state into q and qd."""
        q[:], qd[:] = self.bound.q, self.bound.qd

    def __call__(self, bound: Bound, t: float) -> None:
        """Moves on for a period: velocities first, then positions with the new velocities."""
        q, qd, qdd, change = self.bound.q, self.bound.qd, self.bound.qdd, self.change
        self.bound.tau[:] = bound.tau
        for _ in range(self.steps):
            self.bound.forward_dynamics()
            np.multiply(qdd, self.dt, out=change)
            np.add(qd, change, out=qd)
            np.multiply(qd, self.dt, out=change)
            np.add(q, change, out=q)


def _swing(robot: fd.Robot) -> tuple[Array, Array, Array]:
    """Each joint's middle, reach and pace (rad/s): an eighth of its range either way, or half a radian or metre."""
    ranges = [(joint.limits.lower, joint.limits.upper) for joint in robot.joints]
    ranges = [(low, high) if math.isfinite(high - low) else (-4.0, 4.0) for low, high in ranges]
    lower, upper = np.array(ranges).T
    periods = np.arange(2.0, 2.0 + 0.3 * robot.n, 0.3)[: robot.n]  # s
    return (lower + upper) / 2, (upper - lower) / 8, 2 * math.pi / periods


def _number(value: float, name: str, unit: str, positive: bool = False) -> float:
    if not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise fd.ArgumentError(
            f"{name} is {value!r}: expected a number of {unit} {'above' if positive else 'from'} zero"
        )
    return float(value)


# ---------------------------------------------------------------------------------------------- the command


def main(arguments: Sequence[str] | None = None) -> Report:
    """Runs a computed-torque loop on a simulated arm and prints its report."""
    built_in = [name for name in fd.robots.__all__ if not name.startswith("random")]
    parser = argparse.ArgumentParser(prog="python -m fastdyn.realtime", description=main.__doc__)
    parser.add_argument("--robot", default="puma560", help=f"{', '.join(built_in)}, or a URDF file (default: puma560)")
    parser.add_argument("--rate", type=float, default=1000.0, metavar="HZ", help="cycles a second (default: 1000)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long (default: 10); Ctrl-C ends it sooner")
    parser.add_argument("--fifo", type=int, metavar="PRIORITY", help="run under SCHED_FIFO: 1 to 99, needs rights")
    parser.add_argument("--core", type=int, metavar="N", help="run on this core only")
    parser.add_argument("--lock-memory", action="store_true", help="keep all pages in memory: needs rights")
    parser.add_argument("--out", metavar="FOLDER", help="write the report, its figures and a picture there")
    given = parser.parse_args(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fd.RobotWarning)
        if given.robot in built_in:
            robot = getattr(fd.robots, given.robot)()
        elif Path(given.robot).is_file():
            robot = fd.load_urdf(given.robot)
        else:
            parser.error(f"--robot {given.robot}: expected one of {', '.join(built_in)}, or a URDF file")
    for warning in caught:
        print(f"note: {warning.message}")
    if not isinstance(robot, fd.Robot):
        parser.error(f"--robot {given.robot}: expected a robot whose joints move by themselves, found {robot!r}")
    try:
        loop = Loop(robot, given.rate, fifo=given.fifo, core=given.core, lock_memory=given.lock_memory)
        arm = SimulatedArm(robot, given.rate)
        controller = ComputedTorque(robot, arm.read)
        report = loop.run(controller, given.seconds, after=arm)
    except fd.ArgumentError as problem:
        parser.error(str(problem))
    print(report)
    print(
        f"Computed torque on a simulated arm, which is not timed: largest error {controller.worst.max():.1e} rad or m."
    )
    if given.out is not None:
        for path in report.save(given.out):
            print(f"wrote {path}")
    return report


if __name__ == "__main__":
    main()
