"""Controllers: steps of a control loop that write joint torques. They take a robot as an argument."""

from fastdyn.control.computed_torque import ComputedTorque

__all__ = ["ComputedTorque"]
