"""Joint velocities and accelerations of a frame's, by the singular values of its Jacobian.

(2.68), (2.69) of M. Norrlöf, Modeling of industrial robots, LiTH-ISY-R-2208, 1999, with the rank test in the text
between them: exact where the frame's velocity is in the range of J, least squares where it is not.

Optional inputs, empty if not given. axes: weights of the six components, all 1 if all are zero; preferred: of all
solutions the one closest to it, x = preferred + J^+ (target - J preferred); damping: as in `least_squares`; tolerance:
of the rank test, if above `rank_tolerance`.
"""

from fastdyn.kernels import coupling, kinematics
from fastdyn.kernels.singular_values import SIX, least_squares, lengths, orthogonalise, rank_tolerance
from fastdyn.scalars import fill, kernel, load, maximum, store, where_above


def singular_values_rows(n):
    return SIX * n + kinematics.jacobian_rows(n)


def coupled_singular_values_rows(n):
    return (2 * SIX + 1) * n + kinematics.jacobian_rows(n)


def inverse_velocity_rows(n):
    return SIX * n + SIX + kinematics.jacobian_rows(n)


def coupled_inverse_velocity_rows(n):
    return (2 * SIX + 1) * n + SIX + kinematics.jacobian_rows(n)


def inverse_acceleration_rows(n):
    return SIX * n + 2 * SIX + max(kinematics.jacobian_rows(n), kinematics.frame_acceleration_rows(n))


def coupled_inverse_acceleration_rows(n):
    return (2 * SIX + 2) * n + 2 * SIX + max(kinematics.jacobian_rows(n), kinematics.frame_acceleration_rows(n))


@kernel
def singular_values(P, tree, q, axes, sigma, work):
    """The singular values of the Jacobian, descending."""
    n = P.shape[1]
    J, rest = work[: SIX * n], work[SIX * n :]
    kinematics.jacobian(P, tree, q, J, rest)
    values(J, axes, sigma, n)


@kernel
def coupled_singular_values(P, tree, G, pattern, q, axes, sigma, work):
    m = pattern[coupling.SIZES, 1]
    J, rest = work[: SIX * m], work[SIX * m :]
    coupled_jacobian(P, tree, G, pattern, q, J, rest)
    values(J, axes, sigma, m)


@kernel
def inverse_velocity(P, tree, q, velocity, preferred, axes, damping, tolerance, qd, rank, residual, work):
    """qd with J qd = velocity. (2.68)"""
    n = P.shape[1]
    J, c, rest = work[: SIX * n], work[SIX * n : SIX * n + SIX], work[SIX * n + SIX :]
    kinematics.jacobian(P, tree, q, J, rest)
    solve(J, velocity, preferred, axes, damping, tolerance, qd, rank, residual, c, n)


@kernel
def coupled_inverse_velocity(
    P, tree, G, pattern, q, velocity, preferred, axes, damping, tolerance, qd, rank, residual, work
):
    m = pattern[coupling.SIZES, 1]
    J, c, rest = work[: SIX * m], work[SIX * m : SIX * m + SIX], work[SIX * m + SIX :]
    coupled_jacobian(P, tree, G, pattern, q, J, rest)
    solve(J, velocity, preferred, axes, damping, tolerance, qd, rank, residual, c, m)


@kernel
def inverse_acceleration(
    P, tree, q, qd, acceleration, preferred, axes, damping, tolerance, qdd, rank, residual, work
):  # fmt: skip
    """qdd with J qdd = acceleration - dJ/dt qd. (2.69)"""
    n = P.shape[1]
    J, c = work[: SIX * n], work[SIX * n : SIX * n + SIX]
    target, rest = work[SIX * n + SIX : SIX * n + 2 * SIX], work[SIX * n + 2 * SIX :]
    kinematics.frame_acceleration(P, tree, q, qd, work[:0], target, rest)
    subtract_from(acceleration, target)
    kinematics.jacobian(P, tree, q, J, rest)
    solve(J, target, preferred, axes, damping, tolerance, qdd, rank, residual, c, n)


@kernel
def coupled_inverse_acceleration(
    P, tree, G, pattern, q, qd, acceleration, preferred, axes, damping, tolerance, qdd, rank, residual, work
):
    n, m = pattern[coupling.SIZES, 0], pattern[coupling.SIZES, 1]
    J, c = work[: SIX * m], work[SIX * m : SIX * m + SIX]
    target, rest = work[SIX * m + SIX : SIX * m + 2 * SIX], work[SIX * m + 2 * SIX :]
    joint_q, joint_qd = rest[:n], rest[n : 2 * n]
    coupling.positions(G, pattern, q, joint_q)
    coupling.rates(G, pattern, qd, joint_qd)
    kinematics.frame_acceleration(P, tree, joint_q, joint_qd, work[:0], target, rest[2 * n :])
    subtract_from(acceleration, target)
    coupled_jacobian(P, tree, G, pattern, q, J, rest)
    solve(J, target, preferred, axes, damping, tolerance, qdd, rank, residual, c, m)


# ---------------------------------------------------------------------------------------------- steps


@kernel
def coupled_jacobian(P, tree, G, pattern, q, J, work):
    """J G, the Jacobian of actuator coordinates."""
    n = pattern[coupling.SIZES, 0]
    joint_q, joint_J, rest = work[:n], work[n : n + SIX * n], work[n + SIX * n :]
    coupling.positions(G, pattern, q, joint_q)
    kinematics.jacobian(P, tree, joint_q, joint_J, rest)
    coupling.columns(G, pattern, joint_J, J)


@kernel
def subtract_from(whole, part):
    """whole - part in place of part."""
    for r in range(SIX):
        store(part, r, load(whole, r) - load(part, r))


@kernel
def weight(axes, r, buffer):
    """The weight of component r: 1 if none are given, or all are zero."""
    one = fill(buffer, 1.0)
    if axes.shape[0] == 0:
        return one
    total = fill(buffer, 0.0)
    for k in range(SIX):
        total = total + load(axes, k) * load(axes, k)
    return where_above(total, 0.0, load(axes, r), one)


@kernel
def weigh(J, n, r, factor):
    """Multiplies row r by a factor."""
    for k in range(n * r, n * (r + 1)):
        store(J, k, factor * load(J, k))


@kernel
def values(J, axes, sigma, n):
    for r in range(SIX):
        weigh(J, n, r, weight(axes, r, J))
        store(sigma, r, fill(J, 0.0))
    orthogonalise(J, sigma, n)
    lengths(J, n, sigma)


@kernel
def solve(J, target, preferred, axes, damping, tolerance, x, rank, residual, c, n):
    """x with J x = target; J is changed."""
    zero = fill(J, 0.0)
    for k in range(n):
        store(x, k, load(preferred, k) if preferred.shape[0] > 0 else zero)
    size = zero
    for r in range(SIX):
        factor, wanted, moved = weight(axes, r, J), load(target, r), zero
        for k in range(n):
            moved = moved + load(J, n * r + k) * load(x, k)
        rest = wanted - moved
        weigh(J, n, r, factor)
        store(c, r, factor * rest)
        size = size + factor * factor * (wanted * wanted + rest * rest)
    least, damped = fill(J, rank_tolerance(J, n)), zero
    if damping.shape[0] > 0:
        least, damped = maximum(least, load(tolerance, 0)), load(damping, 0)
    found, missed = least_squares(J, c, n, size, damped, least, x)
    store(rank, 0, found)
    store(residual, 0, missed)
