"""A robot on fixed memory, for control loops: calls with nothing around them, in Python and in C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from fastdyn.calls.workspace import BOUND, C_FUNCTIONS, state_offset, workspace
from fastdyn.errors import ArgumentError
from fastdyn.kernels.rows import INDEX
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot


class Bound:
    """A robot bound to fixed memory: write q, qd, qdd or tau, call, read. Made by robot.bind().

    q, qd, qdd, tau (n,) and M (n, n) are writable views of one block of memory and never move. Each call returns a
    status: 0 if all is well, otherwise see `explain`. Of the state, a call changes its result only. Calls allocate
    nothing and never compile; they must not be made from two threads at once (bind once for each thread).
    """

    _fixed = False

    def __init__(self, robot: Robot) -> None:
        n = robot.n
        if n == 0:
            raise ArgumentError(f"{robot.name} has no moving joint: there is nothing to bind")
        self.robot = robot
        self.workspace = workspace(robot.model)
        self.address: int = self.workspace.ctypes.data
        first = state_offset(n)
        self.q, self.qd, self.qdd, self.tau = self.workspace[first : first + 4 * n].reshape(4, n)
        self.M = self.workspace[first + 4 * n : first + 4 * n + n * n].reshape(n, n)
        self.inverse_dynamics = self._call("inverse_dynamics")
        self.forward_dynamics = self._call("forward_dynamics")
        self.mass_matrix = self._call("mass_matrix")
        self.bias_forces = self._call("bias_forces")
        self.gravity_forces = self._call("gravity_forces")
        self._fixed = True

    def __setattr__(self, name: str, value: object) -> None:
        if self._fixed and getattr(self, name, None) is not value:  # loop.q += 1 comes here too
            raise AttributeError(
                f"{name} of a bound robot cannot be replaced: write into it, as in loop.{name}[:] = ..."
            )
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy works on memory of its own, from the same state on."""
        return _rebound, (self.robot, self.workspace.copy())

    def _call(self, name: str) -> partial[int]:
        call: partial[int] = partial(BOUND[name].compiled(), self.address)
        call.workspace = self.workspace  # type: ignore[attr-defined]  # a call kept by itself keeps its memory
        return call

    def explain(self, status: int) -> str:
        """What a status means.

        >>> import fastdyn as fd
        >>> loop = fd.robots.puma560().bind()
        >>> loop.q[2] = float("nan")
        >>> loop.explain(loop.gravity_forces())
        'an argument or a result is not finite'
        """
        if status == 0:
            return "all is well"
        if status == 1:
            return "an argument or a result is not finite"
        joint = self.robot.joints[int(self.robot.model.tree[INDEX, status // 2 - 1])].name
        return f"singular mass matrix: joint {joint!r} moves no inertia"


def _rebound(robot: Robot, memory: Array) -> Bound:
    bound = Bound(robot)
    bound.workspace[:] = memory
    return bound


@dataclass(frozen=True)
class CFunction:
    """A C function of this process: its address, its signature, and a workspace to hand it (one for each thread).

    Valid as long as this object and its workspace live. `declaration` is C; the function neither allocates nor takes
    the GIL.
    """

    name: str
    address: int
    declaration: str
    robot: Robot

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has the function at another address."""
        return c_function, (self.robot, self.name)

    def workspace(self) -> Array:
        """A fresh workspace: pass its address (`.ctypes.data`) as the function's last argument."""
        return workspace(self.robot.model)


def c_function(robot: Robot, name: str) -> CFunction:
    """The C function that computes a quantity of a robot."""
    if name not in C_FUNCTIONS:
        raise ArgumentError(f"name is {name!r}: expected one of {', '.join(map(repr, C_FUNCTIONS))}")
    entry, arguments = C_FUNCTIONS[name]
    declaration = f"int64_t {name}({arguments}, void *workspace)"
    return CFunction(name, entry.address(), declaration, robot)
