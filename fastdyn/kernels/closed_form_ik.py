"""Inverse kinematics of six-joint arms in closed form: all solutions.

At q = 0 joint i has the axis h through p, in the base's frame. It moves points by E(q) x = p + R(q) (x - p), or
x + q h if it slides. The arm's displacement from q = 0 is G = T M^-1 = E1 E2 ... E6, with the frame's pose M at q = 0.
Each unknown follows from one of these equations, in which all others cancel:

    level   n . E x = n . y         a given height along n: a cos q + b sin q = d, linear if the joint slides
    reach   |E x - o| = |y - o|     a given distance from o: the same, quadratic if the joint slides
    face    E x = y                 one angle, in the plane perpendicular to the axis
    bridge  Ea Eb Ec x = y          joint c of three that turn: a conic in cos q and sin q, up to four solutions

Which ones, in which order, depends on the arm (ik/recognize.py), of one of two classes:

    WRIST      axes 4, 5 and 6 meet in w: G w = E1 E2 E3 w gives joints 1 to 3, then R4 R5 R6 the others
    PARALLELS  axes 2, 3 and 4 are parallel, 5 and 6 meet in w: joint 1 from the height of G w, then 5, 6, 3, 2, 4

Lengths are in units of the arm's size. A joint's value is a pair: sine and cosine, or travel and 1. A margin is above 0
where there is a solution; `free` is 1 where an angle is not determined (it is then 0), else 0.
"""

import math

from fastdyn.kernels.conic_circle import lines, polished
from fastdyn.scalars import atan2, by_sign, fill, kernel, load, maximum, minimum, sqrt, store, where_above
from fastdyn.scalars.vectors import *

# fmt: off
# rows of P, a column for each joint
(
    HX, HY, HZ, X, Y, Z,      # axis, and a point of it
    LOW, HIGH, FIRST,         # limits; whole turns that bring [-pi, pi] to the lower one, or a turn below it
    UNIT,                     # of the joint's coordinate: the arm's size for sliding joints, 1 for turning ones
    # rows that are not by joints
    MEETING,                  # w, and M^-1 w
    REST, REST_Y, REST_Z,     # M^-1, without its origin; in the fourth column that of M
    ACROSS,                   # a unit vector perpendicular to axis 6, and one perpendicular to axis 4
    BEND,                     # of axes 4, 5, 6: see bend
    # of two sliding joints: n perpendicular to both, and the dual vectors; SKEW: dual to axes a, b and their distance
    DUAL, DUAL_Y, DUAL_Z,
    THRESHOLD,                # size; of radicands; of squared sizes that count as zero
    ROWS,
) = range(21)
# fmt: on
# rows of tree: whether a joint slides; its index in q; the arm: class, position problem, reversed?, mirrored?,
# branches, limited?
SLIDES, JOINT, ARM = range(3)
CLASS, POSITION, REVERSED, MIRRORED, BRANCHES, LIMITED = range(6)
WRIST, PARALLELS = range(2)
# position problems of three joints a, b, c with Ea Eb Ec x = y
NEXT_PARALLEL, FIRST_MEET, OUTER_PARALLEL, TWO_SLIDE, SKEW = range(5)
# b and c parallel; a and b meet; a and c parallel, b slides; a and b slide; all turn, in any arrangement

BRIDGED = 1e-10  # of the squared distance that a bridge must have: a pose is then accurate to that of the size
KNOWN = 12  # rows of G: rotation, and G w
VALUES = 6  # rows of the pairs of three joints


def closed_form_rows():
    """Rows of scratch."""
    return KNOWN + VALUES + 6


@kernel
def closed_form(P, tree, pose, q, valid, singular, work):
    """All solutions of a pose: branch k in rows k n .. of q, n the number of coordinates; valid: 1 or 0."""
    known, values, angles = work[:KNOWN], work[KNOWN : KNOWN + VALUES], work[KNOWN + VALUES :]
    displacement(P, tree, pose, known)
    if tree[ARM, CLASS] == WRIST:
        wrist_arm(P, tree, known, values, angles, q, valid, singular)
    else:
        parallel_arm(P, tree, known, values, angles, q, valid, singular)


# ---------------------------------------------------------------------------------------------- constants


@kernel
def axis(P, i):
    return P[HX, i], P[HY, i], P[HZ, i]


@kernel
def point(P, i):
    return P[X, i], P[Y, i], P[Z, i]


@kernel
def triple(P, row, first):
    return P[row, first], P[row, first + 1], P[row, first + 2]


@kernel
def rest(P):
    """The rotation of M^-1."""
    return triple(P, REST, 0), triple(P, REST_Y, 0), triple(P, REST_Z, 0)


@kernel
def improper(pose):
    """How far a 4x4 matrix is from a pose: a sum of squares."""
    x, y, z = load_vector(pose, 0), load_vector(pose, 4), load_vector(pose, 8)
    xx, yy, xy = dot(x, x) - 1.0, dot(y, y) - 1.0, dot(x, y)
    left, last = minus(z, cross(x, y)), load_vector(pose, 12)
    one = load(pose, 15) - 1.0
    return xx * xx + yy * yy + xy * xy + dot(left, left) + dot(last, last) + one * one


@kernel
def displacement(P, tree, pose, known):
    """G = T M^-1, or its inverse for an arm that is solved from its tip: the rotation, and G w."""
    unit = 1.0 / P[THRESHOLD, 0]
    R = load_vector(pose, 0), load_vector(pose, 4), load_vector(pose, 8)
    o = unit * load(pose, 3), unit * load(pose, 7), unit * load(pose, 11)
    if tree[ARM, REVERSED]:
        away = transposed_vector(R, minus(triple(P, MEETING, 0), o))
        store_matrix(known, 0, transposed(matrix_product(R, rest(P))))
        home = P[REST, 3], P[REST_Y, 3], P[REST_Z, 3]
        store_vector(known, 9, plus(transposed_vector(rest(P), away), home))
    else:
        store_matrix(known, 0, matrix_product(R, rest(P)))
        store_vector(known, 9, plus(matrix_vector(R, triple(P, MEETING, 3)), o))


# ---------------------------------------------------------------------------------------------- motions


@kernel
def turned(h, value, v):
    """A vector rotated about h."""
    s, c = value
    along = (1.0 - c) * dot(h, v)
    return plus(plus(times(c, v), times(s, cross(h, v))), times(along, h))


@kernel
def moved(P, tree, i, value, x):
    """A point moved by joint i."""
    if tree[SLIDES, i]:
        return plus(x, times(value[0], axis(P, i)))
    return plus(turned(axis(P, i), value, minus(x, point(P, i))), point(P, i))


@kernel
def inverse(value):
    """The value that moves back."""
    return -value[0], value[1]


@kernel
def vector_moved(P, tree, i, value, v):
    """A direction moved by joint i."""
    return v if tree[SLIDES, i] else turned(axis(P, i), value, v)


# ---------------------------------------------------------------------------------------------- equations


@kernel
def balance(P, a, b, d, radicand, side):
    """The value with a cos + b sin = d, of two the one that `side`, 1 or -1, names; its margin; free.

    radicand: a^2 + b^2 - d^2. Where it is negative by no more than THRESHOLD, two solutions coincide up to rounding.
    """
    size = a * a + b * b
    root = side * sqrt(maximum(radicand, 0.0))
    s, c = b * d + a * root, a * d - b * root
    least = P[THRESHOLD, 2]
    scale = 1.0 / sqrt(maximum(s * s + c * c, least * least))
    value = where_above(size, least, s * scale, 0.0), where_above(size, least, c * scale, 1.0)
    return value, radicand + (P[THRESHOLD, 1] * size + least), where_above(size, least, 0.0, 1.0)


@kernel
def terms(n, h, u):
    """a, b and k of n . R u = a cos + b sin + k, R about h."""
    k = dot(n, h) * dot(h, u)
    return dot(n, u) - k, dot(n, cross(h, u)), k


@kernel
def level(P, tree, i, n, x, y, sense, side):
    """Joint i's value with n . E x = n . y, of E^-1 if sense is -1; its margin; free."""
    h, p = axis(P, i), point(P, i)
    if tree[SLIDES, i]:
        travel = dot(n, minus(y, x)) / (sense * dot(n, h))
        return (travel, travel * 0.0 + 1.0), travel * 0.0 + 1.0, travel * 0.0
    a, b, k = terms(n, h, minus(x, p))
    b, d = sense * b, dot(n, minus(y, p)) - k
    return balance(P, a, b, d, a * a + b * b - d * d, side)


@kernel
def reach(P, tree, i, x, o, y, centre, side):
    """Joint i's value with |E x - o| = |y - centre|; its margin; free."""
    h, p, far = axis(P, i), point(P, i), minus(y, centre)
    if tree[SLIDES, i]:
        start = minus(x, o)
        height = dot(h, start)
        off, distance = minus(start, times(height, h)), dot(far, far)
        radicand = distance - dot(off, off)
        travel = side * sqrt(maximum(radicand, 0.0)) - height
        return (travel, travel * 0.0 + 1.0), radicand + (P[THRESHOLD, 1] * distance + P[THRESHOLD, 2]), travel * 0.0
    u, v = minus(x, p), minus(p, o)
    a, b, k = terms(v, h, u)
    d = 0.5 * (dot(far, far) - dot(v, v) - dot(u, u)) - k
    return balance(P, a, b, d, a * a + b * b - d * d, side)


@kernel
def face(P, h, x, y):
    """The angle about h from a vector to another; free."""
    height = dot(h, x)
    s, c = dot(h, cross(x, y)), dot(x, y) - height * dot(h, y)
    size, least = s * s + c * c, P[THRESHOLD, 2] * P[THRESHOLD, 2]
    scale = 1.0 / sqrt(maximum(size, least))
    value = where_above(size, least, s * scale, 0.0), where_above(size, least, c * scale, 1.0)
    return value, where_above(size, least, 0.0, 1.0)


@kernel
def bend(P, h, to, side):
    """Joint 5's value with h . R5 h6 = h . to, h the axis of joint 4; and its margin.

    With i = h . h5 and j = h5 . h6 the radicand is |h x to|^2 + 2 i j (h . to) - i^2 - j^2, which at the usual right
    angles is accurate where axes 4 and 6 become parallel; a^2 + b^2 - d^2 is not.
    """
    lean, tilt = P[BEND, 0], P[BEND, 1]
    off, d = cross(h, to), dot(h, to)
    radicand = dot(off, off) + 2.0 * lean * tilt * d - (lean * lean + tilt * tilt)
    value, margin, _ = balance(P, P[BEND, 2], P[BEND, 3], d - lean * tilt, radicand, side)
    return value, margin


@kernel
def code(aligned, cosine, free):
    """1 or -1, the sign of the cosine, where axes 4 and 6 are aligned; else 2 where another angle is free, or 0."""
    return where_above(aligned, 0.0, where_above(cosine, 0.0, 1.0, -1.0), 2.0 * free)


@kernel
def side_of(branch, bit):
    """1 or -1: which of two solutions a branch takes."""
    return 1.0 if (branch >> bit) & 1 == 0 else -1.0


# ---------------------------------------------------------------------------------------------- arms with a wrist


@kernel
def wrist_arm(P, tree, known, values, angles, q, valid, singular):
    """Joints 1 to 3 move w to G w; then R4 R5 R6 = (R1 R2 R3)^T R."""
    h4, h5, h6, across = axis(P, 3), axis(P, 4), axis(P, 5), triple(P, ACROSS, 0)
    w = plus(triple(P, MEETING, 0), zero_vector(known))
    G = load_matrix(known, 0)
    for k in range(tree[ARM, BRANCHES] // 2):
        near, free = position(P, tree, w, load_vector(known, 9), k, values)
        tip, mark = matrix_vector(G, h6), matrix_vector(G, across)
        for i in range(3):
            value = load(values, 2 * i), load(values, 2 * i + 1)
            store(angles, i, coordinate(P, tree, i, value))
            tip, mark = vector_moved(P, tree, i, inverse(value), tip), vector_moved(P, tree, i, inverse(value), mark)
        for flip in range(2):
            value5, margin = bend(P, h4, tip, side_of(flip, 0))
            value4, aligned = face(P, h4, turned(h5, value5, h6), tip)  # 0 where axes 4 and 6 are aligned
            left = turned(h5, inverse(value5), turned(h4, inverse(value4), mark))
            value6, _ = face(P, h6, across, left)
            store(angles, 3, coordinate(P, tree, 3, value4))
            store(angles, 4, coordinate(P, tree, 4, value5))
            store(angles, 5, coordinate(P, tree, 5, value6))
            store(singular, 2 * k + flip, code(aligned, dot(h4, tip), free))
            finish(P, tree, 2 * k + flip, minimum(near, margin), angles, q, valid)


@kernel
def position(P, tree, x, y, k, values):
    """Stores the values of joints 1 to 3 with E1 E2 E3 x = y, branch k; returns the margin and free.

    Mirrored: E3^-1 E2^-1 E1^-1 y = x is solved, whose unknowns are the inverse values.
    """
    first, last, sense = 0, 2, 1.0
    if tree[ARM, MIRRORED]:
        first, last, sense = 2, 0, -1.0
        x, y = y, x
    one, other = side_of(k, 0), side_of(k, 1)
    problem = tree[ARM, POSITION]
    if problem == NEXT_PARALLEL:
        a, margin, free = level(P, tree, first, axis(P, 1), y, x, -1.0, other)
        y = moved(P, tree, first, inverse(a), y)
        c, more, free_c = reach(P, tree, last, x, point(P, 1), y, point(P, 1), one)
        x = moved(P, tree, last, c, x)
        b, free_b = face(P, axis(P, 1), minus(x, point(P, 1)), minus(y, point(P, 1)))
    elif problem == FIRST_MEET:
        c, margin, free = reach(P, tree, last, x, point(P, 1), y, point(P, 1), other)
        x = moved(P, tree, last, c, x)
        b, more, free_b = level(P, tree, 1, axis(P, first), x, y, 1.0, one)
        x = moved(P, tree, 1, b, x)
        a, free_c = face(P, axis(P, first), minus(x, point(P, 1)), minus(y, point(P, 1)))
    elif problem == OUTER_PARALLEL:
        b, margin, free = level(P, tree, 1, axis(P, first), x, y, 1.0, one)
        centre = point(P, first)
        c, more, free_c = reach(P, tree, last, x, minus(centre, times(b[0], axis(P, 1))), y, centre, one)
        x = moved(P, tree, 1, b, moved(P, tree, last, c, x))
        a, free_b = face(P, axis(P, first), minus(x, centre), minus(y, centre))
    elif problem == SKEW:
        c, z, margin = bridge(P, first, last, x, y, one, other)
        more, free = margin, margin * 0.0
        x = moved(P, tree, last, c, x)
        b, free_b = face(P, axis(P, 1), minus(x, point(P, 1)), minus(z, point(P, 1)))
        a, free_c = face(P, axis(P, first), minus(z, point(P, first)), minus(y, point(P, first)))
    else:
        c, margin, free = level(P, tree, last, triple(P, DUAL, 0), x, y, 1.0, one)
        away = minus(y, moved(P, tree, last, c, x))
        a, b = (dot(triple(P, DUAL_Y, 0), away), c[1]), (dot(triple(P, DUAL_Z, 0), away), c[1])
        more, free_b, free_c = margin, free, free
    store_value(values, first, sense, a)
    store_value(values, 1, sense, b)
    store_value(values, last, sense, c)
    return minimum(margin, more), maximum(free, maximum(free_b, free_c))


@kernel
def bridge(P, first, last, x, y, one, other):
    """Joint c's value with Ea Eb Ec x = y, the point z = Eb Ec x between, and the margin.

    z has the height of y along axis a, that of Ec x along axis b, and the distances of both from points of these axes:
    three linear equations whose right sides are linear in cos and sin of joint c, then |z - pa| = |y - pa|.
    """
    ha, pa, hb, pb, hc, pc = axis(P, first), point(P, first), axis(P, 1), point(P, 1), axis(P, last), point(P, last)
    u, v, far, gap = minus(x, pc), minus(pc, pb), minus(y, pa), minus(pb, pa)
    ab, bb, kb = terms(hb, hc, u)
    av, bv, kv = terms(v, hc, u)
    distance = dot(far, far)
    level_b = dot(hb, minus(pc, pa)) + kb
    level_gap = 0.5 * (distance + dot(gap, gap) - dot(v, v) - dot(u, u)) - kv
    A, B, D = triple(P, DUAL, 0), triple(P, DUAL_Y, 0), triple(P, DUAL_Z, 0)
    z0 = plus(times(dot(ha, far), A), plus(times(level_b, B), times(level_gap, D)))
    z1, z2 = minus(times(ab, B), times(av, D)), minus(times(bb, B), times(bv, D))
    Q = dot(z1, z1), dot(z2, z2), dot(z0, z0) - distance, dot(z1, z2), dot(z0, z1), dot(z0, z2)
    l, g = lines(Q)
    if other < 0.0:
        l = g
    size = l[0] * l[0] + l[1] * l[1]
    value, margin, _ = balance(P, l[0], l[1], -l[2], size - l[2] * l[2], one)
    value, residual = polished(Q, value)
    z = plus(pa, plus(z0, plus(times(value[1], z1), times(value[0], z2))))
    near = BRIDGED * distance - by_sign(residual, residual, -residual)  # lines that are not real are off the conic
    return value, z, minimum(margin, near)


@kernel
def store_value(values, i, sense, value):
    store(values, 2 * i, sense * value[0])
    store(values, 2 * i + 1, value[1])


# ---------------------------------------------------------------------------------------------- three parallel axes


@kernel
def parallel_arm(P, tree, known, values, angles, q, valid, singular):
    """Joints 2, 3 and 4 keep heights along their axes; where joints 4 and 6 are parallel, joint 6 is at 0."""
    h, h5, h6, across = axis(P, 3), axis(P, 4), axis(P, 5), triple(P, ACROSS, 3)
    w, p2, p4 = triple(P, MEETING, 0), point(P, 1), plus(point(P, 3), zero_vector(known))
    G = load_matrix(known, 0)
    for k in range(4):
        y = load_vector(known, 9)
        value1, margin, free = level(P, tree, 0, h, y, w, -1.0, side_of(k, 1))
        back = inverse(value1)
        y = moved(P, tree, 0, back, y)
        tip, up = turned(axis(P, 0), back, matrix_vector(G, h6)), transposed_vector(G, turned(axis(P, 0), value1, h))
        value5, more = bend(P, h, tip, side_of(k, 0))
        upright = turned(h5, inverse(value5), h)
        value6, aligned = face(P, h6, up, upright)
        # where joints 2 to 4 take a direction, and the point of axis 4, that joints 5 and 6 leave alone
        mark = outward(P, G, value1, value5, value6, across)
        elbow = plus(y, outward(P, G, value1, value5, value6, minus(p4, w)))
        store(angles, 0, coordinate(P, tree, 0, value1))
        store(angles, 4, coordinate(P, tree, 4, value5))
        store(angles, 5, coordinate(P, tree, 5, value6))
        margin = minimum(margin, more)
        for bent in range(2):
            value3, last, free3 = reach(P, tree, 2, p4, p2, elbow, p2, side_of(bent, 0))
            value2, free2 = face(P, axis(P, 1), minus(moved(P, tree, 2, value3, p4), p2), minus(elbow, p2))
            left = turned(axis(P, 2), inverse(value3), turned(axis(P, 1), inverse(value2), mark))
            value4, _ = face(P, h, across, left)
            store(angles, 1, coordinate(P, tree, 1, value2))
            store(angles, 2, coordinate(P, tree, 2, value3))
            store(angles, 3, coordinate(P, tree, 3, value4))
            others = maximum(free, maximum(free2, free3))
            store(singular, 2 * k + bent, code(aligned, dot(h, tip), others))
            finish(P, tree, 2 * k + bent, minimum(margin, last), angles, q, valid)


@kernel
def outward(P, G, value1, value5, value6, v):
    """R1^-1 G R6^-1 R5^-1 v."""
    v = turned(axis(P, 5), inverse(value6), turned(axis(P, 4), inverse(value5), v))
    return turned(axis(P, 0), inverse(value1), matrix_vector(G, v))


# ---------------------------------------------------------------------------------------------- coordinates


@kernel
def coordinate(P, tree, i, value):
    """A joint's coordinate, rad in [-pi, pi] or m; a turning joint's within its limits by whole turns, if it can be."""
    if tree[SLIDES, i]:
        return P[UNIT, i] * value[0]
    x = atan2(value[0], value[1])
    if tree[ARM, LIMITED]:
        lifted = x + P[FIRST, i]
        lifted = where_above(P[LOW, i], lifted, lifted + 2.0 * math.pi, lifted)
        inside = minimum(x - P[LOW, i], P[HIGH, i] - x)
        x = where_above(inside, 0.0, x, lifted)
    return x


@kernel
def finish(P, tree, k, margin, angles, q, valid):
    """Branch k's coordinates into q, NaN where there is no solution; valid."""
    if tree[ARM, LIMITED]:
        for i in range(6):
            x = load(angles, i)
            margin = minimum(margin, minimum(x - P[LOW, i], P[HIGH, i] - x))
    first = k * (q.shape[0] // tree[ARM, BRANCHES])
    for i in range(6):
        store(q, first + tree[JOINT, i], where_above(margin, 0.0, load(angles, i), math.nan))
    store(valid, k, where_above(margin, 0.0, fill(angles, 1.0), 0.0))
