"""Results of a simulation: arrays, energies, pictures, files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fastdyn.errors import ArgumentError
from fastdyn.mechanism.limits import UNITS
from fastdyn.mechanism.parts import Array
from fastdyn.output import write


@dataclass(frozen=True, eq=False)
class Simulation:
    """Motions of a robot: t (K,) s; q, qd, qdd, tau (..., K, n), batch axes first.

    tau is what the motors exert from t on, limited and delayed; qdd the acceleration at t. Of flexible joints q is the
    arm's, and motor_q, motor_qd, (..., K, n), are the motors' on the arm's side of the gears.
    """

    robot: Any
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    motor_q: Array | None = None
    motor_qd: Array | None = None
    springs: Any = None

    def _sides(self) -> list[tuple[Any, Any, Any]]:
        """(robot, its springs, the index of its motions) for each robot of a fleet, or the only one."""
        springs = self.springs or [None] * len(getattr(self.robot, "robots", (None,)))
        if not hasattr(self.robot, "robots"):
            return [(self.robot, springs[0], ...)]
        return [(robot, springs[k], np.s_[..., k, :, :]) for k, robot in enumerate(self.robot.robots)]

    def _each(self, energy: Callable[[Any, Any, Any], Array]) -> Array:
        """(..., K) of an energy of each robot's motions."""
        found = [energy(*side) for side in self._sides()]
        return np.stack(found, axis=-2) if hasattr(self.robot, "robots") else found[0]

    @cached_property
    def kinetic_energy(self) -> Array:
        """(..., K), J; of flexible joints with the motors' own, which turn with motor_qd."""

        def of(robot: Any, springs: Any, where: Any) -> Array:
            if springs is None or self.motor_qd is None:
                found: Array = robot.kinetic_energy(self.q[where], self.qd[where])
                return found
            arm: Array = robot.without_motors().kinetic_energy(self.q[where], self.qd[where])
            motors: Array = (0.5 * springs.rotors * self.motor_qd[where] ** 2).sum(-1)
            return arm + motors

        return self._each(of)

    @cached_property
    def potential_energy(self) -> Array:
        """(..., K), J; of flexible joints with the springs'."""

        def of(robot: Any, springs: Any, where: Any) -> Array:
            found: Array = robot.potential_energy(self.q[where])
            if springs is not None and self.motor_q is not None:
                found = found + (0.5 * springs.stiffness * (self.motor_q[where] - self.q[where]) ** 2).sum(-1)
            return found

        return self._each(of)

    @property
    def energy(self) -> Array:
        """(..., K), J: kinetic and potential."""
        return self.kinetic_energy + self.potential_energy

    def _one(self, sample: Any) -> tuple[Any, ...]:
        """The index of a motion, as a tuple; the only one if there is only one."""
        lead = self.q.shape[:-2]
        if sample is None:
            if lead:
                raise ArgumentError(f"sample: expected the index of one motion among {lead}, found none")
            return ()
        index = tuple(np.atleast_1d(sample).tolist())
        whole = all(isinstance(k, int) and not isinstance(k, bool) for k in index)
        if not whole or len(index) != len(lead) or any(not -N <= k < N for k, N in zip(index, lead, strict=True)):
            raise ArgumentError(f"sample is {sample!r}: expected the index of one motion among {lead}")
        return index

    def _robot(self, where: tuple[Any, ...]) -> Any:
        """The robot of a motion."""
        return self.robot.robots[where[-1]] if hasattr(self.robot, "robots") else self.robot

    def plot(self, sample: Any = None) -> Any:
        """A Matplotlib figure of one motion: position, velocity, torque and energies over time.

        sample: which motion, where there are several.

        >>> import fastdyn as fd
        >>> r = fd.robots.two_link().simulate([0.0, 0.0], [0.0, 0.0], 1.0, 0.01)
        >>> [ax.get_ylabel() for ax in r.plot().axes]
        ['q [rad]', 'qd [rad/s]', 'tau [N m]', 'energy [J]']
        """
        from matplotlib.figure import Figure

        where = self._one(sample)
        figure = Figure(figsize=(9, 10), layout="constrained")
        axes = figure.subplots(4, 1, sharex=True)
        names = coordinate_names(self.robot)
        slides = [name for name, joint in zip(names, self.robot.joints, strict=False) if joint.kind == "prismatic"]
        styles = ["-", "--", "-.", ":"]
        for axis, what in zip(axes, ("q", "qd", "tau"), strict=False):
            for j, name in enumerate(names):
                axis.plot(self.t, getattr(self, what)[where][:, j], styles[j // 10 % 4], label=name)
            turning, sliding = UNITS[what]
            unit = turning if not slides else sliding if len(slides) == len(names) else f"{turning} or {sliding}"
            axis.set_ylabel(f"{what} [{unit}]")
        axes[0].legend(fontsize="small", ncols=4)
        for label, values, style in (
            ("kinetic", self.kinetic_energy, "--"), ("potential", self.potential_energy, ":"), ("sum", self.energy, "-")
        ):  # fmt: skip
            axes[3].plot(self.t, values[where], style, color="black", label=label)
        axes[3].set_ylabel("energy [J]")
        axes[3].set_xlabel("time [s]")
        axes[3].legend(fontsize="small", ncols=3)
        figure.suptitle(f"{self.robot.name}, {self.t[-1]:g} s")
        return figure

    def animate(self, file: str | os.PathLike[str] | None = None, sample: Any = None, fps: int = 25) -> Any:
        """The robot moving, as `robot.animate`: a notebook shows it; `file`, .gif or .mp4, is written."""
        where = self._one(sample)
        return self._robot(where).animate(self.q[where], self.t, file, fps)

    def view(self, path: str | os.PathLike[str] | None = None, sample: Any = None) -> Path:
        """Writes a page to watch one motion on, `robot.view`, and returns its path, motion.html if not given.

        >>> import tempfile
        >>> import fastdyn as fd
        >>> r = fd.robots.two_link().simulate([0.0, 0.0], [0.0, 0.0], 0.1, 0.01)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     r.view(folder + "/fall.html").name
        'fall.html'
        """
        where = self._one(sample)
        energies = {
            "kinetic": self.kinetic_energy[where],
            "potential": self.potential_energy[where],
            "total": self.energy[where],
        }
        file = "motion.html" if path is None else path
        motion = self.q[where], self.t, self.tau[where], self.qd[where]
        page: Path = self._robot(where).view(*motion, path=file, energies=energies)
        return page

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes all arrays to a NumPy file, .npz; it appears whole or not at all.

        >>> import tempfile
        >>> import numpy as np
        >>> import fastdyn as fd
        >>> r = fd.robots.two_link().simulate([0.0, 0.0], [0.0, 0.0], 0.1, 0.01)
        >>> with tempfile.TemporaryDirectory() as folder, np.load(r.save(folder + "/fall.npz")) as kept:
        ...     sorted(kept), kept["q"].shape
        (['q', 'qd', 'qdd', 't', 'tau'], (11, 2))
        """
        target = Path(path)
        if target.suffix != ".npz":
            raise ArgumentError(f"path is {str(path)!r}: expected a name that ends in .npz")
        arrays = {name: getattr(self, name) for name in ("t", "q", "qd", "qdd", "tau", "motor_q", "motor_qd")}
        kept = {name: array for name, array in arrays.items() if array is not None}
        write(target, lambda file: np.savez(file, **kept))
        return target


def coordinate_names(robot: Any) -> list[str]:
    """Of the coordinates."""
    if robot.coupling is not None:
        return list(robot.coupling.names)
    return [joint.name for joint in robot.joints]
