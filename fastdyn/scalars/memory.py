"""Memory by its address, as arrays, in compiled code only."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


def _define_view(dtype, axes, layout):
    def lower(context, builder, sig, args):
        array_type = sig.return_type
        array = context.make_array(array_type)(context, builder)
        size = ir.Constant(args[0].type, 8)
        shape = list(args[1:])
        strides = [size, builder.mul(size, shape[0])] if layout == "F" else [builder.mul(size, shape[-1]), size]
        data = builder.inttoptr(args[0], context.get_data_type(dtype).as_pointer())
        populate_array(array, data=data, shape=shape, strides=strides[-axes:], itemsize=size, meminfo=None)
        return array._getvalue()

    array_type = types.Array(dtype, axes, layout)
    if axes == 1:

        @intrinsic
        def vector(typingctx, address, count):
            """The memory at an address as an array of `count` values."""
            return array_type(types.intp, types.intp), lower

        return vector

    @intrinsic
    def table(typingctx, address, rows, columns):
        """The memory at an address as an array of (rows, columns)."""
        return array_type(types.intp, types.intp, types.intp), lower

    return table


vector_at = _define_view(types.float64, 1, "C")
columns_at = _define_view(types.float64, 2, "F")
integers_at = _define_view(types.int64, 2, "C")
