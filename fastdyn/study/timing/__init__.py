"""Timing against counting: the time that each formulation takes on this machine, beside its operation counts.

All texts are compiled with the same options and run on one thread in one process. They compute the inverse dynamics of
the arm that is counted (counts.arm), except the library's mass matrix and forward dynamics, which are other quantities.
Jobs of the same size take turns, and the best turn counts. Only compiled code is timed, on arrays made before: a batch
of (T, n) arrays that stays in cache, on lanes, and the same text on scalars, one state after the other.
"""

from fastdyn.study.timing.measurement import FULL, QUICK, Plan, measure, run
from fastdyn.study.timing.results import Crossover, Growth, Point, Then, Timings

__all__ = ["FULL", "QUICK", "Crossover", "Growth", "Plan", "Point", "Then", "Timings", "measure", "run"]
