"""Single precision: the same kernels on lanes of 16 floats, with the error that float32 allows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.scalars import SINGLE_LANES, SINGLE_SINCOS_RANGE
from tests.samples import KINDS, any_robot, computed, draw, each_row, geared, on_both, part, result_scale, same, shapes

EPS, TINY = np.finfo(np.float32).eps, np.finfo(float).tiny
ROBOTS = [
    fd.robots.random_chain(1, 5),
    fd.robots.random_chain(2, 6, drives=True),
    fd.robots.random_chain(6, 1),
    fd.robots.random_chain(7, 2, prismatic=0.4, drives=True),
    fd.robots.random_tree(13, 3, prismatic=0.3, drives=True),
    fd.robots.random_chain(24, 4),
    geared(9, 6, 1),
]
each_robot = pytest.mark.parametrize("robot", ROBOTS, ids=repr)


def rounded(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same numbers in both precisions."""
    return {name: value.astype(np.float32).astype(np.float64) for name, value in values.items()}


def states(robot: fd.Robot, count: int = 70) -> list[np.ndarray]:
    """q, qd, qdd that are the same in both precisions."""
    drawn = np.random.default_rng(robot.n).uniform(-2, 2, (3, count, robot.n))
    return [x.astype(np.float32).astype(np.float64) for x in drawn]


def worst_errors(robot, row, given: dict[str, np.ndarray]) -> tuple[float, float, float]:
    """The largest error: over what is allowed, in eps of the terms, and in eps of the largest result of the batch.

    An angle is off by 5 eps at most: its offset's own rounding (1), whole turns (2), the sum (2). A link's parameters
    and arithmetic add some more: 4, where two results in double precision may differ by 8 (tests/test_identities.py).
    The errors of n links have either sign and add up like the square root of n. All of it is eps of the terms that are
    summed, which forward dynamics multiplies by M^-1; of the result it may be more, because terms cancel.
    """
    count = len(given["q"])
    scale = np.array([result_scale(robot, row, part(given, k)) for k in range(count)])
    allowed = (5 + 4) * np.sqrt(len(robot.joints))
    found = []
    for single, double in zip(computed(robot, row, given, dtype=np.float32), computed(robot, row, given), strict=True):
        assert single.dtype == np.float32
        errors = np.abs(single - double).reshape(count, -1).max(axis=1) / EPS
        of_terms = (errors / scale).max()
        found.append((of_terms / allowed, of_terms, errors.max() / (np.abs(double).max() + TINY)))
    return max(found)


@each_robot
@each_row
@pytest.mark.parametrize("optional", [False, True])
def test_single_precision_agrees_with_double_to_its_own_rounding(robot, row, optional) -> None:
    assert worst_errors(robot, row, rounded(draw(robot, row, 20, optional=optional)))[0] <= 1


@pytest.mark.parametrize("largest", [3.0, 300.0, SINGLE_SINCOS_RANGE, 1e5])
@each_row
def test_angles_of_many_turns_are_as_precise_as_small_ones(row, largest) -> None:
    """On random robots; `pytest -rP` prints the worst errors found."""
    found = []
    for seed, (n, kind) in enumerate(product((1, 2, 3, 6, 24), KINDS)):
        robot = any_robot(kind, n, seed, prismatic=0.2, drives=True)
        values = draw(robot, row, 6, seed=seed)
        turns = np.array([joint.kind == "revolute" for joint in robot.joints])
        values["q"] = np.where(turns, largest / 3 * values["q"], values["q"])  # drawn within 3
        found.append(worst_errors(robot, row, rounded(values)))
    of_allowed, of_terms, of_results = np.max(found, axis=0)
    print(
        f"{of_terms:.2f} eps of the terms, {of_results:.2f} of the largest result; {of_allowed:.2f} of what is allowed"
    )
    assert of_allowed <= 1


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
    robot = ROBOTS[4]
    q, qd, qdd = (x.astype(np.float32) for x in states(robot, 64))
    whole = robot.inverse_dynamics(q, qd, qdd, dtype=np.float32)
    part = robot.inverse_dynamics(q[3 : 3 + count], qd[3 : 3 + count], qdd[3 : 3 + count], dtype=np.float32)
    assert np.array_equal(part, whole[3 : 3 + count])


def test_one_state_in_single_precision_equals_its_row_in_a_batch() -> None:
    robot = ROBOTS[2]
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
    robot = ROBOTS[2]
    q, qd, qdd = (x.astype(np.float32) for x in states(robot))
    out = np.empty_like(q)
    assert robot.inverse_dynamics(q, qd, qdd, dtype=np.float32, out=out) is out
    with pytest.raises(fd.ArgumentTypeError, match="out has dtype float64: expected float32"):
        robot.inverse_dynamics(q, qd, qdd, dtype=np.float32, out=np.empty(q.shape))


def test_what_single_precision_cannot_hold_is_refused_by_name() -> None:
    robot = ROBOTS[2]
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
        ROBOTS[2].gravity_forces(np.zeros(6), dtype=dtype)
