"""Trajectories of joints: positions, velocities and accelerations over time. Robots are arguments, if needed at all.

cycloidal, cubic, quintic      between two positions in a given time                            motions.py
trapezoidal, jerk_limited      between two positions, as fast as limits allow                   motions.py, jerk.py
spline, minimum_jerk           through via points at given times                                via_points.py
time_optimal                   along a path, as fast as velocities, accelerations, torques allow    retiming.py
"""

from fastdyn.trajectories.jerk import jerk_limited
from fastdyn.trajectories.motions import cubic, cycloidal, quintic, trapezoidal
from fastdyn.trajectories.retimed import Retimed
from fastdyn.trajectories.retiming import time_optimal
from fastdyn.trajectories.trajectory import Peak, Trajectory
from fastdyn.trajectories.via_points import minimum_jerk, spline

__all__ = [
    "Peak",
    "Retimed",
    "Trajectory",
    "cubic",
    "cycloidal",
    "jerk_limited",
    "minimum_jerk",
    "quintic",
    "spline",
    "time_optimal",
    "trapezoidal",
]
