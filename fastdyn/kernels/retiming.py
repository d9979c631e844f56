"""Time-optimal speed along a path by reachability analysis, one path in each lane.

On a grid of the path variable s, x = (ds/dt)^2 and u = d2s/dt2, which is constant between grid points: x grows by
2 Delta u. Every limit of a torque or an acceleration is a row, scaled by half of its range, that holds at both ends of
every interval:

    -1 <= a u + b x + c <= 1

Backward: the controllable set [L, K] of a grid point, the values of x from which some u leads into the set of the next
one. Forward: the largest u that does (Pham and Pham, A new approach to time-optimal path parameterization based on
reachability analysis, IEEE T-RO 34, 2018).

Each row bounds u between two parallel lines over x. The gap between the lowest upper and the highest lower line is
concave and consists of straight pieces: Newton's method from the right (left) ends at the largest (smallest) x of an
open gap after a few of them, which solves the two linear programs of the set.
"""

from fastdyn.scalars import any_above, fill, give, kernel, load, maximum, minimum, store, take, where_above, width

UNLIMITED = 1e15  # x where no velocity is limited
FLAT = 1e-9  # of the largest |a| of a point: a smaller one counts as this; u has 16 - 9 digits there, limits 9
TINY = 1e-30
NOISE = 1e-12  # of the bounds of u, some rounding errors: a gap this little below zero is open
FEASIBLE, START = -1.0, -2.0  # report: no grid point
REPORT = 3  # columns: the grid point that has no x, L and K of the first

MIDDLE, HALF, SLOPE, LINE = range(4)  # rows of a pair of lines: u = MIDDLE +- HALF + SLOPE x


def retiming_rows(points, m):
    """Rows of scratch for m rows of limits."""
    return 6 * m + 2 * LINE * m + 4 * points + 2 + REPORT


def retime(P, tree, rows, speed, ends, x, limit, report, scratch):
    """The speeds of all paths.

    P: (1, N), 2 Delta. tree: [[m]]. Of each path: rows, at each grid point a, b, c of m limits; speed: the largest x by
    velocities; ends: x of the first and the last point.
    """
    m, points = tree[0, 0], speed.shape[1]
    p = 6 * m + 2 * LINE * m
    slots, lines = scratch[: 6 * m], scratch[6 * m : p]
    limit_, K, L = scratch[p : p + points], scratch[p + points :][:points], scratch[p + 2 * points :][:points]
    x_, ends_, report_ = (
        scratch[p + 3 * points :][:points],
        scratch[p + 4 * points :][:2],
        scratch[p + 4 * points + 2 :],
    )
    for first in range(0, speed.shape[0], width(scratch)):
        take(speed, first, limit_, 0)
        take(ends, first, ends_, 0)
        backward(P, m, rows, first, slots, lines, limit_, K, L, ends_, report_)
        forward(P, m, rows, first, slots, lines, K, L, ends_, x_, report_)
        give(x, first, x_, 0)
        give(limit, first, limit_, 0)
        give(report, first, report_, 0)
    return 0


@kernel
def backward(P, m, rows, first, slots, lines, limit, K, L, ends, report):
    """The controllable sets [L, K]; `limit`, the largest x by velocities, becomes that by all rows of the point."""
    last, size = P.shape[1], 3 * m
    zero, failed, goal = fill(K, 0.0), fill(K, FEASIBLE), load(ends, 1)
    free = zero + UNLIMITED, zero, zero - UNLIMITED, zero
    for i in range(last, -1, -1):
        here, there = slots[i % 2 * size :][:size], slots[(i + 1) % 2 * size :][:size]
        take(rows[:, i * size : i * size + size], first, here, 0)
        lines_of(here, m, 0.0, lines)
        most = edge(lines, m, load(limit, i), free, 1.0)
        store(limit, i, most)
        if i == last:
            most = where_above(goal, most * (1.0 + NOISE), -1.0, goal)
            least = goal
        else:
            lines_of(there, m, P[0, i], lines[LINE * m :])
            reach = into(load(L, i + 1), load(K, i + 1), P[0, i])
            most = where_above(most, -0.5, edge(lines, 2 * m, most, reach, 1.0), -1.0)
            least = minimum(edge(lines, 2 * m, zero, reach, -1.0), most)
        failed = where_above(failed, -0.5, failed, where_above(most, -0.5, FEASIBLE, zero + i))
        store(K, i, maximum(most, zero))
        store(L, i, maximum(least, zero))
    store(report, 0, failed)
    store(report, 1, load(L, 0))
    store(report, 2, load(K, 0))


@kernel
def forward(P, m, rows, first, slots, lines, K, L, ends, x, report):
    """The largest u at every grid point that leads into the next controllable set."""
    size, now = 3 * m, load(ends, 0)
    outside = maximum(now - load(K, 0) * (1.0 + NOISE), load(L, 0) * (1.0 - NOISE) - now)
    started = where_above(outside, 0.0, START, fill(x, FEASIBLE))
    store(report, 0, where_above(load(report, 0), -0.5, load(report, 0), started))
    store(x, 0, now)
    take(rows[:, :size], first, slots, 0)
    for i in range(P.shape[1]):
        here, there = slots[i % 2 * size :][:size], slots[(i + 1) % 2 * size :][:size]
        take(rows[:, (i + 1) * size : (i + 2) * size], first, there, 0)
        lines_of(here, m, 0.0, lines)
        lines_of(there, m, P[0, i], lines[LINE * m :])
        least, most = load(L, i + 1), load(K, i + 1)
        _, _, _, _, u, _ = tightest(lines, 2 * m, now, into(least, most, P[0, i]))
        now = minimum(maximum(now + P[0, i] * u, least), most)
        store(x, i + 1, now)


@kernel
def lines_of(rows, m, step, lines):
    """Bounds of u by the rows of a grid point; step: 2 Delta if u leads to that point, else 0."""
    largest = fill(rows, TINY)
    for k in range(m):
        largest = maximum(largest, magnitude(load(rows, k) + step * load(rows, m + k)))
    flat = FLAT * largest
    for k in range(m):
        b, c = load(rows, m + k), load(rows, 2 * m + k)
        a = load(rows, k) + step * b
        per_a = 1.0 / where_above(magnitude(a), flat, a, flat)
        store(lines, LINE * k + MIDDLE, -c * per_a)
        store(lines, LINE * k + HALF, magnitude(per_a))
        store(lines, LINE * k + SLOPE, -b * per_a)


@kernel
def into(least, most, step):
    """Bounds of u that leads into a set: the upper and the lower line, as (value at 0, slope) each."""
    per = 1.0 / step
    slope = least * 0.0 - per
    return most * per, slope, least * per, slope


@kernel
def tightest(lines, count, x, reach):
    """The lowest upper and the highest lower line at x, among these and `reach`, and their values there."""
    above, above_slope, below, below_slope = reach
    up, down = above + above_slope * x, below + below_slope * x
    for k in range(count):
        half, slope = load(lines, LINE * k + HALF), load(lines, LINE * k + SLOPE)
        high, low = load(lines, LINE * k + MIDDLE) + half, load(lines, LINE * k + MIDDLE) - half
        value = high + slope * x
        above, above_slope = where_above(up, value, high, above), where_above(up, value, slope, above_slope)
        up = minimum(up, value)
        value = low + slope * x
        below, below_slope = where_above(value, down, low, below), where_above(value, down, slope, below_slope)
        down = maximum(down, value)
    return above, above_slope, below, below_slope, up, down


@kernel
def edge(lines, count, x, reach, side):
    """Where the gap opens, from x to the left (side 1) or right (side -1): x if it is open there, -1 if it never is."""
    for _ in range(2 * count + 4):
        above, above_slope, below, below_slope, up, down = tightest(lines, count, x, reach)
        closed = down - up - NOISE * (magnitude(up) + magnitude(down))
        closed = where_above(x, -0.5, closed, -1.0)
        if not any_above(closed, 0.0):
            break
        slope = side * (below_slope - above_slope)
        met = side * (above - below) / where_above(slope, TINY, slope, 1.0)
        met = where_above(side * (x - met), 0.0, met, x)  # rounding must not lead back
        met = where_above(slope, TINY, where_above(met, -TINY, met, -1.0), -1.0)
        x = where_above(closed, 0.0, met, x)
    return x


@kernel
def magnitude(x):
    return maximum(x, -x)
