"""Built-in arms, each with the source of its figures."""

from fastdyn.robots.arms import puma560, stanford
from fastdyn.robots.closed_form import flexible_joint, planar_2r, rrt, two_link
from fastdyn.robots.parallelogram import MainAxes, irb1400_main_axes
from fastdyn.robots.random import random_chain, random_tree
from fastdyn.robots.zoo import dual_arm, get, iiwa, irb1400, names, panda, ur5

__all__ = [
    "MainAxes",
    "dual_arm",
    "flexible_joint",
    "get",
    "iiwa",
    "irb1400",
    "irb1400_main_axes",
    "names",
    "panda",
    "planar_2r",
    "puma560",
    "random_chain",
    "random_tree",
    "rrt",
    "stanford",
    "two_link",
    "ur5",
]
