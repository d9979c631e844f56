"""Benchmarks, and how to run them.

fastdyn bench                   this project and its peers on the same robots, in one run (fastdyn/bench)
python -m benchmarks.limits     how far kernels are from the machine's limits
python -m benchmarks.startup    time to the first result
python -m benchmarks.real_robots    every URDF of example-robot-data against Pinocchio; what coupled joints cost
python -m benchmarks.specialized    specialised robots against general ones, Pinocchio and generated C
asv run                         the suite over the project's history; make asv-check, make asv-page: a part of it
pytest benchmarks/test_speed.py --benchmark-enable      a few cases in seconds, while editing
"""
