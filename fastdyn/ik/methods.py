"""The methods of inverse kinematics, shared by Robot and CoupledRobot."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from fastdyn.kinematics import KEPT, FrameName, Kinematics
from fastdyn.mechanism.frames import named_frame

if TYPE_CHECKING:
    from fastdyn.ik.analytic import Solutions, Solver


class InverseKinematics(Kinematics):
    """Joint coordinates from the pose of a frame."""

    def inverse_kinematics_all(
        self, T: ArrayLike, frame: FrameName = None, limits: bool = False, threads: int = 1
    ) -> Solutions:
        """All joint positions that give a frame the pose T, in closed form, for six-joint arms that have one.

        T: (..., 4, 4), in the base link's frame; frame: a link's or frame's name, the tip if not given. The result's
        q is (..., K, n), with K = 2, 4 or 8 branches; `valid`, (..., K), says which of them exist, `singular` where an
        angle is not determined, `reachable`, (...), whether any exists. Angles are in [-pi, pi]; with limits=True they
        are moved by whole turns into the limits of their joints, and a branch is valid only if that can be. At a
        singularity, such as a stretched elbow, branches coincide. Joints that do not move the frame are at zero, or
        the nearest limit.

        Arms are recognised from their axes (to 1e-6 rad, and 1e-6 of their size): three axes at the end, or at the
        base, that meet in a point, the other joints turning in any arrangement, or sliding in most; or three parallel
        axes 2, 3, 4 with 5 and 6 meeting (or 3, 4, 5 with 1 and 2). For others a NoClosedFormError names the axes that
        prevent it: `inverse_kinematics` solves them numerically. Where axes miss by more than rounding, a Newton step
        follows; poses are then accurate to 1e-9 except near singularities, where they stay as far off as the axes.

        >>> import numpy as np, fastdyn as fd
        >>> arm = fd.robots.puma560()
        >>> s = arm.inverse_kinematics_all(arm.forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
        >>> s.q.shape, int(s.valid.sum()), bool(s.reachable)
        ((8, 6), 8, True)
        >>> bool(np.isclose(s.q, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).all(axis=1).any())
        True
        """
        return self._closed_form(frame)(T, limits, threads)

    @cached_property
    def _closed_forms(self) -> dict[FrameName, Solver]:
        return {}

    def _closed_form(self, frame: FrameName) -> Solver:
        """The closed form of a frame, found once."""
        try:
            return self._closed_forms[frame]
        except (KeyError, TypeError):  # TypeError: what no frame's name can be
            pass
        from fastdyn.ik.analytic import Solver
        from fastdyn.ik.recognize import recognize

        form = recognize(self.description, named_frame(self.description, frame))
        if len(self._closed_forms) >= KEPT:
            self._closed_forms.pop(next(iter(self._closed_forms)), None)
        self._closed_forms[frame] = Solver(self.description, form, self.parameters_in(frame, None, False))
        return self._closed_forms[frame]
