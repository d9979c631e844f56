"""Many robots at once: a fleet beside a loop over its robots and Pinocchio with edited inertias; changes of payload.

    python -m benchmarks.fleet [--robots 1000] [--states 1000] [--turns 5]

Inverse dynamics of the Panda without friction, which Pinocchio's rnea leaves out. Sides take turns, on one thread;
before, their results are compared.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pinocchio as pin

import fastdyn as fd
from benchmarks.common import best, circumstances, figures, heading, markdown, states, versions
from fastdyn.clock import Job

EPS = np.finfo(float).eps
COM = (0.02, -0.01, 0.05)  # of payloads, in the frame of the tip
FEW = 2000  # samples of what is slow enough to be known from them
ROUNDS = 100  # states of each robot, where each sample has its own payload


class Peer:
    """Pinocchio's model of the same arm, whose last link takes payloads."""

    def __init__(self, arm: fd.Robot, payloads: np.ndarray) -> None:
        model = pin.buildModelFromXML(arm.to_urdf())
        assert list(model.names)[1:] == [joint.name for joint in arm.joints]
        model.gravity.linear = arm.gravity
        self.pool = pin.ModelPool(model, 1)
        self.model = self.pool.getModel(0)
        self.data, self.inertias = self.model.createData(), self.model.inertias
        joint, where = arm.description.place(arm.all_links[-1].name)
        self.tip, pose = joint + 1, pin.SE3(where)
        empty = self.inertias[self.tip].copy()
        self.loaded = [empty + pose.act(pin.Inertia(m, np.array(COM), np.zeros((3, 3)))) for m in payloads]

    def all_against_all(self, motion: Sequence[np.ndarray], out: Sequence[np.ndarray]) -> None:
        """All states, (n, T) each, for each payload, with an array (n, T) in `out`."""
        for inertia, tau in zip(self.loaded, out, strict=True):
            self.inertias[self.tip] = inertia
            pin.rneaInParallel(1, self.pool, *motion, tau)

    def one_each(self, motion: np.ndarray, out: np.ndarray) -> None:
        """A payload for each state, motion (T, 3, n); payloads are taken in turn."""
        for k, (q, qd, qdd) in enumerate(motion):
            self.inertias[self.tip] = self.loaded[k % len(self.loaded)]
            out[k] = pin.rnea(self.model, self.data, q, qd, qdd)


def check(found: np.ndarray, loop: np.ndarray, peer: np.ndarray) -> str:
    """How far a fleet's results are from the loop's; raises if by more than rounding, or if the peer's differ."""
    scale, n = np.abs(loop).max(), loop.shape[-1]
    assert np.abs(found.reshape(-1, n)[: len(peer)] - peer).max() <= 1e3 * n * EPS * scale
    if np.array_equal(found, loop):
        return "equal"
    error = np.abs(found - loop).max() / scale
    assert error <= 50 * n * EPS, error
    return f"within {error:.0e}"


def row(what: str, bits: str, samples: int, seconds: dict[str, float], few: int) -> tuple[str, ...]:
    """A line of the table: ns per sample, and how many times as fast the fleet is."""
    counts = {"fleet": samples, "loop": samples, "Pinocchio": few}
    each = {side: 1e9 * took / counts[side] for side, took in seconds.items()}
    ratios = [f"{each[side] / each['fleet']:.2f}" for side in ("loop", "Pinocchio")]
    return what, bits, *map(figures, each.values()), *ratios


def all_against_all(arm: fd.Robot, fleet: fd.Fleet, peer: Peer, T: int, turns: int) -> tuple[str, ...]:
    """T states for all robots."""
    R, n, motion = len(fleet), arm.n, states(arm.n, T)
    shared = [x[:, None] for x in motion]
    theirs = [np.asfortranarray(x.T) for x in motion]
    ours, loop, out = np.empty((T, R, n)), np.empty((R, T, n)), [np.empty((n, T), order="F") for _ in range(R)]

    def one_after_the_other() -> None:
        for robot, tau in zip(fleet, loop, strict=True):
            robot.inverse_dynamics(*motion, out=tau)

    jobs: dict[str, Job] = {
        "fleet": lambda: fleet.inverse_dynamics(*shared, out=ours),
        "loop": one_after_the_other,
        "Pinocchio": lambda: peer.all_against_all(theirs, out),
    }
    for job in jobs.values():
        job()
    bits = check(ours, loop.swapaxes(0, 1), np.array([tau[:, 0] for tau in out]))
    assert bits == "equal"
    return row(f"{R} payloads x {T} states", bits, T * R, best(jobs, turns), T * R)


def one_each(arm: fd.Robot, fleet: fd.Fleet, peer: Peer, T: int, turns: int) -> tuple[str, ...]:
    """A payload for each sample of a trajectory, (T, robots, n)."""
    R, n = len(fleet), arm.n
    lead = (T, R) if T > 1 else (R,)
    motion = [x.reshape(*lead, n) for x in states(n, T * R)]
    some = np.stack([x.reshape(-1, n)[:FEW] for x in motion], axis=1)
    ours, loop, out = np.empty((*lead, n)), np.empty((*lead, n)), np.empty((len(some), n))

    def one_after_the_other() -> None:
        for k, robot in enumerate(fleet):
            loop[..., k, :] = robot.inverse_dynamics(*(x[..., k, :] for x in motion))

    jobs: dict[str, Job] = {
        "fleet": lambda: fleet.inverse_dynamics(*motion, out=ours),
        "loop": one_after_the_other,
        "Pinocchio": lambda: peer.one_each(some, out),
    }
    for job in jobs.values():
        job()
    bits = check(ours, loop, out)
    return row(f"{R} payloads, one per sample: {(*lead, n)}", bits, T * R, best(jobs, turns), len(some))


def allocated(call: Callable[[], Any], times: int = 10_000) -> str:
    """What calls leave allocated, and what they allocate for a while."""

    def run() -> None:
        for _ in repeat(None, times):
            call()

    run()
    gc.collect()
    before = sys.getallocatedblocks()
    run()
    blocks = sys.getallocatedblocks() - before
    tracemalloc.start()
    run()
    start = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    run()
    peak = tracemalloc.get_traced_memory()[1] - start
    tracemalloc.stop()
    return f"{blocks} blocks more after {times} calls, peak {peak} bytes"


def changes(arm: fd.Robot, payloads: np.ndarray, turns: int) -> list[tuple[str, str, str]]:
    """Time of a fleet and of robots with other numbers, and of a bound robot's payload."""
    q, qd, qdd = (x[0].copy() for x in states(arm.n, 1))
    loop = arm.bind("inverse_dynamics")
    inertia = np.eye(3) * 1e-3

    def vary() -> fd.Fleet:
        return arm.vary(payload=payloads, payload_com=COM)

    new: dict[str, Callable[[], fd.Robot]] = {
        "with_payload": lambda: arm.with_payload(1.0, COM),
        "with_tool": lambda: arm.with_tool(1.0, COM),
        "with_gravity": lambda: arm.with_gravity((0, 0, -1.62)),
    }
    jobs: dict[str, Job] = {
        f"vary, {len(payloads)} payloads": vary,
        "the same, and first torques": lambda: vary().inverse_dynamics(q, qd, qdd),
        "loop.payload(mass, com)": lambda: loop.payload(1.0, COM),
        "loop.payload(mass, com, inertia)": lambda: loop.payload(1.0, COM, inertia),
    }
    for name, make in new.items():
        jobs[name] = make
        jobs[f"{name}, and first torques"] = lambda make=make: make().inverse_dynamics(q, qd, qdd)  # type: ignore[misc]
    seconds = best(jobs, turns)
    notes = {name: allocated(job) for name, job in jobs.items() if name.startswith("loop.") and callable(job)}
    return [(name, figures(1e6 * took), notes.get(name, "")) for name, took in seconds.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", type=int, default=1000)
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    about = circumstances()
    about["versions"] |= versions(["pin"])
    arm = fd.robots.panda().without_friction()
    payloads = np.linspace(0.0, 3.0, options.robots)
    many = np.linspace(0.0, 3.0, 10 * options.robots)  # a robot for each sample
    fleet, each = (arm.vary(payload=masses, payload_com=COM) for masses in (payloads, many))
    peer, other = Peer(arm, payloads), Peer(arm, many)
    table = [
        all_against_all(arm, fleet, peer, options.states, options.turns),
        one_each(arm, fleet, peer, ROUNDS, options.turns),
        one_each(arm, each, other, 1, options.turns),
    ]
    print(heading(f"fastdyn {fd.__version__}: many robots at once", about))
    print("Inverse dynamics of the Panda, ns per sample; ratios: how many times as fast the fleet is.\n")
    header = (
        "samples",
        "fleet and loop",
        ">fleet",
        ">loop over robots",
        ">Pinocchio",
        ">loop / fleet",
        ">Pinocchio / fleet",
    )
    print(markdown(header, table))
    print(markdown(("change", ">us", "allocations"), changes(arm, payloads, options.turns)))
    print(f"An empty call: {allocated(lambda: None)}.")


if __name__ == "__main__":
    main()
