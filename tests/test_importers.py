"""from_mujoco and from_pinocchio: against those libraries' own dynamics, and one robot by every way in."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fastdyn as fd
from fastdyn import from_mujoco, from_pinocchio, from_screws
from fastdyn.geometry import go, turn_x, turn_z
from tests.peers import MuJoCo, Pinocchio

mujoco = pytest.importorskip("mujoco")
pin = pytest.importorskip("pinocchio")

BODY = "<inertial pos='0.1 0.2 0.3' mass='2' diaginertia='0.1 0.2 0.25'/>"


def same(found, expected):
    """Equal to 1e-11 of the largest entry: two libraries' rounding over some hundreds of operations each."""
    assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


def states(n, seed, count=5):
    """q, qd, qdd: joints that move, so that friction has its full size."""
    rng = np.random.default_rng(seed)
    q, qdd = rng.uniform(-2, 2, (2, count, n))
    return q, rng.choice([-1.0, 1.0], (count, n)) * rng.uniform(1, 2, (count, n)), qdd


def same_by_name(robot, given, q, qd, qdd):
    """Torques of two robots whose joints have the same names, in any order."""
    place = [[j.name for j in given.joints].index(j.name) for j in robot.joints]
    back = np.argsort(place)
    tau = given.inverse_dynamics(q[:, back], qd[:, back], qdd[:, back])
    same(robot.inverse_dynamics(q, qd, qdd), tau[:, place])


# ---------------------------------------------------------------------------------------------- MuJoCo


def mjcf(body, option="", more=""):
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><compiler angle='radian' inertiafromgeom='false'/><option {option}/>"
        f"<worldbody>{body}</worldbody>{more}</mujoco>"
    )


def mujoco_torques(model, q, qd, qdd):
    data, found = mujoco.MjData(model), []
    for data.qpos[:], data.qvel[:], data.qacc[:] in zip(q, qd, qdd, strict=True):
        mujoco.mj_inverse(model, data)
        found.append(data.qfrc_inverse.copy())
    return np.array(found)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_have_mujocos_torques(seed):
    drawn = fd.robots.random_tree(2 + seed, seed=seed, prismatic=0.4, drives=True)
    even = [replace(j.motor, coulomb=j.motor.coulomb[0]) for j in drawn.joints]  # the same in both directions
    joints = [replace(j, motor=motor) for j, motor in zip(drawn.joints, even, strict=True)]
    given = fd.Robot(drawn.all_links, joints, gravity=drawn.gravity)
    peer = MuJoCo(given)
    peer.model.dof_frictionloss[peer.place] = [motor.joint_coulomb[0] for motor in even]
    robot = from_mujoco(peer.model)
    q, qd, qdd = states(robot.n, seed)
    same(robot.inverse_dynamics(q, qd, qdd), mujoco_torques(peer.model, q, qd, qdd))
    same_by_name(robot, given, q, qd, qdd)


# joints with an anchor and a reference, several on one body, and bodies with none in between
SEVERAL = f"""
<body name='a' pos='0.1 0 0.5' quat='0.5 0.5 0.5 0.5'>
  <joint name='a1' type='slide' axis='1 2 0' ref='0.3'/>
  <joint name='a2' type='hinge' axis='0 1 1' pos='0.1 0.2 0' ref='-0.7' armature='0.2' damping='0.5'/>
  <joint name='a3' type='hinge' axis='1 0 0' pos='0 0.1 0.2' frictionloss='0.4' limited='true' range='-3 4'/>
  {BODY}
  <body pos='0 0.3 0' euler='0.3 0.4 0.5'>{BODY}
    <body name='b' pos='0.2 0 0'>
      <joint pos='0 0 -0.1' axis='1 1 1' actuatorfrclimited='true' actuatorfrcrange='-5 3'/>{BODY}
    </body>
  </body>
</body>"""


def test_several_joints_on_a_body_references_and_fixed_bodies():
    model = mjcf(SEVERAL, "gravity='1 2 -9'")
    robot = from_mujoco(model)
    assert [j.name for j in robot.joints] == ["a1", "a2", "a3", "joint3"]
    assert [j.kind for j in robot.joints] == ["prismatic", "revolute", "revolute", "revolute"]
    assert [link.name for link in robot.all_links] == ["world", "a_a1", "a_a2", "a", "body2", "b"]
    assert (robot.joints[2].limits.lower, robot.joints[2].limits.upper) == (-3, 4)
    assert robot.joints[3].limits.effort == 5
    q, qd, qdd = states(4, 0)
    same(robot.inverse_dynamics(q, qd, qdd), mujoco_torques(model, q, qd, qdd))
    at_reference, zero = model.qpos0, np.zeros(4)
    same(robot.gravity_forces(at_reference), mujoco_torques(model, [at_reference], [zero], [zero])[0])


def test_massless_links_between_joints_are_no_reason_to_warn(recwarn):
    from_mujoco(mjcf(SEVERAL))
    assert not recwarn


def test_actuators_at_joints_bring_rotors_and_damping():
    body = f"<body><joint name='j'/>{BODY}</body>"
    motor = "<actuator><motor joint='j' gear='3' armature='0.1' damping='0.7'/></actuator>"
    try:
        model = mjcf(body, more=motor)
    except ValueError:
        pytest.skip("this MuJoCo has no armature of actuators")
    q, qd, qdd = states(1, 1)
    same(from_mujoco(model).inverse_dynamics(q, qd, qdd), mujoco_torques(model, q, qd, qdd))
    assert from_mujoco(model).joints[0].motor.armature == pytest.approx(0.9)


@pytest.mark.parametrize("flag", ["gravity", "damper", "frictionloss", "constraint"])
def test_what_the_model_switches_off_is_off(flag):
    body = f"<body><joint damping='0.5' frictionloss='0.4'/>{BODY}</body>"
    try:
        model = mjcf(body, more=f"<option><flag {flag}='disable'/></option>")
    except ValueError:
        pytest.skip(f"this MuJoCo has no flag {flag}")
    q, qd, qdd = states(1, 2)
    same(from_mujoco(model).inverse_dynamics(q, qd, qdd), mujoco_torques(model, q, qd, qdd))


def test_names_that_are_missing_do_not_collide():
    robot = from_mujoco(
        mjcf(f"<body>{BODY}<body name='body1'><joint/>{BODY}<body><joint name='joint0'/>{BODY}</body></body></body>")
    )
    assert [link.name for link in robot.all_links] == ["world", "body1_2", "body1", "body3"]
    assert [j.name for j in robot.joints] == ["joint0_2", "joint0"]


HINGE = f"<body><joint name='j' {{}}/>{BODY}</body>"
TENDON = "<tendon><fixed name='t' {}><joint joint='j' coef='1'/></fixed></tendon>"


@pytest.mark.parametrize(
    ("body", "option", "more", "message"),
    [
        (
            f"<body><freejoint name='root'/>{BODY}</body>",
            "",
            "",
            "joint 'root': expected a hinge or slide, found a free",
        ),
        (f"<body><joint type='ball'/>{BODY}</body>", "", "", "joint 'joint0': expected a hinge or slide, found a ball"),
        (
            HINGE.format("stiffness='3'"),
            "",
            "",
            "joint 'j' has a spring, which a Robot has not: found jnt_stiffness = 3.0",
        ),
        (HINGE.format("damping='1 2'"), "", "", "joint 'j' has damping that is not linear"),
        (
            HINGE.format("").replace("<body>", "<body name='b' gravcomp='1'>"),
            "",
            "",
            "body 'b' has gravity compensation",
        ),
        (HINGE.format(""), "density='1.2'", "", "option: expected no fluid around the robot, found density 1.2"),
        (HINGE.format(""), "viscosity='0.1'", "", "found density 0.0 and viscosity 0.1"),
        (HINGE.format(""), "", "<equality><joint name='e' joint1='j'/></equality>", "equality constraint 'e'"),
        (HINGE.format(""), "", TENDON.format("stiffness='1'"), "tendon 't' has a spring"),
        (HINGE.format(""), "", TENDON.format("damping='1'"), "tendon 't' has damping"),
        (HINGE.format(""), "", TENDON.format("frictionloss='1'"), "tendon 't' has friction"),
        (HINGE.format(""), "", TENDON.format("armature='1'"), "tendon 't' has inertia"),
        (
            HINGE.format(""),
            "",
            TENDON.format("") + "<actuator><motor name='m' tendon='t' armature='1'/></actuator>",
            "actuator 'm': expected actuator_armature only on actuators at joints",
        ),
    ],
)
def test_what_is_not_a_robot_is_refused_from_mujoco(body, option, more, message):
    try:
        model = mjcf(body, option, more)
    except ValueError as problem:
        pytest.skip(f"this MuJoCo does not know it: {problem}")
    with pytest.raises(fd.RobotError, match=message):
        from_mujoco(model)


def test_what_leaves_the_motion_alone_is_told():
    servo = "<actuator><position name='servo' joint='j' kp='10'/></actuator>"
    with pytest.warns(fd.RobotWarning, match="forces of their own of actuators 'servo' are left to tau"):
        from_mujoco(mjcf(HINGE.format(""), more=servo))
    with pytest.warns(fd.RobotWarning, match="limits of tendons 't' are dropped"):
        from_mujoco(mjcf(HINGE.format(""), more=TENDON.format("limited='true' range='-1 1'")))
    with pytest.raises(fd.RobotError, match="forces of their own of actuators 'servo'"):
        from_mujoco(mjcf(HINGE.format(""), more=servo), strict=True)
    with pytest.raises(fd.RobotError, match="limits of tendons 't' are dropped"):
        from_mujoco(mjcf(HINGE.format(""), more=TENDON.format("limited='true' range='-1 1'")), strict=True)


def test_other_things_are_no_mujoco_model():
    with pytest.raises(fd.RobotError, match=r"model: expected a mujoco.MjModel, found str"):
        from_mujoco("robot.xml")


# ---------------------------------------------------------------------------------------------- Pinocchio


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_have_pinocchios_torques(seed):
    given = fd.robots.random_tree(2 + seed, seed=seed, prismatic=0.4, drives=True)
    peer = Pinocchio(given)
    model, data = peer.model, peer.data
    motors = [given.joints[i].motor for i in peer.order]
    model.damping = np.array([motor.joint_viscous for motor in motors])
    model.upperDryFrictionLimit = np.array([motor.joint_coulomb[0] for motor in motors])
    model.lowerDryFrictionLimit = -np.array([motor.joint_coulomb[1] for motor in motors])
    robot = from_pinocchio(model)
    assert [j.name for j in robot.joints] == list(model.names)[1:]
    q, qd, qdd = states(robot.n, seed)
    same_by_name(robot, given, q, qd, qdd)
    free = robot.without_friction()
    tau = np.array([pin.rnea(model, data, *x).copy() for x in zip(q, qd, qdd, strict=True)])
    same(free.inverse_dynamics(q, qd, qdd), tau)
    same(free.forward_dynamics(q, qd, tau), [pin.aba(model, data, *x).copy() for x in zip(q, qd, tau, strict=True)])
    same(np.triu(robot.mass_matrix(q[0])), np.triu(pin.crba(model, data, q[0])))
    pin.rnea(model, data, q[0], qd[0], qdd[0])
    same(robot.joint_reactions(q[0], qd[0], qdd[0]), [f.vector for f in list(data.f)[1:]])


def test_wrenches_act_on_frames_away_from_their_joints():
    model = pin.buildModelFromXML(ARM_URDF)
    data, robot = model.createData(), from_pinocchio(model).without_friction()
    (q,), (qd,), (qdd,) = states(4, 5, count=1)
    frame, wrench = model.frames[model.getFrameId("tool")], np.array([1.0, -2, 3, 0.4, 0.5, -0.6])
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    forces[frame.parentJoint] = frame.placement.act(pin.Force(wrench))
    theirs = np.array([q[0], np.cos(q[1]), np.sin(q[1]), q[2], q[3]])
    same(robot.inverse_dynamics(q, qd, qdd, {"tool": wrench}), pin.rnea(model, data, theirs, qd, qdd, forces))


@pytest.mark.parametrize("axis", "XYZ")
def test_aligned_joints_and_continuous_ones(axis):
    model, rng = pin.Model(), np.random.default_rng(0)
    pin.seed(0)
    k = 0
    for kind in ("R", "RUB", "P"):
        k = model.addJoint(k, getattr(pin, f"JointModel{kind}{axis}")(), pin.SE3.Random(), kind)
        model.appendBodyToJoint(k, pin.Inertia.Random(), pin.SE3.Random())
    robot = from_pinocchio(model)
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    theirs = np.array([q[0], np.cos(q[1]), np.sin(q[1]), q[2]])
    same(robot.inverse_dynamics(q, qd, qdd), pin.rnea(model, model.createData(), theirs, qd, qdd))
    assert robot.joints[1].limits == fd.Limits()
    assert [link.name for link in robot.links] == ["R", "RUB", "P"]  # no bodies are named: the joints' names


def test_frames_become_links_and_dropped_rotors_are_told():
    model = pin.buildModelFromXML(ARM_URDF)
    robot = from_pinocchio(model)
    assert robot.base.name == "base"
    assert [link.name for link in robot.links] == ["one", "two", "three", "four"]
    assert [link.name for link in robot.all_links[5:]] == ["flange", "tool"]
    assert robot.joints[0].limits == fd.Limits(-2, 2.5, 3, 40)
    assert robot.joints[1].limits == fd.Limits()
    model.addFrame(pin.Frame("tool", 4, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME), False)
    assert from_pinocchio(model).all_links[-1].name == "tool_2"
    model.rotorInertia[:] = 1e-3
    with pytest.warns(fd.RobotWarning, match=r"rotorInertia .* is dropped"):
        from_pinocchio(model)
    with pytest.raises(fd.RobotError, match=r"rotorInertia .* is dropped"):
        from_pinocchio(model, strict=True)


@pytest.mark.parametrize(
    "kind", ["FreeFlyer", "Spherical", "SphericalZYX", "Planar", "Translation", "Universal", "Composite"]
)
def test_other_joints_are_refused_from_pinocchio(kind):
    model = pin.Model()
    joint = {"Universal": lambda: pin.JointModelUniversal(*np.eye(3)[:2])}
    made = joint.get(kind, getattr(pin, f"JointModel{kind}"))()
    if kind == "Composite":
        made.addJoint(pin.JointModelRX())
    model.addJoint(0, made, pin.SE3.Identity(), "root")
    with pytest.raises(
        fd.RobotError, match=f"joint 'root': expected a revolute, prismatic or helical joint, found JointModel{kind}"
    ):
        from_pinocchio(model)


def mimicking(rng):
    """Joints that follow others by some ratio and shift, one of them by none at all, between joints that do not."""
    model = pin.Model()
    if not hasattr(model, "mimicking_joints"):
        pytest.skip("this Pinocchio has no mimic joints")

    def add(kind, name, leader=None, *rule):
        joint = pin.JointModel(kind)
        if leader is not None:
            followed = model.joints[leader]
            joint.setIndexes(leader, followed.idx_q, followed.idx_v)
            joint = pin.JointModelMimic(joint, *rule)
        k = model.addJoint(model.njoints - 1, joint, pin.SE3.Random(), name)
        root = rng.normal(size=(3, 3))  # of a body's second moments
        inertia = np.trace(root @ root.T) * np.eye(3) - root @ root.T
        model.appendBodyToJoint(k, pin.Inertia(1.0, rng.normal(size=3), inertia), pin.SE3.Identity())
        return k

    pin.seed(0)
    a, b = add(pin.JointModelRZ(), "a"), add(pin.JointModelPX(), "b")
    add(pin.JointModelRY(), "c", a, -2.0, 0.5)
    add(pin.JointModelPrismaticUnaligned(0.6, 0.8, 0.0), "d", b, 1.5, -0.2)
    add(pin.JointModelRevoluteUnaligned(0.0, 0.6, 0.8), "e", b, 0.7, 0.0)
    add(pin.JointModelRX(), "f", a, 0.0, 0.7)
    add(pin.JointModelRUBX(), "g")
    model.armature = np.array([0.1, 0.2, 0.3])
    return model


def test_mimicking_joints_have_pinocchios_torques():
    rng = np.random.default_rng(0)
    model = mimicking(rng)
    robot, data = from_pinocchio(model), model.createData()
    assert robot.names == ("a", "b", "g")
    assert [joint.name for joint in robot.joints] == ["a", "b", "c", "d", "e", "g"]
    assert robot.offset.tolist() == [0, 0, 0.5, -0.2, 0, 0]
    for q, qd, qdd in rng.uniform(-2, 2, (5, 3, 3)):
        theirs = np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])])
        same(robot.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, theirs, qd, qdd))
        # its crba (4.1) disagrees with its own rnea where followers carry other joints: columns by rnea
        weight = pin.rnea(model, data, theirs, 0 * qd, 0 * qd).copy()
        columns = [pin.rnea(model, data, theirs, 0 * qd, unit) - weight for unit in np.eye(3)]
        same(robot.mass_matrix(q), np.transpose(columns))
    held = from_pinocchio(model, locked={"a": 0.3, "b": 0.1})
    assert type(held) is fd.Robot
    same(held.mass_matrix([0.4]), robot.mass_matrix([0.3, 0.1, 0.4])[2:, 2:])


def test_mimicking_joints_of_a_urdf_are_the_same_by_both_readers():
    text = ARM_URDF.replace("<!-- four -->", "<mimic joint='j1' multiplier='2' offset='0.1'/>")
    try:
        model = pin.buildModelFromXML(text, mimic=True)
    except TypeError:
        pytest.skip("this Pinocchio has no mimic joints")
    robot, ours = from_pinocchio(model).without_friction(), fd.from_urdf(text).without_friction()
    assert robot.names == ours.names == ("j1", "j2", "j3")
    q, qd, qdd = states(3, 6)
    same(robot.inverse_dynamics(q, qd, qdd), ours.with_gravity(robot.gravity).inverse_dynamics(q, qd, qdd))


def test_other_things_are_no_pinocchio_model():
    with pytest.raises(fd.RobotError, match=r"model: expected a pinocchio.Model, found str"):
        from_pinocchio("robot.urdf")
    model = pin.Model()
    model.gravity.angular = np.ones(3)
    with pytest.raises(fd.RobotError, match="gravity: expected no angular part"):
        from_pinocchio(model)


# ---------------------------------------------------------------------------------------------- one robot, every way

PI2 = repr(np.pi / 2)
INERTIAL = """<inertial><origin xyz='0.02 -0.03 0.1' rpy='0.3 -0.2 0.1'/><mass value='{0}'/>
<inertia ixx='0.03' iyy='0.04' izz='0.05' ixy='0.002' ixz='-0.003' iyz='0.001'/></inertial>"""
ARM_URDF = f"""<robot name='arm'><link name='base'/>
<link name='one'>{INERTIAL.format(3)}</link><link name='two'>{INERTIAL.format(2)}</link>
<link name='three'>{INERTIAL.format(1)}</link><link name='four'>{INERTIAL.format(0.5)}</link><link name='tool'/>
<joint name='j1' type='revolute'><parent link='base'/><child link='one'/><origin xyz='0 0 0.4'/><axis xyz='0 0 1'/>
  <limit lower='-2' upper='2.5' velocity='3' effort='40'/><dynamics damping='0.3' friction='0.2'/></joint>
<joint name='j2' type='continuous'><parent link='one'/><child link='two'/><origin xyz='0.1 -0.2 0' rpy='{PI2} 0 0'/>
  <axis xyz='0 0 1'/><dynamics damping='0.1' friction='0.05'/></joint>
<joint name='j3' type='prismatic'><parent link='two'/><child link='three'/><origin xyz='0.5 0 0' rpy='-{PI2} 0 0'/>
  <axis xyz='0 0 1'/><limit lower='0' upper='1' velocity='1' effort='9'/><dynamics damping='2' friction='0.6'/></joint>
<joint name='j4' type='revolute'><parent link='three'/><child link='four'/><origin xyz='0.2 0 0.1'/>
  <axis xyz='0 0 1'/><!-- four --><limit lower='-1' upper='1' velocity='1' effort='9'/></joint>
<joint name='flange' type='fixed'><parent link='four'/><child link='tool'/><origin xyz='0 0 0.2' rpy='0.1 0 0'/></joint>
</robot>"""
ARMATURE = np.array([0.5, 0.4, 3.0, 0.01])
FRICTION = ((0.3, 0.2), (0.1, 0.05), (2.0, 0.6), (0.0, 0.0))
MASSES = (3.0, 2.0, 1.0, 0.5)
COM = np.array([0.02, -0.03, 0.1])


def rotation(roll, pitch, yaw):
    """Rz(yaw) Ry(pitch) Rx(roll), the angles of a URDF."""
    c, s = np.cos(pitch), np.sin(pitch)
    Ry = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return turn_z(yaw)[:3, :3] @ Ry @ turn_x(roll)[:3, :3]


TURNED = rotation(0.3, -0.2, 0.1)
INERTIA = TURNED @ np.array([[0.03, 0.002, -0.003], [0.002, 0.04, 0.001], [-0.003, 0.001, 0.05]]) @ TURNED.T
MOTORS = [fd.Motor(a, 1.0, v, c) for a, (v, c) in zip(ARMATURE, FRICTION, strict=True)]


def arm_by_table():
    """The modified D-H table: alpha, a, d of each joint."""
    rows = [(0, 0, 0.4), (np.pi / 2, 0.1, 0.2), (-np.pi / 2, 0.5, 0), (0, 0.2, 0.1)]
    kinds = ["revolute", "revolute", "prismatic", "revolute"]
    links = [
        fd.DHLink(a=a, alpha=alpha, d=d, kind=kind, mass=m, com=COM, inertia=INERTIA, motor=motor)
        for (alpha, a, d), kind, m, motor in zip(rows, kinds, MASSES, MOTORS, strict=True)
    ]
    return fd.from_dh(links, convention="modified")


def arm_by_pinocchio():
    model = pin.buildModelFromXML(ARM_URDF)
    model.gravity.linear = np.array([0, 0, -9.80665])
    model.armature[:] = ARMATURE
    return from_pinocchio(model)


def arm_by_mujoco():
    text, places = "", ("0 0 0.4", "0.1 -0.2 0", "0.5 0 0", "0.2 0 0.1")
    turns = ("0 0 0", f"{PI2} 0 0", f"-{PI2} 0 0", "0 0 0")
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = INERTIA.tolist()
    for k in reversed(range(4)):
        viscous, coulomb = FRICTION[k]
        text = (
            f"<body pos='{places[k]}' euler='{turns[k]}'><joint type='{'slide' if k == 2 else 'hinge'}' "
            f"armature='{ARMATURE[k]}' damping='{viscous}' frictionloss='{coulomb}'/>"
            f"<inertial pos='0.02 -0.03 0.1' mass='{MASSES[k]}' fullinertia='{xx} {yy} {zz} {xy} {xz} {yz}'/>"
            f"{text}</body>"
        )
    return from_mujoco(mjcf(text, "gravity='0 0 -9.80665'"))


def arm_by_mujoco_from_urdf():
    model = mujoco.MjModel.from_xml_string(ARM_URDF)
    model.opt.gravity[:] = 0, 0, -9.80665
    model.dof_armature[:] = ARMATURE
    return from_mujoco(model)


@pytest.mark.parametrize("way", [arm_by_pinocchio, arm_by_mujoco, arm_by_mujoco_from_urdf])
def test_one_robot_by_all_ways(way):
    expected, found = arm_by_table(), way()
    q, qd, qdd = states(4, 3, count=9)
    tau = expected.inverse_dynamics(q, qd, qdd)
    same(found.inverse_dynamics(q, qd, qdd), tau)
    same(found.mass_matrix(q), expected.mass_matrix(q))
    same(found.forward_dynamics(q, qd, tau), qdd)
    same(found.potential_energy(q), expected.potential_energy(q))
    same(found.kinetic_energy(q, qd), expected.kinetic_energy(q, qd))


def test_the_same_robot_by_screws():
    home = [go(0, 0, 0.4), *(np.asarray(j.origin) for j in arm_by_table().joints[1:])]
    cross = np.cross(COM, np.eye(3)).T
    spatial = [np.block([[INERTIA - m * cross @ cross, m * cross], [m * cross.T, m * np.eye(3)]]) for m in MASSES]
    about, along = [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]
    arm = from_screws(home, spatial, [about, about, along, about])
    q, qd, qdd = states(4, 4, count=9)
    bare = arm_by_table().without_friction().inverse_dynamics(q, qd, qdd) - ARMATURE * qdd
    same(arm.inverse_dynamics(q, qd, qdd), bare)


def test_importing_the_package_imports_neither_library():
    code = "import sys, fastdyn; assert not {'mujoco', 'pinocchio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
