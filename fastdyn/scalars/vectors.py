"""Vectors as triples of scalars, 3x3 matrices as triples of rows, both also in rows of a buffer."""

from fastdyn.scalars import fill, kernel, load, store


@kernel
def plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def negative(a):
    return -a[0], -a[1], -a[2]


@kernel
def times(k, a):
    return k * a[0], k * a[1], k * a[2]


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def column(M, k):
    """Column k of a matrix, or row k of its transpose."""
    return M[0][k], M[1][k], M[2][k]


@kernel
def transposed(M):
    return column(M, 0), column(M, 1), column(M, 2)


@kernel
def matrix_vector(M, v):
    """M v: 9 multiplications, 6 additions."""
    return dot(M[0], v), dot(M[1], v), dot(M[2], v)


@kernel
def transposed_vector(M, v):
    """M^T v."""
    return dot(column(M, 0), v), dot(column(M, 1), v), dot(column(M, 2), v)


@kernel
def matrix_product(A, B):
    """A B: 27 multiplications, 18 additions."""
    return transposed_vector(B, A[0]), transposed_vector(B, A[1]), transposed_vector(B, A[2])


@kernel
def zero_vector(buffer):
    zero = fill(buffer, 0.0)
    return zero, zero, zero


@kernel
def unit_matrix(buffer):
    zero, one = fill(buffer, 0.0), fill(buffer, 1.0)
    return (one, zero, zero), (zero, one, zero), (zero, zero, one)


@kernel
def load_vector(buffer, row):
    return load(buffer, row), load(buffer, row + 1), load(buffer, row + 2)


@kernel
def store_vector(buffer, row, v):
    store(buffer, row, v[0])
    store(buffer, row + 1, v[1])
    store(buffer, row + 2, v[2])


@kernel
def load_matrix(buffer, row):
    return load_vector(buffer, row), load_vector(buffer, row + 3), load_vector(buffer, row + 6)


@kernel
def store_matrix(buffer, row, M):
    store_vector(buffer, row, M[0])
    store_vector(buffer, row + 3, M[1])
    store_vector(buffer, row + 6, M[2])
