"""Figures, and how to get them.

python -m benchmarks.peers      this project and its peers on the same robots, in one run
python -m benchmarks.limits     how far kernels are from what the machine can do
python -m benchmarks.startup    how long until the first answer
asv run                         the suite over the project's history; make asv-check: that it still runs
pytest benchmarks/test_speed.py --benchmark-enable      a few cases in seconds, while something is changed
"""
