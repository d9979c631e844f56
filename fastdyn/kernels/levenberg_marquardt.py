"""Inverse kinematics by the Levenberg-Marquardt method, one pose in each lane.

Everything is seen from the target: the path to the frame begins at the base's frame in the target's, so that the
frame's pose at its end is the error itself, and vectors are along the target's axes. A step is

    dq = g + J^T (J J^T + lambda I)^-1 (e - J g)

e is the error: the way to the target's origin, then 2 sin(angle / 2) times the axis of the rotation to its axes. g is a
wish, the way to a posture, of which only the part remains that does not move the frame. lambda is proportional to
e^T e: far from the target the step is damped, near it the method is Newton's (Chan and Lawrence, General inverse
kinematics with the error damped pseudoinverse, ICRA 1988).

Lengths are in units of about half of the arm's reach, so that errors in position and in angle compare.
The first random starts ignore the limits of the coordinates and are given up once they head for a solution beyond
them: most poses are found quickest so. A given start and later random ones stay within: a coordinate at its limit that
the step would take further is held, and the step computed again without it.
"""

import math

from fastdyn.kernels.kinematics import *
from fastdyn.kernels.kinematics import columns, load_column, load_frame, store_column, store_frame
from fastdyn.scalars import (
    add,
    any_above,
    fill,
    kernel,
    load,
    maximum,
    minimum,
    sqrt,
    store,
    where_above,
    width,
)
from fastdyn.scalars.vectors import *

# rows of `table`, one column for each coordinate
LOWER, UPPER, FROM, TO, TURNS = range(5)  # limits; starts are drawn from FROM to TO; TURNS: whole turns change nothing
# in column 0: one by the unit of length, squares of the tolerances of position and angle, and weights of the six axes
PER_UNIT, TOLERANCE, ANGLE, WEIGHT, TABLE_ROWS = 5, 6, 7, 8, 14
# entries of `numbers`, (1, ...) integers
SEED, FIRST, STARTS, STEPS, ROTATION, WEIGHTED, NUMBERS = range(7)
NONE, AXIS, FULL = range(3)  # ROTATION: what of it counts; AXIS: the direction of the frame's z axis

DAMPING = 0.1  # lambda / (e^T e / 2)
FLOOR = 1e-12  # of lambda: far below the squares of useful singular values, far above their rounding
OPPOSITE = 1e-8  # 1 + cos of an angle that is nearly a half turn
NEAR = 0.1  # e^T e / 2 of a step that heads for a solution
FAR_AFTER, FAR = 10, 0.01  # after so many steps a start with more than this is given up
BEYOND = 0.3  # rad or units of length: a start near a solution that is so far beyond a limit is given up
INNER, INNER_STARTS = 0.5, 3  # the first starts are drawn from the inner part of the range: more of them succeed
FREE_STARTS = 30  # that ignore limits
POSTURE_STEPS, LONGEST = 60, 0.3  # the most steps towards a posture, and their greatest length
SQUARE = 1e-5  # a matrix whose rows are farther from orthonormal is no rotation
STILL = 1e-7  # a step that is shorter (squared: 1e-14) has reached the posture, as far as it can

# ---------------------------------------------------------------------------------------------- one step


@kernel
def half_sines(frame):
    """2 sin(angle / 2) times the axis of the rotation with these axes."""
    x, y, z, _ = frame
    v = y[2] - z[1], z[0] - x[2], x[1] - y[0]  # 2 sin(angle) axis
    rest = 0.5 * (x[0] + y[1] + z[2] + 1.0)  # 1 + cos(angle)
    # near a half turn v vanishes, and R + I = 2 axis axis^T: its product with some vector is along the axis
    a, b, c = 1.0, 0.7, 0.4
    w = (
        a * (x[0] + 1.0) + b * y[0] + c * z[0],
        a * x[1] + b * (y[1] + 1.0) + c * z[1],
        a * x[2] + b * y[2] + c * (z[2] + 1.0),
    )
    usual, turned_over = sqrt(0.5 / maximum(rest, OPPOSITE)), 2.0 / sqrt(maximum(dot(w, w), OPPOSITE))
    return (
        where_above(rest, OPPOSITE, usual * v[0], turned_over * w[0]),
        where_above(rest, OPPOSITE, usual * v[1], turned_over * w[1]),
        where_above(rest, OPPOSITE, usual * v[2], turned_over * w[2]),
    )


@kernel
def half_sines_of_axis(z):
    """The same for the shortest rotation that takes the target's z axis to the frame's."""
    rest = 1.0 + z[2]
    usual = sqrt(2.0 / maximum(rest, OPPOSITE))
    return where_above(rest, OPPOSITE, -(usual * z[1]), 2.0), where_above(rest, OPPOSITE, usual * z[0], 0.0), 0.0 * z[2]


def path_rows(n):
    return TURN * n


@kernel
def path(P, tree, q, base, tip, J, work):
    """The frame at the end of a path that begins at the frame `base`, and its Jacobian, all along the same axes."""
    turn_path(P, tree, q, work)
    frame = load_frame(base, 0)
    for k in range(P.shape[1]):
        frame = link_frame(P, tree, q, k, turn_at(tree, work, k), frame)
        store_column(J, P.shape[1], k, frame[3], frame[2])
    frame = wanted_frame(P, tree, frame)
    columns(P, tree, J, frame)
    store_frame(tip, 0, frame)


@kernel
def misfit(numbers, tip):
    """The error (e_v, e_w) of the frame at the end of the path, along the target's axes."""
    frame = load_frame(tip, 0)
    if numbers[0, ROTATION] == FULL:
        return negative(frame[3]), negative(half_sines(frame))
    if numbers[0, ROTATION] == AXIS:
        return negative(frame[3]), negative(half_sines_of_axis(frame[2]))
    return negative(frame[3]), zero_vector(tip)


@kernel
def joints_of(G, phi, q):
    """G phi + offset; the offsets are G's last column."""
    m = G.shape[1] - 1
    for i in range(G.shape[0]):
        store(q, i, fill(q, G[i, m]))
        for c in range(m):
            if G[i, c] != 0:
                add(q, i, load(phi, c) * G[i, c])


@kernel
def columns_of(G, joints, J):
    """J G, of a matrix of six rows."""
    n, m = G.shape[0], G.shape[1] - 1
    for r in range(6):
        for c in range(m):
            store(J, m * r + c, fill(J, 0.0))
            for i in range(n):
                if G[i, c] != 0:
                    add(J, m * r + c, load(joints, n * r + i) * G[i, c])


@kernel
def weighted(table, J, m, e):
    """Error and rows of the Jacobian, times the weights of the axes."""
    for r in range(6):
        for c in range(m):
            store(J, m * r + c, load(J, m * r + c) * table[WEIGHT + r, 0])
    v, w = e
    return (
        (v[0] * table[WEIGHT, 0], v[1] * table[WEIGHT + 1, 0], v[2] * table[WEIGHT + 2, 0]),
        (w[0] * table[WEIGHT + 3, 0], w[1] * table[WEIGHT + 4, 0], w[2] * table[WEIGHT + 5, 0]),
    )


@kernel
def along_column(J, m, c, e):
    """Column c of the Jacobian times a six-vector."""
    v, w = load_column(J, m, c)
    return dot(v, e[0]) + dot(w, e[1])


@kernel
def without(J, m, wish, e):
    """e - J wish."""
    for c in range(m):
        v, w = load_column(J, m, c)
        e = minus(e[0], times(load(wish, c), v)), minus(e[1], times(load(wish, c), w))
    return e


@kernel
def hold(table, J, before, wish, y):
    """Zeros in the columns and wishes of coordinates at a limit that the step given by y would take beyond it."""
    m = table.shape[1]
    for c in range(m):
        value = load(before, c)
        up = where_above(table[UPPER, c], value, 1.0, 0.0 * value)
        down = where_above(value, table[LOWER, c], 1.0, 0.0 * value)
        moving = where_above(load(wish, c) + along_column(J, m, c, y), 0.0, up, down)
        v, w = load_column(J, m, c)
        store_column(J, m, c, times(moving, v), times(moving, w))
        store(wish, c, moving * load(wish, c))


@kernel
def factored(S):
    """L D L^T of a symmetric 3x3 matrix: 1 / D, and the entries of L below its diagonal."""
    xx, yy, zz, xy, xz, yz = S
    first = 1.0 / xx
    a, b = xy * first, xz * first
    second = 1.0 / (yy - a * xy)
    c = (yz - a * xz) * second
    third = 1.0 / (zz - b * xz - c * (yz - a * xz))
    return first, second, third, a, b, c


@kernel
def solved(F, v):
    """S^-1 v, by S factored."""
    first, second, third, a, b, c = F
    y = v[1] - a * v[0]
    z = v[2] - b * v[0] - c * y
    z = z * third
    y = y * second - c * z
    return v[0] * first - a * y - b * z, y, z


@kernel
def damped_solution(J, m, damping, e):
    """(J J^T + lambda I)^-1 e, by blocks of linear and angular rows."""
    A, C = damped_squares(J, m, 0, damping), damped_squares(J, m, 3, damping)
    B = by_angular(J, m, 0), by_angular(J, m, 1), by_angular(J, m, 2)
    F = factored(A)
    x, y, z = column(B, 0), column(B, 1), column(B, 2)
    X, Y, Z = solved(F, x), solved(F, y), solved(F, z)
    C = C[0] - dot(x, X), C[1] - dot(y, Y), C[2] - dot(z, Z), C[3] - dot(x, Y), C[4] - dot(x, Z), C[5] - dot(y, Z)
    u = solved(F, e[0])
    w = solved(factored(C), (e[1][0] - dot(x, u), e[1][1] - dot(y, u), e[1][2] - dot(z, u)))
    return minus(u, plus(times(w[0], X), plus(times(w[1], Y), times(w[2], Z)))), w


# the sums of J J^T in parts: all at once they do not fit into the registers of AVX2


@kernel
def damped_squares(J, m, r, damping):
    """Three rows of J from row r on, times their transpose, plus lambda I."""
    zero = 0.0 * damping
    xx, yy, zz, xy, xz, yz = damping, damping, damping, zero, zero, zero
    for c in range(m):
        x, y, z = load(J, m * r + c), load(J, m * (r + 1) + c), load(J, m * (r + 2) + c)
        xx, yy, zz, xy, xz, yz = xx + x * x, yy + y * y, zz + z * z, xy + x * y, xz + x * z, yz + y * z
    return xx, yy, zz, xy, xz, yz


@kernel
def by_angular(J, m, r):
    """Row r of J times the transpose of the angular rows."""
    found = zero_vector(J)
    for c in range(m):
        w = load(J, 3 * m + c), load(J, 4 * m + c), load(J, 5 * m + c)
        found = plus(found, times(load(J, m * r + c), w))
    return found


# ---------------------------------------------------------------------------------------------- the search

# rows of the scratch: what a lane knows besides its coordinates
POSE, START, STEP, TOTAL, MOST = range(5)  # numbers of pose and start, steps of this start, of earlier ones, at most
BUSY, BOUNDED, WISHING, SEEN, ASKED = range(5, 10)  # 1 or 0; WISHING, of bounded lanes, may be less: a part of the wish
POSITION2, ANGLE2, ENERGY, MOVED2, BEST = range(10, 15)  # squares of errors, e^T e / 2, square of the step; see `keep`
TARGET = 15
STATE = TARGET + FRAME


def search_rows(n, m, work):
    """Rows of scratch, for n joints, m coordinates and a path that needs `work` rows."""
    return STATE + 5 * m + n + FRAME + 6 * n + 6 * m + work


@kernel
def parts_of(X, n, m):
    """Coordinates (PHI, PREVIOUS, POSTURE, WISH, CHANGE), joints, tip, Jacobian, that of the coordinates, work."""
    a = STATE + 5 * m
    b = a + n + FRAME
    c = b + 6 * n
    return X[STATE:a], X[a : a + n], X[a + n : b], X[b:c], X[c : c + 6 * m], X[c + 6 * m :]


@kernel
def step(walk, P, tree, G, table, numbers, X):
    """One step from PHI to PHI in every lane; errors and energy are those before it, at PREVIOUS. walk: as `search`."""
    n, m = P.shape[1], table.shape[1]
    state, q, tip, J, J_phi, work = parts_of(X, n, m)
    phi, previous, target = state[:m], state[m : 2 * m], X[TARGET:STATE]
    if G.shape[0] > 0:
        joints_of(G, phi, q)
    else:
        q = phi
    walk(P, tree, q, target, tip, J, work)
    if G.shape[0] > 0:
        columns_of(G, J, J_phi)
    else:
        J_phi = J
    e = misfit(numbers, tip)
    if numbers[0, WEIGHTED]:
        e = weighted(table, J_phi, m, e)
    position2, angle2 = dot(e[0], e[0]), dot(e[1], e[1])
    energy = 0.5 * (position2 + angle2)
    store(X, POSITION2, position2)
    store(X, ANGLE2, angle2)
    store(X, ENERGY, energy)
    damping = DAMPING * energy + FLOOR
    y = damped_solution(J_phi, m, damping, e)
    for c in range(m):
        value = load(phi, c)
        store(previous, c, value)
        store(phi, c, value + along_column(J_phi, m, c, y))
    if any_above(load(X, BOUNDED), 0.0):
        careful_step(table, X, state, J_phi, damping, e)
    add(X, STEP, 1.0)


@kernel
def careful_step(table, X, state, J, damping, e):
    """Another step for lanes that are bounded; PHI of other lanes remains as it is.

    Those that wish for a posture make no long steps, and take half as much of the wish when they turn back: they passed
    the nearest point.
    """
    m, bounded, wishing = table.shape[1], load(X, BOUNDED), load(X, WISHING)
    phi, previous, posture = state[:m], state[m : 2 * m], state[2 * m : 3 * m]
    wish, change = state[3 * m : 4 * m], state[4 * m :]
    for c in range(m):
        store(wish, c, wishing * (load(posture, c) - load(previous, c)))
    y = damped_solution(J, m, damping, without(J, m, wish, e))
    hold(table, J, previous, wish, y)
    y = damped_solution(J, m, damping, without(J, m, wish, e))
    length2 = back = fill(X, 0.0)
    for c in range(m):
        way = load(wish, c) + along_column(J, m, c, y)
        length2 = length2 + way * way
        back = back - way * load(change, c)
        store(change, c, way)
    factor = where_above(wishing, 0.0, minimum(1.0, LONGEST / sqrt(maximum(length2, STILL * STILL))), 1.0)
    moved2 = fill(X, 0.0)
    for c in range(m):
        value = load(previous, c)
        wished = value + factor * load(change, c)
        within = minimum(maximum(wished, table[LOWER, c]), table[UPPER, c])
        store(phi, c, where_above(bounded, 0.0, within, load(phi, c)))
        moved2 = moved2 + (within - value) * (within - value)
    store(X, MOVED2, moved2)
    store(X, WISHING, where_above(back, 0.0, 0.5 * wishing, minimum(1.25 * wishing, 1.0)))


@kernel
def ask(table, X):
    """1 in the lanes in which something is to be decided, else 0."""
    zero, one = fill(X, 0.0), fill(X, 1.0)
    energy, steps, bounded, wishing = load(X, ENERGY), load(X, STEP), load(X, BOUNDED), load(X, WISHING)
    reached = where_above(
        table[TOLERANCE, 0], load(X, POSITION2), where_above(table[ANGLE, 0], load(X, ANGLE2), one, zero), zero
    )
    still = where_above(STILL * STILL * wishing * wishing, load(X, MOVED2), one, zero)
    asked = where_above(wishing, 0.0, still, reached)
    asked = where_above(steps, load(X, MOST), one, asked)
    usual = where_above(bounded, 0.0, zero, one)
    far = where_above(steps, FAR_AFTER + 0.5, where_above(energy, FAR, usual, zero), zero)
    first = where_above(NEAR, energy, usual * (one - load(X, SEEN)), zero)
    return load(X, BUSY) * (asked + far + first)


# ---------------------------------------------------------------------------------------------- one lane

FOUND = -1.0  # as BEST: a solution is kept already, and only its posture improved
WORD = 0xFFFFFFFF
POSITION_ERROR, ANGLE_ERROR, ITERATIONS, SUCCESS, REPORT = range(5)  # columns of `report`
TURN_ANGLE = 2 * math.pi


@kernel
def mixed(x):
    """A hash of 32 bits."""
    x = ((x >> 16) ^ x) * 0x45D9F3B & WORD
    x = ((x >> 16) ^ x) * 0x45D9F3B & WORD
    return (x >> 16) ^ x


@kernel
def hashed(seed, pose, start):
    """32 bits that follow from the seed and the numbers of pose and start alone."""
    x = mixed(mixed(seed & WORD) ^ (seed >> 32 & WORD))
    x = mixed(mixed(x ^ (pose & WORD)) ^ (pose >> 32 & WORD))
    return mixed(x ^ (start & WORD))


@kernel
def is_pose(targets, k):
    """Whether a 4x4 matrix is a pose, up to rounding in single precision."""
    T = targets[k]
    wrong = abs(T[12]) + abs(T[13]) + abs(T[14]) + abs(T[15] - 1.0)
    for a in range(3):
        for b in range(3):
            # rows are perpendicular and of length 1, and each is the product of the others
            square = T[4 * a] * T[4 * b] + T[4 * a + 1] * T[4 * b + 1] + T[4 * a + 2] * T[4 * b + 2]
            wrong = max(wrong, abs(square - (1.0 if a == b else 0.0)))
    third = T[0] * (T[5] * T[10] - T[6] * T[9]) - T[1] * (T[4] * T[10] - T[6] * T[8])
    third = third + T[2] * (T[4] * T[9] - T[5] * T[8])
    return wrong < SQUARE and third > 0 and abs(T[3]) + abs(T[7]) + abs(T[11]) < math.inf


@kernel
def begin(table, numbers, targets, starts, found, X, lane, k):
    """Gives a lane the k-th pose, at its first start."""
    T, m = targets[k], table.shape[1]
    for r in range(3):
        x = 0.0
        for a in range(3):
            X[TARGET + 3 * r + a, lane] = T[4 * r + a]
            x = x + T[4 * a + r] * T[4 * a + 3]
        X[TARGET + 9 + r, lane] = -x * table[PER_UNIT, 0]
    X[POSE, lane], X[START, lane], X[TOTAL, lane], X[BEST, lane] = k, 0.0, 0.0, math.inf
    X[BUSY, lane] = 1.0
    start(table, numbers, starts, X, lane)
    for c in range(m):
        X[STATE + 2 * m + c, lane] = 0.0
        found[k, c] = X[STATE + c, lane]


@kernel
def start(table, numbers, starts, X, lane):
    """Puts a lane at the start of its number: the first may be given."""
    m, k, pose = table.shape[1], int(X[START, lane]), int(X[POSE, lane])
    given = starts.shape[0] > 0 and k == 0
    bits = hashed(numbers[0, SEED], numbers[0, FIRST] + pose, k)
    part = INNER if k < INNER_STARTS else 1.0
    for c in range(m):
        if given:
            X[STATE + c, lane] = inside(table, c, starts[pose, c])
        else:
            unit = part * (mixed(bits ^ (c + 1) * 0x9E3779B & WORD) / (0.5 * WORD) - 1.0)
            X[STATE + c, lane] = 0.5 * (table[FROM, c] + table[TO, c] + unit * (table[TO, c] - table[FROM, c]))
    X[STEP, lane], X[MOST, lane], X[SEEN, lane], X[WISHING, lane] = 0.0, numbers[0, STEPS] + 0.5, 0.0, 0.0
    X[BOUNDED, lane] = 1.0 if given or k >= FREE_STARTS else 0.0


@kernel
def inside(table, c, value):
    """A coordinate, clipped to its limits."""
    return min(max(value, table[LOWER, c]), table[UPPER, c])


@kernel
def unwound(table, starts, pose, c, value):
    """A coordinate that exceeds its limits, less whole turns; without limits, the turn nearest to the given start."""
    low, high = table[LOWER, c], table[UPPER, c]
    if table[TURNS, c] == 0.0 or low <= value <= high < math.inf:
        return value
    if value > high:
        return value - TURN_ANGLE * math.ceil((value - high) / TURN_ANGLE)
    if value < low:
        return value + TURN_ANGLE * math.ceil((low - value) / TURN_ANGLE)
    near = starts[pose, c] if starts.shape[0] > 0 else 0.0
    return value - TURN_ANGLE * math.floor((value - near) / TURN_ANGLE + 0.5)


@kernel
def unwind(table, starts, X, lane):
    """Takes whole turns off PREVIOUS where limits are exceeded; by how much they still are."""
    m, pose, most = table.shape[1], int(X[POSE, lane]), 0.0
    for c in range(m):
        value = unwound(table, starts, pose, c, X[STATE + m + c, lane])
        X[STATE + m + c, lane] = value
        most = max(most, abs(value - inside(table, c, value)))
    return most


@kernel
def keep(table, found, report, X, lane, success):
    """Writes PREVIOUS as the answer of a lane's pose, clipped to its limits."""
    m, pose = table.shape[1], int(X[POSE, lane])
    for c in range(m):
        found[pose, c] = inside(table, c, X[STATE + m + c, lane])
    report[pose, POSITION_ERROR] = math.sqrt(X[POSITION2, lane])
    report[pose, ANGLE_ERROR] = 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(X[ANGLE2, lane])))
    report[pose, SUCCESS] = success


@kernel
def nearer(posture, found, X, lane, m):
    """Whether PREVIOUS is nearer to the posture than the solution that was kept."""
    pose, less = int(X[POSE, lane]), 0.0
    for c in range(m):
        new, old = X[STATE + m + c, lane] - posture[pose, c], found[pose, c] - posture[pose, c]
        less = less + old * old - new * new
    return less > 0.0


@kernel
def settle(table, numbers, starts, posture, found, report, X, lane):
    """Decides how a lane goes on; True if its pose is done."""
    m = table.shape[1]
    over = X[STEP, lane] > X[MOST, lane]
    if X[WISHING, lane] > 0.0:  # as near to the posture as can be: back to the pose
        X[TOTAL, lane] += X[STEP, lane]
        X[WISHING, lane], X[STEP, lane], X[MOST, lane] = 0.0, 0.0, numbers[0, STEPS] + 0.5
        return False
    reached = X[POSITION2, lane] < table[TOLERANCE, 0] and X[ANGLE2, lane] < table[ANGLE, 0]
    beyond = unwind(table, starts, X, lane)
    improved = X[BEST, lane] == FOUND
    if reached and beyond == 0.0:
        if not improved or nearer(posture, found, X, lane, m):
            keep(table, found, report, X, lane, 1.0)
        if posture.shape[0] == 0 or improved:
            return finished(report, X, lane)
        X[TOTAL, lane] += X[STEP, lane]
        X[BEST, lane], X[WISHING, lane], X[BOUNDED, lane] = FOUND, 1.0, 1.0
        X[STEP, lane], X[MOST, lane] = 0.0, POSTURE_STEPS + 0.5
        for c in range(m):
            X[STATE + c, lane] = X[STATE + m + c, lane]
            X[STATE + 2 * m + c, lane] = posture[int(X[POSE, lane]), c]
            X[STATE + 4 * m + c, lane] = 0.0
        return False
    if improved:  # the pose was lost on the way: what was kept remains
        return finished(report, X, lane)
    if not (over or reached) and X[SEEN, lane] == 0.0 and X[ENERGY, lane] < NEAR and beyond <= BEYOND:
        X[SEEN, lane] = 1.0
        return False
    cost = X[ENERGY, lane] + beyond * beyond
    if cost < X[BEST, lane]:
        X[BEST, lane] = cost
        keep(table, found, report, X, lane, 0.0)
    X[START, lane] += 1.0
    if X[START, lane] >= numbers[0, STARTS]:
        return finished(report, X, lane)
    X[TOTAL, lane] += X[STEP, lane]
    start(table, numbers, starts, X, lane)
    return False


@kernel
def finished(report, X, lane):
    """Always True; counts the steps."""
    report[int(X[POSE, lane]), ITERATIONS] = X[TOTAL, lane] + X[STEP, lane]
    return True


@kernel
def search(walk, P, tree, G, table, numbers, targets, starts, posture, found, report, X):
    """Searches for all poses; a lane whose pose is done takes the next. 1 if some matrix is no pose, else 0.

    walk: `path`, or straight-line code that computes the same for one robot.
    """
    T, taken, busy = targets.shape[0], 0, 0
    for k in range(T):
        report[k, SUCCESS] = 0.0
        if not is_pose(targets, k):
            return 1
    for lane in range(width(X)):
        begin(table, numbers, targets, starts, found, X, lane, min(taken, T - 1))
        X[BUSY, lane] = 1.0 if taken < T else 0.0
        busy += 1 if taken < T else 0
        taken += 1
    while busy > 0:
        step(walk, P, tree, G, table, numbers, X)
        asked = ask(table, X)
        if any_above(asked, 0.5):
            store(X, ASKED, asked)
            for lane in range(width(X)):
                if X[ASKED, lane] > 0.5 and settle(table, numbers, starts, posture, found, report, X, lane):
                    if taken < T:
                        begin(table, numbers, targets, starts, found, X, lane, taken)
                        taken += 1
                    else:
                        X[BUSY, lane] = 0.0
                        busy -= 1
    return 0
