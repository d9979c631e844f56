"""Studies of the classic formulations: their results, their cost, and which of their terms matter.

formulations.py runs them, counts.py counts their operations, timing/ times them, effects/ splits their terms and
`simplify` drops some of the terms; report.py gathers all results, and page/ shows them.
"""

from fastdyn.study.simplification import simplify

__all__ = ["simplify"]
