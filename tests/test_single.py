"""Single precision: the same kernels on lanes of 16 floats, with the error that float32 allows."""

from __future__ import annotations

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.quantities import QUANTITIES
from fastdyn.scalars import SINGLE_LANES, SINGLE_SINCOS_RANGE
from tests.samples import computed, draw, each_row, geared, on_both, part, same, shapes

EPS = np.finfo(np.float32).eps
ROBOTS = [
    fd.robots.random_chain(6, 1),
    fd.robots.random_chain(7, 2, prismatic=0.4, drives=True),
    fd.robots.random_tree(13, 3, prismatic=0.3, drives=True),
    fd.robots.random_chain(24, 4),
    geared(9, 6, 1),
]
each_robot = pytest.mark.parametrize("robot", ROBOTS, ids=repr)
DIRECT = {name: row for name, row in QUANTITIES.items() if not row.solves}
SOLVING = {name: row for name, row in QUANTITIES.items() if row.solves}


def rounded(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same numbers in both precisions."""
    return {name: value.astype(np.float32).astype(np.float64) for name, value in values.items()}


def states(robot: fd.Robot, count: int = 70) -> list[np.ndarray]:
    """q, qd, qdd that are the same in both precisions."""
    drawn = np.random.default_rng(robot.n).uniform(-2, 2, (3, count, robot.n))
    return [x.astype(np.float32).astype(np.float64) for x in drawn]


@each_robot
@pytest.mark.parametrize("row", DIRECT.values(), ids=DIRECT)
@pytest.mark.parametrize("optional", [False, True])
def test_single_precision_agrees_with_double_to_its_own_rounding(robot, row, optional) -> None:
    given = rounded(draw(robot, row, 70, optional=optional))
    exact = computed(robot, row, given)
    for single, double in zip(computed(robot, row, given, dtype=np.float32), exact, strict=True):
        assert single.dtype == np.float32
        # n links, a few roundings each, against the largest value of all samples: terms may cancel in a single one
        assert np.abs(single - double).max() <= 4 * len(robot.joints) * EPS * np.abs(double).max()


@each_robot
@pytest.mark.parametrize("row", SOLVING.values(), ids=SOLVING)
def test_forward_dynamics_in_single_precision_loses_what_the_mass_matrix_is_ill_conditioned(robot, row) -> None:
    q, qd, qdd = states(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    (found,) = computed(robot, row, {"q": q, "qd": qd, "tau": tau}, dtype=np.float32)
    assert found.dtype == np.float32
    condition = np.linalg.cond(robot.mass_matrix(q))
    error = np.abs(found - qdd).max(axis=1) / np.abs(qdd).max(axis=1)
    # tau itself is rounded to float32, which cond(M) magnifies; forces larger than M qdd, too
    forces = np.abs(tau).max(axis=1) / np.abs((robot.mass_matrix(q) @ qdd[..., None])[..., 0]).max(axis=1)
    assert (error <= 4 * EPS * condition * np.maximum(forces, 1)).all()


@on_both
@each_row
def test_results_of_every_quantity_have_the_shapes_and_bits_of_their_batch(robot, row) -> None:
    given = {name: value.astype(np.float32) for name, value in draw(robot, row, 40, optional=True).items()}
    whole = computed(robot, row, given, dtype=np.float32)
    assert [array.shape for array in whole] == shapes(robot, row, 40)
    assert {array.dtype for array in whole} == {np.dtype(np.float32)}
    for cut in (np.s_[:0], np.s_[3:4], np.s_[5:22], np.s_[::-1]):
        assert same(computed(robot, row, part(given, cut), dtype=np.float32), part(whole, cut))
    alone = computed(robot, row, part(given, 7), dtype="float32")
    assert same(alone, part(whole, 7))
    assert {np.asarray(array).dtype for array in alone} == {np.dtype(np.float32)}
    out = tuple(np.empty_like(array) for array in whole)
    assert all(a is b for a, b in zip(computed(robot, row, given, dtype=np.float32, out=out), out, strict=True))
    assert same(out, whole)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 40])
def test_single_precision_results_do_not_depend_on_the_batch(count: int) -> None:
    robot = ROBOTS[2]
    q, qd, qdd = (x.astype(np.float32) for x in states(robot, 64))
    whole = robot.inverse_dynamics(q, qd, qdd, dtype=np.float32)
    part = robot.inverse_dynamics(q[3 : 3 + count], qd[3 : 3 + count], qdd[3 : 3 + count], dtype=np.float32)
    assert np.array_equal(part, whole[3 : 3 + count])


def test_one_state_in_single_precision_equals_its_row_in_a_batch() -> None:
    robot = ROBOTS[0]
    q, qd, qdd = states(robot)
    batch = robot.inverse_dynamics(q, qd, qdd, dtype=np.float32)
    assert np.array_equal(robot.inverse_dynamics(q[5], qd[5], qdd[5], dtype="float32"), batch[5])


def test_angles_beyond_the_range_of_the_polynomial_are_right_and_disturb_nobody() -> None:
    robot = fd.robots.two_link(g=10.0)
    q = np.zeros((SINGLE_LANES, 2), dtype=np.float32)
    q[3, 0] = 3 * SINGLE_SINCOS_RANGE
    tau = robot.gravity_forces(q, dtype=np.float32)
    exact = robot.gravity_forces(q.astype(np.float64))
    assert np.abs(tau - exact).max() <= 8 * EPS * np.abs(exact).max()
    assert np.array_equal(
        np.delete(tau, 3, axis=0), np.delete(robot.gravity_forces(0 * q, dtype=np.float32), 3, axis=0)
    )


def test_well_formed_single_arrays_and_out_are_used_as_they_are() -> None:
    robot = ROBOTS[0]
    q, qd, qdd = (x.astype(np.float32) for x in states(robot))
    out = np.empty_like(q)
    assert robot.inverse_dynamics(q, qd, qdd, dtype=np.float32, out=out) is out
    with pytest.raises(fd.ArgumentTypeError, match="out has dtype float64: expected float32"):
        robot.inverse_dynamics(q, qd, qdd, dtype=np.float32, out=np.empty(q.shape))


def test_what_single_precision_cannot_hold_is_refused_by_name() -> None:
    robot = ROBOTS[0]
    q, qd, qdd = states(robot)
    qd[4, 2] = 1e300
    with pytest.raises(fd.NotFiniteError, match=r"qd\[4, 2\] is inf"):
        robot.inverse_dynamics(q, qd, qdd, dtype=np.float32)
    qd[4, 2] = 1e30
    with pytest.raises(fd.NotFiniteError, match="beyond the range of float32"):
        robot.inverse_dynamics(q, qd, qdd, dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.float16, int, complex, "nonsense"])
def test_other_precisions_are_refused(dtype) -> None:
    with pytest.raises(fd.ArgumentError, match="expected float64 or float32"):
        ROBOTS[0].gravity_forces(np.zeros(6), dtype=dtype)
