"""This package and its peers on the user's machine: the same robots and states, in one run, taking turns.

case.py has robots, states and jobs, peers/ a module for each program, measure.py times them, results.py is what is
kept (bench.json), compare.py sets two of these side by side, report.py shows them as a page.
"""
