"""Fewer operations: programs rewritten by algebra that holds for all inputs, and the order of their operations."""
