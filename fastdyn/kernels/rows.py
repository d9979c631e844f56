"""The layout of the arrays that kernels read: the meaning of each row.

`P` is a (ROWS, n) float64 array: one row per quantity, one column per link. Column i belongs to the link that joint i
carries. Links are in the model's own order: parents before children, chains contiguous.

The frame of link i has its z axis along joint i's axis. It follows from the parent's frame (the base link's for a link
on the base) by

    rotation by GAMMA about z,  translation (PX, PY, PZ),  rotation by ALPHA about x,  then the joint's motion:
    revolute: rotation about z by q + OFFSET;  prismatic: rotation about z by the constant THETA, translation q along z;
    helical: rotation about z by q + OFFSET, translation PITCH q along z.

A link whose parent is the link before it, with GAMMA = 0 and PY = 0, is STRAIGHT: nearly all links of most robots.
A link on the base has parent -1; (GX, GY, GZ) are minus the gravity vector in its frame at q + OFFSET = 0.

Inertia: m, the first moment h = m c and the second moments J = integral of r r^T dm, all about the link frame's origin.
What does not act on the joint has been moved to the parent (see model.py): a revolute link keeps HX, HY, JXX, JYY, JXY,
JXZ, JYZ; a prismatic link keeps MASS, HX, HY, HZ; a helical link keeps all of them. The LOST rows hold what was moved.
"""

# fmt: off
(
    COS_ALPHA, SIN_ALPHA, PX, PY, PZ,           # from the parent's frame to this one
    COS_GAMMA, SIN_GAMMA,                       # rotation before that, if the link is not straight
    OFFSET, COS_THETA, SIN_THETA,               # angle = q + OFFSET; THETA of prismatic joints
    GX, GY, GZ,                                 # links on the base: minus gravity, in this frame
    HX, HY, JXX, JYY, JXY, JXZ, JYZ, MASS, HZ,  # remaining inertia
    ARMATURE, VISCOUS, PLUS, MINUS,             # drive: rotor, viscous and Coulomb friction by direction of motion
    SMALLEST,                                   # singularity threshold of the inertia at the joint
    LOST_MASS, LOST_HZ, LOST_XX, LOST_YY, LOST_ZZ, LOST_XY, LOST_XZ, LOST_YZ,  # inertia that was moved to the parent
    JOINT_Z,                                    # the joint's own origin, on this frame's z axis
    EXX, EXY, EXZ, EYX, EYY, EYZ, EZX, EZY, EZZ, EX, EY, EZ,  # the user's link frame in this one: rotation, origin
    PITCH,                                      # travel along z per angle of helical joints, m/rad
    BASE_GX, BASE_GY, BASE_GZ, BASE_POTENTIAL,  # minus gravity along the base's axes; J/kg at the base's origin
    FXX, FXY, FXZ, FYX, FYY, FYZ, FZX, FZY, FZZ, FX, FY, FZ,  # column 0: the frame that kinematics is asked for
    ROWS,
) = range(66)

# `tree` is a (TREE_ROWS, n) int64 array
PARENT, KIND, INDEX, PATH, LENGTH, AXES, TREE_ROWS = range(7)  # INDEX: of joint i in the user's q

# The frame that kinematics is asked for lies on the last link of a path from the base, or on the base if that is empty:
# F is its rotation and origin in that link's frame. PATH: the links on the path, outward; LENGTH, AXES: column 0.
LOCAL, TURNED = 1, 2  # bits of AXES: vectors along the frame's axes, not the base's; F's rotation is not the identity

# bits of KIND
PRISMATIC, STRAIGHT, FORK, RUBS, HEAVY, HELICAL = 1, 2, 4, 8, 16, 32
SLIDES = PRISMATIC | HELICAL
# FORK: some child is not straight; RUBS: has friction;
# HEAVY: some mass remains on it or in its subtree (revolute links give theirs to the parent)
# fmt: on
