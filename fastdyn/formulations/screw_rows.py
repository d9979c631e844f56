"""Rows of a chain described by screw axes. `P` is a (ROWS, n) float64 array, one column per link.

Frame i has its origin at the centre of mass of link i; its axes are those of the link's own frame, which is frame n + 1
for the last link, whose hand bears a load. Twists are (w, v), wrenches (moment,
force): angular part first. The screw axis tells the kind of a joint: `kinds` is not read.
"""

# fmt: off
(
    RXX, RXY, RXZ, RYX, RYY, RYZ, RZX, RZY, RZZ, PX, PY, PZ,    # M_{i,i-1}: frame i - 1 in frame i at q = 0
    WX, WY, WZ, VX, VY, VZ,                                     # screw axis A_i in frame i, of unit length
    IXX, IYY, IZZ, IXY, IXZ, IYZ, MASS,                         # spatial inertia G_i
    GX, GY, GZ,                                                 # the gravity vector in frame 0, in every column
    TIPX, TIPY, TIPZ,                                           # p of M_{n+1,n}: frame i in the link's own frame
    ROWS,
) = range(32)
# fmt: on
