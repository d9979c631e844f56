"""The classic formulations of robot arm dynamics, each written once, over scalars, as its source prints it.

Documents: 000 a textbook chapter on robot arm dynamics (equation numbers 3.x-y), 001 a report on modelling industrial
robots, 002 slides on screw theory, 003 the RRT arm by Lagrange and Kane; notes/equations.md has more.

    lagrange_euler.py         000, section 3.2     4x4 matrices, O(n^4): D_ik, h_ikm, c_i
    recursive_lagrange.py     000, section 3.1     the same as a recursion (Hollerbach 1980), O(n)
    newton_euler_base.py      000, Table 3.2       everything in the base frame, O(n)
    newton_euler_link.py      000, Table 3.3       everything in the links' own frames, O(n)
    newton_euler_frugal.py    000, Table 3.4       the same with the savings that the table counts
    probing.py                000, problem 3.11    D, h and c out of Newton-Euler
    generalized_dalembert.py  000, section 3.4     D, h by translation and rotation, c; rotary joints, O(n^3)
    christoffel.py            001, Algorithm 2     body Jacobians and Christoffel symbols
    kane.py, kane_rrt.py      003                  partial velocities; the RRT arm as it is worked out there
    screws.py                 002                  twists and wrenches: the recursion, and the stacked closed form

Composite rigid bodies and articulated bodies are the library's own: kernels/crba.py and kernels/aba.py.

The texts import only `fastdyn.scalars`. They read chains in standard D-H frames (dh_rows.py) or by screws
(screw_rows.py), links without motors; study/formulations.py makes those arrays from a Robot and is what a user calls.
"""
