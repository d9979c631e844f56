"""What the rows of a D-H chain hold. `P` is a (ROWS, n) float64 array: one row per quantity, one column per link.

Frame i stands at the far end of link i, on the axis of joint i + 1: standard D-H. Inertia tensors are matrices: IXY is
minus the integral of x y dm. `T` is a (1, n) int64 array.
"""

# fmt: off
(
    COS_ALPHA, SIN_ALPHA, A, D, THETA,      # (3.2-5); theta = q + THETA of a rotary joint, d = q + D of a prismatic one
    MASS, SX, SY, SZ,                       # m_i, and the centre of mass s_i from frame i, along its axes
    IXX, IYY, IZZ, IXY, IXZ, IYZ,           # I_i: about the centre of mass, along frame i
    JXX, JYY, JZZ, JXY, JXZ, JYZ, HX, HY, HZ,  # pseudo-inertia J_i (3.2-17): moments about frame i's origin; H = m s
    GX, GY, GZ,                             # the gravity vector in frame 0, in every column
    LIFT_X, LIFT_Y, LIFT_Z,                 # -m_i g
    ROWS,
) = range(31)

KIND = 0
ROTARY, PRISMATIC = 0, 1
# fmt: on
