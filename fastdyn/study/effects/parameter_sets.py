"""Parameters of the PUMA 560 from more than one source.

Only one measurement of all links could be found in print, that of Armstrong, Khatib and Burdick, in two forms that
differ: in the frames of their paper, as the Robotics Toolbox (puma560akb) and Stanford's SCL carry it, and in standard
D-H frames, as the toolbox has it too (the built-in puma560). Sets that others report (Paul, Rong and Zhang 1983; Tarn
and Bejczy 1985; compared by Corke and Armstrong-Helouvry 1994) were not at hand.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import pi

import numpy as np

from fastdyn.errors import RobotWarning
from fastdyn.formats.dh import DHLink
from fastdyn.robot import Robot, from_dh
from fastdyn.robots import puma560

SOURCES = {
    "built-in": "Armstrong, Khatib and Burdick 1986, in the standard D-H frames of Corke's Robotics Toolbox",
    "authors' frames": "Armstrong, Khatib and Burdick 1986, in the modified D-H frames of their paper",
}


def parameter_sets() -> dict[str, Robot]:
    """The PUMA 560 by each of SOURCES, all in the joint angles of the built-in one.

    >>> list(parameter_sets())
    ['built-in', "authors' frames"]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # some of the published inertias are physically impossible
        return {"built-in": puma560(), "authors' frames": armstrong()}


def armstrong() -> Robot:
    """The PUMA 560 in the frames of Armstrong, Khatib and Burdick (ICRA 1986), without motors: modified D-H.

    Their zero position is another: joints 1 to 3 are half a turn further here. Forward kinematics is that of the
    built-in arm within 2 mm, and so are the centres of mass, but for link 4: its centre is 19 mm before the wrist here,
    and 19 mm beyond it in the built-in arm. Link 3's moment about its joint is 0.086 kg m^2, as there and in SCL; the
    toolbox's file of these frames has 0.066, with which D33 would be translational.
    """
    half = -pi
    rows = [
        DHLink(theta=half, inertia=np.diag([0, 0, 0.35])),
        DHLink(
            alpha=-pi / 2, theta=half, d=0.2435,
            mass=17.4, com=(0.068, 0.006, -0.016), inertia=np.diag([0.13, 0.524, 0.539]),
        ),
        DHLink(
            a=0.4318, theta=half, d=-0.0934,
            mass=4.8, com=(0, -0.07, 0.014), inertia=np.diag([0.066, 0.0125, 0.086]),
        ),
        DHLink(
            a=-0.0203, alpha=pi / 2, d=0.4331,
            mass=0.82, com=(0, 0, -0.019), inertia=np.diag([1.8e-3, 1.8e-3, 1.3e-3]),
        ),
        DHLink(alpha=-pi / 2, mass=0.34, inertia=np.diag([0.3e-3, 0.3e-3, 0.4e-3])),
        DHLink(alpha=pi / 2, mass=0.09, com=(0, 0, 0.032), inertia=np.diag([0.15e-3, 0.15e-3, 0.04e-3])),
    ]  # fmt: skip
    rows = [replace(row, limits=joint.limits) for row, joint in zip(rows, puma560().joints, strict=True)]
    return from_dh(rows, convention="modified", name="puma560_armstrong")
