"""What the rows of a chain by screws hold. `P` is a (ROWS, n) float64 array, one column per link.

Frame i stands at the centre of mass of link i, along any axes. Twists are (w, v), wrenches (moment, force): angular
part first. `T` is a (1, n) int64 array that nothing is read from: a screw says itself what its joint does.
"""

# fmt: off
(
    RXX, RXY, RXZ, RYX, RYY, RYZ, RZX, RZY, RZZ, PX, PY, PZ,    # M_{i,i-1}: frame i - 1 in frame i at zero
    WX, WY, WZ, VX, VY, VZ,                                     # screw axis A_i in frame i, of unit length
    IXX, IYY, IZZ, IXY, IXZ, IYZ, MASS,                         # spatial inertia G_i
    GX, GY, GZ,                                                 # the gravity vector in frame 0, in every column
    ROWS,
) = range(29)
# fmt: on
