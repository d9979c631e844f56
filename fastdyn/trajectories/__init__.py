"""Paths and motions in time. They take a robot as an argument."""

from fastdyn.trajectories.retimed import Retimed
from fastdyn.trajectories.retiming import time_optimal

__all__ = ["Retimed", "time_optimal"]
