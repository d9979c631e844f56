"""Programs of one robot: its constants folded into straight-line code, for Numba, for C, and as equations."""
