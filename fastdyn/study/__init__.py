"""Studies of the classic formulations: their results, their cost, and which of their terms matter.

formulations.py runs them, counts/ counts their operations, `count` those of any robot, timing/ times them, effects/
splits their terms and `simplify` drops some of the terms; report.py gathers all results, and page/ shows them.
"""

from fastdyn.study.counts.robot import count
from fastdyn.study.simplification import simplify

__all__ = ["count", "simplify"]
