"""Arms whose equations of motion are known in closed form: for teaching, and for tests."""

from __future__ import annotations

import numpy as np

from fastdyn.formats.dh import DHLink
from fastdyn.geometry import go
from fastdyn.mechanism.parts import Joint, Link, Motor
from fastdyn.robot import Robot, from_dh
from fastdyn.simulation.drive_train import FlexibleJoint


def two_link(m1: float = 1.0, m2: float = 1.0, length: float = 1.0, g: float = 9.80665) -> Robot:
    """Two slender rods of equal length in a vertical plane (Fu, Gonzalez, Lee, Robotics, section 3.2.6).

    x points along the base, y up; both joints turn about z. kg, m, m/s^2.
    """
    rods = [
        DHLink(a=length, mass=m, com=(-length / 2, 0, 0), inertia=np.diag([0, 1, 1]) * (m * length**2 / 12))
        for m in (m1, m2)
    ]
    return from_dh(rods, name="two_link", gravity=(0, -g, 0))


def planar_2r(
    m1: float = 1.0,
    m2: float = 1.0,
    l1: float = 1.0,
    l2: float = 1.0,
    lc1: float = 0.5,
    lc2: float = 0.5,
    I1: float = 1 / 12,
    I2: float = 1 / 12,
    g: float = 9.80665,
) -> Robot:
    """The general planar arm with two revolute joints (Asada and Slotine, Robot Analysis and Control).

    l: lengths, lc: from each joint to its link's centre of mass, I: about the centre of mass and the joints' direction.
    The other moments, which do not affect a planar motion, are those of a flat body. y points up. kg, m, kg m^2, m/s^2.
    """
    rows = [
        DHLink(a=l, mass=m, com=(lc - l, 0, 0), inertia=np.diag([0.5, 0.5, 1.0]) * moment)
        for m, l, lc, moment in ((m1, l1, lc1, I1), (m2, l2, lc2, I2))
    ]
    return from_dh(rows, name="planar_2r", gravity=(0, -g, 0))


def rrt(
    L1: float = 0.4,
    L2: float = 0.7,
    m1: float = 90.0,
    m2: float = 60.0,
    m3: float = 40.0,
    I3: tuple[float, float, float] = (5.0, 4.0, 1.0),
    g: float = 9.81,
) -> Robot:
    """Two revolute joints and a prismatic one (Marghitu's RRT arm, with the figures of its worked example).

    Axis 1 is vertical and along x. Links 1 and 2 are slender rods of length 2 L1 and 2 L2 along their z axes; axis 2 is
    along y, at the end of link 1; link 3 slides along z of link 2, and q3 is the distance of its centre of mass from
    that of link 2. kg, m, kg m^2, m/s^2.
    """
    rod1, rod2 = m1 * L1**2 / 3, m2 * L2**2 / 3
    links = [
        Link("base"),
        Link("link1", m1, (0, 0, L1), np.diag([rod1, rod1, 0])),
        Link("link2", m2, (0, 0, L2), np.diag([rod2, rod2, 0])),
        Link("link3", m3, (0, 0, 0), np.diag(I3)),
    ]
    joints = [
        Joint("joint1", "base", "link1", axis=(1, 0, 0)),
        Joint("joint2", "link1", "link2", axis=(0, 1, 0), origin=go(0, 0, 2 * L1)),
        Joint("joint3", "link2", "link3", "prismatic", axis=(0, 0, 1), origin=go(0, 0, L2)),
    ]
    return Robot(links, joints, name="rrt", gravity=(-g, 0, 0))


def flexible_joint(joint: FlexibleJoint) -> Robot:
    """One joint about z that turns a body of inertia J_a, with its motor and gear; springs: `joint.springs()`.

    >>> from fastdyn.simulation import irb1400_joint_1
    >>> joint = irb1400_joint_1()
    >>> robot = flexible_joint(joint)
    >>> r = robot.simulate([0.0], [0.0], 0.1, 1e-3, tau=[100.0], flexible=joint.springs())
    >>> bool(r.motor_q[-1] > r.q[-1] > 0)
    True
    """
    arm = Link("arm", 1.0, (0, 0, 0), np.diag([0.5, 0.5, 1.0]) * joint.J_a)
    motor = Motor(joint.J_m, 1 / joint.r, joint.f_m)
    return Robot([Link("base"), arm], [Joint("joint", "base", "arm", motor=motor)], name="flexible_joint")
