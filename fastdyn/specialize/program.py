"""Programs: a quantity of one robot as straight-line code, traced from the text that every robot shares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastdyn.calls import generate
from fastdyn.calls.parameters import Parameters
from fastdyn.kernels import rows as r
from fastdyn.mechanism.parts import EPS, Array
from fastdyn.quantities import CANONICAL, Quantity
from fastdyn.scalars.counting import Operations
from fastdyn.scalars.tracing import Graph, Traced

ROUNDING = 16 * EPS  # of its scale: a constant this small is what rounding has left of a zero


@dataclass(frozen=True, eq=False)
class Condition:
    """What a program requires: value > bound, unless the value is not finite; `index`: the joint that else is singular.

    The bound is that of float64; that of float32 is larger by the ratio of their roundings.
    """

    value: Traced
    bound: float
    index: int


@dataclass(frozen=True, eq=False)
class Program:
    """A straight-line program: the nodes of `graph`, in order.

    inputs, outputs: by the name of the quantity's field, one scalar for each value of a sample, in order of memory. An
    output may be a constant, an input, or have a negative sign. conditions: in the order in which they are to be
    checked: the first that does not hold is reported.
    """

    name: str
    graph: Graph
    inputs: Mapping[str, tuple[Traced, ...]]
    outputs: Mapping[str, tuple[Traced, ...]]
    conditions: tuple[Condition, ...] = ()

    @property
    def results(self) -> list[Traced]:
        """All scalars that must be computed: outputs, and the values of conditions."""
        outputs = [x for field in self.outputs.values() for x in field]
        return outputs + [condition.value for condition in self.conditions]

    def operations(self) -> Operations:
        """The operations that the results need."""
        return self.graph.operations(self.results)

    def evaluate(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """The outputs, flat, for inputs by name: (values,) of one sample, or (values, samples)."""
        return {name: self.graph.evaluate(list(field), inputs) for name, field in self.outputs.items()}

    def rebuilt(self, graph: Graph, results: list[Traced]) -> Program:
        """The same program on another graph, where `results` are the scalars of this program's."""
        left = iter(results)
        outputs = {name: tuple(next(left) for _ in field) for name, field in self.outputs.items()}
        conditions = tuple(replace(condition, value=next(left)) for condition in self.conditions)
        inputs = {name: tuple(graph.inputs(name, len(field))) for name, field in self.inputs.items()}
        return Program(self.name, graph, inputs, outputs, conditions)


def trace(quantity: Quantity, parameters: Parameters, optional: bool = False) -> Program:
    """A quantity of a robot, from its text and the coupling around it.

    optional: whether the optional inputs are used. Constants are folded, zeros and ones dropped, operations shared.
    """
    graph, values, _ = _run(quantity, parameters, optional)
    n, m = parameters.joints, parameters.coordinates
    inputs = {f.name: tuple(values[f.name][0]) for f in quantity.inputs if optional or f in quantity.reads}
    outputs = {f.name: tuple(values[f.name][0]) for f in quantity.gives}
    for field in quantity.gives:
        assert len(outputs[field.name]) == math.prod(field.core(n, m))
    conditions = []
    for k, check in enumerate(graph.checks):
        status = _run(quantity, parameters, optional, refused=k)[2]
        bound = check.bound.known
        assert bound is not None
        assert status > 1
        conditions.append(Condition(check.value, bound, status // 2 - 1))
    return Program(quantity.name, graph, inputs, outputs, tuple(conditions))


def _run(
    quantity: Quantity, parameters: Parameters, optional: bool, refused: int | None = None
) -> tuple[Graph, dict[str, Any], int]:
    """Runs the loop over samples for one sample of tracing scalars: the graph, the fields, the status."""
    n, m, coupled = parameters.joints, parameters.coordinates, parameters.coupled
    graph = Graph(refused=refused)
    P, tree, *coupling = parameters.constants
    if quantity.layout is CANONICAL:
        P = cleaned(P)
    constants = [graph.array(P), tree, *(graph.array(x) if x.dtype == float else x for x in coupling)]
    values: dict[str, Any] = {}
    inside = [math.prod(f.core(n)) for f in generate.fields_in_joints(quantity)] if coupled else []
    rows = generate.scratch_rows(quantity, coupled, n) + sum(inside)
    for field in quantity.inputs + quantity.gives:
        count = math.prod(field.core(n, m))
        rows += count
        if field in quantity.inputs and (optional or field in quantity.reads):
            values[field.name] = graph.inputs(field.name, count).reshape(1, count)
        elif field in quantity.optional:
            values[field.name] = np.empty((0, 0), dtype=object)
        else:
            values[field.name] = graph.array(np.zeros((1, count)))
    scratch = graph.array(np.zeros(rows))
    status = generate.batch(quantity, coupled).py_func(*constants, *values.values(), scratch)
    return graph, values, int(status)


# ---------------------------------------------------------------------------------------------- constants

_COSINES = [r.COS_ALPHA, r.SIN_ALPHA, r.COS_GAMMA, r.SIN_GAMMA, r.COS_THETA, r.SIN_THETA]
_COSINES += [*range(r.EXX, r.EZZ + 1), *range(r.FXX, r.FZZ + 1)]
_LENGTHS = [r.PX, r.PY, r.PZ, r.JOINT_Z, r.EX, r.EY, r.EZ, r.FX, r.FY, r.FZ]
_GRAVITIES = [r.GX, r.GY, r.GZ, r.BASE_GX, r.BASE_GY, r.BASE_GZ]
_MOMENTS = [[r.HX, r.HY, r.HZ, r.LOST_HZ]]
_MOMENTS += [[r.JXX, r.JYY, r.JXY, r.JXZ, r.JYZ, *range(r.LOST_XX, r.LOST_YZ + 1)]]


def cleaned(P: Array) -> Array:
    """P with what rounding has left of zeros and ones made exact: re-framing a robot turns cos(pi/2) into 6e-17.

    The scale is 1 for sines and cosines, that of the robot for lengths and gravity, and that of the link for moments.
    """
    P = P.copy()
    P[_COSINES] = _rounded(P[_COSINES], 1.0)
    for group in (_LENGTHS, _GRAVITIES):
        P[group] = _rounded(P[group], np.abs(P[group]).max(initial=0.0))
    for group in _MOMENTS:
        P[group] = _rounded(P[group], np.abs(P[group]).max(axis=0, initial=0.0))
    near_one = np.abs(np.abs(P[_COSINES]) - 1.0) <= ROUNDING
    P[_COSINES] = np.where(near_one, np.sign(P[_COSINES]), P[_COSINES])
    return P


def _rounded(values: Array, scale: Any) -> Array:
    return np.where(np.abs(values) <= ROUNDING * scale, 0.0, values)
