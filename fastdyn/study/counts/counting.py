"""Runs a text on counting scalars for arms of 1, 2, ... joints and fits its costs as polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from fastdyn.formats.dh import DHLink
from fastdyn.mechanism.chains import dh_chain, screw_chain
from fastdyn.mechanism.parts import Array
from fastdyn.polynomials import Polynomial
from fastdyn.quantities import QUANTITIES, Field
from fastdyn.robot import Robot, from_dh
from fastdyn.scalars import Operations, count, count_stages
from fastdyn.study.counts.costs import Cost
from fastdyn.study.rows import FORMULATIONS

SIZES = range(1, 13)  # numbers of joints that are counted

Rows = Callable[[int], int]
Model = Callable[[int], tuple[Array, Any]]


def _field_rows(field: Field) -> Rows:
    return lambda n: math.prod(field.core(n))


# rows of the buffers that texts take, by the names of the fields in the table of quantities
_ROWS: dict[str, Rows] = {
    field.name: _field_rows(field)
    for quantity in (*QUANTITIES.values(), *FORMULATIONS.values())
    for field in quantity.inputs + quantity.gives
}


@cache
def arm(joints: int) -> Robot:
    """A rotary arm on a level base, with no other parameter that saves operations."""
    inertia = [[0.5, 0.02, 0.03], [0.02, 0.6, 0.04], [0.03, 0.04, 0.7]]
    link = DHLink(a=0.3, alpha=0.7, d=0.2, theta=0.1, mass=1.0, com=(0.1, 0.2, 0.3), inertia=inertia)
    return from_dh([link] * joints, name=f"arm of {joints} joints")


@cache
def dh_arm(joints: int) -> tuple[Array, Any]:
    """P and kinds of the arm in D-H frames."""
    chain = dh_chain(arm(joints))
    return chain.P, chain.kinds


@cache
def screw_arm(joints: int) -> tuple[Array, Any]:
    """P and kinds of the arm by screws."""
    chain = screw_chain(arm(joints))
    return chain.P, chain.kinds


def by_stage(
    text: Callable[..., Any],
    module: Any,
    stages: str,
    rows: Mapping[str, Rows],
    model: Model = dh_arm,
    sizes: range = SIZES,
) -> dict[str, Cost]:
    """The cost of each stage, and under "" that of what is in no stage.

    stages: names of functions of the module. rows: of the buffers that `whole` describes.
    """
    functions = {name: getattr(module, name) for name in stages.split()}
    counted = [count_stages(text, functions, *model(k), *_buffers(text, rows, k)) for k in sizes]
    return {name: _fit(c[name] for c in counted) for name in ["", *functions]}


def whole(text: Callable[..., Any], rows: Mapping[str, Rows], model: Model = dh_arm) -> Cost:
    """The cost of a text. rows: of its work, and of other buffers that no formulation has, by argument."""
    return _fit(count(text, *model(k), *_buffers(text, rows, k)) for k in SIZES)


def _buffers(text: Callable[..., Any], rows: Mapping[str, Rows], joints: int) -> list[Array]:
    """Buffers for the arguments of a text after the first two."""
    known = {**_ROWS, **rows}
    _, _, *names = signature(text).parameters
    return [np.full(known[name](joints) if name in known else joints, 0.5) for name in names]


def _fit(counted: Iterable[Operations]) -> Cost:
    operations = list(counted)
    return Cost(
        Polynomial.through(o.multiplications for o in operations), Polynomial.through(o.additions for o in operations)
    )
