"""The methods of a robot that write it down: as C source, as equations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastdyn.kinematics import FrameName, Kinematics, Point

if TYPE_CHECKING:
    from fastdyn.specialize.symbolic.equations import Equations


class Programs(Kinematics):
    """Source and formulas of one robot."""

    def export_c(
        self,
        folder: str | PathLike[str],
        quantities: Iterable[str] = ("inverse_dynamics",),
        real: Literal["double", "float"] = "double",
        sincos: Literal["libm", "own"] = "libm",
        batch: bool = True,
        prefix: str | None = None,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
    ) -> Path:
        """Writes C99 that computes quantities of this robot, without any library: for real-time controllers.

        The folder, which must be new, empty or an earlier export, gets a header, a source file, a README of the robot,
        a main.c that checks itself against stored results, a CMakeLists.txt, and export.json for `fd.load_exported`.
        quantities: names of methods; a suffix such as `_with_wrenches` selects the function that takes the optional
        input. real: the type of all numbers. sincos: the C library's or, "own", a polynomial without branches; batches
        always use the latter. batch: whether there are also functions of many states. prefix: how names of functions
        and files begin (from the robot's name if not given). frame, point, local: of kinematic quantities.

        >>> import tempfile, fastdyn as fd
        >>> with tempfile.TemporaryDirectory() as place:
        ...     folder = fd.robots.puma560().export_c(f"{place}/puma", ["inverse_dynamics", "mass_matrix"])
        ...     sorted(path.name for path in folder.iterdir())
        ['CMakeLists.txt', 'README.md', 'export.json', 'main.c', 'puma560.c', 'puma560.h']
        """
        from fastdyn.specialize.c.export import exported

        return exported(self, folder, quantities, real, sincos, batch, prefix, (frame, point, local))

    def equations(self, letters: bool = True, relations: Mapping[str, Any] | None = None) -> Equations:
        """The equations of motion as SymPy formulas: M, C, g, friction, tau, kinetic, potential (extra `symbols`).

        letters: masses, moments of inertia, lengths, gravity and friction as letters as far as they are not zero;
        False: the robot's numbers. Directions are numbers. relations: formulas that take the place of letters, in
        letters old or new; they must hold for this robot's numbers. `print` shows the equations and what the letters
        mean; text, latex and code write them; eq.M.subs(eq.values) puts the robot's numbers in. Joints of all kinds,
        trees and coupled robots, with up to six joints one after the other: three take a second or so, six some seconds
        and many pages.

        >>> import fastdyn as fd
        >>> eq = fd.robots.planar_2r().equations(relations={"a1": "l1", "x1": "lc1", "x2": "lc2", "I2zz": "I2"})
        >>> eq.M[0, 1], eq.g[1]
        (I2 + lc2*m2*(l1*cos(q2) + lc2), g*lc2*m2*cos(q1 + q2))
        >>> fd.robots.two_link().equations(letters=False).C
        Matrix([
        [-0.5*qd2*sin(q2), -0.5*(qd1 + qd2)*sin(q2)],
        [ 0.5*qd1*sin(q2),                        0]])
        """
        from fastdyn.specialize.symbolic.equations import Equations

        return Equations(self, letters, relations)
