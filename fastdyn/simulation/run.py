"""Runs simulations: arguments, short compiled calls, errors."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import real_numbers
from fastdyn.calls.arguments import FLOAT, check_finite, read
from fastdyn.compiler.announce import quiet
from fastdyn.control.controllers import Controller
from fastdyn.errors import ArgumentError, ArgumentTypeError, NotFiniteError, SingularMassMatrixError
from fastdyn.kernels import rows as r
from fastdyn.kernels import simulation as s
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Quantity
from fastdyn.simulation.drives import Options, drive
from fastdyn.simulation.laws import Law, law_of, leads
from fastdyn.simulation.result import Simulation, coordinate_names

if TYPE_CHECKING:
    from fastdyn.calls.threads import Call

STAGES = {"rk4": 4, "euler": 1, "implicit": 1}
ADAPTIVE = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")  # of SciPy
WORK = 1 << 15  # motions times steps times coordinates of one compiled call, about 1 ms
SHOW = 2.0  # s: what takes longer shows its progress on a terminal
NONE = np.zeros((0, 0), order="F"), np.zeros((0, 0), dtype=np.int64)

_OWN: WeakKeyDictionary[Any, dict[bytes, Quantity]] = WeakKeyDictionary()  # rows of specialised robots


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
        every: int,
        threads: int,
        tolerances: tuple[float | None, float | None],
        options: dict[str, Any],
    ) -> None:
        n = self.n = robot.n
        self.robot, self.threads, self.integrator = robot, threads, integrator
        self.rtol, self.atol = (None if each is None else _positive(each, name, "a number above zero")
                                for each, name in zip(tolerances, ("rtol", "atol"), strict=True))  # fmt: skip
        self.robots = getattr(robot, "robots", (robot,))  # of a fleet
        if n == 0:
            raise ArgumentError(f"{robot.name} has no moving joint: there is nothing to simulate")
        if not isinstance(integrator, str) or integrator not in (*STAGES, *ADAPTIVE):
            known = ", ".join(map(repr, (*STAGES, *ADAPTIVE)))
            raise ArgumentError(f"integrator is {integrator!r}: expected one of {known}")
        self.dt = _positive(dt, "dt")
        self.total = _steps(_positive(duration, "duration"), self.dt, "duration")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ArgumentError(f"every is {every!r}: expected a whole number above zero")
        self.every = int(every)
        self.unit = "joint" if robot.coupling is None else "coordinate"
        self._timing(controller, control_period, delay)
        given: dict[str, ArrayLike] = {"q0": q0, "qd0": qd0} | ({} if tau is None else {"tau": tau})
        arrays, lead = read(given, dict.fromkeys(given, (n,)), robot.name, dict.fromkeys(given, self.unit))
        self.controller = controller
        if tau is not None and controller is not None:
            raise ArgumentError("tau and controller are both given: expected one of them")
        self.lead = self._leads(lead)
        arrays = {name: np.broadcast_to(a, (*self.lead, n)).reshape(-1, n) for name, a in arrays.items()}
        check_finite(arrays)
        self.T = len(arrays["q0"])
        self.noise = self._noise(noise)
        self.random = self._random(seed)
        if not isinstance(options["stops"], bool | np.bool_):
            raise ArgumentTypeError(f"stops is a {type(options['stops']).__name__}: expected True or False")
        self.options = Options(self.dt, integrator == "implicit", **options)
        self._drives()
        self.torque = arrays.get("tau", np.zeros((self.T, n)))
        self.state = np.zeros((self.T, s.state_columns(n, self.delay)))  # type: ignore[no-untyped-call]
        self.state[:, :n], self.state[:, 2 * n : 3 * n] = arrays["q0"], arrays["qd0"]
        if self.flexible:  # motors where the arm is: springs are not bent
            self.state[:, n : 2 * n], self.state[:, 3 * n : 4 * n] = arrays["q0"], arrays["qd0"]

    # ------------------------------------------------------------------------------------------ arguments

    def _timing(self, controller: Any, control_period: float | None, delay: float) -> None:
        """When the controller acts. Sorts out which kind it is."""
        self.python: Any = None
        self.compiled: Any = None  # a user's, by Numba
        if controller is not None and not isinstance(controller, Controller):
            if not callable(controller):
                raise ArgumentError(
                    f"controller is a {type(controller).__name__}: expected one of fastdyn.control, a function of t, q "
                    "and qd, or None"
                )
            self.python, self.compiled = (None, controller) if hasattr(controller, "py_func") else (controller, None)
            if self.compiled is not None and self.fleet:
                raise ArgumentError("controller: expected one of fastdyn.control or a Python function for a fleet")
        self.hold = 0
        if control_period is not None:
            self.hold = _steps(_positive(control_period, "control_period"), self.dt, "control_period")
        adaptive = self.integrator in ADAPTIVE
        if adaptive and (self.hold or self.compiled is not None):
            what = "control_period" if self.hold else "a compiled function as controller"
            raise ArgumentError(f"integrator is {self.integrator!r}, of SciPy, which does not go with {what}")
        if self.python is not None and not adaptive:
            self.hold = self.hold or 1
        self.delay = 0
        if not (isinstance(delay, int | float) and delay == 0):
            late = _positive(delay, "delay", "zero, or a number of seconds above zero")
            if not self.hold:
                raise ArgumentError(f"delay is {delay!r}: expected a control_period with it, of which it is a multiple")
            self.delay = _steps(late, self.hold * self.dt, "delay")

    def _leads(self, lead: tuple[int, ...]) -> tuple[int, ...]:
        """Batch axes: of the states, of a controller's gains and position to hold; the last one is a fleet's."""
        found = [lead]
        if isinstance(self.controller, Controller):
            found += leads(self.controller, self.n)
        if self.fleet:
            found.append((len(self.robots),))
        try:
            whole = np.broadcast_shapes(*found)
        except ValueError:
            raise ArgumentError(f"batch axes of states, controller and robots do not fit together: {found}") from None
        if self.fleet and whole[-1] != len(self.robots):
            raise ArgumentError(f"batch axes are {whole}: expected the last to be that of {len(self.robots)} robots")
        return whole

    @property
    def fleet(self) -> bool:
        """Whether there are robots side by side."""
        return self.robots != (self.robot,)

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

    def _random(self, seed: int) -> list[np.random.Generator]:
        """A generator for each motion, whose noise then does not depend on the others."""
        try:
            seeds = np.random.SeedSequence(seed).spawn(self.T if self.noise is not None else 0)
        except (TypeError, ValueError):
            raise ArgumentError(f"seed is {seed!r}: expected a whole number, zero or more") from None
        return [np.random.default_rng(each) for each in seeds]

    def _drives(self) -> None:
        """The drive of each robot, and the row of forward dynamics."""
        from fastdyn.calls.lanes import kind, quicker_solver
        from fastdyn.quantities import METHODS

        R = len(self.robots)
        self.drives = [drive(robot, self.options) for robot in self.robots]
        self.flexible = self.drives[0].springs is not None
        self.parameters = self.robot.parameters
        joints, by_method = self.parameters.joints, {row.method: row for row in METHODS["forward_dynamics"]}
        self.dynamics = by_method[quicker_solver(joints)]
        from fastdyn.specialize.rows import LARGEST

        if self.parameters.specialised is not None and joints <= LARGEST and not self.options.implicit:
            self.dynamics = self._own(by_method[quicker_solver(joints, True)])
        self.kind = kind(FLOAT)
        # positions of motions in the arrays of the loop: as they come, or with the robots of a block side by side
        self.order, self.place = np.arange(self.T), np.arange(self.T)
        if self.fleet:
            L, states = self.kind.lanes, self.T // R
            robots = np.minimum(np.arange(-(-R // L) * L), R - 1).reshape(-1, 1, L)
            self.order = (np.arange(states)[:, None] * R + robots).reshape(-1)
            where = np.arange(R)
            self.place = ((where // L * states + np.arange(states)[:, None]) * L + where % L).reshape(-1)

    def _own(self, row: Quantity) -> Quantity:
        """The row of a specialised robot: without what the settings hold, made once for each robot."""
        from fastdyn.specialize.rows import specialised

        constants = self.drives[0].constants
        known = _OWN.setdefault(self.parameters.specialised, {})
        key = b"".join(array.tobytes() for array in constants)
        if key not in known:
            known[key] = specialised(row, replace(self.parameters, constants=constants, specialised=None), in_rows=True)
        return known[key]

    def _law(self) -> Law:
        none = np.zeros((1, 1))
        if isinstance(self.controller, Controller):
            return law_of(self.controller, self.robot, self.lead)
        if self.compiled is not None:
            return Law(self.compiled, None, none, 1, lambda times: times.reshape(1, -1))
        return Law(None, None, none, self.n, lambda times: self.torque)

    # ------------------------------------------------------------------------------------------ running

    def result(self) -> Simulation:
        """Runs all steps."""
        law = self._law()
        if self.integrator in ADAPTIVE:
            from fastdyn.simulation.adaptive import integrate

            return integrate(self, law)
        records = self.total // self.every + 1
        loop = self.loop(law, records)
        chunk = max(16, WORK // (self.n * min(max(self.T, 1), loop.worth)))
        align = self.hold or 1
        chunk = align if self.python is not None else -(-chunk // align) * align
        shown = _Progress(self.total, "simulating, the controller in Python" if self.python else "simulating")
        for first in range(0, self.total + 1, chunk):
            last = min(first + chunk, self.total + 1)
            noise = self._drawn(first, last)
            if self.python is not None:
                reference = self._asked(first * self.dt, loop.state[self.place], noise)
            else:
                reference = law.at(self._times(first, last))
            if self.T and loop(first, last, reference, noise):
                self._explain(loop, first, last)
            shown(last)
        return self.finished(loop.arrays(), (self.every * self.dt) * np.arange(records, dtype=np.float64))

    def _times(self, first: int, last: int) -> Array:
        """When the controller acts in some steps: at their beginnings and middles, or once in each control period."""
        if not self.hold:
            return (0.5 * self.dt) * np.arange(2 * first, 2 * min(last, self.total) + 1, dtype=np.float64)
        return (self.hold * self.dt) * np.arange(first // self.hold, -(-last // self.hold), dtype=np.float64)

    def loop(self, law: Law, records: int) -> Loop:
        """The compiled loop with its arrays."""
        return Loop(self, law, records)

    def finished(self, arrays: list[Array], times: Array) -> Simulation:
        """The result from q, qd, qdd, tau, (T, K, n), and the motors' q and qd."""
        found = [a.reshape(*self.lead, len(times), self.n) for a in arrays]
        springs = [each.springs for each in self.drives]
        return Simulation(self.robot, times, *found, springs=springs if self.flexible else None)  # type: ignore[misc]

    def _drawn(self, first: int, last: int) -> Array:
        """Noise of the measurements of some steps, (T, values): q and qd of the motors, then of the arm."""
        if self.noise is None:
            return np.empty((0, 0))
        count = -(-(last - first) // self.hold) * 2 * self.n * (1 + self.flexible)
        found = np.array([one.normal(size=count) for one in self.random]).reshape(self.T, count)
        found *= np.tile(self.noise, count // (2 * self.n))
        return found

    def _asked(self, t: float, state: Array, noise: Array) -> Array:
        """Torques of a Python function."""
        n, place = self.n, self.n * self.flexible
        q, qd = (state[:, at : at + n].copy() for at in (place, 2 * n + place))
        if noise.size:
            q, qd = q + noise[:, :n], qd + noise[:, n : 2 * n]
        return self.asked(t, q.reshape(*self.lead, n), qd.reshape(*self.lead, n)).reshape(-1, n)

    def asked(self, t: float, q: Array, qd: Array) -> Array:
        """Torques of a Python function for states, (..., n), checked."""
        found = real_numbers(self.python(t, q, qd), "controller(t, q, qd)")
        try:
            torque = np.ascontiguousarray(np.broadcast_to(found, q.shape), dtype=np.float64)
        except ValueError:
            raise ArgumentError(f"controller(t, q, qd) has shape {found.shape}: expected {q.shape}") from None
        if not np.isfinite(torque).all():
            raise NotFiniteError(f"controller(t, q, qd) at t = {t:g} s is not finite")
        return torque

    def _explain(self, loop: Loop, first: int, last: int) -> None:
        """Raises for a status: names time, joint and sample."""
        begin, end = -(-first // self.every), (last - 1) // self.every + 1
        for name, array in zip(("q", "qd", "qdd", "tau"), loop.arrays(), strict=False):
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
        when = f"between t = {first * self.dt:g} and {last * self.dt:g} s"
        wrong = np.argwhere(~np.isfinite(loop.state[self.place][:, : 4 * self.n]))
        if max(loop.statuses) > 1:
            raise SingularMassMatrixError(
                f"{self.robot.name} has a singular mass matrix {when}: {self.parameters.singular(max(loop.statuses))}"
            )
        which = ""
        if len(wrong):
            sample, column = wrong[0].tolist()
            place = ", ".join(map(str, np.unravel_index(sample, self.lead))) if self.lead else ""
            name = coordinate_names(self.robot)[column % self.n]
            which = f" of {self.unit} {name!r}{f' of sample {place}' * bool(place)}"
        raise NotFiniteError(
            f"the motion{which} of {self.robot.name} has left the range of numbers {when}: expected a smaller dt than "
            f"{self.dt:g} s, or integrator='implicit'"
        )


class Loop:
    """The compiled loop with its arrays; a call runs some steps of all motions."""

    def __init__(self, run: Run, law: Law, records: int) -> None:
        from fastdyn.calls.fleet import stacked
        from fastdyn.scalars import SCALAR
        from fastdyn.simulation.entries import loop

        self.run, self.law, self.records = run, law, records
        n, coupled, joints = run.n, run.parameters.coupled, run.parameters.joints
        self.kind = SCALAR if run.compiled is not None else run.kind
        own = law.parameters is not None and hasattr(law.parameters, "each")  # a fleet's laws with models of their own
        self.entry = loop(run.dynamics, law.law, coupled, run.fleet, own)
        work = (run.dynamics.coupled_rows if coupled else run.dynamics.rows)(joints)  # type: ignore[misc]
        if isinstance(law.law, Quantity) and law.parameters is not None:
            theirs = law.parameters.joints  # of a model that may have more joints
            work = max(work, (law.law.coupled_rows if coupled else law.law.rows)(theirs))  # type: ignore[misc]
        self.rows = s.scratch_rows(n, law.gains.shape[1], law.columns, run.delay, work)  # type: ignore[no-untyped-call]
        drives, L = run.drives, run.kind.lanes
        P, *rest = drives[0].constants
        tree, S = rest[0], drives[0].S
        if run.fleet:
            tree = run.parameters.constants[1].copy()
            if not coupled:
                tree[r.KIND] &= ~r.RUBS  # as in drives
            P, S = stacked([each.constants[0] for each in drives], L), stacked([each.S for each in drives], L)
        model = (P, tree, *rest[1:], *NONE)[:4]
        believed = model if law.parameters is None else (*law.parameters.constants, *NONE)[:4]
        if law.parameters is None and run.fleet:  # not read: any arrays of the right types
            believed = (drives[0].constants[0], tree, *model[2:])
        elif own:
            believed = (stacked([each.constants[0] for each in law.parameters.each], L), *believed[1:])  # type: ignore[union-attr]
        self.constants = (*model, *believed, S)
        self.numbers = np.zeros((1, s.NUMBERS), dtype=np.int64)
        rough = any(each.rough for each in drives)
        self.numbers[0, [s.TOTAL, s.EVERY, s.HOLD, s.DELAY, s.ROUGH, s.FLEXIBLE, s.STAGES]] = (
            run.total, run.every, run.hold, run.delay, rough, run.flexible, STAGES.get(run.integrator, 1)
        )  # fmt: skip
        self.state = run.state[run.order]
        T = len(self.state)
        self.gains = self._ordered(law.gains)
        self.out = [np.empty((T, records * n)) for _ in range(4)]
        self.motor = np.empty((T, records * 3 * n) if run.flexible else (0, 0))
        self.worth = max(self.kind.lanes, WORK // (16 * n))
        self.statuses: list[int] = []

    def _ordered(self, array: Array) -> Array:
        """(T, values) in the order of the loop."""
        if len(array) == 1:
            return np.broadcast_to(array, (len(self.state), array.shape[1]))
        return array[self.run.order] if self.run.fleet and len(array) else array

    def __call__(self, first: int, last: int, reference: Array, noise: Array) -> bool:
        """Whether something went wrong; reference: (T or 1, values)."""
        from fastdyn.calls.task import lane_rows
        from fastdyn.calls.threads import useful, walk

        self.numbers[0, [s.FIRST, s.LAST, s.REFERENCES]] = first, last, reference.shape[1] // self.law.columns
        samples = (
            self.state, self.gains, self._ordered(reference), self._ordered(noise), *self.out, self.motor
        )  # fmt: skip
        run, block, T = self._compiled(), len(self.state), len(self.state)
        units, worth = T, self.worth
        if self.run.fleet:
            block = self.kind.lanes * (self.run.T // len(self.run.robots))
            units, worth = T // block, max(1, worth // block)

        def ready() -> Call:
            scratch = lane_rows(self.rows, self.kind.lanes)
            scratch[...] = 0.0
            if self.kind.lanes == 1:
                scratch = scratch[:, 0]

            def some(begin: int, end: int, k: int) -> int:
                status = int(run(*self.constants, k, self.numbers, *(a[begin:end] for a in samples), scratch))
                if status:
                    self.statuses.append(status)
                return status

            if not self.run.fleet:
                return lambda begin, end: some(begin, end, 0)
            return lambda begin, end: max(some(k * block, (k + 1) * block, k) for k in range(begin, end))

        return walk(units, useful(self.run.threads, units, worth), worth, ready) is not None

    def _compiled(self) -> Callable[..., Any]:
        if self.run.compiled is None:
            return self.entry.compiled(self.kind)
        from numba.core.errors import NumbaError

        try:
            return self.entry.compiled(self.kind)
        except NumbaError as problem:
            raise ArgumentError(
                "controller: Numba cannot compile controller(t, q, qd, tau), t a number, q, qd, tau arrays (n,) whose "
                f"elements it may read and write, none of which it may allocate: {problem}"
            ) from problem

    def arrays(self) -> list[NDArray[Any]]:
        """q, qd, qdd, tau (T, K, n), in the users' order; of flexible joints also q and qd of the motors."""
        run, n = self.run, self.run.n
        place: Any = run.place if run.fleet else slice(None)
        found = [a.reshape(-1, self.records, n)[place] for a in self.out]
        if run.flexible:
            motor = self.motor.reshape(-1, self.records, 3, n)[place]
            found += [motor[:, :, 0], motor[:, :, 1]]
        return found


class _Progress:
    """A line on stderr, if that is a terminal, for what takes long."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what = total, what
        self.begun, self.last, self.on = time.monotonic(), 0.0, not quiet()

    def __call__(self, done: int) -> None:
        if not self.on:
            return
        now = time.monotonic() - self.begun
        if now > SHOW and (now - self.last > 0.2 or done > self.total):
            self.last = now
            end = "\n" if done > self.total else ""
            print(f"\r{self.what}: {100 * min(1.0, done / self.total):3.0f} %", end=end, file=sys.stderr, flush=True)


def _positive(value: Any, name: str, expected: str = "a number of seconds above zero") -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found) or found <= 0:
        raise ArgumentError(f"{name} is {value!r}: expected {expected}")
    return found


def _steps(time: float, dt: float, name: str) -> int:
    """A time in whole steps."""
    steps = round(min(time / dt, 1e18))
    if steps < 1 or abs(steps * dt - time) > 1e-6 * dt * max(1, steps):
        raise ArgumentError(f"{name} is {time:g} s: expected a whole number of steps of {dt:g} s")
    return steps
