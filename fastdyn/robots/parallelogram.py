"""The main axes of the IRB 1400 with its parallelogram: equations of motion in closed form, and the same arm as a tree.

Norrlöf, Modeling of industrial robots, LiTH-ISY-R-2208, 1999, section 3.1.5; equation numbers are those of the report.
Link 1 turns about the vertical axis. Links 2 and 5 turn on it about one horizontal axis, at the angles theta2 and
theta3 that their motors set. Link 3, the upper arm, is carried by link 2 and turned by link 5 through link 4, a rod:
link 3 stays parallel to link 5, and link 4 to link 2. theta2 and theta3 are measured from the vertical and the
horizontal, positive downward and forward (about y), not from link to link.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.calls.arguments import check_finite, read
from fastdyn.mechanism.parts import Array, Joint, Link, Motor, frozen, not_negative, number
from fastdyn.robot import CoupledRobot, Robot

Pair = tuple[float, float]


@dataclass(frozen=True)
class MainAxes:
    """Figures of the main axes, and their equations of motion D qdd + C qd + g + f qd = tau in closed form.

    q = (theta1, theta2, theta3); every method takes one state (3,) or any batch (..., 3). Lengths in m: l1x, l1z, from
    the base to the axis of links 2 and 5; l2z, from there to the axis of link 3; l5x, the lever of link 5. rc2 to rc5:
    centres of mass (x, z) in the links' frames, whose axes are those of the base at q = 0. m: masses, kg. I1: moment of
    inertia about z, I2 to I5: about y and the centre of mass, kg m^2. f: viscous friction, N m s. g: m/s^2, downward.

    The links have no other moments of inertia, as in the report, although no real body is so: about axis 1, links 2 to
    5 count as point masses. l1x, l1z and l2z are those of the arm. All other defaults are illustrative, not ABB's: they
    are those of `irb1400`, with its upper arm and wrist in one link, and with a made-up lever and rod.

    >>> MainAxes(g=10.0).gravity_forces([0.0, 0.0, 0.0]).round(9) + 0.0
    array([  0. ,   0. , -73.3])
    """

    l1x: float = 0.15
    l1z: float = 0.475
    l2z: float = 0.6
    l5x: float = -0.2
    rc2: Pair = (0.0, 0.3)
    rc3: Pair = (0.194, 0.08)
    rc4: Pair = (0.0, 0.3)
    rc5: Pair = (-0.1, 0.0)
    m2: float = 20.0
    m3: float = 45.0
    m4: float = 5.0
    m5: float = 4.0
    I1: float = 2.36
    I2: float = 0.84
    I3: float = 2.87
    I4: float = 0.15
    I5: float = 0.02
    f: tuple[float, float, float] = (0.0, 0.0, 0.0)
    g: float = 9.80665

    def __post_init__(self) -> None:
        for each in fields(self):
            name, value = each.name, getattr(self, each.name)
            if name == "f":
                found: object = tuple(not_negative(x, "f") for x in frozen(value, (3,), "f"))
            elif name.startswith("rc"):
                found = tuple(frozen(value, (2,), name).tolist())
            else:
                found = (not_negative if name[0] in "mI" else number)(value, name)
            object.__setattr__(self, name, found)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """D(q) of (3.54), (..., 3, 3), kg m^2.

        >>> MainAxes().mass_matrix([0.0, 0.0, 0.0]).round(4)
        array([[ 8.1576,  0.    ,  0.    ],
               [ 0.    , 19.44  ,  2.16  ],
               [ 0.    ,  2.16  ,  5.1116]])
        """
        (q,) = self._state(q=q)
        x, _, _ = self._distances(q)
        D = np.zeros((*q.shape, 3))
        D[..., 0, 0] = self.I1 + x**2 @ self._m
        D[..., 1, 1] = self.I2 + self.I4 + self._m @ (self._a**2).sum(axis=1)
        D[..., 2, 2] = self.I3 + self.I5 + self._m @ (self._b**2).sum(axis=1)
        along, across = self._products
        lean = q[..., 1] - q[..., 2]
        D[..., 1, 2] = D[..., 2, 1] = along * np.cos(lean) + across * np.sin(lean)
        return D

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, qd) of (3.58) from all Christoffel symbols, (..., 3, 3): dD/dt - 2 C is skew.

        The report prints zeros for c11, c23 and c32.

        >>> MainAxes().coriolis_matrix([0.0, 0.0, 0.0], [1.0, 2.0, 3.0]).round(3)
        array([[ 23.941,  10.113,   1.238],
               [-10.113,   0.   , -14.814],
               [ -1.238,   9.876,   0.   ]])
        """
        q, qd = self._state(q=q, qd=qd)
        v1, v2, v3 = np.moveaxis(qd, -1, 0)
        x, x2, x3 = self._distances(q)
        half2, half3 = (x * x2) @ self._m, (x * x3) @ self._m  # half the slopes of d11
        along, across = self._products
        lean = q[..., 1] - q[..., 2]
        slope = across * np.cos(lean) - along * np.sin(lean)  # of d23 by q2; by q3 it is -slope
        C = np.zeros((*q.shape, 3))
        C[..., 0, 0] = half2 * v2 + half3 * v3
        C[..., 0, 1], C[..., 1, 0] = half2 * v1, -half2 * v1
        C[..., 0, 2], C[..., 2, 0] = half3 * v1, -half3 * v1
        C[..., 1, 2], C[..., 2, 1] = -slope * v3, slope * v2
        return C

    def gravity_forces(self, q: ArrayLike) -> Array:
        """g(q) of (3.59), (..., 3), N m: the slopes of the potential energy.

        >>> MainAxes(g=10.0).gravity_forces([0.0, np.pi / 2, 0.0]).round(9)
        array([   0. , -345. ,  -73.3])
        """
        (q,) = self._state(q=q)
        forces = np.zeros_like(q)
        for k, (x, z) in enumerate(self._moments, start=1):
            forces[..., k] = -self.g * (x * np.cos(q[..., k]) + z * np.sin(q[..., k]))
        return forces

    def potential_energy(self, q: ArrayLike) -> Array:
        """V(q) of (3.56), (...), J: of links 2 to 5, zero at the height of the base.

        >>> float(MainAxes(m2=0, m3=0, m5=0, g=10.0).potential_energy([0.0, 0.0, 0.0]).round(9))  # the rod at 0.775 m
        38.75
        """
        (q,) = self._state(q=q)
        height = self._m.sum() * self.l1z + np.zeros(q.shape[:-1])
        for k, (x, z) in enumerate(self._moments, start=1):
            height += z * np.cos(q[..., k]) - x * np.sin(q[..., k])
        energy: Array = self.g * height
        return energy

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """The motors' torques of a motion by (3.60), with the friction of (3.61), (..., 3), N m.

        >>> float(MainAxes(f=(5.0, 0.0, 0.0)).inverse_dynamics([0, 0, 0], [2, 0, 0], [0, 0, 0]).round(9)[0])
        10.0
        """
        q, qd, qdd = self._state(q=q, qd=qd, qdd=qdd)
        inertial = self.mass_matrix(q) @ qdd[..., None] + self.coriolis_matrix(q, qd) @ qd[..., None]
        torques: Array = inertial[..., 0] + self.gravity_forces(q) + self.f * qd
        return torques

    def robot(self) -> CoupledRobot:
        """The same arm as a tree of five links, in the coordinates theta1 to theta3: every method of a robot.

        Links 2 and 5 are carried by link 1, link 3 by link 2, link 4 by link 5. The coupling keeps link 3 parallel to
        link 5 and link 4 to link 2, so that the end of the rod, (0, 0, l2z) of link 4, stays at (l5x, 0, 0) of link 3.
        Friction is that of the coordinates' motors.

        >>> MainAxes().robot()
        <CoupledRobot 'irb1400_main_axes': 3 coordinates move 5 joints>
        """
        shoulder, y = (self.l1x, 0, self.l1z), (0, 1, 0)
        links = [Link("base"), Link("link1", inertia=np.diag([0, 0, self.I1]))] + [
            Link(f"link{i}", mass, (x, 0, z), np.diag([0, moment, 0]))
            for i, mass, (x, z), moment in (
                (2, self.m2, self.rc2, self.I2),
                (3, self.m3, self.rc3, self.I3),
                (4, self.m4, self.rc4, self.I4),
                (5, self.m5, self.rc5, self.I5),
            )
        ]
        joints = [
            Joint("joint1", "base", "link1"),
            Joint("joint2", "link1", "link2", origin=shoulder, axis=y),
            Joint("joint3", "link2", "link3", origin=(0, 0, self.l2z), axis=y),
            Joint("joint4", "link5", "link4", origin=(self.l5x, 0, 0), axis=y),
            Joint("joint5", "link1", "link5", origin=shoulder, axis=y),
        ]
        G = [[1, 0, 0], [0, 1, 0], [0, -1, 1], [0, 1, -1], [0, 0, 1]]
        # strict=None: links whose moments are those of the report are no real bodies
        tree = Robot(links, joints, name="irb1400_main_axes", gravity=(0, 0, -self.g), strict=None)
        return tree.coupled(G, names=("theta1", "theta2", "theta3"), motors=[Motor(viscous=f) for f in self.f])

    # ------------------------------------------------------------------------------------------ in the arm's plane

    # (3.49) to (3.52): the centres of mass of links 2 to 5 are at l1 + Rot(theta2) a + Rot(theta3) b, x forward, z up

    @cached_property
    def _m(self) -> Array:
        return np.array([self.m2, self.m3, self.m4, self.m5])

    @cached_property
    def _a(self) -> Array:
        return np.array([self.rc2, (0, self.l2z), self.rc4, (0, 0)])

    @cached_property
    def _b(self) -> Array:
        return np.array([(0, 0), self.rc3, (self.l5x, 0), self.rc5])

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """First moments (x, z), kg m, that turn with theta2 and with theta3."""
        return self._m @ self._a, self._m @ self._b

    @cached_property
    def _products(self) -> Pair:
        """Sums of m a . b and m (a_z b_x - a_x b_z): d23 is the first by cos(theta2 - theta3), the second by sin."""
        (ax, az), (bx, bz) = self._a.T, self._b.T
        return float(self._m @ (ax * bx + az * bz)), float(self._m @ (az * bx - ax * bz))

    def _distances(self, q: Array) -> tuple[Array, Array, Array]:
        """Distances (..., 4) of the centres of mass from axis 1, and their slopes by theta2 and theta3."""
        (ax, az), (bx, bz) = self._a.T, self._b.T
        c2, c3 = np.moveaxis(np.cos(q[..., 1:, None]), -2, 0)
        s2, s3 = np.moveaxis(np.sin(q[..., 1:, None]), -2, 0)
        return self.l1x + ax * c2 + az * s2 + bx * c3 + bz * s3, az * c2 - ax * s2, bz * c3 - bx * s3

    def _state(self, **given: ArrayLike) -> list[Array]:
        """The arguments as arrays of one shape (..., 3)."""
        arrays, lead = read(given, dict.fromkeys(given, (3,)), "MainAxes", dict.fromkeys(given, "coordinate"))
        check_finite(arrays)
        return [np.broadcast_to(array, (*lead, 3)) for array in arrays.values()]


def irb1400_main_axes(figures: MainAxes | None = None) -> CoupledRobot:
    """The main axes of the ABB IRB 1400 with the parallelogram of Norrlöf's report; its masses are illustrative.

    figures: illustrative ones if not given; the same object has the equations of motion in closed form.

    >>> irb1400_main_axes(MainAxes(g=10.0)).gravity_forces([0.0, 0.0, 0.0]).round(9) + 0.0
    array([  0. ,   0. , -73.3])
    """
    return (MainAxes() if figures is None else figures).robot()
