"""Vectors as triples of scalars, 3x3 matrices as triples of rows, both also in rows of a buffer."""

from fastdyn.scalars import add, fill, kernel, load, store


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


@kernel
def add_vector(buffer, row, v):
    add(buffer, row, v[0])
    add(buffer, row + 1, v[1])
    add(buffer, row + 2, v[2])


@kernel
def add_matrix(buffer, row, M):
    add_vector(buffer, row, M[0])
    add_vector(buffer, row + 3, M[1])
    add_vector(buffer, row + 6, M[2])


@kernel
def matrix_plus(A, B):
    return plus(A[0], B[0]), plus(A[1], B[1]), plus(A[2], B[2])


@kernel
def matrix_minus_outer(M, a, b):
    """M - a b^T."""
    return minus(M[0], times(a[0], b)), minus(M[1], times(a[1], b)), minus(M[2], times(a[2], b))


# A symmetric matrix is one tuple of six: xx, yy, zz, xy, xz, yz


@kernel
def symmetric_plus(A, B):
    return A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5]


@kernel
def symmetric_minus_outer(S, a, b):
    """S - a b^T, where b is a multiple of a."""
    return (
        S[0] - a[0] * b[0], S[1] - a[1] * b[1], S[2] - a[2] * b[2],
        S[3] - a[0] * b[1], S[4] - a[0] * b[2], S[5] - a[1] * b[2],
    )  # fmt: skip


@kernel
def zero_symmetric(buffer):
    zero = fill(buffer, 0.0)
    return zero, zero, zero, zero, zero, zero


@kernel
def load_symmetric(buffer, row):
    return (
        load(buffer, row), load(buffer, row + 1), load(buffer, row + 2),
        load(buffer, row + 3), load(buffer, row + 4), load(buffer, row + 5),
    )  # fmt: skip


@kernel
def store_symmetric(buffer, row, S):
    store_vector(buffer, row, (S[0], S[1], S[2]))
    store_vector(buffer, row + 3, (S[3], S[4], S[5]))


@kernel
def add_symmetric(buffer, row, S):
    add_vector(buffer, row, (S[0], S[1], S[2]))
    add_vector(buffer, row + 3, (S[3], S[4], S[5]))
