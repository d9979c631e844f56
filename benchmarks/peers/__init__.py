"""This project and its peers: the same robots and states, in one run on one thread, taking turns.

    python -m benchmarks.peers [--quick] [--warm] [--sizes 6 12] [--out folder]

One file for each program; `jobs(case)` in it says what that program can be asked and how. Each is handed states in the
layout it likes, and what can be prepared is prepared beforehand. A job is timed only if it gives fastdyn's numbers.
"""

from benchmarks.startup import second_process

__all__ = ["second_process"]
