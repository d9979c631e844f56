"""Rows of the table of quantities for one robot: the same fields and calls, with straight-line code as their text."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fastdyn.calls.parameters import Parameters
from fastdyn.compiler.announce import announced
from fastdyn.compiler.cache import cache_directory
from fastdyn.compiler.entries import generated
from fastdyn.compiler.policy import kernel
from fastdyn.compiler.sources import SourceError, modules_hash
from fastdyn.output import write
from fastdyn.quantities import Quantity
from fastdyn.scalars import angle_sum, load, sincos_rows, store
from fastdyn.specialize.algebra.optimize import optimized
from fastdyn.specialize.code import Code, Condition, Output
from fastdyn.specialize.program import Program, trace

LARGEST = 12  # joints: beyond, straight-line code is hardly quicker, and takes long to make
# their loops depend on values, so that there is no straight line
GENERAL = ("singular_values", "inverse_velocity", "inverse_acceleration", "task_dynamics")
_HELPERS: dict[str, Any] = {"angle_sum": angle_sum, "load": load, "sincos_rows": sincos_rows, "store": store}
_LOCK = threading.RLock()


class Rows:
    """A robot's own rows, made on first use. frame: whether quantities of a frame have some, too."""

    def __init__(self, parameters: Parameters, frame: bool) -> None:
        self.parameters, self.frame = parameters, frame
        self._made: dict[Quantity, Quantity] = {}

    def __call__(self, quantity: Quantity) -> Quantity:
        """The row of straight-line code, or the general one where there is none or it is quicker."""
        if not 0 < self.parameters.joints <= LARGEST or quantity.name in GENERAL or (quantity.frame and not self.frame):
            return quantity
        with _LOCK:
            if quantity not in self._made:
                self._made[quantity] = specialised(quantity, self.parameters)
            return self._made[quantity]


def specialised(quantity: Quantity, parameters: Parameters, in_rows: bool = False) -> Quantity:
    """The row of a quantity for one robot.

    in_rows: for other texts to call: results are left in rows of lanes, and not checked; the status is always 0.
    """
    with announced(f"{quantity.name} of {parameters.robot}"):
        codes = {"plain": _code(quantity, parameters, optional=False)}
        if quantity.optional:
            codes["whole"] = _code(quantity, parameters, optional=True)
        text = _text(quantity, parameters.coupled, codes, in_rows)
    own = max(2 * len(code.angles) + len(code.multiples) for code in codes.values()) + 1

    def enough(general: Callable[[int], int]) -> Callable[[int], int]:
        return lambda n: max(own, general(n))  # general code may run on the same workspace

    rows, n, m = enough(quantity.rows), parameters.joints, parameters.coordinates
    counts = {field: math.prod(field.core(n, m)) for field in quantity.inputs + quantity.gives}
    if parameters.coupled:
        return replace(quantity, coupled=text, coupled_rows=enough(quantity.coupled_rows or rows), counts=counts)
    return replace(quantity, text=text, rows=rows, counts=counts)


def _text(quantity: Quantity, coupled: bool, codes: dict[str, Code], in_rows: bool) -> Callable[..., Any]:
    """The text: with optional inputs `whole`, without them `plain`."""
    from fastdyn.specialize.lowering import straight_line

    name = quantity.name
    arguments = ["P", "tree", *["G", "pattern"] * coupled, *(f.name for f in quantity.inputs + quantity.gives), "work"]
    known = dict(_HELPERS)
    lines = [f"def {name}({', '.join(arguments)}):"]
    for which, code in reversed(codes.items()):
        if which == "whole":
            lines.append(f"    if {quantity.optional[0].name}.shape[0] > 0:")
        lines += [" " * (8 if which == "whole" else 4) + line for line in code.lines(which)]
        for part, steps in (("angles", code.before_sines()), ("rest", code.after_sines(in_rows))):
            known[f"{which}_{part}"] = straight_line(f"{name}_{which}_{part}", steps, [*code.buffers, "work"])
    return kernel(generated("\n".join(lines) + "\n", name, known, __name__))


# ---------------------------------------------------------------------------------------------- programs as data


def code_of(program: Program) -> Code:
    """A program as plain data."""
    buffers = [*program.inputs, *program.outputs]
    outputs = [
        Output(buffers.index(name), row, x.node, x.sign)
        for name, field in program.outputs.items()
        for row, x in enumerate(field)
    ]
    conditions = [Condition(each.value.node, each.value.sign, each.bound, each.index) for each in program.conditions]
    return Code(program.graph.nodes, buffers, outputs, conditions)


def _code(quantity: Quantity, parameters: Parameters, optional: bool) -> Code:
    """The program of a quantity, from the cache if it is there."""
    try:
        place = cache_directory()
        file = place / f"program-{_key(quantity, parameters, optional)}.json" if place else None
    except SourceError:  # the sources have changed since they were imported: compiled code is not kept either
        file = None
    if file is not None:
        with suppress(OSError, ValueError, TypeError):
            return _read(json.loads(file.read_text()))
    code = code_of(optimized(trace(quantity, parameters, optional)))
    if file is not None:
        with suppress(OSError):  # a read-only cache
            write(file, json.dumps(code))
    return code


def _key(quantity: Quantity, parameters: Parameters, optional: bool) -> str:
    """What a program depends on: the package's sources, the robot's numbers, the quantity."""
    digest = hashlib.sha256(modules_hash(__name__, quantity.text.__module__).encode())
    digest.update(f"{quantity.name} {optional}".encode())
    for array in parameters.constants:
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _read(data: Any) -> Code:
    nodes, buffers, outputs, conditions = data
    return Code(nodes, buffers, [Output(*each) for each in outputs], [Condition(*each) for each in conditions])
