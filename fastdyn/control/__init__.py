"""Controllers: laws for simulations, an observer of contacts, and the step of a control loop."""

from fastdyn.control.controllers import (
    Controller,
    computed_torque,
    flexible_computed_torque,
    joint_impedance,
    pd,
    pd_feedforward,
    pd_gravity,
    task_space_pd,
)
from fastdyn.control.observer import MomentumObserver
from fastdyn.control.step import ComputedTorque

__all__ = [
    "ComputedTorque",
    "Controller",
    "MomentumObserver",
    "computed_torque",
    "flexible_computed_torque",
    "joint_impedance",
    "pd",
    "pd_feedforward",
    "pd_gravity",
    "task_space_pd",
]
