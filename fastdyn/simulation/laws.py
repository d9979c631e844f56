"""A controller as the compiled loop takes it: a law, its model's parameters, gains and reference as arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastdyn.arrays import real_numbers
from fastdyn.calls.arguments import check_finite
from fastdyn.calls.parameters import Parameters
from fastdyn.control.controllers import Controller
from fastdyn.errors import ArgumentError, ArgumentTypeError
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Field, Quantity


class Law(NamedTuple):
    """law: a row, a user's compiled function, or None if the reference is the torque. parameters: of its model.

    gains: (T, values) or (1, values); at(times): the reference, (T or 1, len(times) * columns).
    """

    law: Quantity | Callable[..., Any] | None
    parameters: Parameters | None
    gains: Array
    columns: int
    at: Callable[[Array], Array]


def leads(controller: Controller, n: int) -> list[tuple[int, ...]]:
    """The batch axes of a controller's gains and constant reference, checked."""
    found = []
    for field in controller.gain_fields:
        name, core = field.name, field.core(n)
        array = real_numbers(controller.gains[name], name)
        check_finite({name: array})
        if array.ndim and array.shape[-1:] not in (core, (1,)):
            raise ArgumentError(
                f"{name} of the controller has shape {array.shape}: expected (..., {core[0]}), (..., 1) or a number"
            )
        found.append(array.shape[:-1])
    if not callable(controller.reference):
        core = controller.desired[0].core(n)
        array = real_numbers(controller.reference, "reference")
        check_finite({"reference": array})
        if array.shape[-len(core) :] != core:
            expected = ", ".join(map(str, core))
            raise ArgumentError(
                f"reference of the controller has shape {array.shape}: expected (..., {expected}), or a function of t"
            )
        found.append(array.shape[: -len(core)])
    return found


def law_of(controller: Controller, robot: Any, lead: tuple[int, ...]) -> Law:
    """A built-in law; lead: the batch axes of all motions."""
    n, T = robot.n, math.prod(lead)
    model = robot if controller.robot is None else controller.robot
    if model.n != n or (model.coupling is None) != (robot.coupling is None):
        raise ArgumentError(f"robot of the controller is {model!r}: expected one with the coordinates of {robot!r}")
    models, robots = (len(getattr(each, "robots", ())) for each in (model, robot))
    if models and models != robots:
        expected = f"one robot, or a fleet of {robots}" if robots else "one robot"
        raise ArgumentError(f"robot of the controller is a fleet of {models} robots: expected {expected}")
    parameters = (
        model.parameters_in(controller.frame, controller.point, False) if controller.row.frame else model.parameters
    )
    gains = [
        _flat(np.broadcast_to(real_numbers(controller.gains[field.name], field.name), lead + field.core(n)), T)
        for field in controller.gain_fields
    ]
    sizes = [math.prod(field.core(n)) for field in controller.desired]
    if callable(controller.reference):
        reference = controller.reference

        def at(times: Array) -> Array:
            return _moving(reference, times, controller.desired, n)
    else:
        core = controller.desired[0].core(n)
        target = _flat(np.broadcast_to(real_numbers(controller.reference, "reference"), lead + core), T)
        still = np.concatenate([target, np.zeros((T, sum(sizes[1:])))], axis=1, dtype=np.float64)

        def at(times: Array) -> Array:
            return still

    return Law(controller.row, parameters, np.concatenate(gains, axis=1, dtype=np.float64), sum(sizes), at)


def _flat(array: Array, T: int) -> Array:
    """(T, values), of no motions too."""
    return array.reshape(T, array.size // T if T else 0)


def _moving(reference: Callable[[Array], Any], times: Array, fields: Sequence[Field], n: int) -> Array:
    """(1, values): what a trajectory gives at some times, one after the other."""
    parts = reference(times)
    if not isinstance(parts, tuple | list):
        names = ", ".join(field.name.removesuffix("_d") for field in fields)
        raise ArgumentTypeError(f"reference(t) is a {type(parts).__name__}: expected a tuple of {names}")
    found = [real_numbers(part, "reference(t)") for part in parts]
    expected = [(len(times), *field.core(n)) for field in fields]
    if [part.shape for part in found] != expected:
        names = ", ".join(field.name.removesuffix("_d") for field in fields)
        raise ArgumentError(
            f"reference(t) has shapes {[part.shape for part in found]}: expected {names} of shapes {expected}"
        )
    line = np.concatenate([part.reshape(len(times), -1) for part in found], axis=1, dtype=np.float64)
    check_finite({"reference(t)": line})
    return line.reshape(1, -1)
