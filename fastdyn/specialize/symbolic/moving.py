"""Links in motion: their velocities for each coordinate, and what they add to the terms of the equations of motion.

A text by screws (formulations/screws.py) runs on polynomials in letters, sines and cosines.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fastdyn.formulations import screw_rows, screws
from fastdyn.scalars.vectors import dot, matrix_vector, plus, zero_vector
from fastdyn.specialize.symbolic.letters import ROUNDING, SIX, Objects, Rows
from fastdyn.specialize.symbolic.polynomials import Polynomial

Vector = tuple[Polynomial, ...]  # of three
Share = tuple[Polynomial, Polynomial, Polynomial]  # a number of the robot, and two factors: a term of a sum


class Moving:
    """A link in motion: its velocity for each coordinate, along its own axes, at its centre of mass."""

    def __init__(
        self, P: Objects, i: int, turning: list[Vector], moving: list[Vector], down: Vector, base: Vector
    ) -> None:
        self.mass, self.inertia = P[screw_rows.MASS, i], {place: P[row, i] for row, place in SIX.items()}
        self.w, self.v = turning, moving
        self.down = down  # gravity
        self.base = base  # the base's origin, from the centre of mass

    def inertia_shares(self, a: int, b: int) -> Iterable[Share]:
        """m v_a . v_b + w_a . I w_b."""
        for axis in range(3):
            yield self.mass, self.v[a][axis], self.v[b][axis]
        for (x, y), moment in self.inertia.items():
            yield moment, self.w[a][x], self.w[b][y]
            if x != y:
                yield moment, self.w[a][y], self.w[b][x]

    def christoffel_shares(self, q: list[str], a: int, b: int, p: int) -> Iterable[Share]:
        """c_abp: of the mass, the acceleration d2r/dq_a dq_b times v_p, along the link's axes, which turn."""
        turned = np.cross(np.array(self.w[a], dtype=object), np.array(self.v[b], dtype=object))
        for axis in range(3):
            yield self.mass, self.v[b][axis].derivative(q[a]) + turned[axis], self.v[p][axis]
        for (x, y), moment in self.inertia.items():
            for one, other in {(x, y), (y, x)}:
                for i, j, by, half in ((p, b, a, 0.5), (p, a, b, 0.5), (a, b, p, -0.5)):
                    yield moment * half, self.w[i][one].derivative(q[by]), self.w[j][other]
                    yield moment * half, self.w[i][one], self.w[j][other].derivative(q[by])

    def gravity_share(self, p: int) -> Share:
        """-m g . v_p."""
        return self.mass, -dot(self.down, self.v[p]), Polynomial.constant(1.0)

    def potential_share(self, lift: Polynomial) -> Share:
        """-m g . r."""
        return self.mass, dot(self.down, self.base) + lift, Polynomial.constant(1.0)


def links(found: Rows) -> list[Moving]:
    """All links, path by path from the base to each tip: what is beyond a link does not move it."""
    made: dict[int, Moving] = {}
    tips = [i for i in range(len(found.parents)) if i not in found.parents]
    for tip in tips:
        path = [tip]
        while found.parents[path[0]] >= 0:
            path.insert(0, found.parents[path[0]])
        P, q = found.P[:, path], found.q[path]
        n = len(path)
        work = np.array([Polynomial.constant(0.0)] * screws.stacked_screws_rows(n), dtype=object)
        screws.placements(P, q, work)
        for k in range(screws.SLOTS * n):
            work[k] = _clean(work[k])
        screws.inverse(work, n)
        down: Any = tuple(P[screw_rows.GX : screw_rows.GZ + 1, 0])
        base = zero_vector(work)
        for i, link in enumerate(path):
            R, shift = screws.placement(work, i)
            down, base = matrix_vector(R, down), plus(matrix_vector(R, base), shift)
            if link not in made:
                by_joint = [screws.block_times(work, screws.block(n, i, j), screws.screw(P, j)) for j in range(i + 1)]
                columns = np.array(by_joint, dtype=object)  # (joints, 2, 3)
                by_coordinate = np.tensordot(found.G[path[: i + 1]].T, columns, axes=1)
                cleaned = [[tuple(map(_clean, vector)) for vector in pair] for pair in by_coordinate]
                turning, moving = ([pair[k] for pair in cleaned] for k in (0, 1))
                made[link] = Moving(P, i, turning, moving, tuple(map(_clean, down)), tuple(map(_clean, base)))
    return [made[i] for i in range(len(found.parents))]


def _clean(p: Polynomial) -> Polynomial:
    return p.cleaned(4 * ROUNDING * p.size)
