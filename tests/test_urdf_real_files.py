"""Every URDF file of the example-robot-data package: read as Pinocchio reads it, and back again."""

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.formats.urdf import describe
from fastdyn.robot import robot_of
from tests.real_robots import FILES, READ, REFUSED, Peer

pytestmark = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda path: "-".join(path.parts[-3:]))


@each([path for path in FILES if path.name in REFUSED])
def test_files_that_contradict_themselves_are_refused(path):
    with pytest.raises(fd.DescriptionError, match=REFUSED[path.name]):
        fd.load_urdf(path)


def worst_difference(peer, robot, samples=10):
    """Over random states, joint by joint: tau against the size of its terms, M against its diagonal."""
    worst = 0.0
    for q, qd, qdd in np.random.default_rng(0).uniform(-3, 3, (samples, 3, robot.n)):
        M = peer.mass_matrix(q)
        size = np.sqrt(np.diag(M)) + 1e-30  # links without mass have none
        worst = max(worst, np.abs((robot.mass_matrix(q) - M) / np.outer(size, size)).max())
        bias = np.abs(robot.bias_forces(q, qd)) + np.abs(robot.gravity_forces(q))
        difference = np.abs(robot.inverse_dynamics(q, qd, qdd) - peer.inverse_dynamics(q, qd, qdd))
        worst = max(worst, (difference / (np.abs(M) @ np.abs(qdd) + bias + 1e-30)).max())
    return worst


def coordinates(robot):
    return robot.names if isinstance(robot, fd.CoupledRobot) else [joint.name for joint in robot.joints]


@each(READ)
def test_torques_and_mass_matrix_are_those_of_pinocchio(path):
    robot = robot_of(describe(path.read_bytes()).description).without_friction()
    peer = Peer(path, [joint.name for joint in robot.joints], robot.gravity)
    assert not robot.n or worst_difference(peer, robot) < 1e-10


@each([path for path in READ if b"<mimic" in path.read_bytes()])
def test_mimics_are_those_of_pinocchio(path):
    robot = fd.load_urdf(path).without_friction()
    try:
        peer = Peer(path, coordinates(robot), robot.gravity, mimic=True)
    except ValueError as problem:  # it sorts siblings by name, and wants leaders before followers then
        pytest.skip(f"Pinocchio refuses: {problem}")
    assert worst_difference(peer, robot) < 1e-10
    read = fd.from_pinocchio(peer.model).without_friction()
    again = Peer(path, coordinates(read), read.gravity, mimic=True)  # in Pinocchio's order of joints
    assert worst_difference(again, read) < 1e-10


@each([path for path in READ if b"<mimic" in path.read_bytes()])
def test_real_robots_without_their_coupled_coordinates_are_plain(path):
    robot = fd.load(path)
    if not isinstance(robot, fd.CoupledRobot):
        pytest.skip("only fixed joints mimic others")
    rest = dict(zip(robot.names, np.clip(0.0, *robot.limits.position.T), strict=True))
    coupled = {name: rest[name] for name, column in zip(robot.names, robot.G.T, strict=True) if sum(column != 0) > 1}
    held = fd.load(path, locked=coupled)
    assert type(held) is fd.Robot
    assert [joint.name for joint in held.joints] == [name for name in robot.names if name not in coupled]
    free = [k for k, name in enumerate(robot.names) if name not in coupled]
    q = np.array(list(rest.values()))
    M = robot.mass_matrix(q)[np.ix_(free, free)]
    np.testing.assert_allclose(held.mass_matrix(q[free]), M, rtol=0, atol=1e-12 * np.abs(M).max())


@each(READ)
def test_real_robots_are_printed_drawn_and_kept(path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    robot = fd.load(path)
    text = str(robot)
    assert text.startswith(f"{robot.name}: ")
    assert max(map(len, text.splitlines())) <= 120
    ax = robot.plot()
    ax.figure.canvas.draw()
    pyplot.close("all")
    assert fd.from_toml(robot.to_toml()) == robot


@each(READ)
def test_real_robots_come_back(path):
    robot = fd.load_urdf(path)
    again = fd.from_urdf(fd.to_urdf(robot))
    assert again.coupling == robot.coupling
    for ours, theirs in zip(again.joints, robot.joints, strict=True):
        assert (ours.name, ours.child, ours.kind, ours.limits) == (
            theirs.name,
            theirs.child,
            theirs.kind,
            theirs.limits,
        )
    q, qd, qdd = np.random.default_rng(0).uniform(-3, 3, (3, 5, robot.n))
    tau = robot.inverse_dynamics(q, qd, qdd)
    atol = 1e-12 * np.abs(tau).max(initial=1e-30)
    np.testing.assert_allclose(again.inverse_dynamics(q, qd, qdd), tau, rtol=0, atol=atol)
