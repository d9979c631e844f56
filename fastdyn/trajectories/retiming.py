"""Time-optimal motion along a path under limits of velocity, acceleration and torque, by reachability analysis."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, real_numbers
from fastdyn.calls.arguments import FLOAT, check_finite
from fastdyn.errors import ArgumentError, ArgumentTypeError, LimitError
from fastdyn.kernels import retiming as text
from fastdyn.kinematics import Kinematics
from fastdyn.scalars.entry import SCALAR, Kind, entry
from fastdyn.trajectories import arguments
from fastdyn.trajectories.path_curves import ENDS, Spline, on_grid
from fastdyn.trajectories.refusal import Refusal
from fastdyn.trajectories.retimed import Retimed, Rows
from fastdyn.trajectories.speeds import Speeds, coordinate_owners, limits, speeds, without_limits

if TYPE_CHECKING:
    from fastdyn.calls.threads import Call

RETIME = entry(text.retime)
WORK = 1 << 15  # grid points times rows of limits of a compiled call in a batch, about a millisecond
TURNS = 40  # the most tangents of viscous friction; they converge quadratically, mostly in 3 to 6
CLOSE = 1e-9  # of the path's largest x: a change between two turns that ends them
REST = 1e-9  # of the path's largest x: the least x of a tangent between the ends

_RUBS: WeakKeyDictionary[Any, tuple[bool, bool]] = WeakKeyDictionary()  # robots do not change
PathFunction = Callable[[Array], tuple[ArrayLike, ArrayLike, ArrayLike]]


class Path(NamedTuple):
    """Paths on the grid s: q and derivatives by s, (B, points, n) each; batch axes; the curve of path k anywhere."""

    s: Array
    q: Array
    slope: Array
    bend: Array
    lead: tuple[int, ...]
    curve: Callable[[int], Callable[[Array], Any]]


def time_optimal(
    robot: Any,
    path: ArrayLike | PathFunction,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    grid: int | ArrayLike = 100,
    knots: ArrayLike | None = None,
    ends: str = "not-a-knot",
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    threads: int = 1,
) -> Retimed:
    """The fastest motion along a path, friction and payload of the robot included.

    path: way points (..., K, n), joined by a cubic spline over s from 0 to 1; or a function of s, (points,), that gives
    q, dq/ds and d2q/ds2, (points, n) each, for s from 0 to its attribute `duration`, 1 if it has none. knots: s of the
    way points, equally spaced if not given; ends: "not-a-knot", "natural" or "clamped". velocity, acceleration, torque:
    one number, (n,), or (n, 2) for lower and upper limits; velocity and torque are the robot's own if not given,
    infinite ones do not count. Of a coupled robot these are limits of its coordinates; if velocity is not given, joints
    that several coordinates drive stay within their own velocity limits, too. grid: the number of grid points, or their
    s. start_speed, end_speed: ds/dt.

    d2s/dt2 is constant between grid points, and limits hold at both ends of these intervals (the interpolation scheme
    of TOPP-RA); `excess` says by how much they are exceeded within. Coulomb friction follows the sign of dq/ds: where a
    joint reverses inside an interval, its torque jumps there, and `excess` is larger and falls with the interval, but
    not steadily. Viscous friction is exact at the grid points: it is replaced by tangents, until they touch where
    the motion is. Raises a LimitError where no motion is possible.

    >>> import numpy as np
    >>> import fastdyn as fd
    >>> robot = fd.robots.two_link()
    >>> motion = time_optimal(robot, [[0, 0], [1, 0]], torque=np.inf, acceleration=4.0, grid=101)
    >>> round(motion.duration, 9)  # 2 sqrt(distance / acceleration)
    1.0
    >>> q, qd, qdd = motion([0.25, 0.5])
    >>> q.round(9)[:, 0], qd.round(9)[:, 0]
    (array([0.125, 0.5  ]), array([1., 2.]))
    """
    _check_robot(robot)
    on = _function(robot, path, grid) if callable(path) else _splines(robot, path, grid, knots, ends)
    limited, owners = speeds(robot, velocity), coordinate_owners(robot)
    most = robot.limits.effort if torque is None else torque
    bounds = {"velocity": limited.bounds[: robot.n], "torque": limits("torque", most, owners)}
    bounds["acceleration"] = without_limits(robot.n)
    if acceleration is not None:
        bounds["acceleration"] = limits("acceleration", acceleration, owners)
    rows = _rows(robot, on, bounds, threads)
    speed, by = _largest_x(on.slope, limited)
    wanted = [_speed(name, value) ** 2 for name, value in (("start_speed", start_speed), ("end_speed", end_speed))]
    x, limit, report = _solve(rows, speed, np.tile(wanted, (len(speed), 1)), on.s, threads)
    refused = Refusal(robot, on, rows, limited, speed, by)
    refused.unless_feasible(report, wanted)
    refused.unless_moving(x)
    return Retimed(robot, on, bounds, rows, limited, speed, by, x, np.where(limit < text.UNLIMITED, limit, np.inf))


# ---------------------------------------------------------------------------------------------- arguments


def _check_robot(robot: Any) -> None:
    if not isinstance(robot, Kinematics) or hasattr(robot, "robots"):
        one = "one robot of the fleet" if isinstance(robot, Kinematics) else "a robot"
        raise ArgumentTypeError(f"robot is a {type(robot).__name__}: expected {one}")
    if not robot.n:
        raise ArgumentError(f"robot is {robot.name}, which has no joints: expected a robot that moves")


def _splines(robot: Any, path: Any, grid: Any, knots: Any, ends: str) -> Path:
    points = real_numbers(path, "path").astype(np.float64)  # a copy: the motion must not change with the array
    K, n = points.shape[-2:] if points.ndim > 1 else (0, 0)
    if n != robot.n or K < 2 or points.size == 0:
        raise ArgumentError(
            f"path has shape {points.shape}, but {robot.name} has {robot.n} joints: expected two or more way points, "
            f"(..., K, {robot.n})"
        )
    check_finite({"path": points})
    if not isinstance(ends, str) or ends not in ENDS:
        raise ArgumentError(f"ends is {ends!r}: expected one of {', '.join(ENDS)}")
    s = _grid(grid, 1.0)
    at = tuple((_even(K, 1.0) if knots is None else _increasing("knots", knots, 1.0, K)).tolist())
    flat = points.reshape(-1, K, n)
    return Path(s, *on_grid(at, ends, flat, s), points.shape[:-2], lambda k: Spline(at, ends, flat[k]))


def _function(robot: Any, path: Any, grid: Any) -> Path:
    s = _grid(grid, arguments.positive(getattr(path, "duration", 1.0), "path.duration"))
    curve = partial(_values, robot, path)
    q, slope, bend = (part[None].copy() for part in curve(s))
    return Path(s, q, slope, bend, (), lambda k: curve)


def _values(robot: Any, path: Any, s: Array) -> tuple[Array, ...]:
    given = path(s)
    try:
        parts = tuple(given)
    except TypeError as problem:
        kind = type(given).__name__
        raise ArgumentTypeError(f"path(s) is a {kind}: expected q, dq/ds, d2q/ds2, three arrays") from problem
    found = tuple(real_numbers(part, "path(s)").astype(np.float64, copy=False) for part in parts)
    if len(found) != 3 or any(part.shape != (len(s), robot.n) for part in found):
        shapes = [part.shape for part in found]
        raise ArgumentError(f"path(s) has shapes {shapes}: expected q, dq/ds, d2q/ds2 of shape {(len(s), robot.n)}")
    check_finite({"path(s)": np.stack(found)})
    return found


def _grid(grid: Any, end: float) -> Array:
    """s of the grid points."""
    if np.ndim(grid) > 0:
        return _increasing("grid", grid, end)
    if isinstance(grid, bool) or not isinstance(grid, int | np.integer) or grid < 2:
        raise ArgumentError(f"grid is {grid!r}: expected a number of grid points, two or more, or their s")
    return _even(int(grid), end)


@lru_cache(maxsize=32)
def _even(count: int, end: float) -> Array:
    s = np.linspace(0.0, end, count)
    s.flags.writeable = False
    return s


def _increasing(name: str, values: Any, end: float, count: int | None = None) -> Array:
    s = real_numbers(values, name).astype(np.float64)
    if s.ndim != 1 or len(s) < 2 or not (np.diff(s) > 0).all() or s[0] != 0 or s[-1] != end:
        raise ArgumentError(f"{name} is {values!r}: expected increasing s from 0 to {end:g}")
    if count is not None and len(s) != count:
        raise ArgumentError(f"{name} has {len(s)} values: expected {count}, one for each way point")
    s.flags.writeable = False
    return s


def _speed(name: str, value: Any) -> float:
    try:
        speed = float(value)
    except (TypeError, ValueError):
        speed = math.nan
    if not 0 <= speed < math.inf:
        raise ArgumentError(f"{name} is {value!r}: expected a finite ds/dt, zero or more")
    return speed


# ---------------------------------------------------------------------------------------------- limits as rows


def _rows(robot: Any, on: Path, bounds: dict[str, Array], threads: int) -> Rows:
    """a, b, c and v of all limited torques and accelerations."""
    parts, joints, kinds, viscous = [], [], [], []
    for kind in ("torque", "acceleration"):
        low, high = bounds[kind].T
        limited = np.flatnonzero(np.isfinite(high))
        if not len(limited):
            continue
        v: Array | None = None
        if kind == "torque":
            a, b, c, v = _torques(robot, on, threads)
        else:
            a, b, c = on.slope, on.bend, np.zeros_like(on.slope)
        low, high = low[limited], high[limited]
        per_half = 2 / (high - low)
        chosen = slice(None) if len(limited) == robot.n else limited
        table = np.empty((*on.q.shape[:2], 3, len(limited)))
        for k, each in enumerate((a, b, c)):
            table[:, :, k] = each[..., chosen]
        table[:, :, 2] -= (low + high) / 2
        table *= per_half
        parts.append(table)
        joints.append(limited)
        kinds += [kind] * len(limited)
        viscous.append(None if v is None else v[..., limited] * per_half)
    if not parts:
        return Rows(np.empty((*on.q.shape[:2], 3, 0)), None, np.empty(0, np.int64), np.empty(0, str))
    table = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=3)
    v = viscous[0]
    if v is not None and len(parts) == 2:
        v = np.concatenate([v, np.zeros_like(parts[1][:, :, 0])], axis=2)
    return Rows(table, v, np.concatenate(joints), np.array(kinds))


def _torques(robot: Any, on: Path, threads: int) -> tuple[Array, Array, Array, Array | None]:
    """tau = a u + b x + v sqrt(x) + c along the path; v: None without viscous friction."""
    q, slope, bend = on.q, on.slope, on.bend
    coulomb, viscous = _rubs(robot)
    fast = (1.0, 2.0, 3.0) if coulomb or viscous else (1.0,)
    every, qd, qdd = np.zeros((3, 2 + len(fast), *q.shape))
    every[:], qdd[1] = q, slope
    for k, pace in enumerate(fast, 2):
        np.multiply(slope, pace, out=qd[k])
        np.multiply(bend, pace * pace, out=qdd[k])
    states = (each.reshape(-1, robot.n) for each in (every, qd, qdd))  # in one call
    held, *tau = np.asarray(robot.inverse_dynamics(*states, threads=threads)).reshape(qd.shape)
    a, once, *faster = (each - held for each in tau)
    if not faster:
        return a, once, held, None
    twice, thrice = faster
    b, v, constant = _parts(once, twice, thrice)
    return a, b, held + constant, v if viscous else None


def _rubs(robot: Any) -> tuple[bool, bool]:
    """Whether a robot has Coulomb and viscous friction: torques of speeds k qd with k = 1, 2, 3 tell it."""
    if robot in _RUBS:
        return _RUBS[robot]
    still = np.zeros(robot.n)
    speeds = np.linspace(1.0, 2.0, robot.n) * np.array([[1.0], [-1.0]])
    one, two, three = (robot.inverse_dynamics(still, k * speeds, still) for k in (1, 2, 3))
    held = robot.inverse_dynamics(still, still, still)
    _, v, c = _parts(one - held, two - held, three - held)
    least = 1e-12 * (np.abs(three).max() + np.abs(held).max())  # rounding
    return _RUBS.setdefault(robot, (bool(np.abs(c).max() > least), bool(np.abs(v).max() > least)))


def _parts(one: Array, two: Array, three: Array) -> tuple[Array, Array, Array]:
    """b, v and c of k^2 b + k v + c, from its values for k = 1, 2, 3."""
    b = (three - 2 * two + one) / 2
    v = two - one - 3 * b
    return b, v, one - b - v


def _largest_x(slope: Array, limited: Speeds) -> tuple[Array, Array]:
    """The largest x by velocities at every grid point, and the velocity that has it."""
    slope, bounds = limited.of(slope), limited.bounds
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.maximum(slope / bounds[:, 1], slope / bounds[:, 0])
        return np.minimum(inverse.max(axis=-1) ** -2, text.UNLIMITED), inverse.argmax(axis=-1)


# ---------------------------------------------------------------------------------------------- compiled calls


def _solve(rows: Rows, speed: Array, ends: Array, s: Array, threads: int) -> tuple[Array, Array, Array]:
    """x, the largest x and the report of each path."""
    run = partial(_run, speed=speed, ends=ends, s=s, threads=threads)
    x, limit, report = run(rows.table)
    if rows.viscous is None or (report[:, 0] != text.FEASIBLE).any():
        return x, limit, report
    top = x.max(axis=1, keepdims=True)
    near = np.maximum(x, REST * top)
    near[:, [0, -1]] = ends
    for turn in range(TURNS):
        x, limit, report = run(rows.tangents(near))
        failed = report[:, :1] != text.FEASIBLE
        if not failed.any() and (np.abs(x - near) <= CLOSE * top).all():
            break
        guess = x if turn < TURNS // 4 else (x + near) / 2
        near = np.where(failed, near / 4, np.maximum(guess, REST * top))  # less friction at rest
        near[:, [0, -1]] = ends
    else:
        if not failed.any():
            k, i = np.unravel_index(int(np.abs(x - near).argmax()), x.shape)
            raise LimitError(
                f"path {k}: viscous friction at grid point {i}, s = {s[i]:.6g}, has not converged in {TURNS} turns; "
                "expected other limits or another grid"
            )
    return x, limit, report


def _run(table: Array, speed: Array, ends: Array, s: Array, threads: int) -> tuple[Array, Array, Array]:
    from fastdyn.calls import lanes
    from fastdyn.calls.task import lane_rows
    from fastdyn.calls.threads import useful, walk

    (B, points), m = speed.shape, table.shape[3]
    x, limit, report = np.empty((B, points)), np.empty((B, points)), np.empty((B, text.REPORT))
    P, tree = np.asfortranarray(2 * np.diff(s)[None]), np.array([[m]])
    kind: Kind = SCALAR if B == 1 else lanes.kind(FLOAT)
    count: int = text.retiming_rows(points, m)  # type: ignore[no-untyped-call]
    samples = table.reshape(B, -1), speed, ends, x, limit, report

    def ready() -> Call:
        call = RETIME.compiled(kind)
        scratch = np.empty(count) if kind is SCALAR else lane_rows(count, kind.lanes)
        return lambda first, last: int(call(P, tree, *(a[first:last] for a in samples), scratch))

    worth = max(kind.lanes, WORK // (points * (m + 1)))
    walk(B, useful(threads, B, worth), worth, ready)
    return x, limit, report
