"""Which arms have a closed form: recognised from the axes of their joints, never from their names.

An arm is solved as the nearest arm whose axes meet and are parallel exactly. How far its poses are from the arm's own
is measured: `deviation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain as one_after_another
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdyn.errors import NoClosedFormError
from fastdyn.geometry import homogeneous, inverse
from fastdyn.kernels import closed_form_ik as rows
from fastdyn.mechanism.description import Description
from fastdyn.mechanism.limits import SLACK, joint_ranges
from fastdyn.mechanism.parts import Array, Frame
from fastdyn.mechanism.poses import poses_at
from fastdyn.rotations import turn

CLOSE = 1e-6  # rad, or of the arm's size: axes that are parallel, or that meet
ROUNDING = 1e-12  # of radicands: two solutions that coincide; far above rounding, far below the accuracy of poses
SMALLEST = 1e-10  # sines, and lengths of the arm's size, that count as zero: a pose changes by no more
FOR_EACH = 4.0  # deviations: how much larger they may be in equations than in poses
SAMPLES = 16  # random positions in which arms are compared
NO_LIMIT = 1e9
APART = 0.01  # of the arm's size, skew axes: nearer ones make the conic nearly a double line, which rounding spoils


@dataclass(frozen=True)
class Chain:
    """Six joints at q = 0: axes and points of them in the base's frame, (6, 3); in units of the arm's size."""

    h: Array
    p: Array
    slides: NDArray[np.bool_]
    joints: tuple[int, ...]  # numbers along the path, from 0

    def backwards(self) -> Chain:
        """The chain from its tip to its base: E1 ... E6 = G becomes E6^-1 ... E1^-1 = G^-1."""
        return Chain(-self.h[::-1], self.p[::-1], self.slides[::-1], self.joints[::-1])

    def ordered(self, order: tuple[int, ...]) -> Chain:
        """The same with its first three joints in another order."""
        places = [*order, 3, 4, 5]
        joints = tuple(self.joints[k] for k in places)
        return Chain(self.h[places], self.p[places], self.slides[places], joints)

    def displacement(self, q: Array) -> Array:
        """E1 ... E6."""
        T = np.eye(4)
        for h, p, slides, x in zip(self.h, self.p, self.slides, q, strict=True):
            R = np.eye(3) if slides else turn(h, float(x))
            T = T @ homogeneous(R, x * h if slides else p - R @ p)
        return T

    def jacobian(self, q: Array) -> Array:
        """(6, 6): columns [v; w] of the base's origin."""
        T, columns = np.eye(4), []
        for k in range(6):
            h, p = T[:3, :3] @ self.h[k], T[:3, :3] @ self.p[k] + T[:3, 3]
            columns.append(np.r_[h, np.zeros(3)] if self.slides[k] else np.r_[np.cross(p, h), h])
            one = Chain(self.h[k : k + 1], self.p[k : k + 1], self.slides[k : k + 1], ())
            T = T @ one.displacement(q[k : k + 1])
        return np.array(columns).T


@dataclass(frozen=True)
class Form:
    """A chain that has a closed form, and which: see kernels/closed_form_ik.py."""

    chain: Chain
    kind: int
    meeting: Array
    position: int = 0
    reversed: bool = False
    mirrored: bool = False
    branches: int = 8


@dataclass(frozen=True)
class ClosedForm:
    """The flat arrays of an arm's closed form, without and with limits; its path: joints by their number in q.

    branches: the most solutions of a pose; deviation: of poses, in units of the arm's size.
    """

    free: tuple[Array, NDArray[np.int64]]
    limited: tuple[Array, NDArray[np.int64]]
    path: tuple[int, ...]
    branches: int
    deviation: float


def recognize(description: Description, frame: Frame) -> ClosedForm:
    """The closed form of the path from the base to a frame; a NoClosedFormError says what prevents one."""
    path, chain, M, size = _chain(description, frame)
    name = f"{description.name}, frame {frame.name!r}"
    reasons: list[str] = []
    for backwards in (False, True):
        one = chain.backwards() if backwards else chain
        for form in one_after_another(_wrists(one, reasons, size), _parallels(one, reasons, size)):
            found = replace(form, reversed=backwards)
            deviation = _deviation(chain, found)
            ranges = joint_ranges(description)[list(path)]
            arrays = [_arrays(found, M, size, deviation, ranges, limited) for limited in (False, True)]
            return ClosedForm(arrays[0], arrays[1], path, form.branches, deviation)
    raise NoClosedFormError(
        f"{name}: no closed form is known for its six axes: {'; '.join(dict.fromkeys(reasons))}; "
        "inverse_kinematics solves any arm numerically"
    )


def _chain(description: Description, frame: Frame) -> tuple[tuple[int, ...], Chain, Array, float]:
    """The joints on the path by number, their axes, the frame's pose at q = 0, both in units of the size."""
    at, _ = description.frame_place(frame)
    path: list[int] = []
    while at >= 0:
        path.append(at)
        at, _ = description.place(description.joints[at].parent)
    path.reverse()
    joints = [description.joints[i] for i in path]
    kinds = "".join(joint.kind[0].upper() for joint in joints)
    if len(joints) != 6 or "H" in kinds:
        raise NoClosedFormError(
            f"{description.name}, frame {frame.name!r}: expected six joints that turn or slide between the base and "
            f"the frame, found {len(joints)}{' (' * bool(kinds)}{kinds}{')' * bool(kinds)}; "
            "inverse_kinematics solves any arm numerically"
        )
    poses = poses_at(description, {})
    hinges = [poses[joint.parent] @ np.asarray(joint.origin) for joint in joints]
    h = np.array([T[:3, :3] @ np.asarray(joint.axis) for T, joint in zip(hinges, joints, strict=True)])
    h /= np.linalg.norm(h, axis=1)[:, None]
    p = np.array([T[:3, 3] for T in hinges])
    M = poses[frame.on] @ np.asarray(frame.pose)
    size = float(sum(np.linalg.norm(b - a) for a, b in pairwise([*p, M[:3, 3]]))) or 1.0
    M = homogeneous(M[:3, :3], M[:3, 3] / size)
    chain = Chain(h, p / size, np.array([kind == "P" for kind in kinds]), tuple(range(6)))
    least = max(np.linalg.svd(chain.jacobian(q), compute_uv=False)[-1] for q in _positions())
    if least < CLOSE:
        raise NoClosedFormError(
            f"{description.name}, frame {frame.name!r}: its six joints do not move it in all six directions "
            f"(largest smallest singular value of the Jacobian in {SAMPLES} positions: {least:.1e})"
        )
    return tuple(path), chain, M, size


def _positions() -> Array:
    return np.random.default_rng(0).uniform(-2.0, 2.0, (SAMPLES, 6))


# ---------------------------------------------------------------------------------------------- axes


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) <= CLOSE)


def _meeting(h: Array, p: Array) -> tuple[Array, float]:
    """The point nearest to some axes, none parallel to the next, and how far it is from the farthest."""
    across = np.eye(3) - h[:, :, None] * h[:, None, :]
    point = np.linalg.solve(across.sum(axis=0), np.einsum("kij,kj->i", across, p))
    miss = np.einsum("kij,kj->ki", across, point - p)
    return point, float(np.linalg.norm(miss, axis=1).max())


def _numbers(chain: Chain, places: tuple[int, ...]) -> str:
    return ", ".join(str(k + 1) for k in sorted(chain.joints[i] for i in places))


def _meet(chain: Chain, places: tuple[int, ...], reasons: list[str], size: float) -> Array | None:
    """Where axes meet, or a reason why they do not."""
    numbers = _numbers(chain, places)
    if chain.slides[list(places)].any():
        reasons.append(f"not all of joints {numbers} turn")
        return None
    if any(_parallel(chain.h[i], chain.h[j]) for i, j in pairwise(places)):
        reasons.append(f"two of axes {numbers} are parallel")
        return None
    point, miss = _meeting(chain.h[list(places)], chain.p[list(places)])
    if miss > CLOSE:
        reasons.append(f"axes {numbers} miss a common point by {miss * size:.3g} m")
        return None
    return point


# ---------------------------------------------------------------------------------------------- forms


def _wrists(chain: Chain, reasons: list[str], size: float) -> Iterator[Form]:
    """Axes 4, 5 and 6 meet, and the first three joints have a closed form, too."""
    w = _meet(chain, (3, 4, 5), reasons, size)
    if w is None:
        return
    orders = [(0, 1, 2)]
    for i, order in ((0, (1, 0, 2)), (1, (0, 2, 1))):  # a joint that slides along the axis of the next may come second
        if chain.slides[i] != chain.slides[i + 1] and _parallel(chain.h[i], chain.h[i + 1]):
            orders.append(order)
    for order in orders:
        for mirrored in (False, True):
            yield from _positions_of(chain.ordered(order), w, mirrored)
    here, others = _numbers(chain, (3, 4, 5)), _numbers(chain, (0, 1, 2))
    if chain.slides.any():
        reasons.append(
            f"axes {here} meet, but no neighbours of {others} meet or are parallel, and not all of them turn"
        )
    else:
        yield from _skew(chain, w)
        reasons.append(
            f"axes {here} meet, but neighbours of {others} miss each other by less than {APART * size:.3g} m"
        )


def _positions_of(chain: Chain, w: Array, mirrored: bool) -> Iterator[Form]:
    """Forms of the problem Ea Eb Ec x = y."""
    a, b, c = (2, 1, 0) if mirrored else (0, 1, 2)
    h, p, slides = chain.h.copy(), chain.p.copy(), chain.slides
    kinds = "".join("RP"[int(slides[k])] for k in (a, b, c))
    form = Form(chain, rows.WRIST, w, mirrored=mirrored)
    p += h * np.sum(h * (w - p), axis=1)[:, None]  # the points of the axes nearest to w
    if kinds in ("RRR", "PRR") and _parallel(h[b], h[c]) and not _across(h[a], h[b], kinds[0]):
        h[c] = h[b] * np.sign(h[b] @ h[c])
        count = 8 if kinds == "RRR" else 4
        yield replace(form, chain=replace(chain, h=h, p=p), position=rows.NEXT_PARALLEL, branches=count)
    elif kinds in ("RRR", "RRP") and not _parallel(h[a], h[b]):
        o, miss = _meeting(h[[a, b]], p[[a, b]])
        if miss <= CLOSE:
            p[a] = p[b] = o
            yield replace(form, chain=replace(chain, h=h, p=p), position=rows.FIRST_MEET)
    elif kinds == "RPR" and _parallel(h[a], h[c]) and abs(h[a] @ h[b]) > CLOSE:
        h[c] = h[a] * np.sign(h[a] @ h[c])
        yield replace(form, chain=replace(chain, h=h, p=p), position=rows.OUTER_PARALLEL, branches=4)
    elif kinds in ("PPR", "PPP"):
        count = 4 if kinds == "PPR" else 2
        yield replace(form, chain=replace(chain, h=h, p=p), position=rows.TWO_SLIDE, branches=count)


def _skew(chain: Chain, w: Array) -> Iterator[Form]:
    """Three turning joints whose neighbours neither meet nor are parallel; a and b: the two farther from each other."""
    found = []
    for mirrored, a, b in ((False, 0, 1), (True, 2, 1)):
        h, p = chain.h, chain.p.copy()
        n = np.cross(h[a], h[b])
        along = np.linalg.solve(np.array([h[a], -h[b], n]).T, p[b] - p[a])  # to the feet of their common normal
        p[a], p[b] = p[a] + along[0] * h[a], p[b] + along[1] * h[b]
        form = Form(replace(chain, p=p), rows.WRIST, w, rows.SKEW, mirrored=mirrored)
        found.append((float(np.linalg.norm(p[b] - p[a])), form))
    distance, form = max(found, key=lambda pair: pair[0])
    if distance > APART:
        yield form


def _across(a: Array, b: Array, kind: str) -> bool:
    """Whether joint a moves nothing along b: parallel if it turns, perpendicular if it slides."""
    return _parallel(a, b) if kind == "R" else bool(abs(a @ b) <= CLOSE)


def _parallels(chain: Chain, reasons: list[str], size: float) -> Iterator[Form]:
    """Axes 2, 3 and 4 are parallel, 5 and 6 meet."""
    h, p = chain.h.copy(), chain.p.copy()
    numbers = _numbers(chain, (1, 2, 3))
    if chain.slides.any():
        return
    angle = max(float(np.linalg.norm(np.cross(h[3], h[k]))) for k in (1, 2))
    if angle > CLOSE:
        reasons.append(f"axes {numbers} are not parallel (by {np.arcsin(min(angle, 1.0)):.3g} rad)")
        return
    w = _meet(chain, (4, 5), reasons, size)
    if w is None or _parallel(h[0], h[3]) or _parallel(h[3], h[4]):
        return
    for k in (1, 2):
        h[k] = h[3] * np.sign(h[3] @ h[k])
    p += h * np.sum(h * (w - p), axis=1)[:, None]
    yield Form(replace(chain, h=h, p=p), rows.PARALLELS, w)


# ---------------------------------------------------------------------------------------------- flat arrays


def _deviation(chain: Chain, form: Form) -> float:
    """The largest difference of poses between an arm and its form, in units of the arm's size."""
    ideal = form.chain
    p = ideal.p.copy()
    p[slice(3, 6) if form.kind == rows.WRIST else slice(4, 6)] = form.meeting
    ideal = replace(ideal, p=p)
    found = [ideal.displacement(q[list(ideal.joints)]) for q in _positions()]
    if form.reversed:  # solved from its tip: the form's displacement is the inverse of the arm's
        found = [inverse(T) for T in found]
    return float(np.max(np.abs(np.array(found) - [chain.displacement(q) for q in _positions()])))


def _across_axis(h: Array) -> Array:
    """A unit vector perpendicular to an axis."""
    e = np.cross(h, np.eye(3)[np.argmin(np.abs(h))])
    return np.asarray(e / np.linalg.norm(e))


def _arrays(
    form: Form, M: Array, size: float, deviation: float, limits: Array, limited: bool
) -> tuple[Array, NDArray[np.int64]]:
    """P and tree of a form: rows of kernels/closed_form_ik.py."""
    chain = form.chain
    P, tree = np.zeros((rows.ROWS, 6), order="F"), np.zeros((3, 6), dtype=np.int64)
    P[rows.HX : rows.HZ + 1], P[rows.X : rows.Z + 1] = chain.h.T, chain.p.T
    within = np.clip(limits[list(chain.joints)], -NO_LIMIT, NO_LIMIT)
    slack = SLACK * np.maximum(1.0, np.abs(within))
    P[rows.LOW], P[rows.HIGH] = within[:, 0] - slack[:, 0], within[:, 1] + slack[:, 1]
    turns = (P[[rows.LOW, rows.HIGH]] - np.pi) / (2 * np.pi)
    P[rows.FIRST] = 2 * np.pi * np.where(within[:, 0] > -NO_LIMIT, np.ceil(turns[0]), np.floor(turns[1]))
    P[rows.UNIT] = np.where(chain.slides, size, 1.0)
    away = inverse(M)
    P[rows.MEETING] = *form.meeting, *(away[:3, :3] @ form.meeting + away[:3, 3])
    P[rows.REST : rows.REST_Z + 1, :3], P[rows.REST : rows.REST_Z + 1, 3] = away[:3, :3], M[:3, 3]
    P[rows.ACROSS] = *_across_axis(chain.h[5]), *_across_axis(chain.h[3])
    P[rows.BEND, :2] = chain.h[3] @ chain.h[4], chain.h[4] @ chain.h[5]
    terms: Any = rows.terms  # a text over scalars, without types
    P[rows.BEND, 2:4] = terms(chain.h[3], chain.h[4], chain.h[5])[:2]
    if form.kind == rows.WRIST and form.position == rows.TWO_SLIDE:
        a, b = chain.h[[2, 1] if form.mirrored else [0, 1]]
        n = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
        P[rows.DUAL, :3] = n
        P[rows.DUAL_Y, :3], P[rows.DUAL_Z, :3] = np.linalg.inv([a, b, n]).T[:2]
    if form.kind == rows.WRIST and form.position == rows.SKEW:
        a, b = (2, 1) if form.mirrored else (0, 1)
        P[rows.DUAL : rows.DUAL_Z + 1, :3] = np.linalg.inv([chain.h[a], chain.h[b], chain.p[b] - chain.p[a]]).T
    P[rows.THRESHOLD, :3] = size, max(ROUNDING, FOR_EACH * deviation), max(SMALLEST, FOR_EACH * deviation) ** 2
    tree[rows.SLIDES], tree[rows.JOINT] = chain.slides, chain.joints
    tree[rows.ARM] = form.kind, form.position, form.reversed, form.mirrored, form.branches, limited
    return P, tree
