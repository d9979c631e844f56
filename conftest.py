"""Examples in docstrings that need another library are not collected where it is missing."""

from importlib.util import find_spec

collect_ignore = [f"fastdyn/formats/{peer}.py" for peer in ("mujoco", "pinocchio") if find_spec(peer) is None]
