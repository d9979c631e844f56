"""The loop monitor: its statistics are exact, it leaves everything as it was, and it reports whatever ends it."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn.realtime import ComputedTorque, Loop, Record, Report, SimulatedArm, Spread, system
from fastdyn.realtime.__main__ import main

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="bound calls are machine code")

linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux pins a process to a core")


@pytest.fixture
def robot() -> fd.Robot:
    return fd.robots.two_link()


def nothing(bound, t):
    return 0


# ---------------------------------------------------------------------------------------------- statistics


@pytest.mark.parametrize("size", [1, 2, 3, 99, 100, 101, 1000, 9_999, 10_000, 10_001, 123_456])
def test_a_percentile_is_the_smallest_time_that_so_many_do_not_exceed(size):
    times = np.random.default_rng(size).permutation(size) * 1000 + 1000  # 1, 2, ... size us
    found = Spread.of(times)
    for value, share in zip(vars(found).values(), (5_000, 9_900, 9_990, 9_999, 10_000), strict=True):
        assert value == int(value)
        assert 10_000 * value >= share * size > 10_000 * (value - 1)


def test_percentiles_of_nothing_are_unknown():
    assert all(np.isnan(value) for value in vars(Spread.of(np.array([], dtype=np.int64))).values())


def test_cycles_that_come_too_late_are_counted():
    # period 1000 ns: on time; late but done; late and not done; too long; just done; and three never begun
    lateness, computation = np.array([[0, 900, 900, 10, 5], [100, 100, 101, 1001, 995]])
    record = Record.of(lateness, computation, period=1000, due=8)
    assert (record.cycles, record.missed, record.overruns, record.skipped) == (5, 2, 1, 3)


def synthetic(loop: Record, control: Record | None = None) -> Report:
    return Report("arm", 1000.0, "after 1 s", {"scheduler": "as it was"}, "a machine", "today", loop, control, 5000)


def test_the_table_and_the_json_say_the_same():
    number = np.arange(20_000)
    loop = Record.of(number * 10, number * 20 + 1000, 10**6, 20_000)
    empty = Record.of(number * 5, np.full(20_000, 5100), 10**6, 20_000)
    report = synthetic(loop, empty)
    figures = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert figures["loop"]["lateness [us]"] == {
        "p50": 99.99, "p99": 197.99, "p99_9": 199.79, "p99_99": 199.97, "max": 199.99
    }  # fmt: skip
    assert figures["empty loop"]["computation [us]"]["max"] == 5.1
    said = str(report)
    for text in ("p99.99", "computation    the loop", "lateness       an empty loop", "20,000", "200.0", "5.1"):
        assert text in said
    assert "The host alone made it up to 100.0 us late\nand up to 0.1 us longer" in said
    assert "guarantees no deadline" in said
    assert "fewer than 10,000" not in said


def test_a_run_without_a_single_counted_cycle_can_still_be_reported(tmp_path):
    none = np.array([], dtype=np.int64)
    report = synthetic(Record.of(none, none, 10**6, 0), Record.of(none, none, 10**6, 0))
    assert "nan" in str(report)
    for path in report.save(tmp_path):
        assert path.stat().st_size > 0
    assert json.loads((tmp_path / "realtime.json").read_text())["loop"]["lateness [us]"]["max"] is None


def test_the_picture_names_its_axes_and_where_it_comes_from():
    rng = np.random.default_rng(0)
    records = [Record.of(*rng.integers(0, 10**6, (2, 1000)), 10**6, 1000) for _ in range(2)]
    figure = synthetic(*records).picture()
    assert [axis.get_xlabel() for axis in figure.axes] == ["computation time [us]", "late at the start [us]"]
    assert all(axis.get_ylabel() == "cycles" and axis.get_yscale() == "log" for axis in figure.axes)
    assert all(text in figure.get_suptitle() for text in ("arm", "1000 Hz", "a machine", "today"))


# ---------------------------------------------------------------------------------------------- the loop


def test_every_cycle_is_run_or_counted_as_skipped(robot):
    seen = []
    report = Loop(robot, rate=500, warm_up=0.02).run(lambda bound, t: seen.append(t), seconds=0.2)
    assert report.ended == "after 0.2 s"
    assert report.loop.cycles + report.loop.skipped == 100
    assert len(seen) >= report.loop.cycles
    numbers = np.array(seen) * 500
    assert np.abs(numbers - numbers.round()).max() < 1e-9
    assert (np.diff(numbers) > 0.5).all()
    assert numbers[-1] < 110.5
    assert (report.loop.lateness >= 0).all()
    assert (report.loop.computation > 0).all()


def test_deadlines_are_absolute(robot):
    begun = []
    Loop(robot, rate=200).run(lambda bound, t: begun.append(time.perf_counter() - t), seconds=0.3)
    # were each period counted from the end of the one before, the differences would grow by all of these waits
    assert min(begun[-10:]) - min(begun[:10]) < 2e-3


def test_after_a_pause_no_burst_follows(robot):
    seen = []

    def pauses(bound, t):
        seen.append(round(t * 200))
        if len(seen) == 10:
            time.sleep(0.033)  # six periods and a half

    report = Loop(robot, rate=200, warm_up=0).run(pauses, seconds=0.2)
    assert report.loop.cycles == len(seen)
    assert report.loop.cycles + report.loop.skipped == 40
    assert seen[10] - seen[9] >= 6
    assert report.loop.overruns >= 1
    assert report.loop.missed >= 1
    assert report.loop.skipped >= 5


def test_cycles_skipped_at_the_very_end_count_too(robot):
    def pauses(bound, t):
        if t > 0.04:
            time.sleep(0.3)

    report = Loop(robot, rate=200, warm_up=0).run(pauses, seconds=0.2)
    assert report.loop.cycles + report.loop.skipped == 40
    assert report.loop.skipped >= 25
    assert report.ended == "after 0.2 s"


def test_the_empty_loop_spins_as_long_as_the_step_takes(robot):
    def busy(bound, t):
        until = time.perf_counter_ns() + 300_000
        while time.perf_counter_ns() < until:
            pass

    report = Loop(robot, rate=200).run(busy, seconds=0.2)
    assert report.control is not None
    assert report.control.cycles > 0
    assert report.spun >= 300_000
    assert report.control.computation.min() >= report.spun


def test_the_empty_loop_gives_way_where_there_is_no_room_for_it(robot):
    def busy(bound, t):
        until = time.perf_counter_ns() + 4_000_000  # of 5 ms
        while time.perf_counter_ns() < until:
            pass

    report = Loop(robot, rate=200).run(busy, seconds=0.2)
    assert report.control is not None
    assert report.control.cycles == 0


def test_it_can_be_left_out(robot):
    report = Loop(robot, rate=1000).run(nothing, seconds=0.05, control=False)
    assert report.control is None
    assert "empty" not in str(report)
    assert "empty loop" not in report.as_dict()


def test_a_status_ends_the_run_and_is_explained(robot):
    def breaks(bound, t):
        bound.q[1] = np.nan if t > 0.02 else 0.0
        return bound.inverse_dynamics()

    report = Loop(robot, rate=1000).run(breaks, seconds=5)
    assert report.ended == "by status 1: an argument or a result is not finite"
    assert report.loop.cycles < 1000


def test_what_a_step_returns_of_its_own_ends_the_run_too(robot):
    report = Loop(robot, rate=1000).run(lambda bound, t: 1000, seconds=5)
    assert report.ended == "by 1000"


def test_what_comes_after_a_step_is_not_timed(robot):
    report = Loop(robot, rate=100, warm_up=0).run(nothing, seconds=0.1, after=lambda bound, t: time.sleep(0.002))
    assert np.median(report.loop.computation) < 2e6


def test_the_loop_leaves_no_objects_behind(robot):
    arm = SimulatedArm(robot, 1000)
    controller = ComputedTorque(robot, arm.read)
    blocks = np.zeros(400, np.int64)

    def step(bound, t):
        blocks[round(t * 1000)] = sys.getallocatedblocks()
        return controller(bound, t)

    Loop(robot, rate=1000, warm_up=0.1, quantities=["computed_torque"]).run(step, seconds=0.3, after=arm)
    counted = blocks[120:][blocks[120:] > 0]  # after the warm-up
    assert len(counted) > 10
    assert np.ptp(counted) < 10  # one object a cycle would make it hundreds


def test_wrong_arguments_are_named(robot):
    for name, value in (("rate", 0), ("rate", np.inf), ("spin", -1.0), ("warm_up", np.nan)):
        with pytest.raises(fd.ArgumentError, match=f"{name} is {value}: expected a number"):
            Loop(robot, **{name: value})
    for name, value in (("fifo", -1), ("core", 1.5), ("core", True)):
        with pytest.raises(fd.ArgumentError, match=f"{name} is {value}: expected a whole number"):
            Loop(robot, **{name: value})
    with pytest.raises(fd.ArgumentError, match="seconds is 0: expected a number of seconds above zero"):
        Loop(robot).run(nothing, seconds=0)


# ---------------------------------------------------------------------------------------------- Ctrl-C


def test_ctrl_c_ends_the_run_after_the_cycle_and_reports(robot):
    done = []

    def interrupted(bound, t):
        if len(done) == 150:
            signal.raise_signal(signal.SIGINT)
        done.append(t)

    report = Loop(robot, rate=1000, warm_up=0.05).run(interrupted, seconds=20)
    assert report.ended == "by Ctrl-C"
    assert len(done) == 151
    assert 0 < report.loop.cycles <= len(done)


def test_a_slow_loop_need_not_be_waited_for(robot):
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))

    def step(bound, t):
        if t == 0:
            timer.start()

    start = time.perf_counter()
    report = Loop(robot, rate=0.5, warm_up=0).run(step, seconds=20)
    timer.join()
    assert report.ended == "by Ctrl-C"
    assert report.loop.cycles == 1
    assert time.perf_counter() - start < 10.0  # two seconds until the first cycle


def test_a_second_ctrl_c_interrupts_a_step_that_hangs(robot):
    def hangs(bound, t):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Loop(robot).run(hangs, seconds=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_runs_in_any_thread(robot):
    reports: list[Report] = []
    thread = threading.Thread(target=lambda: reports.append(Loop(robot).run(nothing, seconds=0.05)))
    thread.start()
    thread.join()
    assert reports[0].ended == "after 0.05 s"


# ---------------------------------------------------------------------------------------------- as it was before


def surroundings() -> tuple[object, ...]:
    handler = signal.getsignal(signal.SIGINT)
    known = (gc.isenabled(), gc.get_freeze_count(), handler, system.locked_memory())
    if not hasattr(os, "sched_getaffinity"):
        return known
    return (*known, os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0).sched_priority)


@pytest.mark.parametrize("how", ["to the end", "by a status", "by an exception"])
def test_everything_is_as_before_however_the_run_ends(robot, how):
    def step(bound, t):
        assert not gc.isenabled()
        if t > 0.01 and how == "by an exception":
            raise RuntimeError("the robot is on fire")
        return int(t > 0.01 and how == "by a status")

    before = surroundings()
    loop = Loop(robot, fifo=1, core=0, lock_memory=True, warm_up=0)
    if how == "by an exception":
        with pytest.raises(RuntimeError, match="on fire"):
            loop.run(step, seconds=0.1)
    else:
        loop.run(step, seconds=0.1)
    assert surroundings() == before


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_stays_as_the_user_has_set_it(robot, enabled):
    try:
        if not enabled:
            gc.disable()
            gc.freeze()
        frozen = gc.get_freeze_count()
        Loop(robot).run(nothing, seconds=0.02)
        assert gc.isenabled() == enabled
        assert (gc.get_freeze_count() > 0) == (frozen > 0)
    finally:
        gc.unfreeze()
        gc.enable()


@linux
def test_settings_hold_during_the_run_or_are_reported_as_refused(robot):
    core = max(os.sched_getaffinity(0))
    seen = []

    def step(bound, t):
        seen.append((os.sched_getaffinity(0), os.sched_getscheduler(0), system.locked_memory() > 0))

    report = Loop(robot, fifo=1, core=core, lock_memory=True).run(step, seconds=0.02)
    cores, policy, locked = seen[-1]
    assert cores == {core}
    assert report.settings["core"] == str(core)
    assert (policy == os.SCHED_FIFO) == (report.settings["scheduler"] == "SCHED_FIFO 1")
    assert locked == (report.settings["memory"] == "locked")


@linux
def test_what_the_system_refuses_is_said_and_the_loop_runs_all_the_same(robot, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(1, "Operation not permitted")

    class Stubborn:
        def __init__(self, *arguments, **options): ...

        def mlockall(self, flags):
            return -1

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.delattr(os, "sched_setaffinity")
    monkeypatch.setattr(system.ctypes, "CDLL", Stubborn)
    monkeypatch.setattr(system.ctypes, "get_errno", lambda: 12)
    report = Loop(robot, fifo=5, core=0, lock_memory=True).run(nothing, seconds=0.02)
    assert report.ended == "after 0.02 s"
    assert report.settings["scheduler"].startswith("SCHED_FIFO 5 refused: Operation not permitted; it needs a priority")
    assert report.settings["core"] == "0 refused: not available on this system"
    assert report.settings["memory"].startswith("locked refused: Cannot allocate memory; it needs root")
    assert all(f"{name}: {setting}" in str(report) for name, setting in report.settings.items())


@linux
def test_a_core_that_does_not_exist_is_refused(robot):
    for core in (4000, 10**12):
        report = Loop(robot, core=core).run(nothing, seconds=0.02)
        assert f"{core} refused" in report.settings["core"]
        assert "this host has cores 0 to" in report.settings["core"]


# ---------------------------------------------------------------------------------------------- computed torque


@pytest.mark.parametrize("name", ["puma560", "stanford", "two_link", "rrt"])
def test_computed_torque_keeps_a_simulated_arm_on_its_way(name):
    robot = getattr(fd.robots, name)()
    rate = 1000
    arm = SimulatedArm(robot, rate)
    controller, bound = ComputedTorque(robot, arm.read), robot.bind("computed_torque")
    for k in range(2 * rate):
        assert controller(bound, k / rate) == 0
        arm(bound, k / rate)
    # integrating with steps of 1 ms is off by dt / 2 of the velocity; feedback holds the error there
    assert controller.worst.max() < 0.5e-3 * controller.reach[1].max() * 1.1


def test_an_error_dies_out_as_the_gains_say():
    robot, rate, stiffness = fd.robots.puma560(), 4000, 400.0
    arm = SimulatedArm(robot, rate)
    controller, bound = ComputedTorque(robot, arm.read, stiffness), robot.bind("computed_torque")
    arm.bound.q += 0.1
    omega, errors = np.sqrt(stiffness), []
    for k in range(rate // 4):
        controller(bound, k / rate)
        errors.append(controller.desired[0] - bound.q)
        arm(bound, k / rate)
    t = np.arange(rate // 4) / rate
    expected = -0.1 * (1 + omega * t) * np.exp(-omega * t)  # critically damped
    # the integrator's steps of 0.25 ms shift every time by about that much
    assert np.abs(np.array(errors) - expected[:, None]).max() < 0.1 * omega * 1e-3


# ---------------------------------------------------------------------------------------------- the command


def test_the_command_prints_and_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "new" / "folder"
    main(["--seconds", "0.2", "--out", str(folder), "--core", "0"])
    said = capsys.readouterr().out
    for text in (
        "puma560 at 1000 Hz",
        "computation    the loop",
        "lateness       an empty loop",
        "missed",
        "largest error",
    ):
        assert text in said
    assert sorted(path.name for path in folder.iterdir()) == ["realtime.json", "realtime.png", "realtime.txt"]
    figures = json.loads((folder / "realtime.json").read_text())
    assert figures["loop"]["cycles"] + figures["loop"]["skipped"] == 200
    assert (folder / "realtime.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "realtime.txt").read_text() in said + "\n"


def test_help_lists_robots_only(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"--robot ROBOT {', '.join(fd.robots.names())}, or a file" in said


def test_the_command_takes_a_urdf_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "arm.urdf"
    path.write_text(fd.to_urdf(fd.robots.two_link()))
    report = main(["--robot", str(path), "--seconds", "0.05", "--rate", "500"])
    assert report.loop.cycles > 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--robot", "hal9000"], "there is no built-in robot 'hal9000': expected one of puma560"),
        (["--robot", "get"], "there is no built-in robot 'get': expected one of puma560"),
        (["--robot", "absent.urdf"], "absent.urdf: No such file"),
        (["--robot", __file__], "test_realtime.py"),
        (["--out", "/dev/null/report"], "--out is /dev/null/report: expected a folder for files: Not a directory"),
        (["--rate", "0"], "rate is 0.0: expected a number of Hz above zero"),
        (["--seconds", "-1"], "seconds is -1.0: expected"),
        (["--core", "-1"], "core is -1: expected"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, complaint, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err
