"""Built-in robots: their sources, printed figures, the shapes they claim, and Pinocchio on the same figures."""

import math
import tomllib
import warnings
from importlib import metadata, resources

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.inertia import box, cylinder, sphere
from fastdyn.mechanism.poses import link_poses
from tests import oracle
from tests.coupled_oracle import Projected

DATA = sorted(file.name for file in (resources.files("fastdyn.robots") / "data").iterdir())
EPS = np.finfo(float).eps


def placing(n):
    """Rounding of a link's pose, m: some ten operations a joint, of lengths of a metre or two."""
    return 20 * n * EPS


def samples(n, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, (3, 6, n))


# ---------------------------------------------------------------------------------------------- all of them


def test_names_lists_what_get_makes():
    assert set(fd.robots.names()) >= {"puma560", "stanford", "two_link", "planar_2r", "rrt"}
    assert [f"{name}.toml" for name in sorted(fd.robots.names()) if f"{name}.toml" in DATA] == DATA
    for name in fd.robots.names():
        assert fd.robots.get(name).name == name
        assert fd.robots.get(name).n == getattr(fd.robots, name)().n


@pytest.mark.parametrize("name", fd.robots.names(coupled=True))
def test_coupled_robots_have_names_and_agree_with_the_oracle(name):
    robot = fd.robots.get(name, coupled=True)
    assert isinstance(robot, fd.CoupledRobot)
    assert robot.name == name
    q, qd, qdd = samples(robot.n)
    reference = np.stack([Projected(robot).inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])
    size = np.abs(reference).max()
    assert np.abs(robot.inverse_dynamics(q, qd, qdd) - reference).max() <= 100 * len(robot.joints) * EPS * size


def test_a_robot_that_is_not_there_is_named_with_its_neighbour():
    with pytest.raises(
        fd.ArgumentError, match="no coupled built-in robot 'ur5': expected one of irb1400, irb1400_main"
    ):
        fd.robots.get("ur5", coupled=True)
    with pytest.raises(fd.ArgumentError, match="no built-in robot 'irb1400_main_axes': expected coupled=True"):
        fd.robots.get("irb1400_main_axes")
    with pytest.raises(fd.ArgumentError, match=r"no built-in robot 'pandas': did you mean 'panda'\?"):
        fd.robots.get("pandas")
    with pytest.raises(fd.ArgumentError, match="no built-in robot 'xyz': expected one of puma560, stanford"):
        fd.robots.get("xyz")


@pytest.mark.parametrize("file", DATA)
def test_every_file_cites_its_source(file):
    entries = tomllib.loads((resources.files("fastdyn.robots") / "data" / file).read_text(encoding="utf-8"))
    assert len(entries["source"]) > 30
    assert entries["note"]


@pytest.mark.parametrize("file", DATA)
def test_bodies_of_the_files_are_bodies_that_can_be(file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fd.robots.get(file.removesuffix(".toml"))


@pytest.mark.parametrize("name", fd.robots.names())
def test_dynamics_agree_with_the_oracle(name):
    robot = fd.robots.get(name)
    q, qd, qdd = samples(robot.n)
    found = robot.inverse_dynamics(q, qd, qdd)
    reference = np.stack([oracle.inverse_dynamics(robot, *state) for state in zip(q, qd, qdd, strict=True)])
    assert np.abs(found - reference).max() <= 100 * robot.n * EPS * np.abs(reference).max()


@pytest.mark.parametrize("name", fd.robots.names())
def test_link_poses_agree_with_the_oracle(name):
    robot = fd.robots.get(name)
    q = samples(robot.n)[0, 0]
    reference = oracle.world_poses(robot, q)
    for link, pose in link_poses(robot, q).items():
        np.testing.assert_allclose(pose, reference[link], rtol=0, atol=placing(robot.n))


# ---------------------------------------------------------------------------------------------- IRB 1400


def test_irb1400_first_motor_is_the_identified_one():
    motor = fd.robots.irb1400().joints[0].motor
    assert (motor.inertia, motor.viscous, motor.gear) == (5.9e-4, 1.3e-2, 118.461539)


def along(axis, inertia):
    """The inertia of a body whose z axis is turned onto the given axis: for bodies that are round about z."""
    order = {"x": [2, 1, 0], "y": [0, 2, 1], "z": [0, 1, 2]}[axis]
    return np.diag(inertia.diagonal()[order])


SHAPES = {
    "irb1400": {
        "link1": box(70, 0.45, 0.45, 0.35),
        "link2": box(20, 0.70, 0.12, 0.10),
        "link3": box(30, 0.25, 0.25, 0.35),
        "link4": along("y", cylinder(12, 0.06, 0.5)),
        "link5": sphere(2.5, 0.06),
        "link6": cylinder(0.5, 0.03, 0.03),
    },
    "dual_arm": {
        "torso": box(30, 0.3, 0.4, 0.5),
        **{f"{side}_shoulder": cylinder(3, 0.06, 0.14) for side in ("left", "right")},
        **{f"{side}_upper_arm": along("x", cylinder(2.5, 0.05, 0.32)) for side in ("left", "right")},
        **{f"{side}_forearm": along("x", cylinder(1.5, 0.04, 0.28)) for side in ("left", "right")},
        **{f"{side}_hand": box(0.6, 0.12, 0.08, 0.04) for side in ("left", "right")},
    },
}


@pytest.mark.parametrize("name", SHAPES)
def test_illustrative_bodies_are_the_shapes_that_the_file_states(name):
    for link in fd.robots.get(name).all_links:
        wanted = SHAPES[name].get(link.name, np.zeros((3, 3)))
        np.testing.assert_allclose(link.inertia, wanted, rtol=2e-6, err_msg=link.name)


def test_dual_arm_is_a_tree_and_its_arms_mirror_each_other():
    robot = fd.robots.dual_arm()
    left, right = slice(1, 5), slice(5, 9)
    q, qd, qdd = samples(9)
    mirrored = np.array([-1, 1, 1, -1])  # yaw and roll change sense in a mirror, pitch does not
    for motion in (q, qd, qdd):
        motion[:, right] = motion[:, left] * mirrored
    tau = robot.inverse_dynamics(q, qd, qdd)
    tolerance = 100 * robot.n * EPS * np.abs(tau).max()  # as against the oracle
    np.testing.assert_allclose(tau[:, right], tau[:, left] * mirrored, rtol=0, atol=tolerance)


# ---------------------------------------------------------------------------------------------- Panda, UR5 and iiwa


def urdf(path):
    """A URDF file of the package example-robot-data, and Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    try:
        files = metadata.files("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return pin, next(str(file.locate()) for file in files if str(file).endswith(f"robots/{path}"))


def agree(robot, pin, model, places=slice(None)):
    """The torques of a motion, friction aside, by both."""
    model.gravity.linear = np.array(robot.gravity)
    data = model.createData()
    q, qd, qdd = samples(robot.n)
    found = robot.without_friction().inverse_dynamics(q, qd, qdd)
    for i in range(len(q)):
        states = [np.zeros(model.nv) for _ in range(3)]
        for state, value in zip(states, (q, qd, qdd), strict=True):
            state[places] = value[i]
        reference = pin.rnea(model, data, *states)[places]
        # the files state their right angles with 11 digits or more
        np.testing.assert_allclose(found[i], reference, rtol=0, atol=1e-9 * np.abs(reference).max())


def test_panda_is_the_urdf_file_of_its_source_without_fingers():
    pin, file = urdf("panda_description/urdf/panda.urdf")
    model = pin.buildModelFromUrdf(file)
    robot = fd.robots.panda()
    for finger in ("panda_finger_joint1", "panda_finger_joint2"):
        model.inertias[model.getJointId(finger)] = pin.Inertia.Zero()
    agree(robot, pin, model, slice(7))
    limits = [joint.limits for joint in robot.joints]
    assert [limit.lower for limit in limits] == model.lowerPositionLimit[:7].tolist()
    assert [limit.upper for limit in limits] == model.upperPositionLimit[:7].tolist()
    assert [limit.velocity for limit in limits] == model.upperVelocityLimit[:7].tolist()
    assert [limit.effort for limit in limits] == model.upperEffortLimit[:7].tolist()
    assert [joint.motor.viscous for joint in robot.joints] == [0.003] * 7
    data, q = model.createData(), samples(7)[0, 0]
    pin.framesForwardKinematics(model, data, np.append(q, [0, 0]))
    tcp = data.oMf[model.getFrameId("panda_hand_tcp")].homogeneous
    np.testing.assert_allclose(link_poses(robot, q)["panda_hand_tcp"], tcp, rtol=0, atol=placing(7))


def test_ur5_moves_as_the_urdf_file_and_has_the_torques_of_its_own_figures_on_it():
    """The file's inertial figures are others: the zoo's are put in their place, link by link."""
    pin, file = urdf("ur_description/urdf/ur5_robot.urdf")
    model, robot = pin.buildModelFromUrdf(file), fd.robots.ur5()
    data, base = model.createData(), np.diag([-1.0, -1.0, 1.0, 1.0])  # the file's base_link is turned by 180 degrees
    q = samples(6)[0]
    placed = []
    for state in q[:2]:
        pin.framesForwardKinematics(model, data, state)
        poses = link_poses(robot, state)
        tool = data.oMf[model.getFrameId("tool0")].homogeneous
        np.testing.assert_allclose(base @ poses["link6"], tool, rtol=0, atol=1e-10)
        placed.append([data.oMi[i + 1].inverse() * pin.SE3(base @ poses[f"link{i + 1}"]) for i in range(6)])
    for i, link in enumerate(robot.links):
        one, other = (poses[i] for poses in placed)
        np.testing.assert_allclose(one.homogeneous, other.homogeneous, rtol=0, atol=1e-10)  # fixed to each other
        model.inertias[i + 1] = one.act(pin.Inertia(link.mass, np.asarray(link.com), np.asarray(link.inertia)))
    agree(robot, pin, model)


def test_ur5_centres_of_mass_are_those_of_its_source():
    """The source states them along the axes of the joints' frames, from the joint's end of each link."""
    stated = [(0, -0.00193, -0.02561), (-0.2125, 0, 0.11336), (-0.24225, 0, 0.0265)]
    stated += [(0, -0.01634, -0.0018), (0, 0.01634, -0.0018), (0, 0, -0.001159)]
    for joint, link, com in zip(fd.robots.ur5().joints, fd.robots.ur5().links, stated, strict=True):
        tail = np.array(joint.tail)
        tail[2, 3] = 0  # the source's frames stand at d already
        np.testing.assert_allclose((tail @ [*link.com, 1])[:3], com, rtol=0, atol=10 * EPS)


def test_ur5_moments_are_those_of_cylinders():
    sizes = [
        ("y", 3.7, 0.075, 0.178),
        ("x", 8.393, 0.06, 0.425),
        ("x", 2.275, 0.06, 0.39225),
        ("y", 1.219, 0.06, 0.095),
    ]
    sizes += [("y", 1.219, 0.06, 0.085), ("z", 0.1879, 0.0375, 0.0305)]
    for link, (axis, mass, radius, length) in zip(fd.robots.ur5().links, sizes, strict=True):
        np.testing.assert_allclose(link.inertia, along(axis, cylinder(mass, radius, length)), rtol=1e-12)


IIWA = [  # typed from the URDF file once more: x y z, roll pitch yaw, mass, centre of mass, moments
    ("0 0 0.1575", "0 0 0", 5.76, "0 -0.03 0.12", (0.033, 0.0333, 0.0123)),
    ("0 0 0.2025", f"{math.pi / 2} 0 {math.pi}", 6.35, "0.0003 0.059 0.042", (0.0305, 0.0304, 0.011)),
    ("0 0.2045 0", f"{math.pi / 2} 0 {math.pi}", 3.5, "0 0.03 0.13", (0.025, 0.0238, 0.0076)),
    ("0 0 0.2155", f"{math.pi / 2} 0 0", 3.5, "0 0.067 0.034", (0.017, 0.0164, 0.006)),
    ("0 0.1845 0", f"{-math.pi / 2} {math.pi} 0", 3.5, "0.0001 0.021 0.076", (0.01, 0.0087, 0.00449)),
    ("0 0 0.2155", f"{math.pi / 2} 0 0", 1.8, "0 0.0006 0.0004", (0.0049, 0.0047, 0.0036)),
    ("0 0.081 0", f"{-math.pi / 2} {math.pi} 0", 1.2, "0 0 0.02", (0.001, 0.001, 0.001)),
]


def test_iiwa_is_the_urdf_file_of_its_source():
    pin = pytest.importorskip("pinocchio")
    parts = ['<robot name="iiwa"><link name="l0"/>']
    for i, (xyz, rpy, mass, com, (xx, yy, zz)) in enumerate(IIWA):
        parts.append(
            f'<link name="l{i + 1}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>'
            f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial></link>'
            f'<joint name="j{i + 1}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
            '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        )
    agree(fd.robots.iiwa(), pin, pin.buildModelFromXML("".join(parts) + "</robot>"))
