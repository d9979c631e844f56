"""The classic formulations of robot arm dynamics, each written once, over scalars, from the equations of its source.

    lagrange_euler.py         Fu, section 3.2      4x4 matrices, O(n^4): D_ik, h_ikm, c_i; as printed, as Table 3.1
                                                   counts it, and simplified: D and c only
    recursive_lagrange.py     Fu, section 3.1      the same as a recursion (Hollerbach 1980), O(n)
    newton_euler_base.py      Fu, Table 3.2        all vectors in the base frame, O(n)
    newton_euler_link.py      Fu, Table 3.3        all vectors in the links' own frames, O(n)
    newton_euler_frugal.py    Fu, Table 3.4        the same with the savings that the table counts
    probing.py                Fu, problem 3.11     D, h and c out of Newton-Euler
    generalized_dalembert.py  Fu, section 3.4      D, h by translation and rotation, c; rotary joints, each sum once,
                                                   O(n^3); _literal.py: every sum as printed, O(n^5); _nearest.py: the
                                                   procedure nearest to the counts of Table 3.5, O(n^3)
    christoffel.py            Norrlöf, Algorithm 2 body Jacobians and Christoffel symbols
    kane.py, kane_rrt.py      RRT Robot            partial velocities; the worked example of the RRT arm
    screws.py                 Fakhari              twists and wrenches: the recursion, and the stacked closed form
    lagrangian.py             Fu, section 3.2.2    kinetic energy as traces, potential energy

Sources, by the names that the comments use:

    Fu         K. S. Fu, R. C. Gonzalez and C. S. G. Lee, Robotics: Control, Sensing, Vision, and Intelligence,
               McGraw-Hill 1987, chapter 3 (equation numbers 3.x-y)
    Norrlöf    M. Norrlöf, Modeling of industrial robots, report LiTH-ISY-R-2208, Linköping University 1999
    Fakhari    A. Fakhari, Robot Dynamics, Part 1, lecture slides, 2024
    RRT Robot  RRT Robot: Lagrange and Kane equations of motion (author not named)

Every text has the signature

    text(P, kinds, q, qd, qdd, results ..., work)

(newton_euler_link and the texts by screws take a load, and these a moving base, before their results; lagrangian takes
no qdd). q, qd, qdd and each result are buffers of their own: 1-D for one sample, (rows, LANES) for as many samples at
once; matrices are stored row by row. A text writes all entries of its results and no input; `work` is scratch, and
`work_rows(n)` says how many rows it needs, `<text>_rows(n)` where a module has two texts. P and kinds are the arrays of
a chain in standard D-H frames (dh_rows.py) or by screws (screw_rows.py), links without motors; study/formulations.py
makes them from a Robot and is what a user calls.

The texts import only `fastdyn.scalars`. Composite rigid bodies and articulated bodies are the library's own algorithms:
kernels/crba.py and kernels/aba.py.
"""
