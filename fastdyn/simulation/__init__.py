"""Simulated robots. They take a robot as an argument."""

from fastdyn.simulation.arm import SimulatedArm
from fastdyn.simulation.flexible import FlexibleJoints
from fastdyn.simulation.result import Simulation

__all__ = ["FlexibleJoints", "SimulatedArm", "Simulation"]
