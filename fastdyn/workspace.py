"""Bound calls as functions of a workspace's address, for users' own @njit functions: inverse_dynamics(loop.address).

One for each quantity, under its name; for a coupled robot's workspace, under coupled_<name>. They allocate nothing
and return a status, as bound calls do: -1 if the workspace is a coupled robot's and the function a plain one's, or the
reverse.
"""

from fastdyn.calls.generate import bound_kernel
from fastdyn.compiler.policy import register
from fastdyn.quantities import ROWS

for _quantity in ROWS.values():
    globals()[_quantity.name] = bound_kernel(_quantity, coupled=False)
    globals()[f"coupled_{_quantity.name}"] = bound_kernel(_quantity, coupled=True)

register()  # Numba must know them before it compiles the user's function
