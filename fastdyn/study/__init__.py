"""Studies of the classic formulations: what they compute, what they cost, and which of their terms matter.

formulations.py runs them, counts.py counts their operations, effects.py splits their terms, and `simplify` drops some.
"""

from fastdyn.study.simplification import simplify

__all__ = ["simplify"]
