"""Timing against counting: the time that each formulation takes on this machine, beside its operation counts.

All texts are compiled with the same options and run on one thread in one process. They compute the inverse dynamics of
the arm that is counted (counts.arm), except the library's mass matrix and forward dynamics, which are other quantities.
Only compiled code is timed, on arrays made before: a batch of (T, n) arrays that stays in cache, on lanes; the same
text on scalars, one state after the other; and on scalars where each state waits for the one before.

results.py        the times of all passes as plain data; growth, comparisons and doubts that follow from them
predictions.py    costs of operations, sines and bytes; predictions of what was held out; crossovers
published.py      published procedures and times beside today's
host.py           processors, caches, load
work.py           what a text does: operations, sines, bytes moved, memory touched
jobs.py, reference.py, measurement.py    what is timed, and when
figures.py        figures
"""

from fastdyn.study.timing.measurement import FULL, QUICK, Plan, measure, run
from fastdyn.study.timing.results import Growth, Point, Spread, Timings

__all__ = ["FULL", "QUICK", "Growth", "Plan", "Point", "Spread", "Timings", "measure", "run"]
