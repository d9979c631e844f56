"""Singular values of the six rows of a Jacobian, and least squares by them, without branches on the values.

One-sided Jacobi (M. R. Hestenes, 1958): rows of A are rotated in pairs until they are orthogonal, A = U B. Then the
rows of B have the singular values as lengths, and A x = c becomes B x = U^T c, where each row stands for itself: c is
rotated along, and U is not needed.

Whether a value counts as zero is decided relative to the largest one: see `rank_tolerance`.
"""

from fastdyn.scalars import add, any_above, fill, kernel, load, maximum, minimum, sqrt, store, where_above

SIX = 6  # rows of a Jacobian: linear, then angular
SWEEPS = 12  # at most; 4 to 8 are needed


@kernel
def eps(buffer):
    """The precision of a buffer's numbers."""
    return 2.0**-52 if buffer.itemsize == 8 else 2.0**-23


@kernel
def rank_tolerance(buffer, n):
    """What counts as zero, relative to the largest singular value: rounding errors of a Jacobian and its rotation."""
    return 4.0 * max(SIX, n) * eps(buffer)


@kernel
def square(A, n, i):
    """The squared length of row i."""
    total = fill(A, 0.0)
    for k in range(n * i, n * (i + 1)):
        total = total + load(A, k) * load(A, k)
    return total


@kernel
def orthogonalise(A, c, n):
    """Rotates the six rows of A and the entries of c until the rows are orthogonal, the longest first.

    A sweep rotates every pair once. Pairs that are orthogonal stay as they are, to the last bit: what a lane gives does
    not depend on how many sweeps the others need. Rows as short as the rounding errors of the longest stay, too.
    """
    total = fill(A, 0.0)
    for i in range(SIX):
        total = total + square(A, n, i)
    tolerance, negligible = max(SIX, n) * eps(A), eps(A) * eps(A) * total
    for _ in range(SWEEPS):
        turned = fill(A, 0.0)
        for i in range(SIX - 1):
            for j in range(i + 1, SIX):
                turned = maximum(turned, rotate(A, c, n, i, j, tolerance, negligible))
        if not any_above(turned, 0.0):
            break


@kernel
def rotate(A, c, n, i, j, tolerance, negligible):
    """Rotates rows i and j so that they are orthogonal and row i is the longer one; the squared sine of the angle.

    The angle is half of that of the point (|x|^2 - |y|^2, 2 x.y), at the distance `far`.
    """
    xx, xy, yy = square(A, n, i), fill(A, 0.0), square(A, n, j)
    for k in range(n):
        xy = xy + load(A, n * i + k) * load(A, n * j + k)
    # what is orthogonal, or of the same length, up to rounding counts as exactly so
    xy = where_above(minimum(xx, yy), negligible, xy, 0.0)
    xy = where_above(xy * xy, tolerance * tolerance * xx * yy, xy, 0.0)
    difference = xx - yy
    apart = maximum(difference, -difference)
    difference = where_above(apart, tolerance * (xx + yy), difference, 0.0)
    apart = maximum(difference, -difference)
    far = where_above(xy * xy, 0.0, sqrt(apart * apart + 4.0 * xy * xy), 1.0)
    major = where_above(xy * xy, 0.0, sqrt(0.5 + 0.5 * (apart / far)), 1.0)
    minor = maximum(xy, -xy) / (far * major)
    cosine = where_above(0.0, difference, minor, major)
    sine = where_above(0.0, xy, -1.0, 1.0) * where_above(0.0, difference, major, minor)
    for k in range(n):
        turn(A, n * i + k, n * j + k, sine, cosine)
    turn(c, i, j, sine, cosine)
    return sine * sine


@kernel
def turn(buffer, i, j, sine, cosine):
    """Rotates a pair of values."""
    x, y = load(buffer, i), load(buffer, j)
    store(buffer, i, cosine * x + sine * y)
    store(buffer, j, cosine * y - sine * x)


@kernel
def lengths(A, n, sigma):
    """The lengths of the rows, descending: what rounding may have disordered is brought into order."""
    for i in range(SIX):
        value = sqrt(square(A, n, i))
        if i > 0:
            value = minimum(value, load(sigma, i - 1))
        store(sigma, i, value)


@kernel
def least_squares(A, c, n, size, damping, tolerance, x):
    """Adds to x the shortest y that minimises |A y - c|^2 + damping^2 |y|^2; the rank of A and the length of A y - c.

    A and c are changed. size: the square of the numbers that c is made of. A length that is zero up to rounding is
    given as zero: then A y = c has a solution.
    """
    orthogonalise(A, c, n)
    largest = square(A, n, 0)
    rank, missed, smallest = fill(A, 0.0), fill(A, 0.0), largest
    for i in range(SIX):
        value, part = square(A, n, i), load(c, i)
        counts = where_above(value, tolerance * tolerance * largest, fill(A, 1.0), 0.0)
        gain = counts / where_above(counts, 0.0, value + damping * damping, 1.0)
        for k in range(n):
            add(x, k, gain * part * load(A, n * i + k))
        part = where_above(counts, 0.0, damping * damping * gain, 1.0) * part
        missed = missed + part * part
        rank = rank + counts
        smallest = where_above(counts, 0.0, minimum(value, smallest), smallest)
    # rounding turns the range of A by its own size times the condition number
    condition = largest / where_above(smallest, 0.0, smallest, 1.0)
    noise = rank_tolerance(A, n) * rank_tolerance(A, n) * condition * size
    return rank, where_above(noise, missed, 0.0, sqrt(missed))  # infinite squares are no rounding
