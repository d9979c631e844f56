"""This project and its peers: the same robots and states, in one run on one thread, taking turns.

    python -m benchmarks.peers [--quick] [--warm] [--sizes 6 12] [--out folder]

One file for each program; its `jobs(case)` lists what that program can compute. Each gets states in its preferred
layout, prepared beforehand as far as possible. A job is timed only if its results agree with fastdyn's.
"""

from benchmarks.startup import second_process

__all__ = ["second_process"]
