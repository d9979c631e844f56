"""Time-optimal motion along a path under limits of velocity, acceleration and torque, by reachability analysis."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, real_numbers
from fastdyn.calls import lanes
from fastdyn.calls.arguments import FLOAT, check_finite
from fastdyn.calls.task import lane_rows
from fastdyn.calls.threads import Call, useful, walk
from fastdyn.errors import ArgumentError, LimitError
from fastdyn.kernels import retiming as text
from fastdyn.scalars.entry import SCALAR, Kind, entry
from fastdyn.trajectories.path_curves import Curve, cardinal_on, quintic, through
from fastdyn.trajectories.retimed import Retimed, Rows

RETIME = entry(text.retime)
WORK = 1 << 16  # grid points times rows of limits of a batch, about a millisecond: up to so many are one compiled call
TANGENTS = 40  # the most calls with viscous friction: tangents converge quadratically, mostly in 3 to 6
CLOSE = 1e-9  # of the path's largest x: the change between two such calls that ends them
REST = 1e-14  # of the path's largest x: the least x of a tangent of sqrt(x)


class Moved(Protocol):
    """What retiming asks of a robot."""

    @property
    def name(self) -> str:
        """The robot's name."""

    @property
    def n(self) -> int:
        """Number of coordinates."""

    @property
    def limits(self) -> Any:
        """Limits of velocity and effort."""

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any, *, threads: int = 1) -> Any:
        """Torques, friction included."""


class Path(NamedTuple):
    """A path on the grid: q and derivatives by s, (B, points, n) each, and the curve between them."""

    q: Array
    slope: Array
    bend: Array
    curve: Curve


def time_optimal(
    robot: Moved,
    path: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
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

    path: way points (K, n), or (B, K, n) for a batch, joined by a cubic spline in s from 0 to 1, or derivatives on the
    grid (q, dq/ds, d2q/ds2), (points, n) or (B, points, n) each. knots: s of the way points, equally spaced if not
    given; ends: "not-a-knot", "natural" or "clamped". velocity, acceleration, torque: one number, (n,), or (n, 2) for
    lower and upper limits; velocity and torque are the robot's own if not given, infinite ones do not count. grid: the
    number of intervals, or s of the grid points. start_speed, end_speed: ds/dt.

    Limits hold at both ends of each interval, where d2s/dt2 is constant; `excess` of the result says by how much they
    are exceeded between grid points, which falls with the square of the interval. Coulomb friction acts by the sign of
    dq/ds, none where it is zero; viscous friction is exact at the grid points. Raises a LimitError where no motion is
    possible.

    >>> import numpy as np, fastdyn as fd
    >>> from fastdyn.trajectories.retiming import time_optimal
    >>> robot = fd.robots.planar_2r()
    >>> motion = time_optimal(robot, [[0, 0], [1, 0]], torque=np.inf, velocity=np.inf, acceleration=4.0)
    >>> round(motion.duration, 9)  # 2 sqrt(distance / acceleration)
    1.0
    >>> q, qd, qdd = motion(0.5)
    >>> q.round(9) + 0.0, qd.round(9) + 0.0
    (array([0.5, 0. ]), array([2., 0.]))
    """
    points, single = _read_path(robot, path)
    s = _grid(grid, points.shape[2] if isinstance(path, tuple) else None)
    on = _on_grid(points, s, isinstance(path, tuple), knots, ends)
    given = {
        "velocity": robot.limits.velocity if velocity is None else velocity,
        "acceleration": np.inf if acceleration is None else acceleration,
        "torque": robot.limits.effort if torque is None else torque,
    }
    bounds = {name: _limits(name, value, robot) for name, value in given.items()}
    rows = _rows(robot, on, bounds, threads)
    speed, by = _largest_x(on.slope, bounds["velocity"])
    wanted = [_speed(name, value) ** 2 for name, value in (("start_speed", start_speed), ("end_speed", end_speed))]
    with np.errstate(all="ignore"):
        x, limit, report = _solve(rows, speed, np.tile(wanted, (len(speed), 1)), s, threads)
    _refuse(robot, report, rows, s, single, start_speed)
    return Retimed.of(robot, on, bounds, rows, s, x, np.where(limit < text.UNLIMITED, limit, np.inf), (speed, by), single)


# ---------------------------------------------------------------------------------------------- arguments


def _read_path(robot: Moved, path: Any) -> tuple[Array, bool]:
    """(parts, B, K, n): way points, or values and derivatives; whether it is one path and no batch."""
    parts = path if isinstance(path, tuple) else (path,)
    if isinstance(path, tuple) and len(path) != 3:
        raise ArgumentError(f"path has {len(path)} arrays: expected way points or (q, dq/ds, d2q/ds2)")
    arrays = [real_numbers(part, "path").astype(np.float64, copy=False) for part in parts]
    first = arrays[0]
    if any(a.shape != first.shape for a in arrays) or first.ndim not in (2, 3) or first.shape[-1] != robot.n:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise ArgumentError(f"path has shape {shapes}, but {robot.name} has {robot.n} joints: expected (K, {robot.n})")
    if first.shape[-2] < 2 or first.size == 0:
        raise ArgumentError(f"path has shape {first.shape}: expected two or more points")
    check_finite({"path": first} if len(arrays) == 1 else {f"path[{k}]": a for k, a in enumerate(arrays)})
    return np.stack([a if a.ndim == 3 else a[None] for a in arrays]), first.ndim == 2


def _grid(grid: Any, points: int | None) -> Array:
    """s of the grid points; points: their number, if the path has it."""
    if np.ndim(grid) == 0:
        count = points - 1 if points is not None else grid
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise ArgumentError(f"grid is {grid!r}: expected a number of intervals, or increasing s from 0 to 1")
        return np.linspace(0.0, 1.0, int(count) + 1)
    return _increasing("grid", grid, points)


def _increasing(name: str, values: Any, points: int | None) -> Array:
    s = real_numbers(values, name).astype(np.float64)
    if s.ndim != 1 or len(s) < 2 or not (np.diff(s) > 0).all() or s[0] != 0 or s[-1] != 1:
        raise ArgumentError(f"{name}: expected increasing s from 0 to 1")
    if points is not None and len(s) != points:
        raise ArgumentError(f"{name} has {len(s)} values, but path has {points} points")
    return s


def _on_grid(points: Array, s: Array, derivatives: bool, knots: Any, ends: str) -> Path:
    if derivatives:
        return Path(*points, quintic(s, *points))
    K = points.shape[2]
    at = tuple((np.linspace(0.0, 1.0, K) if knots is None else _increasing("knots", knots, K)).tolist())
    values = [W @ points[0] for W in cardinal_on(at, ends, tuple(s.tolist()))]
    return Path(*values, through(at, ends, points[0]))


def _limits(name: str, value: Any, robot: Moved) -> Array:
    """(n, 2): lower and upper limits, both infinite where there are none."""
    array = real_numbers(value, name).astype(np.float64)
    if array.shape not in ((), (robot.n,), (robot.n, 2)):
        raise ArgumentError(f"{name} has shape {array.shape}: expected one number, ({robot.n},) or ({robot.n}, 2)")
    pairs = array if array.ndim == 2 else np.stack([-array * np.ones(robot.n), array * np.ones(robot.n)], axis=-1)
    finite = np.isfinite(pairs)
    for joint in range(robot.n):
        low, high = pairs[joint]
        if not low < high or finite[joint, 0] != finite[joint, 1] or (name != "torque" and not low < 0 < high):
            raise ArgumentError(f"{name} of joint {joint} is [{low}, {high}]: expected two finite limits about a range")
    return np.asarray(pairs)


def _speed(name: str, value: Any) -> float:
    speed = float(value)
    if not 0 <= speed < np.inf:
        raise ArgumentError(f"{name} is {value!r}: expected a finite ds/dt, zero or more")
    return speed


# ---------------------------------------------------------------------------------------------- limits as rows


def _rows(robot: Moved, on: Path, bounds: dict[str, Array], threads: int) -> Rows:
    """a, b, c and, if there is viscous friction, v of all limited torques and accelerations: (B, points, 3 or 4, m)."""
    half, middle = {}, {}
    for kind in ("torque", "acceleration"):
        low, high = bounds[kind].T
        half[kind], middle[kind] = (high - low) / 2, (high + low) / 2
    joints = {kind: np.flatnonzero(np.isfinite(half[kind])) for kind in half}
    count, viscous = len(joints["torque"]), False
    if count:
        a, b, c, v = _torques(robot, on, threads)
        viscous = v is not None
    table = np.zeros((*on.q.shape[:2], 3 + viscous, sum(map(len, joints.values()))))
    if count:
        k = joints["torque"]
        for row, part in enumerate((a, b, c) if v is None else (a, b, c, v)):
            offset = middle["torque"][k] if row == 2 else 0.0
            np.divide(part[..., k] - offset, half["torque"][k], out=table[:, :, row, :count])
    k = joints["acceleration"]
    if len(k):
        table[:, :, 0, count:] = on.slope[..., k] / half["acceleration"][k]
        table[:, :, 1, count:] = on.bend[..., k] / half["acceleration"][k]
        table[:, :, 2, count:] = -middle["acceleration"][k] / half["acceleration"][k]
    return Rows(table, np.concatenate([joints["torque"], k]), np.arange(table.shape[3]) < count)


def _torques(robot: Moved, on: Path, threads: int) -> tuple[Array, Array, Array, Array | None]:
    """tau = a u + b x + v sqrt(x) + c along the path; v: None without viscous friction."""
    zero = np.zeros_like(on.q)

    def tau(q: Array, qd: Array, qdd: Array) -> Array:
        return np.asarray(robot.inverse_dynamics(q, qd, qdd, threads=threads))

    held = tau(on.q, zero, zero)
    a = tau(on.q, zero, on.slope) - held
    once = tau(on.q, on.slope, on.bend) - held
    generic = np.linspace(1.0, 2.0, robot.n)
    still = np.zeros(robot.n)
    one, two, three = (
        tau(still, k * generic, still) - tau(still, still, still) for k in (1, 2, 3)
    )  # b + friction, 4 b + friction, 9 b + friction
    size = 1e-9 * (np.abs(one).max() + np.abs(three).max())
    linear, constant = _friction(one, two, three)[1:]
    if max(np.abs(linear).max(), np.abs(constant).max()) <= size:
        return a, once, held, None
    twice, thrice = (tau(on.q, k * on.slope, k * k * on.bend) - held for k in (2, 3))
    b, v, coulomb = _friction(once, twice, thrice)
    return a, b, held + coulomb, (v if np.abs(linear).max() > size else None)


def _friction(one: Array, two: Array, three: Array) -> tuple[Array, Array, Array]:
    """b, v and c of k^2 b + k v + c for k = 1, 2, 3."""
    b = (three - 2 * two + one) / 2
    v = two - one - 3 * b
    return b, v, one - b - v


def _largest_x(slope: Array, bounds: Array) -> tuple[Array, Array]:
    """The largest x by velocities at every grid point, and the joint that has it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(slope > 0, bounds[:, 1], bounds[:, 0]) / slope
        ratio = np.where(slope == 0, np.inf, ratio)
    return np.minimum(ratio.min(axis=-1) ** 2, text.UNLIMITED), ratio.argmin(axis=-1)


# ---------------------------------------------------------------------------------------------- compiled calls


def _solve(rows: Rows, speed: Array, ends: Array, s: Array, threads: int) -> tuple[Array, Array, Array]:
    """x, the largest x and the report of each path."""
    table = rows.table
    none = np.empty((len(speed), 0))
    if table.shape[2] == 3:
        return _run(table, speed, ends, none, s, threads)
    x, limit, report = _run(np.ascontiguousarray(table[:, :, :3]), speed, ends, none, s, threads)
    if (report[:, 0] != text.FEASIBLE).any():
        return x, limit, report
    top = x.max(axis=1, keepdims=True)
    near = np.maximum(x, REST * top)
    for turn in range(TANGENTS):
        x, limit, report = _run(table, speed, ends, near, s, threads)
        failed = report[:, :1] != text.FEASIBLE
        change = np.abs(x - near)
        if not failed.any() and (change <= CLOSE * top).all():
            break
        guess = x if turn < TANGENTS // 2 else (x + near) / 2
        near = np.where(failed, near / 4, np.maximum(guess, REST * top))  # tangents nearer to rest
    return x, limit, report


def _run(
    table: Array, speed: Array, ends: Array, near: Array, s: Array, threads: int
) -> tuple[Array, Array, Array]:
    B, points = speed.shape
    m = table.shape[3]
    flat = table.reshape(B, -1)
    x, limit, report = np.empty_like(speed), np.empty_like(speed), np.empty((B, text.REPORT))
    P, tree = np.asfortranarray(2 * np.diff(s)[None]), np.array([[m]], dtype=np.int64)
    kind: Kind = SCALAR if B == 1 else lanes.kind(FLOAT)
    count: int = text.retiming_rows(points, m, int(near.shape[1] > 0))  # type: ignore[no-untyped-call]
    samples = flat, speed, ends, near, x, limit, report

    def ready() -> Call:
        call = RETIME.compiled(kind)
        scratch = np.empty(count) if kind is SCALAR else lane_rows(count, kind.lanes)
        return lambda first, last: int(call(P, tree, *(a[first:last] for a in samples), scratch))

    worth = max(kind.lanes, WORK // (points * (m + 1)))
    walk(B, useful(threads, B, worth), worth, ready)
    return x, limit, report


def _refuse(robot: Moved, report: Array, rows: Rows, s: Array, single: bool, start: float) -> None:
    """Raises a LimitError for the first path that has no motion."""
    wrong = np.flatnonzero(report[:, 0] != text.FEASIBLE)
    if not wrong.size:
        return
    path, (point, least, most) = int(wrong[0]), report[wrong[0]]
    which = "path" if single else f"path {path}"
    if point == text.START:
        low, high = np.sqrt([least, most])
        raise LimitError(f"start_speed is {start}: expected {low:.6g} to {high:.6g} for {which} of {robot.name}")
    i = int(point)
    held = rows.table[path, i, 2]
    worst = int(np.abs(held).argmax()) if held.size else -1
    why = "the end speed or limits of velocity"
    if worst >= 0:
        kind = "torque" if rows.torque[worst] else "acceleration"
        why = f"joint {rows.joint[worst]} takes {abs(held[worst]):.3g} times its {kind} limit at rest"
    raise LimitError(f"{which} of {robot.name} cannot be followed at grid point {i}, s = {s[i]:.6g}: {why}")
