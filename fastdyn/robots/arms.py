"""Real arms with their published figures."""

from __future__ import annotations

from math import pi, radians

import numpy as np

from fastdyn.formats.dh import DHLink
from fastdyn.mechanism.parts import Motor
from fastdyn.robot import Robot, from_dh


def puma560() -> Robot:
    """The Unimation PUMA 560, standard D-H, with motors and friction.

    Inertia and friction: Armstrong, Khatib and Burdick, The explicit dynamic model and inertial parameters of the PUMA
    560 arm, ICRA 1986; motors and gears: Corke and Armstrong-Helouvry, A search for consensus among model parameters
    reported for the PUMA 560 robot, ICRA 1994, as tabulated in Corke's Robotics Toolbox. Link 1 was measured with its
    base, so that only its moment about the joint is known and it has no mass in the tables; link 3's moments violate
    the triangle inequality. Hence the RobotWarning.
    """
    rows = [
        DHLink(
            alpha=pi / 2, mass=0.0, inertia=np.diag([0, 0.35, 0]), limits=_degrees(-160, 160),
            motor=Motor(200e-6, -62.6111, 1.48e-3, (0.395, -0.435)),
        ),
        DHLink(
            a=0.4318, mass=17.4, com=(-0.3638, 0.006, 0.2275), inertia=np.diag([0.13, 0.524, 0.539]),
            limits=_degrees(-45, 225), motor=Motor(200e-6, 107.815, 0.817e-3, (0.126, -0.071)),
        ),
        DHLink(
            d=0.15005, a=0.0203, alpha=-pi / 2, mass=4.8, com=(-0.0203, -0.0141, 0.070),
            inertia=np.diag([0.066, 0.086, 0.0125]), limits=_degrees(-225, 45),
            motor=Motor(200e-6, -53.7063, 1.38e-3, (0.132, -0.105)),
        ),
        DHLink(
            d=0.4318, alpha=pi / 2, mass=0.82, com=(0, 0.019, 0), inertia=np.diag([1.8e-3, 1.3e-3, 1.8e-3]),
            limits=_degrees(-110, 170), motor=Motor(33e-6, 76.0364, 71.2e-6, (11.2e-3, -16.9e-3)),
        ),
        DHLink(
            alpha=-pi / 2, mass=0.34, inertia=np.diag([0.3e-3, 0.4e-3, 0.3e-3]), limits=_degrees(-100, 100),
            motor=Motor(33e-6, 71.923, 82.6e-6, (9.26e-3, -14.5e-3)),
        ),
        DHLink(
            mass=0.09, com=(0, 0, 0.032), inertia=np.diag([0.15e-3, 0.15e-3, 0.04e-3]), limits=_degrees(-266, 266),
            motor=Motor(33e-6, 76.686, 36.7e-6, (3.96e-3, -10.5e-3)),
        ),
    ]  # fmt: skip
    return from_dh(rows, name="puma560")


def stanford() -> Robot:
    """The Stanford arm: revolute, revolute, prismatic, and a spherical wrist; standard D-H.

    Figures: Bejczy, Robot arm dynamics and control, JPL 1974, and Paul, Robot Manipulators, 1981, as tabulated in
    Corke's Robotics Toolbox. Bejczy gives centres of mass in centimetres; here they are in metres. Rotor inertias are
    already reflected to the joint. Link 5's moments violate the triangle inequality, hence the RobotWarning.
    """
    rows = [
        DHLink(
            d=0.412, alpha=-pi / 2, mass=9.29, com=(0, 0.0175, -0.1105), inertia=np.diag([0.276, 0.255, 0.071]),
            limits=_degrees(-170, 170), motor=Motor(0.953),
        ),
        DHLink(
            d=0.154, alpha=pi / 2, mass=5.01, com=(0, -0.1054, 0), inertia=np.diag([0.108, 0.018, 0.1]),
            limits=_degrees(-170, 170), motor=Motor(2.193),
        ),
        DHLink(
            theta=-pi / 2, kind="prismatic", mass=4.25, com=(0, 0, -0.6447), inertia=np.diag([2.51, 2.51, 0.006]),
            limits=(0.305, 1.27), motor=Motor(0.782),
        ),
        DHLink(
            alpha=-pi / 2, mass=1.08, com=(0, 0.0092, -0.054), inertia=np.diag([0.002, 0.001, 0.001]),
            limits=_degrees(-170, 170), motor=Motor(0.106),
        ),
        DHLink(
            alpha=pi / 2, mass=0.63, com=(0, 0.0566, 0.003), inertia=np.diag([0.003, 0.0004, 0]),
            limits=_degrees(-90, 90), motor=Motor(0.097),
        ),
        DHLink(
            d=0.263, mass=0.51, com=(0, 0, 0.1554), inertia=np.diag([0.013, 0.013, 0.0003]),
            limits=_degrees(-170, 170), motor=Motor(0.020),
        ),
    ]  # fmt: skip
    return from_dh(rows, name="stanford")


def _degrees(lower: float, upper: float) -> tuple[float, float]:
    return radians(lower), radians(upper)
