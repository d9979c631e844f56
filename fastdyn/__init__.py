"""fastdyn: the dynamics of robot arms, compiled. See README.md for a tour."""

from fastdyn import interrupt as interrupt  # first: importing the rest takes a while

# isort: split
from types import ModuleType
from typing import TYPE_CHECKING

from fastdyn import inertia, rigid_body, robots, rotations, show
from fastdyn.calls.warm import warmup
from fastdyn.errors import (
    ArgumentError,
    ArgumentTypeError,
    DescriptionError,
    FastdynError,
    FileError,
    FormulationError,
    LimitError,
    MissingExtraError,
    NoClosedFormError,
    NotFiniteError,
    RobotError,
    RobotWarning,
    SingularMassMatrixError,
)
from fastdyn.fleet import Fleet, stack
from fastdyn.formats import to_toml, to_urdf
from fastdyn.formats.dh import DHLink
from fastdyn.mechanism.model import Model
from fastdyn.mechanism.parts import Frame, Joint, Limits, Link, Motor, pose
from fastdyn.robot import (
    CoupledRobot,
    Robot,
    from_dh,
    from_mujoco,
    from_pinocchio,
    from_screws,
    from_toml,
    from_urdf,
    load,
    load_toml,
    load_urdf,
)
from fastdyn.specialize.c.exported import load_exported
from fastdyn.view.live import view_live

if TYPE_CHECKING:
    control: ModuleType
    realtime: ModuleType
    simulation: ModuleType
    study: ModuleType
    trajectories: ModuleType
else:

    def __getattr__(name: str) -> ModuleType:
        """Rooms that are imported on first use: fd.study needs Numba, and most programs need few of them."""
        if name in ("control", "realtime", "simulation", "study", "trajectories"):
            import importlib

            return importlib.import_module(f"fastdyn.{name}")
        raise AttributeError(f"module 'fastdyn' has no attribute {name!r}")


__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "CoupledRobot",
    "DHLink",
    "DescriptionError",
    "FastdynError",
    "FileError",
    "Fleet",
    "FormulationError",
    "Frame",
    "Joint",
    "LimitError",
    "Limits",
    "Link",
    "MissingExtraError",
    "Model",
    "Motor",
    "NoClosedFormError",
    "NotFiniteError",
    "Robot",
    "RobotError",
    "RobotWarning",
    "SingularMassMatrixError",
    "from_dh",
    "from_mujoco",
    "from_pinocchio",
    "from_screws",
    "from_toml",
    "from_urdf",
    "inertia",
    "load",
    "load_exported",
    "load_toml",
    "load_urdf",
    "pose",
    "rigid_body",
    "robots",
    "rotations",
    "show",
    "stack",
    "to_toml",
    "to_urdf",
    "view_live",
    "warmup",
]
