"""A robot on fixed memory, for control loops: calls without checks or allocation, in Python and in C."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba.core import config
from numpy.typing import ArrayLike

from fastdyn.calls import generate
from fastdyn.calls.parameters import Parameters
from fastdyn.calls.payload import SET_PAYLOAD, payload_map
from fastdyn.calls.workspace import Workspace
from fastdyn.errors import ArgumentError, FastdynError
from fastdyn.mechanism.parts import Array
from fastdyn.mechanism.poses import named_link
from fastdyn.mechanism.variations import checked_body
from fastdyn.quantities import METHODS, QUANTITIES, ROWS, Quantity

NO_INERTIA = ((0.0, 0.0, 0.0),) * 3
_RESULTS = {field.name for quantity in QUANTITIES.values() for field in quantity.gives}


class Bound:
    """A robot bound to fixed memory: write q, qd, qdd, tau or wrenches, call, read. Made by robot.bind().

    Inputs are q, qd, qdd, tau (n,) and wrenches (n, 6), which are used if not all zero; results are tau, qdd,
    M, C (n, n), reactions (n, 6), kinetic, potential (), momentum (6,), com (3,), and of the frame that was named pose
    (4, 4), J, dJ (6, n), H (6, n, n), velocity, acceleration (6,); poses (n, 4, 4). inverse_velocity and
    inverse_acceleration read velocity, acceleration, and if not all zero preferred (n,), axes (6,), damping, tolerance
    (), and give rank and residual () besides qd or qdd; frame_acceleration reads qdd, also one that another call has
    left there; singular_values gives sigma (6,), static_torques reads wrench (6,), task_dynamics gives Lambda (6, 6),
    mu, p and kept (6,). Controllers, bound by name, read q, qd, the desired motion q_d, qd_d, qdd_d (n,) and gains kp,
    kd (n,), and give tau; `fastdyn.quantities.CONTROLLERS` has the fields of each.

    All are views of one block of memory and never move. Each call (inverse_dynamics(), mass_matrix(), ...,
    compute_momentum()) returns a status: 0 on success, otherwise see `explain`. A call changes only its results. Calls
    allocate nothing and never compile; they are not thread-safe (bind once for each thread). `payload` changes what the
    robot carries.
    """

    _fixed = False

    def __init__(self, robot: Any, parameters: Parameters, names: Iterable[str], view: tuple[Any, ...]) -> None:
        if parameters.joints == 0:
            raise ArgumentError(f"{parameters.robot} has no moving joint: there is nothing to bind")
        self.robot = robot
        self.quantities = tuple(names) or default_names()
        self._view = view
        self._parameters = parameters
        self._places: dict[str | None, tuple[int, ...]] = {}  # by link: the addresses that SET_PAYLOAD takes
        self._kept: list[Any] = []  # the arrays that are there
        rows = [parameters.row(_row(name, "bind")) for name in self.quantities]
        self._straight = any(row.straight for row in rows)
        self._workspace = Workspace(parameters, rows)
        self.workspace: Array = self._workspace.memory
        self.address: int = self._workspace.address
        for name, field in self._workspace.views.items():
            setattr(self, name, field)
        for row in rows:
            setattr(self, call_name(row), self._call(row))
        self._fixed = True

    def __setattr__(self, name: str, value: object) -> None:
        if self._fixed and getattr(self, name, None) is not value:  # loop.q += 1 comes here too
            raise AttributeError(
                f"{name} of a bound robot cannot be replaced: write into it, as in loop.{name}[:] = ..."
            )
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        known = sorted(key for key in self.__dict__ if not key.startswith("_"))
        named = {row.name: (call_name(row), *(f.name for f in row.inputs + row.gives)) for row in ROWS.values()}
        hint = next((f"; robot.bind({row!r}) has it" for row, names in named.items() if name in names), "")
        raise AttributeError(f"a bound robot has no {name!r}: expected one of {', '.join(known)}{hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has its own memory with the same contents."""
        return _rebound, (self.robot, self.quantities, self._view, self.workspace.copy())

    def _call(self, quantity: Quantity) -> partial[int]:
        compiled = _machine_code(generate.bound(quantity, self._parameters.coupled).compiled)
        call: partial[int] = partial(compiled, self.address)
        call.workspace = self.workspace  # type: ignore[attr-defined]  # keeps the memory alive with the call
        return call

    def payload(
        self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None, link: str | None = None
    ) -> None:
        """Sets the payload that this bound robot carries on its tip or on the named link, as `with_payload` does.

        It replaces any payload set before; a mass of zero removes it. Arguments are checked as there. Nothing is
        allocated but Python's own numbers, except in the first call for a link, which prepares it (and may compile):
        make that one before the loop begins. The robot itself (`loop.robot`) does not change.

        >>> import fastdyn as fd
        >>> loop = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).bind("gravity_forces")
        >>> loop.payload(2.0)
        >>> loop.gravity_forces(), loop.tau.round(12).tolist()
        (0, [60.0, 25.0])
        >>> loop.payload(0.0)
        >>> loop.gravity_forces(), loop.tau.round(12).tolist()
        (0, [20.0, 5.0])
        """
        place: Any = com
        moments: Any = NO_INERTIA if inertia is None else inertia
        try:
            x, y, z = place
            (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = moments
            if not SET_PAYLOAD.compiled()(
                *self._places[link], False, mass, x, y, z, xx, xy, xz, yx, yy, yz, zx, zy, zz
            ):
                return
        except (TypeError, ValueError, KeyError):
            pass  # what is wrong is found below
        if self._straight:
            raise ArgumentError(
                f"{self._parameters.robot} is specialised, its payload folded into its code: expected a bound robot of "
                "general code, or robot.with_payload(...).specialize()"
            )
        description = self.robot.description
        name = named_link(description, link)
        body = checked_body("payload", mass, com, inertia)
        if link not in self._places:
            arrays = *self._parameters.constants[:2], *payload_map(description, self.robot.model, name)
            self._places[link] = self.address, *(array.ctypes.data for array in arrays)
            self._kept.append(arrays)
        given = body.mass, *np.ravel(body.com).tolist(), *np.ravel(body.inertia).tolist()
        SET_PAYLOAD.compiled()(*self._places[link], True, *given)

    def explain(self, status: int) -> str:
        """What a status means.

        >>> import fastdyn as fd
        >>> loop = fd.robots.puma560().bind("gravity_forces")
        >>> loop.q[2] = float("nan")
        >>> loop.explain(loop.gravity_forces())
        'an argument or a result is not finite'
        """
        first, last = generate.WRONG_KIND, 2 * len(self._parameters.names) + 1
        if isinstance(status, bool) or not isinstance(status, int | np.integer) or not first <= status <= last:
            raise ArgumentError(f"status is {status!r}: expected a status that a call returned, {first} to {last}")
        if status == 0:
            return "all is well"
        if status == 1:
            return "an argument or a result is not finite"
        if status == generate.WRONG_KIND:
            kind, prefix = ("coupled", "coupled_") if self._parameters.coupled else ("plain", "")
            return f"the workspace is a {kind} robot's: expected a call of fastdyn.workspace.{prefix}<quantity>"
        return f"singular mass matrix: {self._parameters.singular(status)}"


def default_names(frames: bool = True) -> tuple[str, ...]:
    """The quantities that are bound if none is named; frames: with those of a frame."""
    return tuple(rows[0].name for rows in METHODS.values() if frames or not rows[0].frame)


def _rebound(robot: Any, quantities: tuple[str, ...], view: tuple[Any, ...], memory: Array) -> Bound:
    frame, point, local = view
    bound: Bound = robot.bind(*quantities, frame=frame, point=point, local=local)
    bound.workspace[:] = memory
    return bound


@dataclass(frozen=True)
class CFunction:
    """A C function of this process: its address, its declaration, and workspaces for it (one for each thread).

    Valid as long as this object and its workspace live. `declaration` is C; the function neither allocates nor takes
    the GIL.
    """

    name: str
    address: int
    declaration: str
    robot: Any
    parameters: Parameters
    quantity: Quantity
    view: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has the function at another address."""
        return _c_function_of, (self.robot, self.name, self.view)

    def workspace(self) -> Array:
        """A fresh workspace: pass its address (`.ctypes.data`) as the function's last argument."""
        return Workspace(self.parameters, [self.quantity]).memory


def c_functions() -> dict[str, tuple[Quantity, bool]]:
    """C functions by name: the quantity, and whether the function takes the optional inputs."""
    found = {}
    for name, quantity in ROWS.items():
        found[name] = quantity, False
        if quantity.optional:  # all of them
            found[f"{name}_with_{'_'.join(field.name for field in quantity.optional)}"] = quantity, True
    return found


def c_function(robot: Any, parameters: Parameters, name: str, view: tuple[Any, ...]) -> CFunction:
    """The C function that computes a quantity of a robot."""
    known = c_functions()
    if name not in known:
        raise ArgumentError(f"name is {name!r}: expected one of {', '.join(map(repr, known))}")
    quantity, optional = known[name]
    quantity = parameters.row(quantity)
    address = _machine_code(generate.c_function(quantity, parameters.coupled, optional).address)
    return CFunction(name, address, declaration(name, quantity, optional), robot, parameters, quantity, view)


def declaration(name: str, quantity: Quantity, optional: bool) -> str:
    """The C declaration of a quantity's function; optional: with its optional inputs."""
    inputs = [f"const double *{field.name}" for field in (quantity.inputs if optional else quantity.reads)]
    results = [f"double *{field.name}" for field in quantity.gives]
    index = ["int64_t index"] * quantity.index
    return f"int64_t {name}({', '.join([*inputs, *results, *index, 'void *workspace'])})"


def _c_function_of(robot: Any, name: str, view: tuple[Any, ...]) -> CFunction:
    function: CFunction = robot.c_function(name, *view)
    return function


def _row(name: str, where: str) -> Quantity:
    if name not in ROWS:
        raise ArgumentError(f"{where} names {name!r}: expected some of {', '.join(map(repr, ROWS))}")
    return ROWS[name]


def call_name(quantity: Quantity) -> str:
    """The name of the bound call: the quantity's, or compute_<name> if a result has that name."""
    return f"compute_{quantity.name}" * (quantity.name in _RESULTS) or quantity.name


def _machine_code(make: Callable[[], Any]) -> Any:
    if config.DISABLE_JIT:
        raise FastdynError("bound calls are machine code: NUMBA_DISABLE_JIT must not be set")
    return make()
