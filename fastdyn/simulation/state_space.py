"""Linear models on state space form: poles, zeros, responses in frequency and time. Plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import Array, real_numbers
from fastdyn.errors import ArgumentError, NotFiniteError
from fastdyn.show.drawing import plain, pyplot

Complex = NDArray[np.complex128]

EVEN = 1e-6  # steps of t may differ by this share of a step, and by what rounding of t itself does to them
REAL = 1e-7  # poles whose imaginary parts are a smaller share of the largest pole count as real
PADE = 6  # degree of the Padé approximant; with norms up to 1/2 its error is below 1e-16


class Mode(NamedTuple):
    """A pair of complex poles or zeros -zeta w +- i w sqrt(1 - zeta^2): frequency w, rad/s, and damping ratio zeta.

    >>> mode = Mode(frequency=100.0, damping=0.6)
    >>> mode.damped_frequency, round(mode.hertz, 3)
    (80.0, 15.915)
    """

    frequency: float
    damping: float

    @property
    def damped_frequency(self) -> float:
        """The imaginary part, rad/s: the frequency of a free oscillation."""
        return float(self.frequency * np.sqrt(1.0 - self.damping**2))

    @property
    def hertz(self) -> float:
        """The frequency w in Hz."""
        return float(self.frequency / (2 * np.pi))


class Response(NamedTuple):
    """A simulated motion: times t (T,) s, states x (..., T, n), output y (..., T)."""

    t: Array
    x: Array
    y: Array


@dataclass(frozen=True, eq=False)
class StateSpace:
    """dx/dt = A x + B u, y = C x with one input u and one output y.

    A: (n, n), B: (n, 1), C: (1, n). names, units: of the states. title: what the model is of.

    >>> spring = StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]], ("x", "v"), ("m", "m/s"))  # 1 kg at 4 N/m
    >>> round(spring.resonance().frequency, 9)
    2.0
    """

    A: Array = field(repr=False)
    B: Array = field(repr=False)
    C: Array = field(repr=False)
    names: tuple[str, ...]
    units: tuple[str, ...]
    title: str = "linear model"

    def __post_init__(self) -> None:
        n = len(self.names)
        if len(self.units) != n:
            raise ArgumentError(f"units: expected {n}, one for each of {self.names}, found {len(self.units)}")
        for name, shape in (("A", (n, n)), ("B", (n, 1)), ("C", (1, n))):
            matrix = np.array(finite(getattr(self, name), name))
            if matrix.shape != shape:
                raise ArgumentError(f"{name}: expected shape {shape} for {n} states, found shape {matrix.shape}")
            matrix.flags.writeable = False
            object.__setattr__(self, name, matrix)

    def with_output(self, name: str) -> StateSpace:
        """The same model with another state as its output.

        >>> spring = StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]], ("x", "v"), ("m", "m/s"))
        >>> spring.with_output("v").C.tolist()
        [[0.0, 1.0]]
        """
        if name not in self.names:
            raise ArgumentError(f"name: expected one of {', '.join(self.names)}, found {name!r}")
        return replace(self, C=np.array([[float(name == each) for each in self.names]]))

    # ------------------------------------------------------------------------------------------ poles and zeros

    def poles(self) -> Complex:
        """The eigenvalues of A, 1/s, (n,), by size."""
        return _sorted(np.linalg.eigvals(self.A))

    def zeros(self) -> Complex:
        """The zeros of the transfer function from u to y, 1/s, by size: the poles of motions with y = 0.

        If C A^j B is zero for j < m and not for j = m, those motions have C A^j x = 0 for all j up to m, and the input
        that keeps them there is -C A^(m+1) x / (C A^m B).

        >>> spring = StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]], ("x", "v"), ("m", "m/s"))
        >>> spring.zeros().tolist(), (abs(spring.with_output("v").zeros()) < 1e-15).tolist()
        ([], [True])
        """
        rows = [self.C]
        while abs(gain := float((rows[-1] @ self.B)[0, 0])) <= 1e-14 * np.linalg.norm(rows[-1]) * np.linalg.norm(
            self.B
        ):
            if len(rows) == len(self.A):
                raise ArgumentError("C: expected an output that the input reaches, found one that it never moves")
            rows.append(rows[-1] @ self.A)
        kept = np.vstack([row / np.linalg.norm(row) for row in rows])
        basis = np.linalg.svd(kept)[2][len(rows) :].T  # of the states with y and its derivatives zero
        closed = self.A - self.B @ (rows[-1] @ self.A) / gain
        return _sorted(np.linalg.eigvals(basis.T @ closed @ basis))

    def resonance(self) -> Mode:
        """Frequency and damping ratio of the least damped pair of complex poles; an error if all are real."""
        return _oscillating(self.poles(), "poles")

    def antiresonance(self) -> Mode:
        """The same of the zeros: near this frequency, the input hardly moves the output."""
        return _oscillating(self.zeros(), "zeros")

    # ------------------------------------------------------------------------------------------ frequency

    def frequency_response(self, w: ArrayLike) -> Complex:
        """C (i w - A)^-1 B at the frequencies w, rad/s, of any shape.

        >>> spring = StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]], ("x", "v"), ("m", "m/s"))
        >>> spring.frequency_response([0.0, 4.0]).real.round(6).tolist()  # 1 / (4 - w^2)
        [0.25, -0.083333]
        """
        w = np.asarray(finite(w, "w"))
        matrices = 1j * w[..., None, None] * np.eye(len(self.A)) - self.A
        try:
            response: Complex = (self.C @ np.linalg.solve(matrices, self.B.astype(complex)))[..., 0, 0]
        except np.linalg.LinAlgError as problem:
            raise ArgumentError(f"w: expected frequencies that are no poles, found one of {self.poles()}") from problem
        return response

    def bode(self, w: ArrayLike | None = None) -> Any:
        """A matplotlib Figure: magnitude in dB and phase in degrees over Hz, resonance and antiresonance marked.

        w: rad/s; if not given, a decade to both sides of the poles and zeros that oscillate.
        """
        marks = [(name, mode) for name, mode in self._modes().items() if mode is not None]
        if w is None:
            ends = [mode.frequency for _, mode in marks] or [max(float(abs(self.poles()).max()), 1.0)]
            w = np.geomspace(min(ends) / 10, 10 * max(ends), 2000)
        w = np.sort(np.atleast_1d(finite(w, "w")).ravel())
        response = self.frequency_response(w)
        name, unit = self._output()
        figure, (upper, lower) = pyplot("bode").subplots(2, 1, sharex=True, figsize=(8, 6.5), layout="constrained")
        upper.semilogx(w / (2 * np.pi), 20 * np.log10(abs(response)), color="black")
        lower.semilogx(w / (2 * np.pi), np.degrees(np.unwrap(np.angle(response))), color="black")
        for (what, mode), style in zip(marks, ("--", ":"), strict=False):
            label = f"{what} {mode.hertz:.2f} Hz, damping ratio {mode.damping + 0.0:.3f}"
            for ax in (upper, lower):
                ax.axvline(mode.hertz, linestyle=style, color="tab:red" if style == "--" else "tab:blue", label=label)
        upper.set(ylabel=f"magnitude (dB re 1 ({unit}) / (N m))", title=plain(f"{self.title}: motor torque to {name}"))
        lower.set(ylabel="phase (deg)", xlabel="frequency (Hz)")
        for ax in (upper, lower):
            ax.grid(True, which="both", color="0.9")
        if marks:
            upper.legend(fontsize=9)
        return figure

    def _modes(self) -> dict[str, Mode | None]:
        found: dict[str, Mode | None] = {}
        for what in ("resonance", "antiresonance"):
            try:
                found[what] = getattr(self, what)()
            except ArgumentError:
                found[what] = None
        return found

    def _output(self) -> tuple[str, str]:
        """Name and unit of the output, if it is a state."""
        (states,) = np.nonzero(self.C[0])
        alone = len(states) == 1 and self.C[0, states[0]] == 1.0
        return (self.names[states[0]], self.units[states[0]]) if alone else ("output", "output")

    # ------------------------------------------------------------------------------------------ time

    def simulate(self, u: ArrayLike, t: ArrayLike, x0: ArrayLike | None = None) -> Response:
        """The motion from x0 (zero if not given), exact for an input that is held: u[..., k] from t[k] to t[k+1].

        t: (T,) evenly spaced, s. u: one number, or (..., T). x0: (..., n).

        >>> mass = StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], ("x", "v"), ("m", "m/s"))
        >>> mass.simulate(1.0, [0.0, 1.0, 2.0]).y.tolist()  # t^2 / 2
        [0.0, 0.5, 2.0]
        """
        n = len(self.A)
        t = np.asarray(finite(t, "t"))
        u = np.asarray(finite(u, "u"))
        x = np.zeros(n) if x0 is None else np.asarray(finite(x0, "x0"))
        if t.ndim != 1 or len(t) < 2:
            raise ArgumentError(f"t: expected (T,) times, two or more, found shape {t.shape}")
        steps = np.diff(t)
        dt = float(t[-1] - t[0]) / (len(t) - 1)
        if dt <= 0 or abs(steps - dt).max() > EVEN * dt + 4 * np.spacing(abs(t).max()):
            raise ArgumentError(
                f"t: expected rising, evenly spaced times, found steps {steps.min()} to {steps.max()} s"
            )
        if u.ndim and u.shape[-1] != len(t):
            raise ArgumentError(f"u: expected one number or (..., {len(t)}), one for each time, found shape {u.shape}")
        if not x.ndim or x.shape[-1] != n:
            raise ArgumentError(f"x0: expected (..., {n}), one for each of {', '.join(self.names)}, found {x.shape}")
        u = np.broadcast_to(u, (*u.shape[:-1], len(t)))
        # exp([[A, B], [0, 0]] dt) holds exp(A dt) and its integral times B
        both = expm(np.block([[self.A, self.B], [np.zeros((1, n + 1))]]) * dt)
        carry, push = both[:n, :n].T, both[:n, n]
        x = np.broadcast_to(x, (*np.broadcast_shapes(x.shape[:-1], u.shape[:-1]), n))
        states = np.empty((*x.shape[:-1], len(t), n))
        states[..., 0, :] = x
        for k in range(len(t) - 1):
            states[..., k + 1, :] = states[..., k, :] @ carry + u[..., k, None] * push
        return Response(t, states, states @ self.C[0])

    def step(self, t: ArrayLike) -> Response:
        """The motion from rest under u = 1: see `simulate`."""
        return self.simulate(1.0, t)


def expm(A: ArrayLike) -> Array:
    """The exponential of a square matrix, by scaling and squaring of a Padé approximant (Golub and Van Loan, 11.3).

    >>> expm([[0.0, 1.0], [0.0, 0.0]]).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    A = np.asarray(finite(A, "A"))
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ArgumentError(f"A: expected a square matrix, found shape {A.shape}")
    norm = float(abs(A).sum(axis=1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm else 0
    X = A / 2.0**halvings
    power = over = under = np.eye(len(A))
    c = 1.0
    for k in range(1, PADE + 1):
        c *= (PADE - k + 1) / (k * (2 * PADE - k + 1))
        power = X @ power
        over = over + c * power
        under = under + (-1) ** k * c * power
    found: Array = np.asarray(np.linalg.solve(under, over), dtype=np.float64)
    for _ in range(halvings):
        found = found @ found
    return found


def finite(value: ArrayLike, name: str) -> Array:
    """An array of finite float64 numbers; errors name the argument."""
    array = np.asarray(real_numbers(value, name), dtype=np.float64)
    if not np.isfinite(array).all():
        raise NotFiniteError(f"{name}: expected finite numbers, found {array[~np.isfinite(array)][0]}")
    return array


def _sorted(roots: NDArray[Any]) -> Complex:
    """By modulus, then by imaginary part."""
    found: Complex = roots[np.lexsort((roots.imag, abs(roots).round(9)))].astype(np.complex128)
    return found


def _oscillating(roots: Complex, what: str) -> Mode:
    """The least damped pair among complex roots."""
    pairs = roots[roots.imag > REAL * abs(roots).max(initial=0.0)]
    if not len(pairs):
        raise ArgumentError(f"{what}: expected a pair that oscillates, found {roots.tolist()}")
    root = pairs[np.argmin(-pairs.real / abs(pairs))]
    return Mode(float(abs(root)), float(-root.real / abs(root)))
