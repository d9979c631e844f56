"""Simulated robots. They take a robot as an argument."""

from fastdyn.simulation.arm import SimulatedArm
from fastdyn.simulation.drive_train import FlexibleJoint, irb1400_joint_1, irb1400_joint_1_deviations
from fastdyn.simulation.flexible import FlexibleJoints
from fastdyn.simulation.result import Simulation

__all__ = [
    "FlexibleJoint",
    "FlexibleJoints",
    "SimulatedArm",
    "Simulation",
    "irb1400_joint_1",
    "irb1400_joint_1_deviations",
]
