"""Workspaces: one block of fixed memory for a robot's model, its state, its results and all scratch.

    header | tree | P | [pattern | G |] fields | [fields in joint coordinates |] scratch

All are float64 or int64; the header (layout.py) holds their offsets, so that compiled code needs only a workspace's
address. The fields are those of the given quantities, in the order of quantities.FIELDS.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from fastdyn.calls import generate, layout
from fastdyn.calls.parameters import Parameters
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Quantity

LINE = 8  # float64 values per cache line


class Workspace:
    """New memory for some quantities of a robot, all fields zero, aligned to a cache line.

    `memory` is the block, `address` its address, `views` its fields by name, in the shape of one sample.
    """

    def __init__(self, parameters: Parameters, quantities: Iterable[Quantity]) -> None:
        coupled, n, m = parameters.coupled, parameters.joints, parameters.coordinates
        quantities = tuple(quantities)
        shapes: dict[int, tuple[int, ...]] = {}  # by slot of the header
        names: dict[str, int] = {}
        for quantity in quantities:
            for field in quantity.inputs + quantity.gives:
                names[field.name] = generate.slot(quantity, field)
                shapes[names[field.name]] = field.core(n, m)
            for field in generate.fields_in_joints(quantity) if coupled else ():
                shapes[generate.slot(quantity, field, joints=True)] = field.core(n)
        scratch = max(generate.scratch_rows(quantity, coupled, n) for quantity in quantities)
        constants = {layout.TREE: parameters.constants[1], layout.P: parameters.constants[0]}
        sizes = {layout.JOINTS: n, layout.COORDINATES: m, layout.SCRATCH_ROWS: scratch}
        if coupled:
            G, pattern = parameters.constants[2:]
            constants |= {layout.PATTERN: pattern, layout.G: G}
            sizes |= {layout.PATTERN_COLUMNS: pattern.shape[1], layout.G_COLUMNS: G.shape[1]}
        lengths = {slot: array.size for slot, array in constants.items()}
        lengths |= {slot: math.prod(shapes[slot]) for slot in sorted(shapes)}
        lengths[layout.SCRATCH] = scratch
        places: dict[int, int] = {}
        end = generate.HEADER
        for slot, length in lengths.items():
            places[slot], end = end, end + length
        memory = np.zeros(end + LINE)
        start = (-memory.ctypes.data % (8 * LINE)) // 8
        self.memory: Array = memory[start : start + end]
        self.address: int = self.memory.ctypes.data
        header = self.memory.view(np.int64)
        for slot, size in sizes.items():
            header[slot] = size
        for slot, place in places.items():
            header[slot] = 8 * place
        for slot, array in constants.items():
            part = self.memory[places[slot] :][: array.size]
            part.view(array.dtype)[:] = array.ravel(order="F" if array.flags.f_contiguous else "C")
        self.views: dict[str, Array] = {
            name: self.memory[places[slot] :][: lengths[slot]].reshape(shapes[slot]) for name, slot in names.items()
        }
