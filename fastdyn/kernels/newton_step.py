"""One Newton step of an arm's six joints towards a pose."""

from fastdyn.kernels.kinematics import pose_and_jacobian, pose_and_jacobian_rows
from fastdyn.kernels.rows import *
from fastdyn.scalars import kernel, load, maximum, sqrt, store, where_above
from fastdyn.scalars.vectors import *

LEAST = 1e-30  # of squared lengths: keeps divisions finite


def newton_step_rows(n):
    """Rows of scratch for n joints: pose, J, e, R, dq."""
    return 16 + 6 * n + 6 + 36 + 6 + pose_and_jacobian_rows(n)


@kernel
def newton_step(P, tree, q, target, work):
    """Moves the six joints on the path of a frame towards a pose.

    J = Q R by Gram-Schmidt on the columns of the six joints, then R dq = Q^T e. A step leaves an error of about dq^2:
    it is taken only where that is less than the error there was, so not where the Jacobian is singular.
    """
    n = P.shape[1]
    pose, J, e = work[:16], work[16 : 16 + 6 * n], work[16 + 6 * n : 22 + 6 * n]
    R, step = work[22 + 6 * n : 58 + 6 * n], work[58 + 6 * n : 64 + 6 * n]
    pose_and_jacobian(P, tree, q, pose, J, work[64 + 6 * n :])
    error(pose, target, e)
    for k in range(6):
        j = tree[INDEX, tree[PATH, k]]
        for m in range(k):
            i = tree[INDEX, tree[PATH, m]]
            along = inner(J, n, i, J, n, j)
            store(R, 6 * m + k, along)
            for r in range(6):
                store(J, r * n + j, load(J, r * n + j) - along * load(J, r * n + i))
        length = sqrt(maximum(inner(J, n, j, J, n, j), LEAST))
        store(R, 7 * k, length)
        for r in range(6):
            store(J, r * n + j, load(J, r * n + j) / length)
    size = 0.0 * load(e, 0)
    for k in range(5, -1, -1):
        x = inner(J, n, tree[INDEX, tree[PATH, k]], e, 1, 0)
        for m in range(k + 1, 6):
            x = x - load(R, 6 * k + m) * load(step, m)
        x = x / load(R, 7 * k)
        store(step, k, x)
        size = size + x * x
    before = sqrt(inner(e, 1, 0, e, 1, 0))
    for k in range(6):
        j = tree[INDEX, tree[PATH, k]]
        store(q, j, load(q, j) + where_above(before, size, load(step, k), 0.0))


@kernel
def error(pose, target, e):
    """Position, then the rotation that is left: half the sum of the cross products of the axes, up to its cube."""
    turn = zero_vector(pose)
    for k in range(3):
        store(e, k, load(target, 4 * k + 3) - load(pose, 4 * k + 3))
        now = load(pose, k), load(pose, 4 + k), load(pose, 8 + k)
        turn = plus(turn, cross(now, (load(target, k), load(target, 4 + k), load(target, 8 + k))))
    store_vector(e, 3, times(0.5, turn))


@kernel
def inner(A, n, i, B, m, j):
    """The product of columns i and j of two matrices with n and m columns and six rows, by rows."""
    found = load(A, i) * load(B, j)
    for r in range(1, 6):
        found = found + load(A, r * n + i) * load(B, r * m + j)
    return found
