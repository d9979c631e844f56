"""Translational against rotational effects: D_ij and h_i of a PUMA 560, split along a trajectory.

Fu, Gonzalez and Lee, Robotics, 1987, section 3.4.1.

>>> import fastdyn as fd
>>> from fastdyn.study import effects
>>> split = effects.split(fd.robots.puma560(), effects.puma_trajectory())
>>> found = {verdict.element: verdict for verdict in effects.verdicts(split)}
>>> found["D12"].found, found["D12"].agrees, round(found["D12"].share, 3)
('translational', True, 1.0)

(3.4-25) to (3.4-27) give every element as a sum of two: one part from the translation of the links' centres of mass,
one from the links' rotation.

trajectory.py      the trajectory, which the chapter does not give, and random ones
terms.py           the two parts of D and h
dominance.py       which part dominates, beside what the chapter states
parameter_sets.py  the PUMA 560 from more than one source
baselines.py       what the agreement is worth
models.py          models without some of the terms, the chapter's among them: errors and operations
results.py         all of it for the study, as plain data;  figures.py: drawn
"""

from fastdyn.study.effects.baselines import Score, scores
from fastdyn.study.effects.dominance import (
    DOMINANCE,
    NEGLIGIBLE,
    PUBLISHED,
    WORDS,
    Robustness,
    Verdict,
    robustness,
    verdicts,
)
from fastdyn.study.effects.parameter_sets import SOURCES, parameter_sets
from fastdyn.study.effects.terms import Split, parts, split
from fastdyn.study.effects.trajectory import (
    END,
    SECONDS,
    SET_POINTS,
    START,
    Trajectory,
    puma_trajectory,
    random_motions,
    rest_to_rest,
)

__all__ = [
    "DOMINANCE",
    "END",
    "NEGLIGIBLE",
    "PUBLISHED",
    "SECONDS",
    "SET_POINTS",
    "SOURCES",
    "START",
    "WORDS",
    "Robustness",
    "Score",
    "Split",
    "Trajectory",
    "Verdict",
    "parameter_sets",
    "parts",
    "puma_trajectory",
    "random_motions",
    "rest_to_rest",
    "robustness",
    "scores",
    "split",
    "verdicts",
]
