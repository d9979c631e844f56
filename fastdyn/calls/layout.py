"""Where things lie in a workspace, and what generated code calls to get at them."""

from fastdyn.calls.headers import word
from fastdyn.compiler.policy import kernel
from fastdyn.kernels import coupling, rows
from fastdyn.scalars import all_finite
from fastdyn.scalars.memory import columns_at, integers_at, vector_at

# slots of the header, int64 each: five sizes, then where things begin, in bytes from the workspace's own beginning
JOINTS, COORDINATES, PATTERN_COLUMNS, G_COLUMNS, SCRATCH_ROWS, TREE, P, PATTERN, G, SCRATCH, FIRST_FIELD = range(11)
SPARE = 4  # fields that a quantity may have besides those of the table


@kernel
def not_finite(check):
    """1 if a check of `take` and `give` says that something was not finite, else 0."""
    return 0 if all_finite(check) else 1


@kernel
def at(workspace, slot):
    """Where a thing of a workspace begins."""
    return workspace + word(workspace + 8 * slot)


@kernel
def model_at(workspace, n):
    """P and tree of a workspace."""
    return columns_at(at(workspace, P), rows.ROWS, n), integers_at(at(workspace, TREE), 3, n)


@kernel
def coupling_at(workspace):
    """G and pattern of a coupled robot's workspace."""
    reals = columns_at(at(workspace, G), coupling.COUPLING_ROWS, word(workspace + 8 * G_COLUMNS))
    columns = word(workspace + 8 * PATTERN_COLUMNS)
    return reals, integers_at(at(workspace, PATTERN), coupling.PATTERN_ROWS, columns)


@kernel
def finite(address, count):
    """Whether so many values at an address are finite."""
    values = vector_at(address, count)
    check = 0.0
    for i in range(count):
        check = check + values[i] * 0.0
    return check == 0.0


@kernel
def any_nonzero(address, count):
    """Whether some value at an address is not zero; a NaN is not."""
    values = vector_at(address, count)
    found = False
    for i in range(count):
        found = found | (values[i] != 0.0)
    return found
