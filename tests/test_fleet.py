"""Fleets: robots of one tree with other numbers give together what they give one by one."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

import fastdyn as fd
from fastdyn.calls import fleet as calls_fleet
from fastdyn.calls import generate
from fastdyn.calls.fleet import STATES
from fastdyn.kernels.rows import KIND, RUBS, STRAIGHT
from fastdyn.quantities import (
    BIAS_FORCES,
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS,
    JOINT_REACTIONS,
    MASS_MATRIX,
    QUANTITIES,
    Quantity,
)
from tests.samples import (
    ARM,
    EPS,
    GEARED,
    KINDS,
    State,
    any_robot,
    changed,
    computed,
    core,
    draw,
    each_row,
    few_rows,
    result_scale,
    rotation,
    same,
    shapes,
    watch_helpers,
)  # fmt: skip
from tests.test_bound import compiled_so_far, layouts

R = 11  # no multiple of any number of lanes
MANY = STATES + 8  # states that are computed robot by robot
compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="machine code only")


# ---------------------------------------------------------------------------------------------- fleets


def relatives(robot: Any, count: int, seed: int = 0, alike: bool = True) -> list[Any]:
    """Robots of the same tree: other inertias, lengths, gears, friction and gravity.

    alike: friction where the robot has some, axes that stay parallel; otherwise every other robot has no friction, and
    all have axes of their own.
    """
    rng, found = np.random.default_rng([count, seed]), []
    joints_robot = robot.robot if robot.coupling is not None else robot
    for k in range(count):
        links = [
            replace(link, mass=link.mass * size, com=link.com * size, inertia=link.inertia * size)
            for link, size in zip(robot.all_links, rng.uniform(0.5, 2, len(robot.all_links)), strict=True)
        ]
        joints, longer = [], rng.uniform(0.5, 2)
        for joint in robot.all_joints:
            origin, motor = joint.origin.copy(), replace(joint.motor, gear=joint.motor.gear * rng.uniform(0.5, 2))
            origin[:3, 3] *= longer
            if not alike:
                origin[:3, :3] = origin[:3, :3] @ rotation(rng.normal(size=3))
                motor = motor.without_friction() if k % 2 else motor
            joints.append(replace(joint, origin=origin, motor=motor))
        one: Any = changed(joints_robot, links, joints, name=f"{robot.name} {k}", gravity=rng.normal(size=3) * 9)
        if robot.coupling is not None:
            one = one.coupled(robot.G, robot.offset, robot.names, robot.coupling.motors)
        found.append(one)
    return found


def kinds(robot: Any) -> list[int]:
    return robot.parameters.constants[1][KIND].tolist()


ARMS, GEARS = fd.stack(relatives(ARM, R)), fd.stack(relatives(GEARED, R))
on_both = pytest.mark.parametrize("fleet", [ARMS, GEARS], ids=["joints", "coupled"])


def test_the_fleets_here_are_of_one_kind_or_not():
    for fleet in (ARMS, GEARS):
        assert all(kinds(robot) == kinds(fleet[0]) for robot in fleet)
    mixed = relatives(ARM, 2, alike=False)
    assert any((a ^ b) & RUBS for a, b in zip(*map(kinds, mixed), strict=True))


def one_by_one(fleet: fd.Fleet, row: Quantity, values: State, lead: tuple[int, ...], **options: Any) -> tuple:
    """What the robots of a fleet give one after the other, in batches; lead: the batch axes with R as the last."""
    found = []
    for k, robot in enumerate(fleet):
        mine = {}
        for field in row.inputs[: len(values)]:
            shape = core(fleet, field)
            whole = np.broadcast_to(values[field.name], lead + shape)
            mine[field.name] = whole.reshape(-1, len(fleet), *shape)[:, k]
        found.append(computed(robot, row, mine, **options))
    return tuple(
        np.stack(results, axis=1).reshape(shape)
        for results, shape in zip(zip(*found, strict=True), shapes(fleet, row, *lead), strict=True)
    )


def allowed(fleet: fd.Fleet, row: Quantity, values: State, lead: tuple[int, ...]) -> np.ndarray:
    """(*lead,): rounding errors of each sample, 8 n eps of the terms that results are sums of.

    Accelerations solve M qdd = f: errors of M, eps |M|, act on qdd by cond(M).
    """
    found = np.empty(lead)
    for place in np.ndindex(lead):
        robot = fleet[place[-1]]
        state = {
            field.name: np.broadcast_to(values[field.name], lead + core(fleet, field))[place]
            for field in row.inputs[: len(values)]
        }
        found[place] = 8 * len(robot.joints) * EPS * result_scale(robot, row, state)
        if row.solves:
            found[place] *= np.linalg.cond(robot.mass_matrix(state["q"]))
    return found


def agree(fleet: fd.Fleet, row: Quantity, values: State, lead: tuple[int, ...], exact: bool = False) -> None:
    """A fleet's results are those of its robots: bit for bit if exact, otherwise up to rounding.

    The compiler orders some sums in another way where parameters lie on lanes.
    """
    found, expected = computed(fleet, row, values), one_by_one(fleet, row, values, lead)
    assert [each.shape for each in found] == shapes(fleet, row, *lead)
    if same(found, expected):
        return
    assert not exact
    tolerance = allowed(fleet, row, values, lead)
    for a, b in zip(found, expected, strict=True):
        error = np.abs(a - b).reshape(*lead, -1).max(axis=-1)
        assert (error <= tolerance).all(), (error / tolerance).max()


# ---------------------------------------------------------------------------------------------- the same numbers


@each_row
@on_both
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (R,),  # one state each
        (2, R),
        (2, 1, R),
        (2, 1),  # all against all
        (),  # one state for all
    ],
)
def test_a_fleet_gives_what_its_robots_give(row, fleet, optional, shape):
    agree(fleet, row, draw(fleet, row, *shape, optional=optional), (*shape[:-1], R))


@each_row
@on_both
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("shape", [(STATES, 1), (2, MANY // 2, 1)])
def test_many_states_for_all_robots_give_the_same_bits(row, fleet, optional, shape):
    """And so each robot may be of its own kind."""
    if config.DISABLE_JIT and len(shape) > 2:
        pytest.skip("takes long in plain Python")
    for each in (fleet, fd.stack(relatives(fleet[0], 3, alike=False))):
        agree(each, row, draw(each, row, *shape, optional=optional), (*shape[:-1], len(each)), exact=True)


@pytest.mark.skipif(not config.DISABLE_JIT, reason="compilers may reorder")
@each_row
@on_both
def test_in_plain_python_each_sample_gives_the_same_bits(row, fleet):
    agree(fleet, row, draw(fleet, row, 2, R, optional=True), (2, R), exact=True)


@few_rows
@on_both
def test_batch_axes_broadcast_against_robots(row, fleet):
    given = draw(fleet, row, 3, R, optional=True)
    cuts = [np.s_[:], np.s_[0], np.s_[:, :1], np.s_[0, 0], np.s_[:1]]  # (3, R), (R,), (3, 1), (), (1, R)
    for turn in range(len(cuts)):
        chosen = {name: value[cuts[(turn + k) % len(cuts)]] for k, (name, value) in enumerate(given.items())}
        leads = [chosen[f.name].shape[: chosen[f.name].ndim - len(core(fleet, f))] for f in row.inputs]
        agree(fleet, row, chosen, np.broadcast_shapes((R,), *leads))


@each_row
@pytest.mark.parametrize("robot", [ARM, GEARED], ids=["joints", "coupled"])
def test_robots_that_differ_in_kind_agree_up_to_rounding(row, robot):
    fleet = fd.stack(relatives(robot, 9, alike=False))
    agree(fleet, row, draw(fleet, row, 2, 9, optional=True), (2, 9))


@settings(max_examples=6)
@given(
    kind=st.sampled_from([*KINDS, "helical"]),
    n=st.integers(1, 9),
    count=st.sampled_from([1, 2, 3, 8, 9]),
    seed=st.integers(0, 100),
    alike=st.booleans(),
)
@each_row
def test_any_tree_will_do(row, kind, n, count, seed, alike):
    if kind == "helical":
        robot = fd.robots.random_tree(n, seed, prismatic=0.3, drives=True, helical=0.5)
    else:
        robot = any_robot(kind, n, seed, prismatic=0.3, drives=True)
    fleet = fd.stack(relatives(robot, count, seed, alike))
    agree(fleet, row, draw(fleet, row, 2, count, seed=seed, optional=True), (2, count))


def test_axes_that_are_straight_in_some_robots_only():
    """Nearly parallel axes meet too far away: such a link is not straight, and its parent has a fork."""

    def arm(angle: float) -> fd.Robot:
        turned = np.eye(4)
        turned[:3, :3], turned[:3, 3] = rotation(np.array([angle, 0, 0])), (0.1, 0.5, 0.3)
        parts = [fd.Link("base"), *(fd.Link(name, 2.0, (0.1, 0.2, 0.3), np.eye(3)) for name in "abc")]
        joints = [fd.Joint(f"j{b}", a, b, origin=turned, axis=(0, 0, 1)) for a, b in (("base", "a"), ("a", "b"))]
        return fd.Robot(parts, [*joints, fd.Joint("jc", "b", "c", origin=turned, axis=(0, 1, 0))])

    robots = [arm(1e-9), arm(1.0), arm(0.0)]
    assert len({kind & STRAIGHT for kind in (kinds(robot)[1] for robot in robots)}) == 2
    fleet = fd.stack(robots)
    for row in QUANTITIES.values():
        agree(fleet, row, draw(fleet, row, 4, 3, optional=True), (4, 3))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("shape", [(), (1,), (5, 1), (MANY, 1)])
def test_few_robots(count, shape):
    fleet = fd.stack(list(ARMS)[:count])
    for row in (INVERSE_DYNAMICS, MASS_MATRIX):
        agree(fleet, row, draw(fleet, row, *shape), (*shape[:-1], count))


@few_rows
@on_both
def test_empty_batches(row, fleet):
    for shape in ((0, R), (0, 1), (2, 0, R)):
        found = computed(fleet, row, draw(fleet, row, *shape))
        assert [each.shape for each in found] == shapes(fleet, row, *shape[:-1], R)


def test_robots_without_joints():
    fleet = fd.stack([fd.Robot([fd.Link("base", mass)], []) for mass in (1.0, 2.0)])
    assert fleet.inverse_dynamics(*np.zeros((3, 5, 2, 0))).shape == (5, 2, 0)
    assert fleet.kinetic_energy([], []).tolist() == [0.0, 0.0]


def test_results_do_not_depend_on_the_turns_of_robots(monkeypatch):
    values = draw(ARMS, INVERSE_DYNAMICS, MANY, 1)
    expected = computed(ARMS, INVERSE_DYNAMICS, values)
    monkeypatch.setattr(calls_fleet, "TURN", 16)
    assert same(computed(ARMS, INVERSE_DYNAMICS, values), expected)


@pytest.mark.parametrize("row", [INVERSE_DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX], ids=lambda row: row.name)
@on_both
def test_results_do_not_depend_on_threads(row, fleet, monkeypatch):
    for shape in ((9, R), (MANY, 1)):
        given = draw(fleet, row, *shape, optional=True)
        one = computed(fleet, row, given)
        with monkeypatch.context() as patch:
            taken = watch_helpers(patch)
            assert same(computed(copy.copy(fleet), row, given, threads=2), one)
            assert taken  # by helper threads


def test_two_robots_with_many_states_use_two_threads(monkeypatch):
    fleet = fd.stack(list(ARMS)[:2])
    values = draw(fleet, BIAS_FORCES, 4 * MANY, 1)
    one = computed(fleet, BIAS_FORCES, values)
    taken = watch_helpers(monkeypatch)
    monkeypatch.setattr(calls_fleet, "TURN", 16)
    assert same(computed(copy.copy(fleet), BIAS_FORCES, values, threads=2), one)
    assert taken


@pytest.mark.parametrize("row", [INVERSE_DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX], ids=lambda row: row.name)
@on_both
def test_single_precision(row, fleet):
    """What robots give in single precision, up to its rounding."""
    for shape in ((3, R), (MANY, 1)):
        lead, values = (shape[0], R), draw(fleet, row, *shape, optional=True)
        found = computed(fleet, row, values, dtype=np.float32)
        expected = one_by_one(fleet, row, values, lead, dtype=np.float32)
        tolerance = allowed(fleet, row, values, lead) * (np.finfo(np.float32).eps / EPS)
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == np.float32
            assert (np.abs(a - b).reshape(*lead, -1).max(axis=-1) <= tolerance).all()


# ---------------------------------------------------------------------------------------------- arrays


@few_rows
@pytest.mark.parametrize("shape", [(3, R), (MANY, 1)])
def test_out_of_any_layout(row, shape):
    given = draw(ARMS, row, *shape)
    expected = computed(ARMS, row, given)
    for make in (np.empty_like, lambda a: np.empty(a.shape, order="F"), lambda a: np.empty((*a.shape, 2))[..., 0]):
        out = tuple(make(each) for each in expected)
        for array in out:
            array[...] = np.nan
        found = computed(ARMS, row, given, out=out)
        assert all(a is b for a, b in zip(found, out, strict=True))
        assert same(out, expected)


def test_out_may_be_an_input():
    for shape in ((R,), (MANY, R)):
        q, qd, qdd = draw(ARMS, INVERSE_DYNAMICS, *shape).values()
        expected = ARMS.inverse_dynamics(q, qd, qdd)
        assert ARMS.inverse_dynamics(q, qd, qdd, out=qdd) is qdd
        assert np.array_equal(qdd, expected)


@pytest.mark.parametrize("shape", [(3, R), (MANY, 1)])
def test_arrays_of_any_strides_and_types(shape):
    row = INVERSE_DYNAMICS
    forms = {name: layouts(np.abs(np.round(value))) for name, value in draw(ARMS, row, *shape).items()}
    expected = computed(ARMS, row, {name: each["float64"] for name, each in forms.items()})
    for form in forms["q"]:
        assert same(computed(ARMS, row, {name: each[form] for name, each in forms.items()}), expected), form
    given = {name: np.asfortranarray(each["float64"]) for name, each in forms.items()}
    assert same(computed(ARMS, row, given), expected)


def test_wrenches_by_name_act_on_each_robots_own_frames():
    rng = np.random.default_rng(5)
    poses = [fd.pose(rng.normal(size=3), rng.normal(size=3)) for _ in range(R)]
    tip = ARM.links[-1].name
    fleet = fd.stack(robot.with_tool(pose=pose, link=tip) for robot, pose in zip(ARMS, poses, strict=True))
    for shape, of_robot in {
        (6,): lambda wrench, k: wrench,
        (R, 6): lambda wrench, k: wrench[k],
        (3, R, 6): lambda wrench, k: wrench[:, k],
        (3, 1, 6): lambda wrench, k: wrench[:, 0],
    }.items():
        wrenches = {"tool": rng.normal(size=shape), ARM.links[0].name: rng.normal(size=6)}
        state = draw(fleet, INVERSE_DYNAMICS, 3, R).values()
        found = fleet.inverse_dynamics(*state, wrenches)
        forces = {**draw(fleet, INVERSE_DYNAMICS, 3, R), "wrenches": fleet._wrenches(wrenches)}
        tolerance = allowed(fleet, INVERSE_DYNAMICS, forces, (3, R))
        for k, robot in enumerate(fleet):
            mine = {**wrenches, "tool": of_robot(wrenches["tool"], k)}
            alone = robot.inverse_dynamics(*(x[:, k] for x in state), mine)
            np.testing.assert_allclose(found[:, k], alone, rtol=0, atol=tolerance[:, k].max())
    assert np.array_equal(fleet.inverse_dynamics(*state, {}), fleet.inverse_dynamics(*state, np.zeros((ARM.n, 6))))


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, ARM.n), r"q has shape \(3, 7\), but there are 11 robots: expected \(..., 11, 7\), one state for each, or"),
        ((R, 3, ARM.n), r"q has shape \(11, 3, 7\), but there are 11 robots"),
        ((0, ARM.n), r"q has shape \(0, 7\), but there are 11 robots"),
        ((R, 3), r"q has shape \(11, 3\), but a fleet of .* has 7 joints: expected \(..., 7\)"),
    ],
)
def test_shapes_that_do_not_fit_the_robots(shape, message):
    with pytest.raises(fd.ArgumentError, match=message):
        ARMS.gravity_forces(np.zeros(shape))


def test_axes_that_do_not_fit_together():
    with pytest.raises(fd.ArgumentError, match=r"batch axes.*q \(2, 11, 7\), qd \(3, 11, 7\)"):
        ARMS.bias_forces(np.zeros((2, R, ARM.n)), np.zeros((3, R, ARM.n)))
    with pytest.raises(fd.ArgumentError, match=r"out has shape \(7,\): expected \(11, 7\)"):
        ARMS.gravity_forces(np.zeros(ARM.n), out=np.empty(ARM.n))


@pytest.mark.parametrize(
    ("wrenches", "message"),
    [
        ({"link1": np.zeros((3, 6))}, r"wrenches\['link1'\] has shape \(3, 6\), but there are 11 robots"),
        ({"link1": np.zeros((R, 5))}, r"wrenches\['link1'\] has shape \(11, 5\), but a wrench has 6 components"),
        ({"hand": np.zeros(6)}, "wrenches names 'hand', which is no link of"),
        ({"link1": np.full((R, 6), np.inf)}, r"wrenches\['link1'\].* is inf: expected finite numbers"),
        ({"link1": np.ma.zeros((R, 6))}, r"wrenches\['link1'\] is a masked array"),
        (
            np.zeros((3, ARM.n, 6)),
            r"wrenches has shape \(3, 7, 6\), but there are 11 robots: expected \(..., 11, 7, 6\)",
        ),
    ],
)
def test_wrenches_that_are_refused(wrenches, message):
    with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError), match=message):
        ARMS.inverse_dynamics(*np.zeros((3, ARM.n)), wrenches)


@pytest.mark.parametrize(
    ("shape", "place", "named"),
    [((4, R), (2, 5), "2, 5"), ((MANY, 1), (37, 0), "37, 0"), ((R,), (10,), "10"), ((), (), "")],
)
def test_a_sample_that_is_not_finite_is_named(shape, place, named):
    q = np.zeros((*shape, ARM.n))
    q[(*place, 3)] = np.nan
    with pytest.raises(fd.NotFiniteError, match=rf"q\[{named}{', ' * bool(named)}3\] is nan"):
        ARMS.gravity_forces(q)


@pytest.mark.parametrize("shape", [(2, R), (MANY, 1)])
def test_a_result_out_of_range_is_named(shape):
    q, qd = np.zeros((2, *shape, ARM.n))
    qd[-1, -1] = 1e200  # its square is beyond float64
    robot = "10" if shape[1] == R else "0"  # the same states for all: the first robot fails
    with pytest.raises(fd.NotFiniteError, match=rf"sample {shape[0] - 1}, {robot} \(robot {robot} of the fleet\)"):
        ARMS.bias_forces(q, qd)


@pytest.mark.parametrize("method", ["aba", "crba"])
@pytest.mark.parametrize("shape", [(), (3,), (4, 3), (MANY, 1)])
@pytest.mark.parametrize("coupled", [False, True])
def test_a_singular_robot_is_named(method, shape, coupled):
    arm: Any = fd.robots.two_link()
    arm = arm.coupled([[1, 0], [-1, 1]]) if coupled else arm
    fleet = arm.vary(mass={"link2": [1.0, 2.0, 0.0]}, inertia={"link2": np.zeros((3, 3))})
    sample = ", ".join(["0"] * max(0, len(shape) - 1) + ["2"])
    unit = "coordinate 'phi2'" if coupled else "joint 'joint2'"
    message = rf"sample {sample} \(robot 2 of the fleet\): two_link has a singular mass matrix: {unit} moves no inertia"
    with pytest.raises(fd.SingularMassMatrixError, match=message):
        fleet.forward_dynamics(*np.full((3, *shape, 2), 0.1), method=method)


def test_singular_coupled_robots_are_found_beside_light_ones():
    """Thresholds are those of the heaviest robot: rounding errors of its inertia are larger than what others have."""
    links = [fd.Link("base"), fd.Link("a", 1.0, (0.3, 0, 0)), fd.Link("b")]
    joints = [fd.Joint("j1", "base", "a"), fd.Joint("j2", "a", "b")]
    for gain in np.linspace(0.1, 2.9, 29):
        arm = fd.Robot(links, joints).coupled([[1, gain], [0, 1]])
        fleet = arm.vary(mass={"a": [1e-9, 1e3], "b": [1e-9, 0.0]}, com={"b": (0.1, 0, 0)})
        with pytest.raises(fd.SingularMassMatrixError, match="robot 1 of the fleet"):
            fleet.forward_dynamics(*np.full((3, 2), 0.1))


def test_what_is_singular_only_beside_the_others_is_said():
    """Inertias of coupled robots that differ by more than float64 has digits."""
    arm = fd.robots.two_link(g=0.0).coupled([[1, 0], [-1, 1]])
    fleet = arm.vary(mass={"link1": [1.0, 1e20], "link2": [1.0, 1e20]}, inertia={"link2": np.zeros((3, 3))})
    with pytest.raises(fd.SingularMassMatrixError, match="robots 0 to 1, has a mass matrix that is singular beside"):
        fleet.forward_dynamics(*np.full((3, 2), 0.1))


def test_a_robot_without_mass_has_no_centre_of_mass():
    fleet = fd.robots.two_link().vary(mass={"link1": [1.0, 0.0], "link2": [1.0, 0.0]}, inertia={
        "link1": np.zeros((3, 3)), "link2": np.zeros((3, 3))})  # fmt: skip
    for call in (lambda: fleet.center_of_mass([0, 0]), lambda: fleet.momentum([0, 0], [1, 1])):
        with pytest.raises(fd.ArgumentError, match=r"robot 1 of <Fleet of 2.*has no centre of mass"):
            call()


@pytest.mark.parametrize("threads", [0, 1.5, True])
@pytest.mark.parametrize("shape", [(R,), (MANY, 1), (0, R)])
def test_threads_are_checked(threads, shape):
    with pytest.raises(fd.ArgumentError, match="threads is"):
        ARMS.gravity_forces(np.zeros((*shape, ARM.n)), threads=threads)


TWO = fd.robots.two_link()
SLIDING = changed(TWO, joints=[TWO.all_joints[0], replace(TWO.all_joints[1], kind="prismatic")])
FORKED = changed(TWO, joints=[TWO.all_joints[0], replace(TWO.all_joints[1], parent="base")])


@pytest.mark.parametrize(
    ("robots", "message"),
    [
        ([], "robots: expected at least one, found none"),
        ([TWO, "two_link"], r"robots\[1\]: expected a robot, found 'two_link'"),
        ([TWO, fd.stack([TWO])], r"robots\[1\]: expected a robot, found <Fleet of 1"),
        ([TWO, fd.robots.rrt()], r"robots\[1\], 'rrt', joints: expected RR as of robots\[0\], found RRP"),
        ([TWO, TWO, SLIDING], r"robots\[2\], 'two_link', joints: expected RR as of robots\[0\], found RP"),
        ([TWO, FORKED], r"parents of its joints: expected \[-1, 0\] as of robots\[0\], found \[-1, -1\]"),
        ([TWO, TWO.coupled([[1, 0], [0, 2]])], r"robots\[1\], 'two_link': expected the coupling of robots\[0\]"),
        ([TWO.coupled([[1], [1]]), TWO.coupled([[1], [2]])], "expected the coupling of"),
    ],
)
def test_robots_that_do_not_go_together(robots, message):
    with pytest.raises(fd.RobotError, match=message):
        fd.stack(robots)


# ---------------------------------------------------------------------------------------------- objects


def test_a_fleet_is_a_sequence_of_its_robots():
    robots = [TWO, TWO.with_payload(1.0)]
    fleet = fd.stack(iter(robots))
    assert (len(fleet), fleet[1], list(fleet), fleet.n, fleet.name) == (2, robots[1], robots, 2, "two_link")
    assert repr(fleet) == "<Fleet of 2: <Robot 'two_link': 2 joints RR, 2 kg moving>, ...>"
    assert repr(fd.stack([TWO])) == "<Fleet of 1: <Robot 'two_link': 2 joints RR, 2 kg moving>>"


@on_both
def test_copies_compute_the_same(fleet):
    values = draw(fleet, INVERSE_DYNAMICS, 2, R)
    expected = computed(fleet, INVERSE_DYNAMICS, values)
    for again in (copy.copy(fleet), copy.deepcopy(fleet), pickle.loads(pickle.dumps(fleet))):
        assert again == fleet
        assert hash(again) == hash(fleet)
        assert same(computed(again, INVERSE_DYNAMICS, values), expected)
        with pytest.raises(AttributeError):
            again.robots = ()


def test_fleets_are_equal_by_value():
    assert TWO.vary(payload=[0.0, 1.0]) == fd.stack([TWO.with_payload(0.0), TWO.with_payload(1.0)])
    assert TWO.vary(payload=[0.0, 1.0]) != TWO.vary(payload=[1.0, 0.0])
    assert fd.stack([TWO]) != TWO


def test_a_fleet_cannot_be_changed():
    fleet = fd.stack([TWO])
    for name in ("robots", "description", "color"):
        with pytest.raises(
            AttributeError, match=f"a Fleet cannot be changed: make a new one instead of setting '{name}'"
        ):
            setattr(fleet, name, None)
    with pytest.raises(AttributeError, match="a Fleet cannot be changed: 'robots' stays"):
        del fleet.robots
    fleet.gravity_forces([0.1, 0.2])
    assert not any(isinstance(a, np.ndarray) and a.flags.writeable for a in fleet.parameters.constants)


@compiled
def test_after_warmup_of_a_fleet_nothing_compiles():
    def so_far() -> list[int]:
        return [*compiled_so_far(), len(generate.fleet(JOINT_REACTIONS, False).dispatcher.overloads)]

    fd.warmup(ARMS, ["joint_reactions"])
    before = so_far()
    for shape in ((), (R,), (3, R), (MANY, 1)):
        computed(ARMS, JOINT_REACTIONS, draw(ARMS, JOINT_REACTIONS, *shape, optional=True))
    assert so_far() == before


def test_a_fleet_in_plain_python_can_be_warmed_up():
    fd.warmup(fd.stack([TWO, TWO]), ["gravity_forces"], dtype=np.float32)
