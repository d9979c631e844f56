"""Studies of the classic formulations: what they compute (formulations.py), and what it costs (counts.py)."""
