"""Robots, states, poses and error scales that tests share."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.calls import task, threads
from fastdyn.calls.bound import Bound, CFunction
from fastdyn.calls.parameters import Parameters
from fastdyn.quantities import QUANTITIES, Field, Quantity

EPS = np.finfo(float).eps


# ---------------------------------------------------------------------------------------------- robots


def square(n: int, seed: int = 0, prismatic: float = 0.0, drives: bool = False, crooked: float = 0.0) -> fd.Robot:
    """A random tree whose axes are parallel, perpendicular, intersecting or the same: what real arms look like.

    crooked: angle in rad by which every frame is off, as where angles in a file are rounded.
    """
    robot = fd.robots.random_tree(n, seed, prismatic, drives)
    rng = np.random.default_rng([n, seed])
    joints = [
        replace(
            joint,
            origin=_square_pose(rng, crooked),
            axis=np.eye(3)[rng.integers(3)] * rng.choice((-1, 1)),
            tail=_square_pose(rng, crooked),
        )
        for joint in robot.all_joints
    ]
    return fd.Robot(robot.all_links, joints, name=f"square({n}, {seed})", gravity=robot.gravity)


def _square_pose(rng: np.random.Generator, crooked: float) -> np.ndarray:
    R = np.eye(3)[rng.permutation(3)] * rng.choice((-1.0, 1.0), (3, 1))
    T = np.eye(4)
    T[:3, :3] = R * np.linalg.det(R).round() @ rotation(crooked * rng.normal(size=3))
    T[:3, 3] = rng.choice((0.0, 0.0, 0.1, -0.25), 3)
    return T


def rotation(v: np.ndarray) -> np.ndarray:
    """The rotation about v by |v| rad (Rodrigues)."""
    angle = np.linalg.norm(v)
    if angle == 0:
        return np.eye(3)
    K = hat(v / angle)
    return np.eye(3) + np.sin(angle) * K + 2 * np.sin(angle / 2) ** 2 * K @ K


def hat(v: np.ndarray) -> np.ndarray:
    """The matrix of v x."""
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def changed(robot: fd.Robot, links=None, joints=None, **more) -> fd.Robot:
    """The same robot with other parts."""
    return fd.Robot(
        robot.all_links if links is None else links,
        robot.all_joints if joints is None else joints,
        **{"name": robot.name, "gravity": robot.gravity, "mount": robot.mount, **more},
    )


def with_motors(robot: fd.Robot, motor) -> fd.Robot:
    """The same robot with motor(joint) on every joint."""
    return changed(robot, joints=[replace(joint, motor=motor(joint)) for joint in robot.all_joints])


def any_robot(kind: str, n: int, seed: int, prismatic: float = 0.0, drives: bool = False) -> fd.Robot:
    """A random robot of one of KINDS."""
    if kind == "crooked":  # anything between what counts as parallel and what certainly does not
        return square(n, seed, prismatic, drives, crooked=10.0 ** np.random.default_rng(seed).uniform(-17, -1))
    makers = {"chain": fd.robots.random_chain, "tree": fd.robots.random_tree, "square": square}
    return makers[kind](n, seed, prismatic, drives)


KINDS = ("chain", "tree", "square", "crooked")


def geared(n: int, m: int, seed: int = 0, prismatic: float = 0.3) -> fd.CoupledRobot:
    """A random tree of n joints with drives, moved by m coordinates with gears, belts and motors.

    Every coordinate moves a joint of its own, and each joint is moved by up to two coordinates.
    """
    robot = fd.robots.random_tree(n, seed, prismatic, drives=True)
    rng = np.random.default_rng([n, m, seed])
    G = np.zeros((n, m))
    for i in range(n):
        G[i, i % m] = rng.choice((-1.0, 1.0)) * rng.uniform(0.5, 1.5)
        G[i, rng.integers(m)] += 0.25 * rng.normal()
    motors = [fd.Motor(rng.uniform(0.1, 1), 2.0, rng.uniform(0, 1), (0.3, -0.4)) if k % 2 else None for k in range(m)]
    return robot.coupled(G, offset=0.3 * rng.normal(size=n), motors=motors)


# the robots that every row of the table is tried on
ARM = any_robot("tree", 7, seed=3, prismatic=0.3, drives=True)
GEARED = geared(7, 5, seed=3)
BOTH = {"joints": ARM, "coupled": GEARED}
every_row = pytest.mark.parametrize("row", QUANTITIES.values(), ids=QUANTITIES)
on_both = pytest.mark.parametrize("robot", BOTH.values(), ids=BOTH)

# Rows of each kind: a vector, a matrix, a number, several results, optional inputs, a frame, inputs that are not of
# joints, one that solves, texts of their own for coupled robots. For what is generated from the kinds of a row's fields
# alone, where compiling or running all rows once more would take minutes and find nothing else: C functions, other
# numbers of lanes, warm-up, memory, many robots. Numbers are compared for every row: on ARM and GEARED, as batches,
# single states, fleets and in single precision.
FEW = {
    name: QUANTITIES[name]
    for name in (
        "inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy", "pose_and_jacobian",
        "frame_acceleration", "inverse_velocity",
    )
}  # fmt: skip
few_rows = pytest.mark.parametrize("row", FEW.values(), ids=FEW)
# Every row, but few where the Makefile asks for that: with indices checked, in plain Python and for other instruction
# sets, where test_scalars.py runs every text, and what the calls make of the results was seen in the first run.
each_row = few_rows if os.environ.get("FASTDYN_TEST_ROWS") == "few" else every_row

# ---------------------------------------------------------------------------------------------- rows of the table

State = dict[str, np.ndarray]


def core(robot: fd.Robot | fd.CoupledRobot, field: Field) -> tuple[int, ...]:
    """The shape of a field of one state."""
    return field.core(robot.parameters.joints, robot.parameters.coordinates)


def draw(robot: Any, row: Quantity, *lead: int, seed: int = 0, optional: bool = False) -> State:
    """Random inputs of a quantity, by name and in order.

    q within a turn or half a metre, tolerances within 0.002, one weight of the axes zero, all else within +-2.
    """
    rng = np.random.default_rng(seed)
    values = {
        field.name: rng.uniform(-2, 2, (*lead, *core(robot, field)))
        for field in (row.inputs if optional else row.reads)
    }
    if "axes" in values:
        values["axes"][..., 0] = 0.0  # one of the six is left out
    if "tolerance" in values:
        values["tolerance"] *= 1e-3  # of the largest singular value: most count
    if not robot.parameters.coupled:
        values["q"] *= [0.25 if joint.kind == "prismatic" else 1.5 for joint in robot.joints]
    return values


def last_link(robot: Any) -> str:
    """The frame of every quantity that has one: some robots here have several tips. Without joints the base."""
    return robot.links[-1].name if robot.links else robot.base.name


def of_row(robot: Any, row: Quantity) -> dict[str, str]:
    """The options that name a row's text and its frame."""
    named = {"method": row.method} if row.method else {}
    return {**named, "frame": last_link(robot)} if row.frame else named


def parameters(robot: Any, row: Quantity) -> Parameters:
    """The flat arrays that a row's text reads."""
    return robot.parameters_in(last_link(robot), None, False) if row.frame else robot.parameters


def task_of(robot: Any, row: Quantity) -> task.Task:
    """What the robot's method of a row calls."""
    return robot._in(last_link(robot), None, False)[row] if row.frame else robot.task(row)


def bound(robot: Any, *names: str) -> Bound:
    """A bound robot with these quantities, or all that `bind` prepares if none is named."""
    return robot.bind(*names, frame=last_link(robot))


def c_function(robot: Any, name: str) -> CFunction:
    """The C function of that name."""
    return robot.c_function(name, frame=last_link(robot))


def computed(robot: Any, row: Quantity, values: Mapping[str, Any], **options: Any) -> tuple[np.ndarray, ...]:
    """A quantity's results by the method that users call; out: a tuple of arrays, one for each."""
    if "out" in options and len(row.gives) == 1:
        (options["out"],) = options["out"]
    method = getattr(robot, row.name.removesuffix(f"_{row.method}"))
    found = method(**values, **of_row(robot, row), **options)
    return found if len(row.gives) > 1 else (found,)


def shapes(robot: Any, row: Quantity, *lead: int) -> list[tuple[int, ...]]:
    """The shapes of a quantity's results."""
    return [lead + core(robot, field) for field in row.gives]


def same(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> bool:
    """Whether results are the same, bit for bit, shapes included."""
    return all(np.shape(x) == np.shape(y) and np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def part(values: Any, place: Any) -> Any:
    """Some samples of all arrays of a state or of results."""
    if isinstance(values, dict):
        return {name: value[place] for name, value in values.items()}
    return tuple(value[place] for value in values)


def watch_helpers(monkeypatch: pytest.MonkeyPatch, cores: int = 16) -> list[tuple[int, int]]:
    """Short batches go to threads from here on; returns the list of steps that helper threads will take.

    Of robots whose calls were not made before. The caller's own thread waits until a helper has begun.
    """
    taken: list[tuple[int, int]] = []

    class Steps(threads._Steps):
        def __init__(self, *arguments: int) -> None:
            super().__init__(*arguments)
            self.begun = threading.Event()

        def _take(self, size: int) -> tuple[int, int] | None:
            helper = threading.current_thread().name.startswith("fastdyn ")
            if self.threads > 1 and not helper:
                assert self.begun.wait(30), "no helper thread has begun"
            step = super()._take(size)
            if helper:
                self.begun.set()
                taken.extend([step] if step else [])
            return step

    monkeypatch.setattr(task, "WORTH", 1)
    monkeypatch.setattr(threads, "STEP", 0.0)  # steps never grow
    monkeypatch.setattr(threads, "_cores", lambda: cores)
    monkeypatch.setattr(threads, "_Steps", Steps)
    return taken


# ---------------------------------------------------------------------------------------------- states and poses


def states(robot: fd.Robot, seed: int, *lead: int, count: int = 3) -> np.ndarray:
    """`count` arrays (*lead, n): q within a turn (half a metre for prismatic joints), then rates up to 2 a second."""
    values = np.random.default_rng(seed).uniform(-2, 2, (count, *lead, robot.n))
    values[0] *= [0.25 if joint.kind == "prismatic" else 1.5 for joint in robot.joints]
    return values


def poses(robot: fd.Robot, q: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Poses in the world of all links, and of all joints' frames before they move, by multiplying matrices."""
    coordinate = {joint.name: float(value) for joint, value in zip(robot.joints, q, strict=True)}
    links, frames = {robot.base.name: robot.mount}, {}
    while len(frames) < len(robot.all_joints):
        for joint in robot.all_joints:
            if joint.parent in links and joint.name not in frames:
                frames[joint.name] = links[joint.parent] @ joint.origin
                motion = np.eye(4)
                if joint.kind in ("revolute", "helical"):
                    motion[:3, :3] = rotation(joint.axis * coordinate[joint.name])
                if joint.kind in ("prismatic", "helical"):
                    motion[:3, 3] = joint.axis * travel(joint, coordinate[joint.name])
                links[joint.child] = frames[joint.name] @ motion @ joint.tail
    return links, frames


def travel(joint: fd.Joint, value: float) -> float:
    """How far along its axis a joint's coordinate moves it, m."""
    return value if joint.kind == "prismatic" else joint.pitch * value


def jacobian(robot: fd.Robot, q: np.ndarray, link: str) -> np.ndarray:
    """(6, n): velocity of a link's origin, then its angular velocity, along the axes of the link's frame."""
    links, frames = poses(robot, q)
    joint_of = {joint.child: joint for joint in robot.all_joints}
    column = {joint.name: i for i, joint in enumerate(robot.joints)}
    R, p = links[link][:3, :3], links[link][:3, 3]
    J = np.zeros((6, robot.n))
    while link in joint_of:
        joint = joint_of[link]
        axis, o = frames[joint.name][:3, :3] @ joint.axis, frames[joint.name][:3, 3]
        if joint.kind in ("revolute", "helical"):
            J[:, column[joint.name]] = np.concatenate([R.T @ np.cross(axis, p - o), R.T @ axis])
        if joint.kind in ("prismatic", "helical"):
            J[:3, column[joint.name]] += R.T @ axis * travel(joint, 1.0)
        link = joint.parent
    return J


# ---------------------------------------------------------------------------------------------- scales of errors


def reach(robot: fd.Robot, q: np.ndarray) -> float:
    """A length, m, that no mass of the robot is farther from the base than."""
    lengths = [np.linalg.norm(joint.origin[:3, 3]) + np.linalg.norm(joint.tail[:3, 3]) for joint in robot.all_joints]
    ways = [abs(travel(joint, value)) for joint, value in zip(robot.joints, q, strict=True)]
    return float(sum(lengths) + sum(ways) + max(np.linalg.norm(link.com) for link in robot.all_links))


def energy_scale(robot: fd.Robot, q: np.ndarray, qd: np.ndarray) -> float:
    """J: the size of the terms that kinetic and potential energy are sums of."""
    mass = sum(link.mass for link in robot.all_links)
    weight = mass * np.linalg.norm(robot.gravity)
    lever = 1 + reach(robot, q)  # a metre more, because the forces along prismatic joints have none
    return float(weight * lever + np.linalg.norm(robot.mass_matrix(q)) * np.linalg.norm(qd) ** 2)


def torque_scale(robot: fd.Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
    """N m: the size of the terms that torques are sums of. Rounding is eps of this, however much of it cancels.

    They are |M| |qdd|, velocity terms (derivatives of M, which is made of sines, are as large as M: |M| |qd|^2), the
    weight at the end of the stretched robot, and friction.
    """
    friction = [
        joint.motor.joint_viscous * abs(rate) + max(joint.motor.joint_coulomb)
        for joint, rate in zip(robot.joints, qd, strict=True)
    ]
    inertial = np.linalg.norm(robot.mass_matrix(q)) * np.linalg.norm(qdd)
    return float(energy_scale(robot, q, qd) + inertial + sum(friction))


def result_scale(robot: Any, row: Quantity, values: State) -> float:
    """The size of the terms that the results for one state are sums of, on joints or on coordinates."""
    coupled = robot.parameters.coupled
    joints = robot.robot if coupled else robot
    G = robot.G if coupled else np.eye(robot.n)
    zero = np.zeros(robot.n)
    q = robot.joint_positions(values["q"]) if coupled else values["q"]
    if row.name == "center_of_mass":
        return reach(joints, q)
    qd, qdd = values.get("qd", zero), values.get("qdd", zero)
    if "rank" in [field.name for field in row.gives]:
        return solution_scale(robot, row, values)
    if row.name == "task_dynamics":
        return task_scale(robot, values)
    if row.name == "static_torques":
        lever = max(1.0, np.linalg.norm(G, 2)) * (1 + reach(joints, q))
        return float(torque_scale(joints, q, 0 * q, 0 * q) * lever + np.linalg.norm(values["wrench"]) * lever)
    if row.frame or row.name == "link_poses":  # rotations are of size 1; each derivative multiplies by the gain of G
        rate = np.linalg.norm(G @ qd) * np.sqrt(robot.n) if "qd" in values else 1.0
        gain = max(1.0, np.linalg.norm(G, 2))
        return float(gain**2 * (1 + reach(joints, q)) * (1 + rate + rate**2 + np.linalg.norm(G @ qdd)))
    scale = torque_scale(joints, q, G @ qd, G @ qdd) + np.linalg.norm(values.get("tau", zero))
    scale += np.linalg.norm(values.get("wrenches", 0.0))
    scale += np.linalg.norm(joints.mass_matrix(q)) * ("qd" not in values)  # M itself
    if coupled:
        gain = max(1.0, np.linalg.norm(G, 2))
        scale = gain**2 * scale
        for motor, rate, acceleration in zip(robot.description.coupling.motors, qd, qdd, strict=True):
            scale += motor.armature * (abs(rate) + abs(acceleration) + rate**2)
            scale += motor.joint_viscous * abs(rate) + max(motor.joint_coulomb)
    if row.solves:
        scale *= np.linalg.norm(np.linalg.inv(robot.mass_matrix(values["q"])), 2)
    return float(scale)


def solution_scale(robot: Any, row: Quantity, values: State) -> float:
    """What a relative change of J by eps changes in the solution of J x = c: |J| / s (|x| + |missing| / s).

    s: the smallest singular value that counts, or the damping if that is larger.
    """
    frame = last_link(robot)
    J, weights = robot.jacobian(values["q"], frame), values.get("axes", np.ones(6))
    c, rate = (
        (values["velocity"], 0.0) if "velocity" in values else (values["acceleration"], np.linalg.norm(values["qd"]))
    )
    z, damping = values.get("preferred", np.zeros(robot.n)), abs(float(values.get("damping", 0.0)))
    sigma = np.linalg.svd(weights[:, None] * J, compute_uv=False)
    counted = sigma[sigma > max(values.get("tolerance", 0.0), 4 * max(J.shape) * EPS) * sigma[0]]
    least = max(counted.min(initial=np.inf), damping) if len(counted) or damping else 1.0
    size = np.linalg.norm(weights) * (np.linalg.norm(c) + np.linalg.norm(J) * (np.linalg.norm(z) + rate**2))
    return float(np.linalg.norm(z) + size + (1 + sigma[0] / least) * (1 + sigma[0]) * size / least)


def task_scale(robot: Any, values: State) -> float:
    """What relative changes of J and M by eps change in Lambda, mu and p: their sizes times the conditions of both.

    Lambda is (B B^T)^-1 for the rows that are kept of the whitened Jacobian B, M = L L^T; its errors are those of B, of
    which |B| cond(L) is rounded, by its smallest singular value. Infinite if it takes double precision to see that a
    row does not depend on those before it.
    """
    q, qd = values["q"], values["qd"]
    J, L = robot.jacobian(q, last_link(robot)), np.linalg.cholesky(robot.mass_matrix(q))
    B, asked = np.linalg.solve(L, J.T).T, values.get("axes", np.ones(6))
    kept = independent(B, asked, EPS)
    if kept != independent(B, asked, 8 * float(np.finfo(np.float32).eps)):
        return np.inf
    size, least = np.linalg.norm(B), np.linalg.svd(B[kept], compute_uv=False).min() if kept else 1.0
    forces = np.linalg.norm(np.linalg.inv(L), 2) * torque_scale_of(robot, q, qd)
    sizes = (1 + np.linalg.norm(qd) ** 2 * np.linalg.norm(J) * robot.n) / least**2 + forces / least
    return float(sizes * (size / least) ** 2 * np.linalg.cond(L))


def independent(B: np.ndarray, asked: np.ndarray, eps: float) -> list[int]:
    """The rows of a whitened Jacobian that are asked for and do not depend on those before them, up to rounding."""
    kept: dict[int, tuple[np.ndarray, float]] = {}  # the part of a row that is its own, and its rounding error
    for r in np.flatnonzero(asked if np.any(asked) else np.ones(6)).tolist():
        own, noise = B[r], 16 * max(B.shape) * eps * np.linalg.norm(B[:3] if r < 3 else B[3:], axis=1).max()
        for other, its_noise in kept.values():
            factor = other @ own / (other @ other)
            own, noise = own - factor * other, noise + abs(factor) * its_noise
        if np.linalg.norm(own) > noise:
            kept[r] = own, noise
    return list(kept)


def torque_scale_of(robot: Any, q: np.ndarray, qd: np.ndarray) -> float:
    """`torque_scale` of a robot or of a coupled one."""
    if not robot.parameters.coupled:
        return torque_scale(robot, q, qd, 0 * qd)
    gain = max(1.0, np.linalg.norm(robot.G, 2))
    friction = sum(
        m.joint_viscous * abs(v) + max(m.joint_coulomb) for m, v in zip(robot.coupling.motors, qd, strict=True)
    )
    return gain * torque_scale(robot.robot, robot.joint_positions(q), robot.G @ qd, 0 * robot.G @ qd) + friction


def assert_rounded(found: Any, expected: Any, robot: Any, row: Quantity, values: State) -> None:
    """Results of one state by two compilations of a text agree, each rounding in an order of its own.

    8 n eps of what is summed, for the reason that tests/test_identities.py gives. Bits agree only where the same
    machine code ran: it is compiled for each way of calling, kind of scalar and instruction set by itself.
    """
    tolerance = 8 * len(robot.joints) * EPS * result_scale(robot, row, values)
    for one, other in zip(found, expected, strict=True):
        error = np.abs(np.subtract(one, other)).max(initial=0.0)
        assert error <= tolerance, f"{error:.3g} is {error / tolerance:.3g} of what is allowed"
