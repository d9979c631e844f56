"""Flexible joints: a spring and a damper between each motor, behind its gear, and the arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import real_numbers
from fastdyn.errors import ArgumentError
from fastdyn.mechanism.parts import Array


@dataclass(frozen=True, eq=False)
class FlexibleJoints:
    """Springs between motors and arm, all on the arm's side of the gears: (n,) each, or one number for all.

    stiffness: N m/rad or N/m; damping: N m s/rad or N s/m; arm_viscous: friction of the arm itself, in the same units.
    The motors' inertias and friction are those of the robot's motors, times gear^2 (Coulomb friction: |gear|).

    The model is (3.69) and (3.70) of Norrlöf's report in the form that conserves energy: a motor's position on the
    arm's side, t = r theta_m with the gear ratio r, obeys B t'' + f t' + s = tau / r with B = J_m / r^2, and the arm
    M q'' + C q' + g = s - f_a q', with the spring's torque s = k (t - q) + d (t' - q').
    """

    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    arm_viscous: ArrayLike = 0.0

    def arrays(self, n: int) -> tuple[Array, Array, Array]:
        """Stiffness, damping and friction of the arm, (n,) each; raises for what cannot be."""
        found = []
        for name in ("stiffness", "damping", "arm_viscous"):
            array = real_numbers(getattr(self, name), name)
            if array.shape not in ((), (n,)):
                raise ArgumentError(f"{name} has shape {array.shape}: expected a number or ({n},)")
            if not np.isfinite(array).all() or (array < 0).any() or (name == "stiffness" and (array == 0).any()):
                least = "above zero" if name == "stiffness" else "not below zero"
                raise ArgumentError(f"{name} is {array.tolist()}: expected finite numbers {least}")
            found.append(np.broadcast_to(array, (n,)).astype(np.float64))
        return found[0], found[1], found[2]
