"""How texts become machine code: the compilation policy, entries that Python calls, and the cache between processes."""
