"""Chains by screws: against the twist-wrench recursion, published numbers, and the same robot by other ways."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fastdyn as fd
from fastdyn import from_screws
from fastdyn.geometry import go, turn_x, turn_z
from fastdyn.study import formulations

# the three-link example of the modern_robotics package; the first screw is not of unit length there
M12 = np.array([[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1.0]])
MLIST = [go(0, 0, 0.089159), M12, go(0, -0.1197, 0.395), go(0, 0, 0.14225)]
GLIST = [
    np.diag([0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7]),
    np.diag([0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393]),
    np.diag([0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275]),
]
SLIST = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]], dtype=float).T
G = (0, 0, -9.8)
EPS = np.finfo(float).eps


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def Ad(T):
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def ad(V):
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def exp(S):
    """The matrix exponential of a twist, by its series (angles here are small)."""
    X = np.zeros((4, 4))
    X[:3, :3], X[:3, 3] = skew(S[:3]), S[3:]
    total, term = np.eye(4), np.eye(4)
    for k in range(1, 40):
        term = term @ X / k
        total += term
    return total


def recursion(home, inertias, A, q, qd, qdd, gravity, tip=None):
    """The recursive Newton-Euler algorithm in twists and wrenches, word for word."""
    n = len(A)
    T = [exp(-A[i] * q[i]) @ np.linalg.inv(home[i]) for i in range(n)]
    T.append(np.linalg.inv(home[n]) if len(home) > n else np.eye(4))
    V, Vd = [np.zeros(6)], [np.array([0, 0, 0, *-np.asarray(gravity, dtype=float)])]
    for i in range(n):
        V.append(Ad(T[i]) @ V[i] + A[i] * qd[i])
        Vd.append(Ad(T[i]) @ Vd[i] + ad(V[i + 1]) @ A[i] * qd[i] + A[i] * qdd[i])
    F, tau = np.zeros(6) if tip is None else np.asarray(tip, dtype=float), np.empty(n)
    for i in reversed(range(n)):
        F = Ad(T[i + 1]).T @ F + inertias[i] @ Vd[i + 1] - ad(V[i + 1]).T @ inertias[i] @ V[i + 1]
        tau[i] = F @ A[i]
    return tau


def link_screws(home, S):
    """A_i = Ad(M_0i^-1) S_i, from columns S_i."""
    at, rows = np.eye(4), []
    for M, s in zip(home, S.T, strict=False):
        at = at @ M
        rows.append(np.linalg.solve(Ad(at), s))
    return np.array(rows)


def random_screws(n, seed):
    """Placements, inertias off the centres of mass, and screws of both kinds."""
    rng = np.random.default_rng([n, seed])
    home = [turn_z(a) @ turn_x(b) @ go(*p) for a, b, *p in rng.uniform(-1, 1, (n + 1, 5))]
    inertias, A = [], []
    for i in range(n):
        points, masses = rng.uniform(-0.3, 0.3, (8, 3)), rng.uniform(0.1, 1, 8)
        inertias.append(
            sum(
                m * np.block([[-skew(r) @ skew(r), skew(r)], [-skew(r), np.eye(3)]])
                for m, r in zip(masses, points, strict=True)
            )
        )
        w, p = rng.normal(size=(2, 3))
        w /= np.linalg.norm(w)
        A.append([0, 0, 0, *w] if i % 3 == 1 else [*w, *-np.cross(w, p)])
    return home, inertias, np.array(A)


def test_published_three_link_example():
    with pytest.warns(fd.RobotWarning, match="not of unit length"):
        arm = from_screws(MLIST, GLIST, SLIST, gravity=G, convention="modern_robotics")
    assert isinstance(arm, fd.CoupledRobot)
    with pytest.raises(fd.RobotError, match="not of unit length"):
        from_screws(MLIST, GLIST, SLIST, gravity=G, convention="modern_robotics", strict=True)
    # that package's wrench is what the robot exerts, moment first: here it is what acts on the robot, force first
    tau = arm.inverse_dynamics([0.1] * 3, [0.1, 0.2, 0.3], [2, 1.5, 1], wrenches={"tip": -np.ones(6)})
    assert_allclose(tau, [74.69616155, -33.06766016, -3.23057314], rtol=0, atol=5e-9)  # as many digits as are printed


@pytest.mark.parametrize("seed", range(4))
def test_torques_are_those_of_the_twist_wrench_recursion(seed):
    home, inertias, A = random_screws(5, seed)
    arm = from_screws(home, inertias, A, gravity=(1, 2, -9))
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5))
    tip = rng.normal(size=6)
    expected = recursion(home, inertias, A, q, qd, qdd, (1, 2, -9), tip)
    tau = arm.inverse_dynamics(q, qd, qdd, wrenches={"tip": -np.roll(tip, 3)})
    assert_allclose(tau, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["screws", "stacked_screws"])
def test_a_load_and_a_base_that_moves_are_those_of_a_longer_chain(name):
    """The last four joints of seven: the first three move their base, and gravity turns with it.

    Both ways round some ten times a joint outward and inward: 20 n eps of the largest torque for n = 7.
    """
    whole = fd.robots.random_chain(7, 4, prismatic=0.3)
    rng = np.random.default_rng(3)
    (q, qd, qdd), load = rng.uniform(-2, 2, (3, 7)), rng.normal(size=6)
    base = whole.all_links[3].name
    R = whole.forward_kinematics(q, base)[:3, :3]
    arm = fd.Robot(whole.all_links[3:], whole.all_joints[3:], gravity=R.T @ whole.gravity)
    twist = whole.frame_velocity(q, qd, base, local=True)
    rate = whole.frame_acceleration(q, qd, qdd, base, local=True)
    rate[:3] -= np.cross(twist[3:], twist[:3])
    expected = whole.inverse_dynamics(q, qd, qdd, wrenches={whole.all_links[-1].name: -load})[3:]
    moving = {"load": load, "base_twist": twist, "base_rate": rate}
    found = formulations.inverse_dynamics(arm, q[3:], qd[3:], qdd[3:], name, **moving)
    assert_allclose(found, expected, rtol=0, atol=20 * 7 * EPS * np.abs(expected).max())
    batch = formulations.inverse_dynamics(arm, [q[3:]] * 3, qd[3:], qdd[3:], name, **moving)
    assert_allclose(batch, [expected] * 3, rtol=0, atol=20 * 7 * EPS * np.abs(expected).max())


def test_both_conventions_describe_one_robot():
    home, inertias, A = random_screws(4, 7)
    at, S = np.eye(4), []
    for M, a in zip(home, A, strict=False):
        at = at @ M
        S.append(Ad(at) @ a)
    one = from_screws(home, inertias, A)
    two = from_screws(home, inertias, np.transpose(S), convention="modern_robotics")
    values = np.random.default_rng(0).normal(size=(3, 4))
    expected = one.inverse_dynamics(*values)
    assert_allclose(two.inverse_dynamics(*values), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_example_with_a_unit_screw_is_the_robot_built_by_hand():
    S = SLIST.copy()
    S[:, 0] = 0, 0, 1, 0, 0, 0
    arm = from_screws(MLIST, GLIST, S, gravity=G, names=("a", "b", "c"), name="ur", convention="modern_robotics")
    assert isinstance(arm, fd.Robot)
    assert [j.name for j in arm.joints] == ["a", "b", "c"]
    # axes 2 and 3 are along y at home, through (0, 0, 0.089) and (0.425, 0, 0.089); frames 2 and 3 are turned there
    bodies = [fd.Link(f"l{i}", g[3, 3], inertia=g[:3, :3]) for i, g in enumerate(GLIST, 1)]
    inv, M02 = np.linalg.inv, MLIST[0] @ MLIST[1]
    M03 = M02 @ MLIST[2]
    elbow, shoulder = go(0.425, 0, 0.089), go(0, 0, 0.089)
    joints = [
        fd.Joint("j1", "base", "l1", tail=MLIST[0]),
        fd.Joint("j2", "l1", "l2", "revolute", inv(MLIST[0]) @ shoulder, (0, 1, 0), inv(shoulder) @ M02),
        fd.Joint("j3", "l2", "l3", "revolute", inv(M02) @ elbow, (0, 1, 0), inv(elbow) @ M03),
    ]
    hand = fd.Robot([fd.Link("base"), *bodies], joints, gravity=G)
    q, qd, qdd, x = np.random.default_rng(1).normal(size=(4, 9, 3))
    for found, expected in (
        (arm.inverse_dynamics(q, qd, qdd), hand.inverse_dynamics(q, qd, qdd)),
        (arm.mass_matrix(q), hand.mass_matrix(q)),
        (arm.forward_dynamics(q, qd, x), hand.forward_dynamics(q, qd, x)),
        (arm.joint_reactions(q, qd, qdd)[..., :3], hand.joint_reactions(q, qd, qdd)[..., :3]),
    ):
        assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    A = link_screws(MLIST, S)
    tau = recursion(MLIST, GLIST, A, q[0], qd[0], qdd[0], G)
    assert_allclose(arm.inverse_dynamics(q[0], qd[0], qdd[0]), tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_the_puma_by_screws_is_the_puma_by_its_table():
    robot = fd.robots.puma560()
    home, inertias, A = [], [], []
    for joint, link in zip(robot.joints, robot.links, strict=True):
        tail, com = np.asarray(joint.tail), np.asarray(link.com)
        home.append(joint.origin @ tail)
        z, p = tail[2, :3], -tail[:3, :3].T @ tail[:3, 3]  # the joint's axis, seen from the link's frame
        A.append([*z, *-np.cross(z, p)])
        moments = np.asarray(link.inertia) - link.mass * skew(com) @ skew(com)
        cross = link.mass * skew(com)
        inertias.append(np.block([[moments, cross], [cross.T, link.mass * np.eye(3)]]))
    arm = from_screws(home, inertias, A)
    values = np.random.default_rng(2).normal(size=(3, 6))
    bare = fd.Robot(
        robot.all_links, [fd.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, j.tail) for j in robot.joints]
    )
    expected = bare.inverse_dynamics(*values)
    assert_allclose(arm.inverse_dynamics(*values), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"convention": "poe"}, "convention is 'poe'"),
        ({"home": MLIST[:2]}, "home: expected 3 or 4 for 3 screws, found 2"),
        ({"inertias": GLIST[:2]}, "inertias: expected 3 for 3 screws, found 2"),
        ({"names": ["a"]}, "names: expected 3 for 3 screws, found 1"),
        ({"home": [np.ones((4, 4)), *MLIST[1:]]}, r"home\[0\]: expected a rotation"),
        ({"screws": SLIST[:3]}, r"screws: expected shape \(6, n\), one column a joint, found shape \(3, 3\)"),
        ({"convention": "link"}, r"screws: expected shape \(n, 6\), one row a joint, found shape \(6, 3\)"),
        ({"screws": [[1], [1, 2]]}, "screws: expected a matrix"),
        ({"screws": SLIST * [0, 1, 1]}, r"screws\[0\]: expected a screw axis, found zeros"),
    ],
)
def test_what_is_no_chain_of_screws(change, message):
    arguments = {"home": MLIST, "inertias": GLIST, "screws": SLIST, "convention": "modern_robotics"} | change
    with pytest.raises(fd.RobotError, match=message):
        from_screws(**arguments)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ((0, 1), 0.5, r"found 0.5 at \[0, 1\] where 0.25 would fit"),  # not symmetric
        ((4, 4), 9.0, r"found 9.0 at \[4, 4\]"),  # three masses
        ((3, 4), 0.5, r"found 0.5 at \[3, 4\] where 0.0 would fit"),
        ((0, 3), 0.5, r"found 0.5 at \[0, 3\] where 0.0 would fit"),  # no cross product has that
        ((0, 4), 0.5, r"found 0.5 at \[0, 4\] where 0.25 would fit"),  # only half a cross product
    ],
)
def test_spatial_inertias_that_no_rigid_body_has(entry, value, message):
    bad = GLIST[1].copy()
    bad[entry] = value
    with pytest.raises(fd.RobotError, match=r"inertias\[1\], of 'link2': expected .* of a rigid body, " + message):
        from_screws(MLIST, [GLIST[0], bad, GLIST[2]], SLIST, convention="modern_robotics")


def test_first_moment_without_mass():
    bad = np.zeros((6, 6))
    bad[:3, 3:] = skew([0.1, 0, 0])
    bad[3:, :3] = bad[:3, 3:].T
    with pytest.raises(fd.RobotError, match=r"inertias\[0\], of 'link1': expected no first moment without mass"):
        from_screws([np.eye(4)], [bad], [[0, 0, 1, 0, 0, 0]])


def test_impossible_bodies_are_errors_if_strict():
    flat = np.diag([1.0, 1, 3, 2, 2, 2])  # its largest moment exceeds the sum of the others
    with pytest.warns(fd.RobotWarning, match="'link1' has principal moments"):
        from_screws([np.eye(4)], [flat], [[0, 0, 1, 0, 0, 0]])
    with pytest.raises(fd.RobotError, match="'link1' has principal moments"):
        from_screws([np.eye(4)], [flat], [[0, 0, 1, 0, 0, 0]], strict=True)
