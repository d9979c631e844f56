"""A robot on fixed memory, for control loops: calls with nothing around them, in Python and in C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fastdyn.errors import ArgumentError
from fastdyn.kernels.rows import INDEX
from fastdyn.parts import Array
from fastdyn.robot import Robot
from fastdyn.workspace import BOUND, C_FUNCTIONS, state_offset, workspace


class Bound:
    """A robot bound to fixed memory: write q, qd, qdd or tau, call, read. Made by robot.bind().

    q, qd, qdd, tau (n,) and M (n, n) are writable views of one block of memory and never move. Each call returns a
    status: 0 if all is well, otherwise see `explain`. Calls allocate nothing and never compile; they must not be
    made from two threads at once (bind once for each thread).
    """

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
        self.inverse_dynamics = partial(BOUND["inverse_dynamics"].compiled(), self.address)
        self.forward_dynamics = partial(BOUND["forward_dynamics"].compiled(), self.address)
        self.mass_matrix = partial(BOUND["mass_matrix"].compiled(), self.address)
        self.bias_forces = partial(BOUND["bias_forces"].compiled(), self.address)
        self.gravity_forces = partial(BOUND["gravity_forces"].compiled(), self.address)

    def explain(self, status: int) -> str:
        """What a status means.

        >>> import fastdyn as fd
        >>> loop = fd.robots.puma560().bind()
        >>> loop.q[2] = float("nan")
        >>> loop.explain(loop.gravity_forces())
        'a result is not finite'
        """
        if status == 0:
            return "all is well"
        if status == 1:
            return "a result is not finite"
        joint = self.robot.joints[int(self.robot.model.T[INDEX, status // 2 - 1])].name
        return f"singular mass matrix: joint {joint!r} moves no inertia"


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
