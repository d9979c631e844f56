"""What the formulations cost: multiplications and additions, counted by running their texts on counting scalars.

>>> from fastdyn.study import counts
>>> row = counts.table_3_1()[0]
>>> print(row.name, "|", row.published.multiplications, "|", row.counted.multiplications, "|", row.equal)
^jA_i | 32 n^2 - 32 n | 32 n^2 - 32 n | True

A count is a polynomial in n, the number of joints: exact fractions, found from n = 1, 2, ... and checked on all of
SIZES. Tables 3.1, 3.4 and 3.5 are those of Fu, Gonzalez and Lee, Robotics, 1987. Arms have rotary joints and a level
base.

costs.py       costs, the rows of a comparison, and the labels of what they show
counting.py    runs a text on counting scalars, stage by stage, and fits the polynomials
texts.py       every formulation, probing, and the library's own kernels
published.py   the published tables, row by row, beside what is counted; counts from the literature
dalembert.py   what the published counts of generalized d'Alembert may pay for: a family of procedures
robot.py       any robot's own counts, general and specialised: fastdyn.study.count
"""

from fastdyn.study.counts.costs import (
    KINDS,
    NOTHING,
    Cost,
    Figure,
    Kind,
    Label,
    Probing,
    Reading,
    Row,
    Text,
    labels,
    summary,
)
from fastdyn.study.counts.counting import SIZES, arm
from fastdyn.study.counts.dalembert import Procedure, Search, Share
from fastdyn.study.counts.published import literature, table_3_1, table_3_4, table_3_5, tables
from fastdyn.study.counts.texts import formulation, formulations, kernels, probing_counts

__all__ = [
    "KINDS",
    "NOTHING",
    "SIZES",
    "Cost",
    "Figure",
    "Kind",
    "Label",
    "Probing",
    "Procedure",
    "Reading",
    "Row",
    "Search",
    "Share",
    "Text",
    "arm",
    "formulation",
    "formulations",
    "kernels",
    "labels",
    "literature",
    "probing_counts",
    "summary",
    "table_3_1",
    "table_3_4",
    "table_3_5",
    "tables",
]
