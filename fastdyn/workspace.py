"""The compiled calls on a workspace's address, for users' own @njit functions: see fastdyn.calls.workspace."""

from fastdyn.calls.workspace import *  # noqa: F403
