"""Kane's equations of the RRT arm as its worked example derives them: (5) to (29), vectors in frames (1) and (2).

Axis 1 is vertical and along i; links 1 and 2 are rods of length 2 L1 and 2 L2; link 3 slides along k2. Read q3 under c2
in (11), c2 and s2 in the first line of (10), and -alpha . I in (25).

P: a (9, 1) array, rows L1 to G. tau: T_01x, T_12y, F_23z. `kinds` and `work` are not used.
"""

from fastdyn.scalars import fill, kernel, load, sincos, store
from fastdyn.scalars.vectors import cross, plus

L1, L2, M1, M2, M3, I3X, I3Y, I3Z, G, ROWS = range(10)


def work_rows(n: int) -> int:
    return 0


@kernel
def kane_rrt(P, kinds, q, qd, qdd, tau, work):
    q3 = load(q, 2)
    u1, u2, u3 = load(qd, 0), load(qd, 1), load(qd, 2)
    a1, a2, a3 = load(qdd, 0), load(qdd, 1), load(qdd, 2)
    s2, c2 = sincos(load(q, 1))
    l1, l2, m1, m2, m3, g = P[L1, 0], P[L2, 0], P[M1, 0], P[M2, 0], P[M3, 0], P[G, 0]
    lb = l1 + l1
    reach = l2 + q3
    zero = fill(q, 0.0)

    # angular velocity and acceleration of links 2 and 3, in frame (2). (6), (8)
    w = u1 * c2, u2, u1 * s2
    alpha = a1 * c2 - u1 * u2 * s2, a2, a1 * s2 + u1 * u2 * c2

    # velocities of C2 and C3, (10), (11), and accelerations: derivative in frame (2) plus w x v, (13), (14)
    arm2, arm3 = lb + l2 * c2, lb + reach * c2
    v2 = l2 * u2, -(arm2 * u1), zero
    v3 = reach * u2, -(arm3 * u1), u3
    a_2 = plus((l2 * a2, l2 * s2 * u2 * u1 - arm2 * a1, zero), cross(w, v2))
    a_3 = plus((reach * a2 + u3 * u2, (reach * s2 * u2 - u3 * c2) * u1 - arm3 * a1, a3), cross(w, v3))

    # inertia moments (24), (25), about principal axes (22), (23): a rod has no inertia about k
    rod1, rod2 = m1 * l1 * l1 * (1.0 / 3.0), m2 * l2 * l2 * (1.0 / 3.0)
    N2 = inertia_moment(w, alpha, (rod2, rod2, 0.0))
    N3 = inertia_moment(w, alpha, (P[I3X, 0], P[I3Y, 0], P[I3Z, 0]))

    # (28): partial velocities times inertia forces. a_C1 = -L1 a1 j1 - L1 u1^2 k1 (12), dv_C1/du_1 = -L1 j1
    K1 = -(m1 * l1 * l1 * a1) - rod1 * a1 + arm2 * m2 * a_2[1] + arm3 * m3 * a_3[1]
    K1 = K1 + c2 * (N2[0] + N3[0]) + s2 * (N2[2] + N3[2])  # dw_20/du_1 = c2 i2 + s2 k2
    K2 = -(l2 * m2 * a_2[0]) - reach * m3 * a_3[0] + N2[1] + N3[1]
    K3 = -(m3 * a_3[2])

    # (15), (29): K* + Q = 0
    store(tau, 0, -K1)
    store(tau, 1, -K2 + g * m2 * l2 * c2 + g * m3 * c2 * reach)
    store(tau, 2, -K3 + g * m3 * s2)


@kernel
def inertia_moment(w, alpha, I):
    """M_in = -alpha . I - w x (I . w). (20)"""
    spin = I[0] * w[0], I[1] * w[1], I[2] * w[2]
    x, y, z = plus((I[0] * alpha[0], I[1] * alpha[1], I[2] * alpha[2]), cross(w, spin))
    return -x, -y, -z
