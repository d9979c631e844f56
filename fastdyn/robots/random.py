"""Random robots with physically possible inertias, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fastdyn.geometry import homogeneous
from fastdyn.mechanism.parts import Array, Joint, JointKind, Link, Motor
from fastdyn.robot import Robot
from fastdyn.rotations import from_quaternion


def random_chain(n: int, seed: int = 0, prismatic: float = 0.0, drives: bool = False, helical: float = 0.0) -> Robot:
    """A serial chain of n links.

    prismatic, helical: shares of such joints, the others are revolute; drives: motors with rotors and friction.

    >>> sorted({joint.kind for joint in random_chain(9, prismatic=0.3, helical=0.3).joints})
    ['helical', 'prismatic', 'revolute']
    """
    return _random("random_chain", n, seed, prismatic, drives, helical, lambda rng, i: i - 1)


def random_tree(n: int, seed: int = 0, prismatic: float = 0.0, drives: bool = False, helical: float = 0.0) -> Robot:
    """A tree of n links, each on an earlier one or on the base. Other arguments as for random_chain.

    >>> random_tree(4, seed=1).n
    4
    """
    return _random(
        "random_tree", n, seed, prismatic, drives, helical, lambda rng, i: int(rng.integers(max(-1, i - 4), i))
    )


def _random(
    kind: str,
    n: int,
    seed: int,
    prismatic: float,
    drives: bool,
    helical: float,
    parent: Callable[[np.random.Generator, int], int],
) -> Robot:
    rng = np.random.default_rng([n, seed])
    links, joints = [Link("base")], []
    for i in range(n):
        on, joint_kind = parent(rng, i), _random_kind(rng.uniform(), prismatic, helical)
        joints.append(
            Joint(
                name=f"joint{i + 1}",
                parent="base" if on < 0 else f"link{on + 1}",
                child=f"link{i + 1}",
                kind=joint_kind,
                origin=_random_pose(rng),
                axis=rng.normal(size=3),
                tail=_random_pose(rng),
                motor=_random_motor(rng) if drives else Motor(),
                pitch=float(rng.choice((-1, 1)) * rng.uniform(0.02, 0.2)) if joint_kind == "helical" else 0.0,
            )
        )
        links.append(_random_link(rng, f"link{i + 1}"))
    return Robot(links, joints, name=f"{kind}({n}, {seed})", gravity=rng.normal(size=3) * 5)


def _random_kind(drawn: float, prismatic: float, helical: float) -> JointKind:
    """The kind of joint for a number drawn from [0, 1)."""
    if drawn < prismatic:
        return "prismatic"
    return "helical" if drawn < prismatic + helical else "revolute"


def _random_link(rng: np.random.Generator, name: str) -> Link:
    """A body made of eight point masses, so that its inertia is physically possible."""
    points, masses = rng.uniform(-0.3, 0.3, (8, 3)), rng.uniform(0.05, 0.5, 8)
    com = masses @ points / masses.sum()
    arms = points - com
    inertia = np.einsum("k,kij->ij", masses, np.einsum("ka,ka->k", arms, arms)[:, None, None] * np.eye(3)
                        - arms[:, :, None] * arms[:, None, :])  # fmt: skip
    return Link(name, float(masses.sum()), com, inertia)


def _random_pose(rng: np.random.Generator) -> Array:
    """A uniformly random rotation, from a random unit quaternion, and a position within 30 cm along each axis."""
    R = from_quaternion(rng.normal(size=4))
    return homogeneous(R, rng.uniform(-0.3, 0.3, 3))


def _random_motor(rng: np.random.Generator) -> Motor:
    return Motor(rng.uniform(1e-5, 1e-4), rng.uniform(-100, 100), rng.uniform(0, 1e-4), tuple(rng.uniform(0, 0.01, 2)))
