"""Translational against rotational effects: D_ij and h_i of a PUMA 560, split along a trajectory (000, section 3.4.1).

>>> import fastdyn as fd
>>> from fastdyn.study import effects
>>> split = effects.split(fd.robots.puma560(), effects.puma_trajectory())
>>> found = {verdict.element: verdict for verdict in effects.verdicts(split)}
>>> found["D12"].found, found["D12"].agrees, round(found["D12"].share, 3)
('translational', True, 1.0)

(3.4-25) to (3.4-27) give every element as a sum of two: one part from the translation of the links' centres of mass,
one from the links' rotation. NOTES states the choices that the chapter leaves open, and its contradictions.
"""

from fastdyn.study.effects.dominance import (
    DOMINANCE,
    NEGLIGIBLE,
    NOTES,
    PUBLISHED,
    WORDS,
    Robustness,
    Verdict,
    robustness,
    verdicts,
)
from fastdyn.study.effects.terms import Split, parts, split
from fastdyn.study.effects.trajectory import END, SECONDS, SET_POINTS, START, Trajectory, puma_trajectory, rest_to_rest

__all__ = [
    "DOMINANCE",
    "END",
    "NEGLIGIBLE",
    "NOTES",
    "PUBLISHED",
    "SECONDS",
    "SET_POINTS",
    "START",
    "WORDS",
    "Robustness",
    "Split",
    "Trajectory",
    "Verdict",
    "parts",
    "puma_trajectory",
    "rest_to_rest",
    "robustness",
    "split",
    "verdicts",
]
