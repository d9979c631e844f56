"""Compilation to machine code: the policy, entries that Python calls, and the cache shared by processes."""
