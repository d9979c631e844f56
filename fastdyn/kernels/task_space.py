"""Task space: the dynamics of a frame, and the torques that hold a wrench.

O. Khatib, A unified approach for motion and force control of robot manipulators: the operational space formulation,
IEEE Journal of Robotics and Automation 3 (1987): F = Lambda a + mu + p is the wrench that accelerates the frame at a,

    Lambda = (J M^-1 J^T)^-1,   mu = Lambda (J M^-1 h - dJ/dt qd),   p = Lambda J M^-1 g

for velocity forces h (here with friction) and gravity g. With M = L^T D L and whitened vectors y' = D^-1/2 L^-T y,
products by M^-1 are plain products. The rows of the whitened Jacobian are made orthogonal by the modified Gram-Schmidt
method, whose errors grow with the condition number of J', not with its square as those of J M^-1 J^T would. Components
that depend on those before them, at singular poses and of arms with few joints, are left free, as Khatib has them.
"""

from fastdyn.kernels import coupling, crba, gravity, kinematics, rnea
from fastdyn.kernels.inverse_velocity import coupled_jacobian, weigh, weight
from fastdyn.kernels.rows import INDEX, PARENT
from fastdyn.kernels.singular_values import SIX, eps, square
from fastdyn.scalars import add, fill, kernel, load, maximum, sqrt, store, where_above

NOISE = 16.0  # times max(6, n) eps: rounding errors of the rows of J', relative to the largest


def static_torques_rows(n):
    return SIX * n + max(kinematics.jacobian_rows(n), gravity.gravity_forces_rows(n))


@kernel
def static_torques(P, tree, q, wrench, tau, work):
    """tau that holds the robot still under gravity and a wrench on the frame: g - J^T wrench."""
    n = P.shape[1]
    J, rest = work[: SIX * n], work[SIX * n :]
    gravity.gravity_forces(P, tree, q, tau, rest)
    kinematics.jacobian(P, tree, q, J, rest)
    for r in range(SIX):
        for k in range(n):
            add(tau, k, -(load(J, n * r + k) * load(wrench, r)))


def task_dynamics_rows(n):
    rest = max(kinematics.frame_acceleration_rows(n), rnea.bias_forces_rows(n), crba.mass_matrix_rows(n))
    return parts_rows(n) + max(rest, gravity.gravity_forces_rows(n))


def coupled_task_dynamics_rows(n):
    return task_dynamics_rows(n) + (SIX + 3) * n + n * n + kinematics.jacobian_rows(n)


def parts_rows(n):
    return (SIX + 2 + n) * n + SIX * (SIX + 3)


@kernel
def parts(n, work):
    """The rows of `work` by name: J, h, g, M, E (6x6), b, gains and noise (6 each), the rest."""
    h, M, E, b = SIX * n, (SIX + 2) * n, (SIX + 2 + n) * n, (SIX + 2 + n) * n + SIX * SIX
    vectors, rest = work[h:M], work[b:]
    return (
        work[:h], vectors[:n], vectors[n:], work[M:E], work[E:b],
        rest[:SIX], rest[SIX : 2 * SIX], rest[2 * SIX : 3 * SIX], rest[3 * SIX :],
    )  # fmt: skip


@kernel
def task_dynamics(P, tree, q, qd, axes, Lambda, mu, p, kept, work):
    """Lambda, mu and p; kept: 1 for components that they are of. Returns a joint that moves no inertia, or -1."""
    n = P.shape[1]
    J, h, g, M, E, b, gains, noise, rest = parts(n, work)
    kinematics.frame_acceleration(P, tree, q, qd, work[:0], b, rest)
    kinematics.jacobian(P, tree, q, J, rest)
    gravity.gravity_forces(P, tree, q, g, rest)
    rnea.bias_forces(P, tree, q, qd, h, rest)
    crba.mass_matrix(P, tree, q, M, rest)
    for k in range(n):
        add(h, k, -load(g, k))
    bad = crba.factorise(P, tree, M)
    whiten(tree, M, h)
    whiten(tree, M, g)
    for r in range(SIX):
        whiten(tree, M, J[n * r : n * (r + 1)])
    project(J, b, h, g, axes, Lambda, mu, p, kept, E, gains, noise, n)
    return bad


@kernel
def coupled_task_dynamics(P, tree, G, pattern, q, qd, axes, Lambda, mu, p, kept, work):
    n, m = pattern[coupling.SIZES, 0], pattern[coupling.SIZES, 1]
    J, h, g, M, E, b, gains, noise, rest = parts(m, work)
    joint_q, joint_qd, force = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n]
    joint_M, rest = rest[3 * n : 3 * n + n * n], rest[3 * n + n * n :]
    coupling.positions(G, pattern, q, joint_q)
    coupling.rates(G, pattern, qd, joint_qd)
    kinematics.frame_acceleration(P, tree, joint_q, joint_qd, work[:0], b, rest)
    coupled_jacobian(P, tree, G, pattern, q, J, rest)
    gravity.gravity_forces(P, tree, joint_q, force, rest)
    coupling.forces(G, pattern, force, g)
    rnea.bias_forces(P, tree, joint_q, joint_qd, force, rest)
    coupling.forces(G, pattern, force, h)
    coupling.add_friction(G, qd, h)
    crba.mass_matrix(P, tree, joint_q, joint_M, rest)
    coupling.unmirrored_inertia(G, pattern, joint_M, M)
    for k in range(m):
        add(h, k, -load(g, k))
        store(force, k, fill(M, 0.0))
    bad = coupling.solve(G, M, force[:m])
    whiten_dense(M, h, m)
    whiten_dense(M, g, m)
    for r in range(SIX):
        whiten_dense(M, J[m * r : m * (r + 1)], m)
    project(J, b, h, g, axes, Lambda, mu, p, kept, E, gains, noise, m)
    return bad


# ---------------------------------------------------------------------------------------------- steps


@kernel
def whiten(tree, M, y):
    """D^-1/2 L^-T y in place, M = L^T D L as crba.factorise leaves it."""
    n = tree.shape[1]
    for k in range(n - 1, -1, -1):
        value, i = load(y, tree[INDEX, k]), tree[PARENT, k]
        while i >= 0:
            add(y, tree[INDEX, i], -(load(M, crba.at(tree, k, i)) * value))
            i = tree[PARENT, i]
        store(y, tree[INDEX, k], value / sqrt(load(M, crba.at(tree, k, k))))


@kernel
def whiten_dense(M, y, m):
    """D^-1/2 L^-1 y in place, M = L D L^T as coupling.solve leaves it: L below the diagonal, on it the inverse of D."""
    for i in range(m):
        for k in range(i + 1, m):
            add(y, k, -(load(M, m * k + i) * load(y, i)))
    for i in range(m):
        store(y, i, load(y, i) * sqrt(load(M, m * i + i)))


@kernel
def project(J, b, h, g, axes, Lambda, mu, p, kept, E, gains, noise, n):
    """Lambda, mu and p from whitened J, h and g.

    The row operations that make the rows of J orthogonal, with squared lengths d, make E of the unit matrix and change
    b: then Lambda = E^T d^-1 E. gains: of 1 / d. Rows that depend on those before them are left out, as are those that
    are not asked for: their gains are zero. noise: a bound of a row's rounding errors, at first those of the largest of
    the three linear or angular rows, to which others add what is subtracted of them.
    """
    tolerance = NOISE * max(SIX, n) * eps(J)
    linear, angular = tolerance * sqrt(largest(J, n, 0)), tolerance * sqrt(largest(J, n, 3))
    ask(J, axes, Lambda, mu, p, kept, E, n)
    for r in range(SIX):
        store(noise, r, linear if r < 3 else angular)
        for s in range(r):
            factor = load(gains, s) * product(J, n, s, r)
            deflate(J, n, s, r, factor, E, b)
            add(noise, r, maximum(factor, -factor) * load(noise, s))
        length = square(J, n, r)
        asked = where_above(length, load(noise, r) * load(noise, r), load(kept, r), 0.0)
        gain = asked / where_above(asked, 0.0, length, 1.0)
        store(kept, r, asked)
        store(gains, r, gain)
        moving, heavy = taken(J, n, r, h, gain) - gain * load(b, r), taken(J, n, r, g, gain)
        for s in range(r + 1):
            entry = load(E, SIX * r + s)
            add(mu, s, moving * entry)
            add(p, s, heavy * entry)
            for k in range(s + 1):
                add(Lambda, SIX * s + k, gain * entry * load(E, SIX * r + k))
    for s in range(SIX):
        for k in range(s):
            store(Lambda, SIX * k + s, load(Lambda, SIX * s + k))


@kernel
def largest(J, n, r):
    """The largest of the squared lengths of three rows."""
    return maximum(maximum(square(J, n, r), square(J, n, r + 1)), square(J, n, r + 2))


@kernel
def ask(J, axes, Lambda, mu, p, kept, E, n):
    """Clears results and all rows that are not asked for; E: the unit matrix."""
    zero, one = fill(J, 0.0), fill(J, 1.0)
    for r in range(SIX):
        factor = weight(axes, r, J)
        asked = where_above(factor * factor, 0.0, one, 0.0)
        weigh(J, n, r, asked)
        store(kept, r, asked)
        store(mu, r, zero)
        store(p, r, zero)
        for s in range(SIX):
            store(E, SIX * r + s, one if r == s else zero)
            store(Lambda, SIX * r + s, zero)


@kernel
def product(J, n, s, r):
    """The inner product of two rows."""
    total = fill(J, 0.0)
    for k in range(n):
        total = total + load(J, n * s + k) * load(J, n * r + k)
    return total


@kernel
def deflate(J, n, s, r, factor, E, b):
    """Subtracts a multiple of row s from row r."""
    for k in range(n):
        add(J, n * r + k, -(factor * load(J, n * s + k)))
    for k in range(s + 1):
        add(E, SIX * r + k, -(factor * load(E, SIX * s + k)))
    add(b, r, -(factor * load(b, s)))


@kernel
def taken(J, n, r, y, gain):
    """Subtracts from y its component along row r, and returns it in units of the row."""
    factor = fill(J, 0.0)
    for k in range(n):
        factor = factor + load(J, n * r + k) * load(y, k)
    factor = gain * factor
    for k in range(n):
        add(y, k, -(factor * load(J, n * r + k)))
    return factor
