"""The URDF files of the example-robot-data package, and Pinocchio's model of a file in our order of joints."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")


def find_files():
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        return []
    return sorted(Path(package.locate_file(file)) for file in package.files or () if file.suffix == ".urdf")


REFUSED = {
    "alex_psyonic_hands.urdf": "'index_q1', no joint of this robot",  # Pinocchio leaves mimics aside unless asked
    "ur3.urdf": "expected the attribute 'name'",  # what xacro makes of macros that nobody calls; others refuse it too
}
FILES = find_files()
READ = [path for path in FILES if path.name not in REFUSED]


class Peer:
    """Pinocchio's model of the same file, in our order of joints."""

    def __init__(self, path, names, gravity, mimic=False):
        self.model = pin.buildModelFromUrdf(str(path), mimic)
        self.model.gravity.linear = gravity
        self.data = self.model.createData()
        self.joints = [self.model.joints[self.model.getJointId(name)] for name in names]
        self.place = np.array([joint.idx_v for joint in self.joints], dtype=int)
        assert self.model.nv == len(names)

    def coordinates(self, q):
        found = pin.neutral(self.model)
        for joint, value in zip(self.joints, q, strict=True):
            found[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        return found

    def inverse_dynamics(self, q, qd, qdd):
        v, a = np.zeros((2, self.model.nv))
        v[self.place], a[self.place] = qd, qdd
        return pin.rnea(self.model, self.data, self.coordinates(q), v, a)[self.place]

    def mass_matrix(self, q):
        upper = np.triu(pin.crba(self.model, self.data, self.coordinates(q)))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.place, self.place)]
