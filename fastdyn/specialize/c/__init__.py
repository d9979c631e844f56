"""C99: programs as source, the folder that is exported, and its loader."""
