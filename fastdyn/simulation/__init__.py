"""Simulated robots. They take a robot as an argument."""

from fastdyn.simulation.arm import SimulatedArm

__all__ = ["SimulatedArm"]
