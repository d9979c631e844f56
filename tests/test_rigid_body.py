"""One rigid body: against the same body carried by six joints, against Euler's equations, and in other frames.

Rounding: every component is a sum of some ten products, so 100 eps of the largest term of the sum.
"""

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.inertia import box, compound
from fastdyn.rigid_body import adjoint, carried, inertia_in_frame, kinetic_energy, spatial_inertia, twist_rate, wrench
from fastdyn.rotations import turn

EPS = np.finfo(float).eps
MASS, COM, GRAVITY = 3.0, np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -9.0])
INERTIA = turn((1, 2, 3), 0.5) @ box(MASS, 0.3, 0.5, 0.8) @ turn((1, 2, 3), 0.5).T
G = spatial_inertia(MASS, COM, INERTIA)
POSE = fd.pose((0.4, -0.3, 0.2), rpy=(0.3, -0.5, 1.1))


def sixes(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 6))


def close(found, expected, scale, factor=100.0):
    assert np.shape(found) == np.shape(expected)
    assert np.abs(found - expected).max() <= factor * EPS * scale


def floating():
    """The body on three sliding and three turning joints, which move nothing else: it can move in every way."""
    names = ["base", *"abcde", "body"]
    links = [*map(fd.Link, names[:-1]), fd.Link("body", MASS, COM, INERTIA)]
    joints = [
        fd.Joint(f"joint{i}", names[i], names[i + 1], "prismatic" if i < 3 else "revolute", axis=np.eye(3)[(i + 1) % 3])
        for i in range(6)
    ]
    return fd.Robot(links, joints, gravity=GRAVITY)


def test_motion_is_that_of_the_body_carried_by_six_joints():
    robot = floating()
    q, qd, pushed = np.random.default_rng(1).uniform(-1, 1, (3, 6))
    qdd = robot.forward_dynamics(q, qd, np.zeros(6), wrenches={"body": pushed})
    V = robot.frame_velocity(q, qd, "body", local=True)
    A = robot.frame_acceleration(q, qd, qdd, "body", local=True)
    rate = np.concatenate([A[:3] - np.cross(V[3:], V[:3]), A[3:]])
    weight = MASS * robot.forward_kinematics(q, "body")[:3, :3].T @ GRAVITY
    F = pushed + np.concatenate([weight, np.cross(COM, weight)])
    # forward dynamics of the joints loses as many digits as their mass matrix has in its condition number
    digits = np.linalg.cond(robot.mass_matrix(q))
    close(wrench(G, V, rate), F, np.abs(G @ rate).max() + np.abs(F).max(), 100 * digits)
    close(twist_rate(G, V, F), rate, np.abs(rate).max(), 100 * digits)
    close(kinetic_energy(G, V), robot.kinetic_energy(q, qd), kinetic_energy(G, V))


def test_forward_dynamics_undoes_inverse_dynamics_of_a_batch():
    V, rate = sixes(7), sixes(7, 1)
    F = wrench(G, V, rate)
    assert F.shape == (7, 6)
    close(twist_rate(G, V, F), rate, np.abs(rate).max(), 100 * np.linalg.cond(G))
    close(wrench(G, V[3], rate[3]), F[3], np.abs(F).max())


def test_eulers_equations_about_principal_axes():
    """Frame at the centre of mass, along the principal axes: the slides' m_b, and f_b = m (v' + w x v)."""
    Ix, Iy, Iz = 1.0, 2.0, 2.5
    (v, w), (dv, dw) = sixes(2).reshape(2, 2, 3)
    (x, y, z), (dx, dy, dz) = w, dw
    moment = [Ix * dx + (Iz - Iy) * y * z, Iy * dy + (Ix - Iz) * x * z, Iz * dz + (Iy - Ix) * x * y]
    found = wrench(spatial_inertia(MASS, inertia=np.diag([Ix, Iy, Iz])), [*v, *w], [*dv, *dw])
    close(found, [*MASS * (dv + np.cross(w, v)), *moment], 50.0)


def test_newtons_and_eulers_laws_along_the_worlds_axes():
    """Method 2: f = m p'', m = I_s w'_s + w_s x I_s w_s with I_s = R I_b R^T, about the centre of mass."""
    R = POSE[:3, :3]
    (v, w), (dv, dw) = sixes(2, 3).reshape(2, 2, 3)
    acceleration, spin, spin_rate = R @ (dv + np.cross(w, v)), R @ w, R @ dw
    I_s = R @ INERTIA @ R.T
    moment = I_s @ spin_rate + np.cross(spin, I_s @ spin)
    found = wrench(spatial_inertia(MASS, inertia=INERTIA), [*v, *w], [*dv, *dw])
    close(np.concatenate([R @ found[:3], R @ found[3:]]), [*MASS * acceleration, *moment], 50.0)


def test_equations_have_the_same_form_in_every_frame():
    """G_a = Ad^T G_b Ad, F_a = Ad^T F_b where V_b = Ad V_a: a generalisation of Steiner's theorem."""
    Ad, (V, rate) = adjoint(POSE), sixes(2, 4)
    G_a = inertia_in_frame(G, POSE)
    F_b = wrench(G, Ad @ V, Ad @ rate)
    close(wrench(G_a, V, rate), Ad.T @ F_b, np.abs(Ad).max() * np.abs(F_b).max())
    close(kinetic_energy(G_a, V), kinetic_energy(G, Ad @ V), kinetic_energy(G_a, V))
    R, p = POSE[:3, :3], POSE[:3, 3]
    close(G_a, spatial_inertia(MASS, R.T @ (COM - p), R.T @ INERTIA @ R), np.abs(G_a).max())


def test_power_of_the_wrench_is_the_rate_of_the_kinetic_energy():
    V, rate = sixes(5, 5), sixes(5, 6)
    F = wrench(G, V, rate)
    assert np.abs(F - rate @ G).max() > 0.1 * np.abs(F).max()  # the velocity terms count, and do no work
    close((F * V).sum(axis=1), (V @ G * rate).sum(axis=1), np.abs(F).max() * np.abs(V).max() * 6)


def test_a_body_carried_by_a_moving_base():
    """Six joints: the third link is the base, and the last one moves on it as the last three joints say."""
    whole = fd.robots.random_chain(6, 3, prismatic=0.4)
    outer = fd.Robot(whole.all_links[3:], whole.all_joints[3:])
    names = [link.name for link in whole.all_links]
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 6))

    def motion(robot, frame, *state):
        V, A = robot.frame_velocity(*state[:2], frame, local=True), robot.frame_acceleration(*state, frame, local=True)
        return V, np.concatenate([A[:3] - np.cross(V[3:], V[:3]), A[3:]])

    T = outer.forward_kinematics(q[3:], names[6])
    found = carried(T, *motion(whole, names[3], q, qd, qdd), *motion(outer, names[6], q[3:], qd[3:], qdd[3:]))
    for one, expected in zip(found, motion(whole, names[6], q, qd, qdd), strict=True):
        close(one, expected, np.abs(expected).max(), 1000)  # ten roundings for each of six joints and both ways


def test_a_compound_is_one_body():
    parts = [(1.0, box(1.0, 0.1, 0.2, 0.3), (0.1, 0, 0)), (2.0, box(2.0, 0.3, 0.2, 0.1), POSE)]
    summed = sum(
        inertia_in_frame(spatial_inertia(m, (0, 0, 0), I), np.linalg.inv(fd.pose(T) if len(T) == 3 else T))
        for m, I, T in parts
    )
    close(spatial_inertia(*compound(parts)), summed, np.abs(summed).max())


@pytest.mark.parametrize(
    "singular",
    [
        spatial_inertia(0.0),
        spatial_inertia(2.0),  # a point turns without effort
        spatial_inertia(2.0, (0.1, 0.2, 0.3)),
        spatial_inertia(2.0, (0.1, 0.2, 0.3), turn((1, 2, 3), 0.5) @ np.diag([1, 1, 0]) @ turn((1, 2, 3), 0.5).T),
    ],
    ids=["nothing", "point", "point beside the origin", "rod"],
)
def test_a_body_that_resists_no_rotation_has_no_forward_dynamics(singular):
    with pytest.raises(fd.SingularMassMatrixError, match="inertia: expected one of a body that resists every motion"):
        twist_rate(singular, np.zeros(6), np.ones(6))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: wrench(G, np.zeros(3), np.zeros(6)),
            fd.ArgumentError,
            r"twist has shape \(3,\): expected \(\.\.\., 6",
        ),
        (
            lambda: wrench(G, np.zeros(6), [0, 0, 0, np.nan, 0, 0]),
            fd.NotFiniteError,
            r"rate\[3\] is nan: expected finite",
        ),
        (lambda: wrench(np.eye(3), np.zeros(6), np.zeros(6)), fd.RobotError, r"inertia: expected shape \(6, 6\)"),
        (lambda: spatial_inertia(-1.0), fd.RobotError, "mass: expected a number not below zero"),
        (lambda: adjoint(np.ones((4, 4))), fd.RobotError, "T: expected a rotation"),
        (lambda: twist_rate(G, np.zeros(6), "push"), fd.ArgumentTypeError, "wrench has dtype"),
    ],
)
def test_errors_name_the_argument(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
