"""Controllers: laws for simulations, and steps of a control loop that write joint torques."""

from fastdyn.control.controllers import Controller, computed_torque, pd, pd_feedforward, pd_gravity
from fastdyn.control.step import ComputedTorque

__all__ = ["ComputedTorque", "Controller", "computed_torque", "pd", "pd_feedforward", "pd_gravity"]
