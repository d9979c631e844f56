"""Actuator coordinates phi that move the joints together, q = G phi + offset, and the dynamics in phi.

Motors that sit at the base and reach a far joint through rods or belts, joints that mimic others, and parallelogram
linkages are all of this kind. The principle of virtual work gives every quantity from the robot's own:

    tau_phi = G^T tau,    M_phi = G^T M G,    C_phi = G^T C G

G is a constant, so that no velocity term of its own appears, and dM_phi/dt - 2 C_phi stays skew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.calls import api
from fastdyn.errors import ArgumentError, NotFiniteError, RobotError, SingularMassMatrixError
from fastdyn.kernels.rows import INDEX, SMALLEST
from fastdyn.mechanism.parts import EPS, Array, Joint, Link, check_name, frozen
from fastdyn.robot import Robot, Wrenches


def coupled(
    robot: Robot, G: ArrayLike, offset: ArrayLike | None = None, names: Sequence[str] | None = None
) -> CoupledRobot:
    """The robot in coordinates phi with q = G phi + offset.

    G: (n, m) for the robot's n joints, m <= n, of full column rank; offset: (n,), zero if not given; names: of the m
    coordinates, phi1, phi2, ... if not given.

    >>> import fastdyn as fd
    >>> arm = coupled(fd.robots.two_link(g=10.0), [[1, 0], [-1, 1]], names=("shoulder", "upper arm"))
    >>> arm.gravity_forces([0.0, 0.0]).round(12)  # the second motor, on the base, carries the outer link by itself
    array([15.,  5.])
    """
    matrix, shift, called = _checked(G, offset, names, robot.n)
    return CoupledRobot(robot, matrix, shift, called)


@dataclass(frozen=True, eq=False)
class CoupledRobot:
    """A robot seen from its actuators: as a Robot, but q, qd, qdd and tau stand for phi and what acts along it.

    Made by robot.coupled(G, offset, names). n is the number of coordinates; joints and links are the physical ones, and
    so are `wrenches`. Friction and rotors belong to the physical joints and are felt through G.
    """

    robot: Robot
    G: Array
    offset: Array
    names: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.robot.name

    @property
    def gravity(self) -> Array:
        """The gravity vector in the world, m/s^2."""
        return self.robot.gravity

    @property
    def mount(self) -> Array:
        """The base link's pose in the world."""
        return self.robot.mount

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The physical joints, one for each row of G."""
        return self.robot.joints

    @property
    def links(self) -> tuple[Link, ...]:
        """The physical links that these joints carry."""
        return self.robot.links

    def __repr__(self) -> str:
        return f"<CoupledRobot {self.name!r}: {self.n} coordinates move {self.robot.n} joints>"

    # ------------------------------------------------------------------------------------------ dynamics

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        threads: int = 1,
    ) -> Array:
        """What the actuators have to give along their coordinates, (..., m). Arguments: as for Robot, in phi.

        >>> import fastdyn as fd
        >>> geared = fd.robots.two_link(g=10.0).coupled([[1], [2]])
        >>> geared.inverse_dynamics([0.0], [0.0], [0.0]).round(12)
        array([30.])
        """
        Q, Qd, Qdd = self._joints(q=q, qd=qd, qdd=qdd)
        return self._felt(self.robot.inverse_dynamics(Q, Qd, Qdd, wrenches, threads=threads), out)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        method: Literal["aba", "crba"] = "aba",
        out: Array | None = None,
        threads: int = 1,
    ) -> Array:
        """The accelerations of phi, (..., m).

        Where there are fewer coordinates than joints, both methods solve with M_phi. A coordinate that moves no
        inertia is a SingularMassMatrixError.

        >>> import fastdyn as fd
        >>> geared = fd.robots.two_link().coupled([[1], [2]])
        >>> tau = geared.inverse_dynamics([0.1], [0.2], [0.3])
        >>> geared.forward_dynamics([0.1], [0.2], tau).round(12)
        array([0.3])
        """
        if method not in api.FORWARD_DYNAMICS:
            raise ArgumentError(f"method is {method!r}: expected one of {', '.join(map(repr, api.FORWARD_DYNAMICS))}")
        given, lead = self._read(q=q, qd=qd, tau=tau)
        Q, Qd = given["q"] @ self.G.T + self.offset, given["qd"] @ self.G.T
        if self.n == self.robot.n:  # the joints' own O(n) solution, seen from phi
            back = self._inverse
            Qdd = self.robot.forward_dynamics(Q, Qd, given["tau"] @ back, wrenches, method, threads=threads)
            return self._deliver(Qdd @ back.T, out)
        still = np.zeros((*lead, self.robot.n))
        rest = given["tau"] - self.robot.inverse_dynamics(Q, Qd, still, wrenches, threads=threads) @ self.G
        return self._deliver(self._solve(self.mass_matrix(q, threads=threads), rest), out)

    def mass_matrix(self, q: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """G^T M G, (..., m, m).

        >>> import fastdyn as fd
        >>> fd.robots.two_link().coupled([[1, 0], [-1, 1]]).mass_matrix([0.0, 0.0]).round(6)
        array([[1.333333, 0.5     ],
               [0.5     , 0.333333]])
        """
        M = self.G.T @ self.robot.mass_matrix(self.joint_positions(q), threads=threads) @ self.G
        return self._deliver(0.5 * (M + M.swapaxes(-1, -2)), out)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """G^T C G, (..., m, m): the Christoffel symbols of M_phi.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link().coupled([[1, 0], [-1, 1]])
        >>> (arm.coriolis_matrix([0.0, np.pi / 2], [1.0, 2.0]) @ [1.0, 2.0]).round(12)
        array([-2. ,  0.5])
        """
        Q, Qd = self._joints(q=q, qd=qd)
        return self._deliver(self.G.T @ self.robot.coriolis_matrix(Q, Qd, threads=threads) @ self.G, out)

    def bias_forces(self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """Inverse dynamics at zero acceleration, (..., m): velocity forces, gravity and friction.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(g=0.0).coupled([[1, 0], [-1, 1]]).bias_forces([0.0, np.pi / 2], [1.0, 2.0]).round(12)
        array([-2. ,  0.5])
        """
        Q, Qd = self._joints(q=q, qd=qd)
        return self._felt(self.robot.bias_forces(Q, Qd, threads=threads), out)

    def gravity_forces(self, q: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """What holds the robot still against gravity, (..., m).

        >>> import fastdyn as fd
        >>> fd.robots.two_link(g=10.0).coupled([[1], [2]]).gravity_forces([0.0]).round(12)
        array([30.])
        """
        return self._felt(self.robot.gravity_forces(self.joint_positions(q), threads=threads), out)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, threads: int = 1) -> Array:
        """Kinetic energy, rotors included, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link().coupled([[1], [0]]).kinetic_energy([0.0], [1.0]).round(6))
        1.333333
        """
        Q, Qd = self._joints(q=q, qd=qd)
        return self.robot.kinetic_energy(Q, Qd, threads)

    def potential_energy(self, q: ArrayLike, threads: int = 1) -> Array:
        """Potential energy in the gravity field, zero at the world's origin, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link(g=10.0).coupled([[1], [0]]).potential_energy([np.pi / 2]).round(6))
        20.0
        """
        return self.robot.potential_energy(self.joint_positions(q), threads)

    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        threads: int = 1,
    ) -> Array:
        """What each physical bearing carries, (..., number of joints, 6), were each joint driven at its own axis.

        How the rods or gears of the coupling lead forces past the bearings is not known from G.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(g=10.0).coupled([[1], [2]]).joint_reactions([0], [0], [0])[0].round(12)
        array([ 0., 20.,  0.,  0.,  0., 20.])
        """
        Q, Qd, Qdd = self._joints(q=q, qd=qd, qdd=qdd)
        return self.robot.joint_reactions(Q, Qd, Qdd, wrenches, out, threads)

    def joint_positions(self, q: ArrayLike) -> Array:
        """Where the physical joints stand, (..., number of joints): G phi + offset.

        >>> import fastdyn as fd
        >>> fd.robots.two_link().coupled([[1], [2]], offset=[0, 0.5]).joint_positions([1.0])
        array([1. , 2.5])
        """
        return self._joints(q=q)[0]

    # ------------------------------------------------------------------------------------------ variations

    def with_gravity(self, gravity: ArrayLike) -> CoupledRobot:
        """The same coupled robot under another gravity vector, m/s^2 in the world."""
        return replace(self, robot=self.robot.with_gravity(gravity))

    def with_mount(self, mount: ArrayLike) -> CoupledRobot:
        """The same coupled robot on a base that stands at another 4x4 pose in the world."""
        return replace(self, robot=self.robot.with_mount(mount))

    def without_friction(self) -> CoupledRobot:
        """The same coupled robot with frictionless joints; rotors stay."""
        return replace(self, robot=self.robot.without_friction())

    def coupled(
        self, G: ArrayLike, offset: ArrayLike | None = None, names: Sequence[str] | None = None
    ) -> CoupledRobot:
        """Coordinates that move these coordinates: the two couplings one after the other.

        >>> import fastdyn as fd
        >>> fd.robots.two_link().coupled([[1], [2]]).coupled([[3]]).G.tolist()
        [[3.0], [6.0]]
        """
        matrix, shift, called = _checked(G, offset, names, self.n)
        return coupled(self.robot, self.G @ matrix, self.G @ shift + self.offset, called)

    # ------------------------------------------------------------------------------------------ between phi and q

    def _read(self, **values: ArrayLike) -> tuple[dict[str, Array], tuple[int, ...]]:
        """Arguments in phi, and their batch axes; checked here, so that errors count coordinates, not joints."""
        given, lead = api.read(values, dict.fromkeys(values, (self.n,)), self.name, of="coordinate")
        api.check_finite(given)  # before G mixes them
        return given, lead

    def _joints(self, **values: ArrayLike) -> list[Array]:
        """q, qd or qdd of the physical joints, in the order given."""
        given, _ = self._read(**values)
        return [a @ self.G.T + self.offset if name == "q" else a @ self.G.T for name, a in given.items()]

    def _felt(self, tau: Array, out: Array | None) -> Array:
        return self._deliver(tau @ self.G, out)

    def _deliver(self, result: Array, out: Array | None) -> Array:
        if not np.isfinite(result).all():
            raise NotFiniteError(f"the result of {self.name} is beyond the range of float64")
        return api.deliver(result, out)

    @cached_property
    def _inverse(self) -> Array:
        return np.asarray(np.linalg.inv(self.G), dtype=np.float64)

    @cached_property
    def _smallest(self) -> Array:
        """For each coordinate, an inertia that is no more than rounding: M_ij is not above sqrt(M_ii M_jj)."""
        model = self.robot.model
        noise = np.empty(self.robot.n)
        noise[model.tree[INDEX]] = model.P[SMALLEST]
        felt: Array = (np.abs(self.G).T @ np.sqrt(noise)) ** 2
        return felt

    def _solve(self, M: Array, b: Array) -> Array:
        """x with M x = b, by elimination over all samples at once: M is positive definite, rows need no exchange."""
        m, lead = self.n, b.shape[:-1]
        M, x = np.array(np.broadcast_to(M, (*lead, m, m))), b.copy()
        for k in range(m):
            none = ~(M[..., k, k] > self._smallest[k])
            if none.any():
                self._explain(k, none)
            factor = M[..., k + 1 :, k] / M[..., k, k, None]
            M[..., k + 1 :, k:] -= factor[..., None] * M[..., k, None, k:]
            x[..., k + 1 :] -= factor * x[..., k, None]
        for k in reversed(range(m)):
            x[..., k] = (x[..., k] - (M[..., k, k + 1 :] * x[..., k + 1 :]).sum(axis=-1)) / M[..., k, k]
        return x

    def _explain(self, k: int, none: NDArray[np.bool_]) -> NoReturn:
        sample = f" at sample {', '.join(map(str, np.argwhere(none)[0].tolist()))}" if none.ndim else ""
        raise SingularMassMatrixError(
            f"{self.name} has a singular mass matrix{sample}: coordinate {self.names[k]!r} moves no inertia "
            "that those before it do not; give the links it moves mass, or their motors inertia"
        )


def _checked(
    G: ArrayLike, offset: ArrayLike | None, names: Sequence[str] | None, n: int
) -> tuple[Array, Array, tuple[str, ...]]:
    """G, offset and names of a coupling of n coordinates, or an error that says what is wrong with them."""
    try:
        shape = np.shape(G)
    except ValueError as problem:
        raise RobotError(f"G: expected a rectangular matrix, found {G!r}") from problem
    if len(shape) != 2 or shape[0] != n or not 1 <= shape[1] <= n:
        raise RobotError(f"G: expected shape ({n}, m) with 1 <= m <= {n}, found shape {shape}")
    matrix = frozen(G, shape, "G")
    shift = frozen(np.zeros(n) if offset is None else offset, (n,), "offset")
    m = shape[1]
    called = tuple(f"phi{k + 1}" for k in range(m)) if names is None else tuple(names)
    if len(called) != m or len(set(called)) != m:
        raise RobotError(f"names: expected {m} different names, one for each column of G, found {list(called)}")
    for name in called:
        check_name(name, "names")
    lengths = np.abs(matrix).max(axis=0)
    if not lengths.all():
        raise RobotError(f"G: coordinate {called[int(np.argmin(lengths))]!r} moves no joint: its column is zero")
    apart = np.abs(np.diagonal(np.linalg.qr(matrix / lengths)[1]))  # how far each column is from those before it
    if apart.min() <= 8 * n * EPS:
        k = int(np.argmax(apart <= 8 * n * EPS))
        raise RobotError(
            f"G: expected {m} independent columns, but coordinate {called[k]!r} moves the joints as those before it do"
        )
    return matrix, shift, called
