"""Each joint's coordinate, and how far it turns its link.

`work` begins with the turns: n sines, then n cosines, in the model's order of links.
"""

from fastdyn.kernels.rows import *
from fastdyn.scalars import fill, kernel, load, sincos_rows, store

TURNS = 2  # work rows of a link


@kernel
def coordinate(P, T, X, i):
    """A revolute joint's angle, a prismatic joint's travel."""
    return load(X, T[INDEX, i]) + P[OFFSET, i]


@kernel
def turn_all(P, T, X, work):
    """Sine and cosine of the angle between each link and its parent, about the joint's axis."""
    n = P.shape[1]
    for i in range(n):
        store(work, i, coordinate(P, T, X, i))
    sincos_rows(work, n)
    for i in range(n):
        if T[KIND, i] & PRISMATIC:
            store(work, i, fill(X, P[SIN_THETA, i]))
            store(work, n + i, fill(X, P[COS_THETA, i]))


@kernel
def turn(P, work, i):
    """Sine and cosine of joint i."""
    return load(work, i), load(work, P.shape[1] + i)
