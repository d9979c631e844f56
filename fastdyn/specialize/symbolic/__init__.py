"""Equations of motion as formulas, with SymPy."""
