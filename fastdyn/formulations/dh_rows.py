"""Rows of a D-H chain. `P` is a (ROWS, n) float64 array: one row per quantity, one column per link.

Standard D-H: frame i is fixed to the far end of link i, its z axis along joint i + 1. Inertia tensors are matrices: IXY
is minus the integral of x y dm. `kinds` is a (1, n) int64 array: ROTARY or PRISMATIC for each joint.
"""

# fmt: off
(
    COS_ALPHA, SIN_ALPHA, A, D, THETA,      # (3.2-5); theta = q + THETA of a rotary joint, d = q + D of a prismatic one
    MASS, SX, SY, SZ,                       # m_i, and the centre of mass s_i in frame i
    IXX, IYY, IZZ, IXY, IXZ, IYZ,           # I_i: about the centre of mass, axes of frame i
    JXX, JYY, JZZ, JXY, JXZ, JYZ, HX, HY, HZ,  # pseudo-inertia J_i (3.2-17): moments about frame i's origin; H = m s
    GX, GY, GZ,                             # the gravity vector in frame 0, in every column
    LIFT_X, LIFT_Y, LIFT_Z,                 # -m_i g
    ROWS,
) = range(31)

KIND = 0
ROTARY, PRISMATIC = 0, 1
# fmt: on
