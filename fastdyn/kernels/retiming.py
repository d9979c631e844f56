"""Time-optimal speed along a path by reachability analysis, one path in each lane.

On a grid of the path variable s, with x = (ds/dt)^2 and u = d2s/dt2 constant between grid points, x' = x + 2 Delta u.
Every limit of a torque or an acceleration is a row, scaled by half of its range:

    -1 <= a u + b x + v sqrt(x) + c <= 1

It holds at both ends of every interval. Backward pass: the set [L, K] of values of x at a grid point from which some u
leads into the set of the next one. Forward pass: the largest u that leads into the next set (Pham and Pham, A new
approach to time-optimal path parameterization based on reachability analysis, IEEE T-RO 2018).

Each row bounds u by two lines over x. The gap between the lowest upper and the highest lower line is concave, so that
Newton's method from the right (left) ends at the largest (smallest) x after a few lines. sqrt(x) of viscous friction is
replaced by its tangent at `near`: exact where the result is `near` itself, which repeated calls reach.
"""

from fastdyn.scalars import (
    any_above,
    fill,
    give,
    kernel,
    load,
    maximum,
    minimum,
    sqrt,
    store,
    take,
    where_above,
    width,
)

UNLIMITED = 1e15  # x where no velocity is limited
FLAT = 1e-8  # of the largest |a| of a grid point: a smaller one is as this, so that a row without u bounds x
TINY = 1e-30
NOISE = 1e-11  # of the two bounds of u: a gap that is so little below zero is none
FEASIBLE, START = -1.0, -2.0  # report: not a grid point
REPORT = 3  # columns: the grid point that has no x, L and K of the first

MIDDLE, HALF, SLOPE, LINE = range(4)  # rows of a line: u = MIDDLE +- HALF + SLOPE x


def retiming_rows(points, m, viscous):
    """Rows of scratch for m rows of limits."""
    return 2 * (3 + viscous) * m + 2 * LINE * m + 5 * points + 2 + REPORT


@kernel
def magnitude(x):
    return maximum(x, -x)


@kernel
def friction_tangent(rows, m, near):
    """Adds v sqrt(x), by its tangent at `near`, to the rows b and c of a grid point."""
    root = sqrt(near)
    for k in range(m):
        v = load(rows, 3 * m + k)
        store(rows, m + k, load(rows, m + k) + 0.5 * v / root)
        store(rows, 2 * m + k, load(rows, 2 * m + k) + 0.5 * v * root)


@kernel
def lines_of(rows, m, step, lines):
    """Bounds of u by the rows of a grid point; step: 2 Delta if its x is that after u, else 0."""
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
def tightest(lines, count, x, reach):
    """The lowest upper and the highest lower line at x, as (value at 0, slope); reach: those of the next set."""
    above, above_slope, below, below_slope = reach
    up, down = above + above_slope * x, below + below_slope * x
    for k in range(count):
        middle, half = load(lines, LINE * k + MIDDLE), load(lines, LINE * k + HALF)
        slope = load(lines, LINE * k + SLOPE)
        high, low = middle + half, middle - half
        value = high + slope * x
        above, above_slope = where_above(up, value, high, above), where_above(up, value, slope, above_slope)
        up = minimum(up, value)
        value = low + slope * x
        below, below_slope = where_above(value, down, low, below), where_above(value, down, slope, below_slope)
        down = maximum(down, value)
    return above, above_slope, below, below_slope, up, down


@kernel
def edge(lines, count, x, reach, side):
    """Where a gap opens, from x on to the left (side 1) or right (side -1); x if it is open there, -1 if it never is."""
    for _ in range(2 * count + 4):
        above, above_slope, below, below_slope, up, down = tightest(lines, count, x, reach)
        closed = down - up - NOISE * (magnitude(up) + magnitude(down))
        closed = where_above(x, -0.5, closed, -1.0)
        if not any_above(closed, 0.0):
            break
        slope = side * (below_slope - above_slope)
        opens = where_above(slope, TINY, 1.0, 0.0 * x)
        met = side * (above - below) / where_above(slope, TINY, slope, 1.0)
        met = where_above(side * (x - met), 0.0, met, x)  # rounding
        met = where_above(opens, 0.5, where_above(met, -TINY, met, -1.0), -1.0)
        x = where_above(closed, 0.0, met, x)
    return x


@kernel
def load_point(rows, first, i, m, near, viscous, slots):
    """The rows of grid point i of a block of paths, in one of two slots."""
    columns = (3 + viscous) * m
    slot = slots[columns * (i % 2) : columns * (i % 2) + columns]
    take(rows[:, columns * i : columns * i + columns], first, slot, 0)
    if viscous:
        friction_tangent(slot, m, load(near, i))
    return slot


def retime(P, tree, rows, speed, ends, tangents, x, limit, report, scratch):
    """The speeds of all paths.

    P: (1, N), 2 Delta. tree: [[m]]. Of each path: rows, at each grid point a, b, c (v) of m limits; speed: the largest x
    by velocities; ends: x of the first and the last point; tangents: `near`, or no columns without viscous friction.
    """
    m, points = tree[0, 0], speed.shape[1]
    viscous = 1 if tangents.shape[1] > 0 else 0
    a = 2 * (3 + viscous) * m
    b = a + 2 * LINE * m
    c = b + 5 * points
    slots, lines, near = scratch[:a], scratch[a:b], scratch[b : b + points]
    limit_, K, L = scratch[b + points : c - 3 * points], scratch[c - 3 * points : c - 2 * points], scratch[c - 2 * points : c - points]
    x_, ends_, report_ = scratch[c - points : c], scratch[c : c + 2], scratch[c + 2 :]
    for first in range(0, speed.shape[0], width(scratch)):
        take(speed, first, limit_, 0)
        take(ends, first, ends_, 0)
        if viscous:
            take(tangents, first, near, 0)
        backward(P, m, rows, first, near, viscous, slots, lines, limit_, K, L, ends_, report_)
        forward(P, m, rows, first, near, viscous, slots, lines, K, L, ends_, x_, report_)
        give(x, first, x_, 0)
        give(limit, first, limit_, 0)
        give(report, first, report_, 0)
    return 0


@kernel
def backward(P, m, rows, first, near, viscous, slots, lines, limit, K, L, ends, report):
    """The controllable sets [L, K]; `limit`, the largest x by velocities, becomes that by all rows of the point."""
    last = P.shape[1]
    zero, failed, goal = fill(K, 0.0), fill(K, FEASIBLE), load(ends, 1)
    free = zero + UNLIMITED, zero, zero - UNLIMITED, zero
    for i in range(last, -1, -1):
        here = load_point(rows, first, i, m, near, viscous, slots)
        lines_of(here, m, zero, lines)
        most = edge(lines, m, load(limit, i), free, 1.0)
        store(limit, i, most)
        if i == last:
            failed = where_above(goal, most * (1.0 + NOISE), last + zero, where_above(most, -0.5, failed, last + zero))
            store(K, i, goal)
            store(L, i, goal)
        else:
            step = P[0, i]
            there = slots[len(here) * ((i + 1) % 2) : len(here) * ((i + 1) % 2) + len(here)]
            lines_of(there, m, zero + step, lines[LINE * m :])
            per = zero + 1.0 / step
            reach = load(K, i + 1) * per, -per, load(L, i + 1) * per, -per
            most = edge(lines, 2 * m, maximum(most, 0.0), reach, 1.0)
            least = minimum(edge(lines, 2 * m, zero, reach, -1.0), most)
            failed = where_above(failed, -0.5, failed, where_above(most, -0.5, failed, i + zero))
            store(K, i, maximum(most, 0.0))
            store(L, i, maximum(least, 0.0))
    store(report, 0, failed)
    store(report, 1, load(L, 0))
    store(report, 2, load(K, 0))


@kernel
def forward(P, m, rows, first, near, viscous, slots, lines, K, L, ends, x, report):
    """The largest u at every grid point that leads into the next controllable set."""
    last = P.shape[1]
    zero, now = fill(K, 0.0), load(ends, 0)
    outside = maximum(now - load(K, 0) * (1.0 + NOISE), load(L, 0) * (1.0 - NOISE) - now)
    store(report, 0, where_above(load(report, 0), -0.5, load(report, 0), where_above(outside, 0.0, START, FEASIBLE)))
    store(x, 0, now)
    here = load_point(rows, first, 0, m, near, viscous, slots)
    for i in range(last):
        step = P[0, i]
        there = load_point(rows, first, i + 1, m, near, viscous, slots)
        lines_of(here, m, zero, lines)
        lines_of(there, m, zero + step, lines[LINE * m :])
        per = zero + 1.0 / step
        reach = load(K, i + 1) * per, -per, load(L, i + 1) * per, -per
        _, _, _, _, u, _ = tightest(lines, 2 * m, now, reach)
        now = minimum(maximum(now + step * u, load(L, i + 1)), load(K, i + 1))
        store(x, i + 1, now)
        here = there
