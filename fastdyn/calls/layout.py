"""The layout of a workspace, and its accessors for generated code.

Every entry depends on this file: it imports no kernels, so that editing one does not invalidate all entries.
"""

from fastdyn.calls.headers import word
from fastdyn.compiler.policy import kernel
from fastdyn.scalars import all_finite
from fastdyn.scalars.memory import columns_at, integers_at, vector_at

# slots of the header, int64 each: five sizes, then offsets in bytes from the workspace's beginning
JOINTS, COORDINATES, PATTERN_COLUMNS, G_COLUMNS, SCRATCH_ROWS, TREE, P, PATTERN, G, SCRATCH, FIRST_FIELD = range(11)


@kernel
def not_finite(check):
    """1 if the check of `take` and `give` found a value that is not finite, else 0."""
    return 0 if all_finite(check) else 1


@kernel
def at(workspace, slot):
    """The address that a slot of a workspace refers to."""
    return workspace + word(workspace + 8 * slot)


@kernel
def model_at(workspace, n, rows, tree_rows):
    """P and tree of a workspace."""
    return columns_at(at(workspace, P), rows, n), integers_at(at(workspace, TREE), tree_rows, n)


@kernel
def coupling_at(workspace, rows, pattern_rows):
    """G and pattern of a coupled robot's workspace."""
    reals = columns_at(at(workspace, G), rows, word(workspace + 8 * G_COLUMNS))
    return reals, integers_at(at(workspace, PATTERN), pattern_rows, word(workspace + 8 * PATTERN_COLUMNS))


@kernel
def finite(address, count):
    """Whether `count` values at an address are finite."""
    values = vector_at(address, count)
    check = 0.0
    for i in range(count):
        check = check + values[i] * 0.0
    return check == 0.0


@kernel
def any_nonzero(address, count):
    """Whether any of `count` values at an address is nonzero; NaN is."""
    values = vector_at(address, count)
    found = False
    for i in range(count):
        found = found | (values[i] != 0.0)
    return found
