"""Small vector algebra over scalars. A vector is three values; frames are those of rows.py."""

from fastdyn.scalars import kernel


@kernel
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def turned_back(c, s, x, y, z):
    """A vector, seen from a frame that has been turned about z by the angle with cosine c and sine s."""
    return c * x + s * y, c * y - s * x, z


@kernel
def turned(c, s, x, y, z):
    """A vector of a frame that has been turned about z, seen from where the turn began."""
    return c * x - s * y, s * x + c * y, z


@kernel
def into_link(c, s, ca, sa, x, y, z):
    """A vector of the parent's frame (turned by GAMMA already), expressed in the link's."""
    t = ca * y + sa * z
    return c * x + s * t, c * t - s * x, ca * z - sa * y


@kernel
def out_of_link(c, s, ca, sa, x, y, z):
    """A vector of the link's frame, expressed in the parent's (GAMMA still to be undone)."""
    t = s * x + c * y
    return c * x - s * y, ca * t - sa * z, sa * t + ca * z


@kernel
def symmetric_turned_z(c, s, xx, yy, zz, xy, xz, yz):
    """R S R^T for a symmetric S and a turn R about z."""
    u = s * (xx - yy) + (c + c) * xy
    v = s * u
    return xx - v, yy + v, zz, c * u - xy, c * xz - s * yz, s * xz + c * yz


@kernel
def symmetric_turned_x(c, s, xx, yy, zz, xy, xz, yz):
    """R S R^T for a symmetric S and a turn R about x."""
    u = s * (yy - zz) + (c + c) * yz
    v = s * u
    return xx, yy - v, zz + v, c * xy - s * xz, s * xy + c * xz, c * u - yz


@kernel
def matrix_turned_z(c, s, xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """R B R^T for any B and a turn R about z; the difference xy - yx does not change."""
    u = s * (xx - yy) + c * (xy + yx)
    v = s * u
    t = c * u
    return xx - v, t - yx, c * xz - s * yz, t - xy, yy + v, s * xz + c * yz, c * zx - s * zy, s * zx + c * zy, zz


@kernel
def matrix_turned_x(c, s, xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """R B R^T for any B and a turn R about x; the difference yz - zy does not change."""
    u = s * (yy - zz) + c * (yz + zy)
    v = s * u
    t = c * u
    return xx, c * xy - s * xz, s * xy + c * xz, c * yx - s * zx, yy - v, t - zy, s * yx + c * zx, t - yz, zz + v
