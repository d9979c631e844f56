"""The operations of one robot, by any formulation and for any quantity: general code, and code made for this robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import fill
from types import MappingProxyType
from typing import overload

import numpy as np

from fastdyn.calls import generate
from fastdyn.calls.parameters import Parameters
from fastdyn.errors import ArgumentError, ArgumentTypeError, FastdynError
from fastdyn.kinematics import FrameName
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import CONTROLLERS, QUANTITIES, Quantity
from fastdyn.robot import CoupledRobot, Robot
from fastdyn.scalars import Operations, count_stages, give, take
from fastdyn.specialize.algebra.optimize import optimized
from fastdyn.specialize.program import ROUNDING, trace
from fastdyn.specialize.rows import GENERAL
from fastdyn.study.formulations import FORMULATIONS, chain_of
from fastdyn.study.formulations import parameters as chain_parameters

SPECIALISED = tuple(name for name in QUANTITIES if name not in GENERAL)  # quantities that have straight-line code
CHIEF = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
ROWS = {**FORMULATIONS, **QUANTITIES, **CONTROLLERS}
VALUE = 0.5  # of every input: counts do not depend on it
WIDTH = 120  # columns of text
_KINDS = ("mul", "add", "div", "sincos", "sqrt", "atan2")  # Operations.totals


@dataclass(frozen=True)
class Count:
    """The operations of a formulation or a quantity for one state of one robot, without optional inputs.

    general: those of the code that every robot shares, as it runs on this one; traced: with this robot's numbers folded
    in, zeros and ones dropped and common results shared; specialised: the same rewritten by algebra, which is what
    robot.specialize() runs. Neither of the last two exists where loops depend on values; specialised is None if it was
    not asked for.
    """

    robot: str
    name: str
    general: Operations
    traced: Operations | None
    specialised: Operations | None

    def __str__(self) -> str:
        return _table(self.robot, [self])


@dataclass(frozen=True)
class Counts(Mapping[str, Count]):
    """Counts of one robot by name; left_out: why others have none."""

    robot: str
    found: Mapping[str, Count]
    left_out: Mapping[str, str]

    def __getitem__(self, name: str) -> Count:
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        return "\n".join([_table(self.robot, self.values()), *(f"\n{line}" for line in self.missing())])

    def missing(self) -> list[str]:
        """A paragraph for each reason for which some are left out."""
        reasons = dict.fromkeys(self.left_out.values())
        names = {why: ", ".join(name for name, other in self.left_out.items() if other == why) for why in reasons}
        return [fill(f"left out: {names[why]}: {why}", WIDTH) for why in reasons]


Progress = Callable[[float, str], None]


@overload
def count(
    robot: Robot | CoupledRobot,
    name: str,
    frame: FrameName = None,
    optimize: bool = True,
    progress: Progress | None = None,
) -> Count: ...


@overload
def count(
    robot: Robot | CoupledRobot,
    name: None = None,
    frame: FrameName = None,
    optimize: bool = True,
    progress: Progress | None = None,
) -> Counts: ...


def count(
    robot: Robot | CoupledRobot,
    name: str | None = None,
    frame: FrameName = None,
    optimize: bool = True,
    progress: Progress | None = None,
) -> Count | Counts:
    """Multiplications, additions, divisions and sines of one state of a robot, general and specialised.

    name: a formulation of `fastdyn.study.formulations` (links only: motors are left out), a quantity, the name of the
    robot's method, or a controller; if not given, all formulations that the robot's joints allow and all quantities
    that can be specialised. frame: of quantities of a frame; the tip's if not given. optimize=False leaves out the
    algebra, which takes most of the time: a second or two for most, 7 to 70 s for Lagrange-Euler with six or seven
    joints.

    >>> import fastdyn as fd
    >>> found = fd.study.count(fd.robots.two_link(), "inverse_dynamics")
    >>> found.general.multiplications, found.traced.multiplications, found.specialised.multiplications < 14
    (118, 14, True)
    >>> print(fd.study.count(fd.robots.two_link(), "lagrange_euler", optimize=False))
    two_link: operations for one state
                    general                 traced
                        mul    add  sincos     mul  add  sincos
    lagrange_euler    3,024  2,291       2      67   61       2
    """
    if not isinstance(robot, Robot | CoupledRobot):
        raise ArgumentTypeError(f"robot: expected a Robot or CoupledRobot, found {type(robot).__name__}")
    if not robot.n:
        raise ArgumentError(f"{robot.name} has no moving joint: there is nothing to count")
    if name is not None:
        if name not in ROWS:
            raise ArgumentError(f"name is {name!r}: expected one of {', '.join(ROWS)}")
        return _count(robot, ROWS[name], frame, optimize)
    found, left_out = {}, {}
    names = (*FORMULATIONS, *SPECIALISED)
    for place, each in enumerate(names):
        if progress is not None:
            progress(place / len(names), f"counting {each}")
        try:
            found[each] = _count(robot, ROWS[each], frame, optimize)
        except FastdynError as problem:
            left_out[each] = str(problem)
    return Counts(robot.name, MappingProxyType(found), MappingProxyType(left_out))


def _count(robot: Robot | CoupledRobot, row: Quantity, frame: FrameName, optimize: bool) -> Count:
    if row.name in FORMULATIONS:
        parameters = _chain_parameters(robot, row)
    else:
        parameters = robot.parameters_in(frame, None, False) if row.frame else robot.parameters
    program = None if row.name in GENERAL else trace(row, parameters)
    return Count(
        robot.name,
        row.name,
        general(row, parameters),
        None if program is None else program.operations(),
        None if program is None or not optimize else optimized(program).operations(),
    )


def _chain_parameters(robot: Robot | CoupledRobot, row: Quantity) -> Parameters:
    """Those of a formulation, where what rounding has left of zeros is zero: products of inertia, mostly.

    The scale is the largest number of the link.
    """
    chain = chain_of(robot, row)
    P = np.where(np.abs(chain.P) <= ROUNDING * np.abs(chain.P).max(axis=0), 0.0, chain.P)
    return chain_parameters(replace(chain, P=P))


def general(quantity: Quantity, parameters: Parameters) -> Operations:
    """What the code of all robots does for one state of this one, coupling included; checks for NaN are not counted."""
    n, m, coupled = parameters.joints, parameters.coordinates, parameters.coupled
    fields = quantity.reads + quantity.gives
    shapes = {field: math.prod(field.core(n, m)) for field in quantity.inputs + quantity.gives}
    inside = sum(math.prod(field.core(n)) for field in generate.fields_in_joints(quantity)) if coupled else 0
    scratch = np.zeros(sum(shapes.values()) + inside + generate.scratch_rows(quantity, coupled, n))

    def array(size: int, given: bool) -> Array:
        return np.full((1, size), VALUE) if given else np.empty((0, 0))

    arrays = [array(size, field in fields) for field, size in shapes.items()]
    run = generate.batch(quantity, coupled).py_func
    stages = count_stages(run, {"take": take, "give": give}, *parameters.constants, *arrays, scratch)
    return stages[""] - Operations(additions=len(fields))  # the sum of what `take` and `give` have found


def columns(counts: Iterable[Count]) -> list[list[str]]:
    """The cells of a table, column by column, below two lines of heads; the first has the names.

    Multiplications, additions, and every other kind of operation that occurs.
    """
    counts = list(counts)
    sides: dict[str, list[Operations | None]] = {
        side: [getattr(each, side) for each in counts] for side in ("general", "traced", "specialised")
    }
    columns = [["", "", *(c.name for c in counts)]]
    for side, given in sides.items():
        totals = [None if each is None else each.totals() for each in given]
        for k, kind in enumerate(_KINDS):
            if any(each is not None and (each[k] or kind in ("mul", "add")) for each in totals):
                head = side if kind == "mul" else ""
                columns.append([head, kind, *("-" if each is None else f"{each[k]:,}" for each in totals)])
    return columns


def _table(robot: str, counts: Iterable[Count]) -> str:
    names, *numbers = columns(counts)
    wide = [[cell.ljust(max(map(len, names))) for cell in names]]
    wide += [[cell.rjust(max(map(len, column))) for cell in column] for column in numbers]
    lines = ("  ".join(cells).rstrip() for cells in zip(*wide, strict=True))
    return "\n".join([f"{robot}: operations for one state", *lines])
