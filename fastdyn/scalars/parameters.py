"""The parameters of several robots on lanes: P[row, i] loads a value of each robot, as a buffer's row holds samples.

A kernel's text reads them as it reads those of one robot. They are stored in blocks of as many robots as there are
lanes: (blocks, links, rows, lanes); `block` (verbs.py) is one of them.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model

from fastdyn.compiler.policy import overload
from fastdyn.scalars.lanes import CountedArray, LaneType, load_row
from fastdyn.scalars.verbs import block

SHAPE = types.UniTuple(types.intp, 2)


class StackType(CountedArray):
    """A (blocks, links, rows, count) array of parameters, `count` robots in a block."""

    def __init__(self, element: Any, count: int) -> None:
        super().__init__(element, 4, count)


class BlockType(types.Type):
    """One block: P of as many robots as there are lanes."""

    def __init__(self, element, count):
        self.lane = LaneType(element, count)
        super().__init__(name=f"parameters({self.lane})")


register_model(StackType)(models.ArrayModel)


@register_model(BlockType)
class _BlockModel(models.StructModel):
    def __init__(self, manager, kind):
        fields = [("data", types.CPointer(kind.lane.element)), ("rows", types.intp), ("links", types.intp)]
        super().__init__(manager, kind, fields)


@infer_getattr
class _Shape(AttributeTemplate):
    key = BlockType

    def resolve_shape(self, kind):
        """(rows, links), as of P."""
        return SHAPE


@lower_getattr(BlockType, "shape")
def _shape(context, builder, kind, value):
    held = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    return context.make_tuple(builder, SHAPE, (held.rows, held.links))


@intrinsic
def _block(typingctx, stack, k):
    kind = BlockType(stack.dtype, stack.count)

    def lower(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        made = cgutils.create_struct_proxy(kind)(context, builder)
        made.links, made.rows = (builder.extract_value(array.shape, axis) for axis in (1, 2))
        size = builder.mul(builder.mul(made.links, made.rows), ir.Constant(args[1].type, stack.count))
        made.data = builder.gep(array.data, [builder.mul(args[1], size)])
        return made._getvalue()

    return kind(stack, types.intp), lower


@intrinsic
def _value(typingctx, parameters, row, link):
    def lower(context, builder, sig, args):
        held = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        lane = sig.args[0].lane
        place = builder.add(builder.mul(args[2], held.rows), args[1])
        data = builder.gep(held.data, [builder.mul(place, ir.Constant(place.type, lane.count))])
        return load_row(builder, builder.bitcast(data, lane.vector.as_pointer()))

    return parameters.lane(parameters, types.intp, types.intp), lower


@overload(block)
def _block_overload(stack, k):
    return lambda stack, k: _block(stack, k)


@overload(operator.getitem)
def _getitem_overload(parameters, index):
    if isinstance(parameters, BlockType):
        return lambda parameters, index: _value(parameters, index[0], index[1])
    return None
