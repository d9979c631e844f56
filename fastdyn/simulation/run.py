"""Runs simulations: arguments, drives, short compiled calls, errors."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import real_numbers
from fastdyn.calls.arguments import FLOAT, check_finite, read
from fastdyn.calls.parameters import Parameters
from fastdyn.control.controllers import Controller
from fastdyn.errors import ArgumentError, NotFiniteError, SingularMassMatrixError
from fastdyn.kernels import coupling as c
from fastdyn.kernels import rows as r
from fastdyn.kernels import simulation as s
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Quantity
from fastdyn.simulation.flexible import FlexibleJoints
from fastdyn.simulation.result import Simulation, coordinate_names

if TYPE_CHECKING:
    from fastdyn.calls.threads import Call

INTEGRATORS = {"rk4": 4, "euler": 1, "implicit": 1}  # stages
SLIP = 1e-3  # rad/s or m/s: the least velocity at which Coulomb friction is full
WORK = 1 << 15  # motions times steps times coordinates of one compiled call, about 1 ms
SHOW = 2.0  # s: what takes longer shows its progress on a terminal
STARTS = 64  # motions whose starts tell the inertias at the joints


class Springs(NamedTuple):
    """What energies of flexible joints need."""

    stiffness: Array
    rotors: Array


class Run:
    """One simulation, from checked arguments to its result; see `Moving.simulate`."""

    def __init__(
        self,
        robot: Any,
        q0: ArrayLike,
        qd0: ArrayLike,
        duration: float,
        dt: float,
        controller: Controller | Callable[..., Any] | None,
        tau: ArrayLike | None,
        integrator: str,
        control_period: float | None,
        delay: float,
        noise: tuple[ArrayLike, ArrayLike] | None,
        seed: int,
        torque_limits: bool | ArrayLike,
        stops: bool,
        slip: ArrayLike | None,
        flexible: FlexibleJoints | None,
        every: int,
        threads: int,
    ) -> None:
        n = robot.n
        if n == 0:
            raise ArgumentError(f"{robot.name} has no moving joint: there is nothing to simulate")
        if integrator not in INTEGRATORS:
            raise ArgumentError(f"integrator is {integrator!r}: expected one of {', '.join(map(repr, INTEGRATORS))}")
        self.robot, self.dt, self.threads = robot, _positive(dt, "dt"), threads
        self.total = _steps(_positive(duration, "duration"), self.dt, "duration")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ArgumentError(f"every is {every!r}: expected a whole number above zero")
        self.every, self.implicit = int(every), integrator == "implicit"
        self.unit = "joint" if robot.coupling is None else "coordinate"
        given: dict[str, ArrayLike] = {"q0": q0, "qd0": qd0} | ({} if tau is None else {"tau": tau})
        arrays, lead = read(given, dict.fromkeys(given, (n,)), robot.name, dict.fromkeys(given, self.unit))
        self.controller: Controller | None = controller if isinstance(controller, Controller) else None
        self.python: Any = None if isinstance(controller, Controller) else controller
        if self.python is not None and not callable(self.python):
            raise ArgumentError(
                f"controller is a {type(controller).__name__}: expected one of fastdyn.control, a function of t, q and "
                "qd, or None"
            )
        if tau is not None and controller is not None:
            raise ArgumentError("tau and controller are both given: expected one of them")
        self.hold = 0 if control_period is None else _steps(_positive(control_period, "control_period"), self.dt,
                                                            "control_period")  # fmt: skip
        if self.python is not None:
            self.hold = self.hold or 1
        self.delay = 0
        if delay:
            if not self.hold:
                raise ArgumentError(f"delay is {delay!r}: expected a control_period with it, of which it is a multiple")
            self.delay = _steps(_positive(delay, "delay"), self.hold * self.dt, "delay")
        self.lead = self._leads(lead)
        arrays = {name: np.broadcast_to(a, (*self.lead, n)).reshape(-1, n) for name, a in arrays.items()}
        check_finite(arrays)
        self.T, self.n = len(arrays["q0"]), n
        self.noise = self._noise(noise)
        self.random = np.random.default_rng(seed)
        self._drives(arrays["q0"], torque_limits, stops, slip, flexible)
        self.numbers = np.zeros((1, s.NUMBERS), dtype=np.int64)
        self.numbers[0, [s.TOTAL, s.EVERY, s.HOLD, s.DELAY, s.ROUGH, s.FLEXIBLE, s.STAGES]] = (
            self.total, self.every, self.hold, self.delay, self.rough, self.flexible, INTEGRATORS[integrator]
        )  # fmt: skip
        self.state = np.zeros((self.T, s.state_columns(n, self.delay)))  # type: ignore[no-untyped-call]
        self.state[:, :n], self.state[:, 2 * n : 3 * n] = arrays["q0"], arrays["qd0"]
        if self.flexible:  # motors where the arm is: springs are not bent
            self.state[:, n : 2 * n], self.state[:, 3 * n : 4 * n] = arrays["q0"], arrays["qd0"]
        self.torque = arrays.get("tau", np.zeros((self.T, n)))

    # ------------------------------------------------------------------------------------------ arguments

    def _leads(self, lead: tuple[int, ...]) -> tuple[int, ...]:
        """Batch axes: of the states, and of a controller's gains and position to hold."""
        found = [lead]
        if self.controller is not None:
            for name in ("kp", "kd", "reference"):
                value = getattr(self.controller, name)
                if not callable(value):
                    array = real_numbers(value, name)
                    check_finite({name: array})
                    allowed = (self.robot.n,) if name == "reference" else (self.robot.n, 1)
                    if (array.ndim or name == "reference") and array.shape[-1:] not in [(size,) for size in allowed]:
                        expected = f"(..., {self.robot.n}){', (..., 1) or a number' * (name != 'reference')}"
                        raise ArgumentError(f"{name} of the controller has shape {array.shape}: expected {expected}")
                    found.append(array.shape[:-1])
        try:
            return np.broadcast_shapes(*found)
        except ValueError:
            raise ArgumentError(f"batch axes of states and controller do not fit together: {found}") from None

    def _noise(self, noise: tuple[ArrayLike, ArrayLike] | None) -> Array | None:
        """Standard deviations of q and qd, (2 n,)."""
        if noise is None:
            return None
        if not self.hold:
            raise ArgumentError("noise: expected a control_period with it, at which measurements are taken")
        try:
            parts = [np.broadcast_to(real_numbers(each, "noise"), (self.n,)) for each in noise]
        except (ValueError, TypeError):
            parts = []
        if len(parts) != 2 or not np.isfinite(parts).all() or (np.array(parts) < 0).any():
            raise ArgumentError(
                f"noise is {noise!r}: expected two standard deviations, of q and of qd, a number or (n,)"
            )
        return np.concatenate(parts)

    def _drives(
        self, q0: Array, torque_limits: bool | ArrayLike, stops: bool, slip: ArrayLike | None,
        flexible: FlexibleJoints | None,
    ) -> None:  # fmt: skip
        """The settings, and the parameters of forward dynamics without what the settings hold."""
        n, dt, robot = self.n, self.dt, self.robot
        parameters: Parameters = robot.parameters
        constants = tuple(np.array(a, order="F" if a.flags.f_contiguous else "C") for a in parameters.constants)
        P, tree = constants[:2]
        if robot.coupling is None:
            table, order = P, tree[r.INDEX]
            places = r.ARMATURE, r.VISCOUS, r.PLUS, r.MINUS
            tree[r.KIND] &= ~r.RUBS
        else:  # friction of the joints' own motors stays where it is: it is not one of coordinates
            table, order = constants[2], np.arange(n)
            places = c.ARMATURE, c.VISCOUS, c.PLUS, c.MINUS
        armature, viscous, plus, minus = (np.zeros(n) for _ in range(4))
        for place, values in zip(places, (armature, viscous, plus, minus), strict=True):
            values[order] = table[place, : len(order)]
        S = np.zeros((s.SETTINGS, n), order="F")
        S[s.STEP, 0], S[s.IMPLICIT_STEP, 0] = dt, dt * self.implicit
        S[s.VISCOUS], S[s.PLUS], S[s.MINUS] = viscous, plus, minus
        S[s.EFFORT], S[s.LOW], S[s.HIGH] = math.inf, -math.inf, math.inf
        if isinstance(torque_limits, bool | np.bool_):
            if torque_limits:
                S[s.EFFORT] = robot.limits.effort
        else:
            S[s.EFFORT] = _each(torque_limits, n, "torque_limits")
        self.springs, self.flexible = None, flexible is not None
        h = dt * self.implicit
        if flexible is not None:
            if robot.coupling is not None:
                raise ArgumentError("flexible: expected a robot without coupled joints")
            if (armature <= 0).any():
                names = [robot.joints[j].name for j in np.flatnonzero(armature <= 0)]
                raise ArgumentError(f"flexible: expected motors with inertia at all joints, found none at {names}")
            k, d, arm_viscous = flexible.arrays(n)
            rotor, soft = armature + h * viscous, h * (h * k + d)
            S[s.SPRING], S[s.DAMPER], S[s.ARM_VISCOUS] = k, d, arm_viscous
            S[s.BACK], S[s.PER_ROTOR] = soft / (rotor + soft), 1 / (rotor + soft)
            self.springs = Springs(k, armature)
            inertia = soft * rotor / (rotor + soft)
        else:
            inertia = armature + h * viscous
        table[list(places), : len(order)] = 0.0
        table[places[0], : len(order)] = inertia[order]
        self.S = S
        self.parameters = replace(parameters, constants=constants, specialised=None)
        own = parameters.specialised is not None
        self.dynamics = self._dynamics(own)
        least = self._inertias(q0)
        most = np.maximum(np.abs(plus), np.abs(minus))
        # the velocity at which friction is full: one that friction alone stops within a step
        S[s.PER_SLIP] = 1 / (np.maximum(SLIP, dt * most / least) if slip is None else _each(slip, n, "slip"))
        if stops:
            S[s.LOW], S[s.HIGH] = robot.limits.position.T
            rate = 0.2 / dt  # rad/s: as stiff as explicit steps allow
            S[s.STOP_K], S[s.STOP_D] = least * rate**2, 1.4 * least * rate
        self.rough = bool(stops or (S[[s.PLUS, s.MINUS]] != 0).any() or (S[s.VISCOUS] != 0).any())

    def _dynamics(self, own: bool) -> Quantity:
        """The row of forward dynamics: the quicker one, or this robot's own if it is specialised."""
        from fastdyn.calls.lanes import quicker_solver
        from fastdyn.quantities import METHODS

        by_method = {row.method: row for row in METHODS["forward_dynamics"]}
        if own and self.parameters.joints <= 12:
            from fastdyn.specialize.rows import specialised

            row = by_method[quicker_solver(self.parameters.joints, True)]
            return specialised(row, self.parameters, in_rows=True)
        return by_method[quicker_solver(self.parameters.joints)]

    def _inertias(self, q0: Array) -> Array:
        """(n,): the least inertia that a torque at each joint meets, all others being free to move."""
        M = (
            self.robot.without_motors().mass_matrix(q0[:STARTS])
            if self.flexible
            else self.robot.mass_matrix(q0[:STARTS])
        )
        try:
            found: Array = (1 / np.diagonal(np.linalg.inv(M), axis1=-2, axis2=-1)).min(axis=0)
        except np.linalg.LinAlgError:
            raise SingularMassMatrixError(f"{self.robot.name} has a singular mass matrix at q0") from None
        return np.maximum(found, np.finfo(float).tiny)

    def _control(self) -> tuple[Quantity | None, tuple[Any, ...], Array, Array]:
        """The controller's row, its model, its gains (T, 2 n) and its reference (T, values)."""
        n, T = self.n, self.T
        if self.controller is None:
            return None, self._model(self.parameters), np.zeros((T, 1)), self.torque
        given = self.controller
        model = self.robot if given.robot is None else given.robot
        if model.n != n or (model.coupling is None) != (self.robot.coupling is None):
            raise ArgumentError(
                f"robot of the controller is {model!r}: expected one with the coordinates of {self.robot!r}"
            )
        gains = [np.broadcast_to(real_numbers(g, "gain"), (*self.lead, n)).reshape(T, n) for g in (given.kp, given.kd)]
        return given.row, self._model(model.parameters), np.concatenate(gains, axis=1), self._reference(given)

    def _reference(self, given: Controller) -> Array:
        n, T = self.n, self.T
        if not callable(given.reference):
            target = np.broadcast_to(real_numbers(given.reference, "reference"), (*self.lead, n)).reshape(T, n)
            return np.concatenate([target, np.zeros((T, 2 * n))], axis=1)
        times: Array
        if self.hold:
            times = (self.hold * self.dt) * np.arange(self.total // self.hold + 1, dtype=np.float64)
        else:
            times = 0.5 * self.dt * np.arange(2 * self.total + 1, dtype=np.float64)
        found = [real_numbers(part, "reference(t)") for part in given.reference(times)]
        if len(found) != 3 or any(part.shape != (len(times), n) for part in found):
            shapes = [part.shape for part in found]
            raise ArgumentError(f"reference(t) has shapes {shapes}: expected q, qd, qdd of shape ({len(times)}, {n})")
        check_finite({"reference(t)": np.concatenate(found, axis=1)})
        line = np.concatenate(found, axis=1).reshape(1, -1)
        return np.broadcast_to(line, (T, line.shape[1]))

    def _model(self, parameters: Parameters) -> tuple[Any, ...]:
        none = np.zeros((0, 0), order="F"), np.zeros((0, 0), dtype=np.int64)
        return parameters.constants if parameters.coupled else (*parameters.constants, *none)

    # ------------------------------------------------------------------------------------------ running

    def result(self) -> Simulation:
        """Runs all steps."""
        from fastdyn.calls import lanes
        from fastdyn.calls.task import lane_rows
        from fastdyn.calls.threads import useful, walk
        from fastdyn.simulation.entries import loop

        n, T, coupled = self.n, self.T, self.parameters.coupled
        records = self.total // self.every + 1
        q, qd, qdd, tau = (np.empty((T, records * n)) for _ in range(4))
        motor = np.empty((T, 2 * records * n) if self.flexible else (0, 0))
        row, model, gains, reference = self._control()
        joints = self.parameters.joints
        work = (self.dynamics.coupled_rows if coupled else self.dynamics.rows)(joints)  # type: ignore[misc]
        if row is not None:
            work = max(work, (row.coupled_rows if coupled else row.rows)(joints))  # type: ignore[misc]
        columns = n if row is None else 3 * n
        self.numbers[0, s.REFERENCES] = reference.shape[1] // columns
        rows = s.scratch_rows(n, gains.shape[1], columns, self.delay, work)  # type: ignore[no-untyped-call]
        entry, kind = loop(self.dynamics, row, coupled), lanes.kind(FLOAT)
        constants = (*self._model(self.parameters), *model, self.S)
        statuses: list[int] = []
        noise = np.empty((0, 0))

        def ready() -> Call:
            scratch, run = lane_rows(rows, kind.lanes), entry.compiled(kind)
            scratch[...] = 0.0

            def call(first: int, last: int) -> int:
                part = slice(first, last)
                samples = (self.state, gains, reference, noise, q, qd, qdd, tau, motor)
                status = int(run(*constants, self.numbers, *(a[part] for a in samples), scratch))
                if status:
                    statuses.append(status)
                return status

            return call

        worth = max(kind.lanes, WORK // (16 * n))
        chunk = max(16, WORK // (n * min(T, worth)))
        align = self.hold or 1
        chunk = align if self.python is not None else -(-chunk // align) * align
        shown = _Progress(self.total)
        for first in range(0, self.total + 1, chunk):
            last = min(first + chunk, self.total + 1)
            self.numbers[0, [s.FIRST, s.LAST]] = first, last
            if self.python is not None:
                reference = self._asked(first * self.dt)
            if self.noise is not None:
                noise = self.random.normal(size=(T, -(-(last - first) // self.hold) * 2 * n))
                noise *= np.tile(self.noise, noise.shape[1] // (2 * n))
            if T and walk(T, useful(self.threads, T, worth), worth, ready):
                self._explain(statuses, [a.reshape(T, records, n) for a in (q, qd, qdd, tau)], first, last)
            shown(last)
        shape = (*self.lead, records, n)
        times: Array = (self.every * self.dt) * np.arange(records, dtype=np.float64)
        found = [a.reshape(shape) for a in (q, qd, qdd, tau)]
        if not self.flexible:
            return Simulation(self.robot, times, found[0], found[1], found[2], found[3])
        both = motor.reshape(*self.lead, records, 2, n)
        motors = both[..., 0, :], both[..., 1, :]
        return Simulation(self.robot, times, found[0], found[1], found[2], found[3], *motors, self.springs)

    def _asked(self, t: float) -> Array:
        """Torques of a Python function."""
        assert self.python is not None
        n, place = self.n, self.n * self.flexible
        q, qd = (self.state[:, at : at + n].reshape(*self.lead, n).copy() for at in (place, 2 * n + place))
        if self.noise is not None:
            q += self.random.normal(size=q.shape) * self.noise[:n]
            qd += self.random.normal(size=qd.shape) * self.noise[n:]
        found = real_numbers(self.python(t, q, qd), "controller(t, q, qd)")
        try:
            torque = np.broadcast_to(found, (*self.lead, n)).reshape(self.T, n)
        except ValueError:
            raise ArgumentError(f"controller(t, q, qd) has shape {found.shape}: expected {(*self.lead, n)}") from None
        if not np.isfinite(torque).all():
            raise NotFiniteError(f"controller(t, q, qd) at t = {t:g} s is not finite")
        return torque

    def _explain(self, statuses: list[int], arrays: list[NDArray[Any]], first: int, last: int) -> None:
        """Raises for a status: names time, joint and sample."""
        begin, end = -(-first // self.every), (last - 1) // self.every + 1
        for name, array in zip(("q", "qd", "qdd", "tau"), arrays, strict=True):
            wrong = np.argwhere(~np.isfinite(array[:, begin:end].transpose(1, 0, 2)))
            if len(wrong):
                k, sample, j = wrong[0].tolist()
                place = ", ".join(map(str, np.unravel_index(sample, self.lead))) if self.lead else ""
                raise NotFiniteError(
                    f"{name} of {self.unit} {coordinate_names(self.robot)[j]!r}{f' of sample {place}' * bool(place)} "
                    f"is {array[sample, begin + k, j]} at t = "
                    f"{(begin + k) * self.every * self.dt:g} s: the motion has left the range of numbers; expected a "
                    f"smaller dt than {self.dt:g} s, gains that suit it, or integrator='implicit'"
                )
        if max(statuses) > 1:
            raise SingularMassMatrixError(
                f"{self.robot.name} has a singular mass matrix between t = {first * self.dt:g} and "
                f"{last * self.dt:g} s: {self.parameters.singular(max(statuses))}"
            )
        raise NotFiniteError(
            f"the motion of {self.robot.name} has left the range of numbers between t = {first * self.dt:g} and "
            f"{last * self.dt:g} s: expected a smaller dt than {self.dt:g} s, or integrator='implicit'"
        )


class _Progress:
    """A line on stderr, if that is a terminal, for what takes long."""

    def __init__(self, total: int) -> None:
        self.total, self.begun, self.last, self.on = total, time.monotonic(), 0.0, sys.stderr.isatty()

    def __call__(self, done: int) -> None:
        if not self.on:
            return
        now = time.monotonic() - self.begun
        if now > SHOW and (now - self.last > 0.2 or done > self.total):
            self.last = now
            end = "\n" if done > self.total else ""
            print(f"\rsimulating: {100 * min(1.0, done / self.total):3.0f} %", end=end, file=sys.stderr, flush=True)


def _positive(value: Any, name: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found) or found <= 0:
        raise ArgumentError(f"{name} is {value!r}: expected a number of seconds above zero")
    return found


def _steps(time: float, dt: float, name: str) -> int:
    """A time in whole steps."""
    steps = round(time / dt)
    if steps < 1 or abs(steps * dt - time) > 1e-6 * dt * max(1, steps):
        raise ArgumentError(f"{name} is {time:g} s: expected a whole number of steps of {dt:g} s")
    return steps


def _each(value: ArrayLike, n: int, name: str) -> Array:
    """Numbers above zero, (n,), from one or n of them."""
    array = real_numbers(value, name)
    if array.shape not in ((), (n,)) or not (array > 0).all():
        raise ArgumentError(f"{name} is {value!r}: expected one number above zero, or {n}")
    return np.broadcast_to(array, (n,)).astype(np.float64)
