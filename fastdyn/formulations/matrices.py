"""4x4 matrices in rows of a buffer, row by row; a matrix is named by the number of its first row."""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.links import is_rotary, joint_distance, joint_rotation
from fastdyn.scalars import fill, kernel, load, store

SIZE = 16  # rows of a matrix


@kernel
def multiply(work, C, A, B):
    """C = A B, entry by entry: 64 multiplications, 48 additions."""
    for r in range(4):
        for c in range(4):
            total = load(work, A + 4 * r) * load(work, B + c)
            for k in range(1, 4):
                total = total + load(work, A + 4 * r + k) * load(work, B + 4 * k + c)
            store(work, C + 4 * r + c, total)


@kernel
def multiply_transposed(work, C, A, B):
    """C = A B^T: 64 multiplications, 48 additions."""
    for r in range(4):
        for c in range(4):
            total = load(work, A + 4 * r) * load(work, B + 4 * c)
            for k in range(1, 4):
                total = total + load(work, A + 4 * r + k) * load(work, B + 4 * c + k)
            store(work, C + 4 * r + c, total)


@kernel
def trace(work, A):
    """3 additions."""
    return load(work, A) + load(work, A + 5) + load(work, A + 10) + load(work, A + 15)


@kernel
def accumulate(work, C, A):
    """C + A, in C: 16 additions."""
    for k in range(SIZE):
        store(work, C + k, load(work, C + k) + load(work, A + k))


@kernel
def clear(work, C):
    zero = fill(work, 0.0)
    for k in range(SIZE):
        store(work, C + k, zero)


@kernel
def identity(work, C):
    clear(work, C)
    one = fill(work, 1.0)
    for k in range(4):
        store(work, C + 5 * k, one)


@kernel
def q_times(kinds, work, C, A, i):
    """C = Q_i A, without multiplications. (3.2-8)

    Rotary: row 1 of C is minus row 2 of A, row 2 of C is row 1 of A. Prismatic: row 3 of C is row 4 of A. The other
    rows of C are zero.
    """
    zero = fill(work, 0.0)
    for c in range(4):
        if is_rotary(kinds, i):
            first, second, third = -load(work, A + 4 + c), load(work, A + c), zero
        else:
            first, second, third = zero, zero, load(work, A + 12 + c)
        store(work, C + c, first)
        store(work, C + 4 + c, second)
        store(work, C + 8 + c, third)
        store(work, C + 12 + c, zero)


@kernel
def link_transform(P, kinds, q, work, C, i):
    """Frame i in frame i - 1, A_i of (3.2-5); the length a_i of a prismatic joint need not be zero."""
    s, c = joint_rotation(P, kinds, q, i)
    ca, sa, a = P[COS_ALPHA, i], P[SIN_ALPHA, i], P[A, i]
    identity(work, C)
    store(work, C, c)
    store(work, C + 1, -(ca * s))
    store(work, C + 2, sa * s)
    store(work, C + 3, a * c)
    store(work, C + 4, s)
    store(work, C + 5, ca * c)
    store(work, C + 6, -(sa * c))
    store(work, C + 7, a * s)
    store(work, C + 9, fill(work, sa))
    store(work, C + 10, fill(work, ca))
    store(work, C + 11, joint_distance(P, kinds, q, i))


@kernel
def pseudo_inertia(P, work, C, i):
    """J_i of (3.2-17)."""
    for r, c, row in (
        (0, 0, JXX), (1, 1, JYY), (2, 2, JZZ), (3, 3, MASS),
        (0, 1, JXY), (0, 2, JXZ), (1, 2, JYZ), (0, 3, HX), (1, 3, HY), (2, 3, HZ),
    ):  # fmt: skip
        store(work, C + 4 * r + c, fill(work, P[row, i]))
        store(work, C + 4 * c + r, fill(work, P[row, i]))
