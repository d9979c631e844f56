"""fastdyn: the dynamics of robot arms, compiled. See README.md for a tour."""

from fastdyn import inertia, robots, show
from fastdyn.coupling import CoupledRobot
from fastdyn.description.dh import DHLink, from_dh
from fastdyn.description.load import load
from fastdyn.description.mujoco import from_mujoco
from fastdyn.description.pinocchio import from_pinocchio
from fastdyn.description.screws import from_screws
from fastdyn.description.toml import from_toml, load_toml, to_toml
from fastdyn.description.urdf import from_urdf, load_urdf
from fastdyn.description.urdf_writer import to_urdf
from fastdyn.errors import (
    ArgumentError,
    ArgumentTypeError,
    DescriptionError,
    FastdynError,
    FormulationError,
    MissingExtraError,
    NotFiniteError,
    RobotError,
    RobotWarning,
    SingularMassMatrixError,
)
from fastdyn.model import Model
from fastdyn.parts import Joint, Limits, Link, Motor
from fastdyn.robot import Robot
from fastdyn.warm import warmup

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "CoupledRobot",
    "DHLink",
    "DescriptionError",
    "FastdynError",
    "FormulationError",
    "Joint",
    "Limits",
    "Link",
    "MissingExtraError",
    "Model",
    "Motor",
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
    "load_toml",
    "load_urdf",
    "robots",
    "show",
    "to_toml",
    "to_urdf",
    "warmup",
]
