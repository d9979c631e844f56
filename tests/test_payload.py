"""Payloads are cheap: a new robot's model follows from the old one's, a bound robot's is changed in place.

Both must be what a robot that is built from its description has: a copy of a robot is built so.
"""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

import fastdyn as fd
from fastdyn import robot as robot_module
from fastdyn.calls.bound import call_name
from fastdyn.inertia import box
from fastdyn.kernels import rows as r
from fastdyn.quantities import QUANTITIES
from tests.samples import EPS, FEW, GEARED, bound, changed, computed, draw, each_row, geared, result_scale
from tests.test_bound import counters, repeated  # noqa: F401
from tests.test_oracle import random_body, random_pose, with_fixed_links

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="bound calls are machine code")
BODY = (1.7, (0.05, -0.1, 0.2), box(1.7, 0.1, 0.2, 0.3))


def tree(n: int, seed: int) -> fd.Robot:
    """Revolute, prismatic and helical joints, links fixed to others, drives, a mount."""
    rng = np.random.default_rng([n, seed])
    return with_fixed_links(fd.robots.random_tree(n, seed, prismatic=0.3, drives=True, helical=0.2), rng)


TREE = tree(7, 1)
COUPLED = tree(6, 2).coupled(
    np.vstack([np.eye(4), [[0, 1, 0, 0], [0.5, 0, -2, 0]]]), motors=[None, fd.Motor(0.2, 3.0, 0.1, 0.2), None, None]
)


def same_model(found: Any, robot: Any) -> None:
    """The model of a robot up to rounding, of the size of all moments about points as far off as the robot is long."""
    built = copy.deepcopy(robot)  # from the description
    expected, n = built.model, built.model.n
    length = 1 + sum(np.linalg.norm(expected.P[r.PX : r.PZ + 1], axis=0)) + np.abs(expected.P[r.EX : r.EZ + 1]).max()
    length += max(float(np.linalg.norm(link.com)) for link in robot.all_links)
    size = sum(link.mass * length**2 + np.abs(link.inertia).max() for link in robot.all_links)
    others = np.arange(r.ROWS) != r.SMALLEST
    assert np.array_equal(found.tree, expected.tree)
    tolerance = 50 * n * EPS * (size + np.linalg.norm(robot.gravity) * length)
    np.testing.assert_allclose(found.P[others], expected.P[others], rtol=0, atol=tolerance)
    # a threshold is an upper bound, and sums of bounds are bounds
    assert (found.P[r.SMALLEST] >= expected.P[r.SMALLEST] * (1 - 1e-9)).all()
    assert (found.P[r.SMALLEST] <= expected.P[r.SMALLEST] * 10).all()
    assert not found.P.flags.writeable
    assert not found.tree.flags.writeable


# ---------------------------------------------------------------------------------------------- new robots


@given(n=st.integers(1, 9), seed=st.integers(0, 1000), link=st.integers(0, 100))
def test_a_payload_on_any_link_changes_the_model_as_building_it_does(n, seed, link):
    rng = np.random.default_rng(seed)
    robot = tree(n, seed)
    for _ in range(3):  # payload after payload
        body = random_body("payload", rng)
        name = robot.all_links[link % len(robot.all_links)].name
        robot, link = robot.with_payload(body.mass, body.com, body.inertia, name), link + 5
        same_model(robot.model, robot)
    G = rng.normal(size=(n, max(1, n - 2)))
    coupled = robot.coupled(G).with_payload(2.0, (0.1, 0, 0), link=robot.links[-1].name)
    same_model(coupled.model, coupled)
    expected = copy.deepcopy(coupled).parameters
    for found, built in zip(coupled.parameters.constants[2:], expected.constants[2:], strict=True):
        assert found.shape == built.shape
        np.testing.assert_allclose(found[:6], built[:6], rtol=1e-12)


@given(n=st.integers(1, 6), seed=st.integers(0, 1000))
def test_tools_gravity_and_mount_change_the_model_as_building_it_does(n, seed):
    rng = np.random.default_rng(seed)
    robot, link = tree(n, seed), f"link{rng.integers(1, n + 1)}"
    held = robot.with_tool(*BODY, pose=random_pose(rng), name="drill", link=link)
    again = held.with_tool(*BODY, pose=random_pose(rng), name="bit", link="drill")
    moved = again.with_gravity(rng.normal(size=3)).with_mount(random_pose(rng)).with_payload(1.0, link="bit")
    for each in (held, again, moved, moved.with_gravity((0, 0, 0))):
        same_model(each.model, each)
        for name, (carrier, where) in copy.deepcopy(each).carriers.items():
            assert each.carriers[name][0] == carrier
            np.testing.assert_allclose(each.carriers[name][1], where, rtol=0, atol=1e-14)
            assert not each.carriers[name][1].flags.writeable


@each_row
@pytest.mark.parametrize("robot", [TREE, GEARED], ids=repr)
def test_quantities_are_those_of_a_robot_built_with_the_payload(row, robot):
    loaded = robot.with_payload(*BODY, link=robot.links[-1].name)
    built, values = copy.deepcopy(loaded), draw(loaded, row)
    tolerance = 100 * len(robot.joints) * EPS * result_scale(built, row, values)
    for found, expected in zip(computed(loaded, row, values), computed(built, row, values), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_variations_build_no_model(monkeypatch):
    robots = [fd.robots.puma560(), geared(5, 3)]
    for robot in robots:
        robot.model  # noqa: B018
    monkeypatch.setattr(robot_module, "build", None)
    for robot in robots:
        name, zero = robot.links[-1].name, np.zeros(robot.n)
        for varied in (
            robot.with_payload(*BODY, link=name),
            robot.with_tool(*BODY, link=name).with_payload(1.0, link="tool"),
            robot.with_gravity((1, 2, 3)),
            robot.with_mount(np.eye(4)),
        ):
            assert np.isfinite(varied.inverse_dynamics(zero, zero, zero)).all()


def test_a_payload_shows_in_all_that_is_printed_written_and_copied():
    arm = fd.robots.puma560()
    loaded = arm.with_payload(2.5)
    assert arm.links[-1].mass + 2.5 == loaded.links[-1].mass
    assert abs(arm.moving_mass + 2.5 - loaded.moving_mass) < 1e-12
    assert f"{loaded.moving_mass:.6g} kg moving" in repr(loaded)
    for other in (fd.from_toml(loaded.to_toml()), pickle.loads(pickle.dumps(loaded))):
        assert [link.mass for link in other.all_links] == [link.mass for link in loaded.all_links]
        same_model(loaded.model, other)
    assert repr(arm) == repr(fd.robots.puma560())


def test_a_payload_on_a_link_that_no_real_body_can_be():
    """As files have it: only a link's own doubts are reported, and a payload does not make them errors."""
    arm = fd.robots.two_link()
    odd = fd.Link("link2", 1.0, (0.5, 0, 0), np.diag([0.1, -0.2, 0.1]), as_found=True)
    arm = changed(arm, links=[odd if link.name == "link2" else link for link in arm.all_links], strict=None)
    loaded = arm.with_payload(1.0, (0.5, 0, 0))
    assert np.array_equal(loaded.links[-1].inertia, odd.inertia)
    assert "link2" in loaded.doubts()


# ---------------------------------------------------------------------------------------------- bound robots


def agree(loop: Any, robot: Any, rows: Any) -> None:
    """The bound robot's results are those of a robot, up to rounding."""
    for row in rows:
        values = draw(robot, row)
        for field in row.optional:  # may hold the result of the row before
            getattr(loop, field.name)[...] = 0.0
        for name, value in values.items():
            getattr(loop, name)[...] = value
        assert getattr(loop, call_name(row))() == 0
        tolerance = 100 * len(robot.joints) * EPS * result_scale(robot, row, values)
        for field, expected in zip(row.gives, computed(robot, row, values), strict=True):
            np.testing.assert_allclose(getattr(loop, field.name), expected, rtol=0, atol=tolerance, err_msg=row.name)


@compiled
@pytest.mark.parametrize("robot", [TREE, COUPLED, GEARED], ids=repr)
def test_quantities_of_a_bound_robot_are_those_with_payloads(robot):
    loop = bound(robot, *FEW)
    for name in (robot.links[-1].name, robot.all_links[-1].name, robot.links[0].name, robot.base.name):
        loop.payload(*BODY, link=name)
        agree(loop, robot.with_payload(*BODY, link=name), FEW.values())


@compiled
@pytest.mark.parametrize("robot", [TREE, COUPLED], ids=repr)
def test_a_payload_replaces_the_one_before_and_none_leaves_no_bit_behind(robot):
    loop, rows = robot.bind("inverse_dynamics", "mass_matrix"), [QUANTITIES["inverse_dynamics"]]
    model = loop.workspace[: (loop.q.ctypes.data - loop.address) // 8]
    before, rng = model.tobytes(), np.random.default_rng(0)
    for link in robot.all_links:
        body = random_body("payload", rng)
        for com, inertia in (body.com, body.inertia), (body.com.tolist(), body.inertia.tolist()):
            loop.payload(body.mass, com, inertia, link.name)
            agree(loop, robot.with_payload(body.mass, com, inertia, link.name), rows)
    loop.payload(0.0, link=robot.links[0].name)
    assert model.tobytes() == before


@compiled
def test_without_a_name_the_payload_is_on_the_tip():
    arm = fd.robots.puma560()
    loop = arm.bind("gravity_forces")
    loop.payload(2)
    agree(loop, arm.with_payload(2), [QUANTITIES["gravity_forces"]])
    other = copy.copy(loop)
    agree(other, arm.with_payload(2), [QUANTITIES["gravity_forces"]])
    other.payload(np.float32(0.5), np.array([0, 0, 1]))
    agree(other, arm.with_payload(0.5, (0, 0, 1)), [QUANTITIES["gravity_forces"]])
    agree(loop, arm.with_payload(2), [QUANTITIES["gravity_forces"]])


WRONG: list[tuple[Any, ...]] = [
    (-1.0,), (np.nan,), (np.inf,), ("heavy",), (None,),
    (1.0, (0, 0)), (1.0, 5), (1.0, (0, 0, np.nan)), (1.0, (0, 0, "x")), (1.0, [[0, 0, 0]]),
    (1.0, (0, 0, 0), np.eye(2)), (1.0, (0, 0, 0), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
    (1.0, (0, 0, 0), np.diag([1.0, 1.0, -1.0])), (1.0, (0, 0, 0), np.diag([1.0, 1.0, np.nan])),
    (1.0, (0, 0, 0), np.full((3, 3), np.inf)),
    (1.0, (0, 0, 0), None, "nowhere"), (1.0, (0, 0, 0), None, ["link1"]),
]  # fmt: skip


@compiled
@pytest.mark.parametrize("given", WRONG, ids=repr)
def test_what_is_no_payload_is_refused_as_with_payload_refuses_it(given):
    arm = fd.robots.puma560()
    loop = arm.bind("gravity_forces")
    loop.payload(1.0)
    kept = loop.workspace.copy()
    with pytest.raises(fd.FastdynError) as expected:
        arm.with_payload(*given)
    with pytest.raises(type(expected.value)) as found:
        loop.payload(*given)
    assert str(found.value) == str(expected.value)
    assert loop.workspace.tobytes() == kept.tobytes()


@compiled
def test_payloads_that_no_real_body_can_be_are_warned_of():
    arm = fd.robots.two_link()
    loop, rows = arm.bind("mass_matrix"), [QUANTITIES["mass_matrix"]]
    for _ in range(2):
        with pytest.warns(fd.RobotWarning, match="the largest exceeds the sum of the others"):
            loop.payload(1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0]))
        with pytest.warns(fd.RobotWarning, match="but no mass"):
            loop.payload(0.0, (0, 0, 0), np.eye(3))
    with pytest.warns(fd.RobotWarning):
        agree(loop, arm.with_payload(0.0, (0, 0, 0), np.eye(3)), rows)


@compiled
@pytest.mark.parametrize("coupled", [False, True])
def test_thresholds_of_singularity_grow_with_the_payload(coupled):
    """A joint that moves nothing is singular, one that moves a payload is not, however small the payload is."""
    links = [fd.Link("base"), fd.Link("upper", 1.0, (0.2, 0, 0)), fd.Link("tip")]
    joints = [fd.Joint("shoulder", "base", "upper"), fd.Joint("wrist", "upper", "tip", axis=(1, 0, 0))]
    arm: Any = fd.Robot(links, joints, strict=None)
    arm = arm.coupled(np.eye(2)) if coupled else arm
    loop = arm.bind("forward_dynamics")
    assert loop.forward_dynamics() >= 2
    for mass in (1.0, 1e-6, 1e6):
        loop.payload(mass, (0, 0.3, 0))
        assert loop.forward_dynamics() == 0
        agree(loop, arm.with_payload(mass, (0, 0.3, 0)), [QUANTITIES["forward_dynamics"]])
        loop.payload(mass, (0.3, 0, 0))  # on the wrist's own axis, up to rounding
        assert loop.forward_dynamics() >= 2
    loop.payload(0.0)
    assert loop.forward_dynamics() >= 2


@compiled
@pytest.mark.parametrize("robot", [fd.robots.puma560(), GEARED], ids=repr)
@pytest.mark.parametrize("inertia", [None, np.diag([0.1, 0.1, 0.1])], ids=["point mass", "body"])
def test_setting_a_payload_allocates_nothing(robot, inertia, counters: Callable[[], Any]):  # noqa: F811
    loop, link = robot.bind("gravity_forces"), robot.links[-1].name
    calls = [lambda: loop.payload(1.0, (0.1, 0.2, 0.3), inertia, link), lambda: loop.payload(0.0, link=link)]
    for call in calls:
        repeated(call, 100)
        gc.collect()
        before = counters()
        repeated(call, 20_000)
        after = counters()
        assert after[0] == before[0]
        assert after[1] - before[1] < 10  # the figures themselves
        tracemalloc.start()
        try:
            repeated(call, 100)
            start = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            repeated(call, 1000)
            now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert now - start < 500
        assert peak - start < 2000  # frames, numbers, and views of the rows of an inertia that is an array
