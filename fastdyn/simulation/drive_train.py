"""The drive train of one joint as a linear model: motor, gear, spring, arm. Plain NumPy.

Norrlöf, Modeling of industrial robots, LiTH-ISY-R-2208, 1999, section 3.3; numbers of equations are the report's. The
motor (inertia J_m, friction f_m) turns the arm (J_a, f_a) through a gear, theta_a = r theta_m at rest, and a spring k
with a damper d on the arm's side of the gear. With the twist delta = r theta_m - theta_a and s = k delta + d delta':

    J_m theta_m'' + f_m theta_m' + r s = tau_m
    J_a theta_a'' + f_a theta_a' -   s = 0

This conserves energy. (3.69) to (3.71) print s for r s: their J_a, f_a, k and d are those used here times r, and then
all coefficients, poles and transfer functions of both readings are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import Array, real_numbers
from fastdyn.errors import ArgumentError, ArgumentTypeError
from fastdyn.simulation.flexible import FlexibleJoints

NOT_ZERO = ("J_m", "J_a", "k", "r")
GEAR = 118.461539  # of the IRB 1400's joint 1: 1 / r


class Mode(NamedTuple):
    """A pair of complex poles or zeros, -zeta w +- i w sqrt(1 - zeta^2): frequency w, rad/s, damping ratio zeta.

    >>> mode = Mode(frequency=100.0, damping=0.6)
    >>> round(mode.hertz, 3), mode.root
    (15.915, (-60+80j))
    """

    frequency: float
    damping: float

    @property
    def hertz(self) -> float:
        """The frequency w in Hz."""
        return self.frequency / (2 * np.pi)

    @property
    def root(self) -> complex:
        """The one above the real axis, 1/s: decay and frequency of a free oscillation."""
        return complex(-self.damping * self.frequency, self.frequency * np.sqrt(1 - self.damping**2))


class LinearModel(NamedTuple):
    """dx/dt = A x + B u, y = C x: A (n, n), B (n, 1), C (1, n); names and units of the states. u: motor torque, N m."""

    A: Array
    B: Array
    C: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    def poles(self) -> NDArray[np.complex128]:
        """The eigenvalues of A, 1/s, (n,), by size."""
        found = np.linalg.eigvals(self.A).astype(np.complex128)
        return found[np.lexsort((found.imag, abs(found).round(9)))]

    def frequency_response(self, w: ArrayLike) -> NDArray[np.complex128]:
        """C (i w - A)^-1 B at the frequencies w, rad/s, of any shape.

        >>> joint = FlexibleJoint(J_m=1.0, J_a=1.0, k=1.0, r=1.0)
        >>> complex(joint.three_states().frequency_response(2.0)).imag  # (1 - w^2) / (w (2 - w^2)): friction is zero
        -0.75
        """
        s = 1j * real_numbers(w, "w")[..., None, None]
        try:
            found: NDArray[np.complex128] = (self.C @ np.linalg.solve(s * np.eye(len(self.A)) - self.A, self.B))[
                ..., 0, 0
            ]
        except np.linalg.LinAlgError:
            raise ArgumentError(f"w: expected frequencies that are no poles, found one of {self.poles()}") from None
        return found


@dataclass(frozen=True, kw_only=True)
class FlexibleJoint:
    """Motor and arm of one joint with a spring between them.

    J_m, J_a: inertias of motor and arm, kg m^2. k: stiffness, N m/rad. r: gear ratio, theta_a = r theta_m at rest.
    f_m, f_a: viscous friction of motor and arm, d: damping of the spring, N m s/rad. J_a, f_a, k and d are on the arm's
    side of the gear, in the reading that conserves energy (see the module). `fastdyn.robots.flexible_joint(joint)` is
    the robot for `simulate(..., flexible=joint.springs())`, whose torques are on the arm's side: tau_m / r.

    >>> joint = FlexibleJoint(J_m=1e-3, J_a=10.0, k=4e4, r=0.01)
    >>> round(joint.resonance().frequency, 4)  # sqrt(k r^2 / J_m + k / J_a)
    89.4427
    """

    J_m: float
    J_a: float
    k: float
    r: float
    f_m: float = 0.0
    f_a: float = 0.0
    d: float = 0.0

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self)):
            value = real_numbers(getattr(self, name), name)
            least = "above zero" if name in NOT_ZERO else "not below zero"
            if value.ndim or not np.isfinite(value) or value < 0 or (name in NOT_ZERO and value == 0):
                raise ArgumentError(f"{name}: expected one finite number {least}, found {value}")
            object.__setattr__(self, name, float(value))

    def springs(self) -> FlexibleJoints:
        """Spring, damper and friction of the arm, for simulations."""
        return FlexibleJoints(self.k, self.d, self.f_a)

    def four_states(self) -> LinearModel:
        """(3.72), (3.73): angles and velocities of motor and arm; the output is the motor's angle.

        >>> irb1400_joint_1().four_states().A.round(1).tolist()[1]  # -k r / J_m, -f_m / J_m, k / J_m, 0 of the report
        [-9689.2, -22.0, 1147796.6, 0.0]
        """
        (m_m, m_a, m_d), (a_m, a_a, a_d) = self._rates()
        r = self.r
        A = [[0, 1, 0, 0], [r * m_d, m_m, -m_d, m_a], [0, 0, 0, 1], [r * a_d, a_m, -a_d, a_a]]
        names = ("motor angle", "motor velocity", "arm angle", "arm velocity")
        B = [[0], [1 / self.J_m], [0], [0]]
        return LinearModel(np.array(A), np.array(B), np.eye(1, 4), names, ("rad", "rad/s") * 2)

    def three_states(self) -> LinearModel:
        """Section 3.3.2: velocities of motor and arm, and the twist; the output is the motor's velocity.

        Where the report prints -k / J_a, this has +k / J_a, as (3.71) says: the spring pulls the arm after the motor.

        >>> irb1400_joint_1().three_states().A[1].round(1) + 0.0  # 0, 0, k / J_a
        array([    0. ,     0. , 13023.1])
        """
        A = [*self._rates(), (self.r, -1.0, 0.0)]
        names, units = ("motor velocity", "arm velocity", "twist"), ("rad/s", "rad/s", "rad")
        return LinearModel(np.array(A), np.array([[1 / self.J_m], [0], [0]]), np.eye(1, 3), names, units)

    def _rates(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """(3.71): what theta_m', theta_a' and the twist add to the accelerations of motor and arm."""
        J_m, J_a, k, d, r = self.J_m, self.J_a, self.k, self.d, self.r
        motor = -(self.f_m + r * d * r) / J_m, r * d / J_m, -r * k / J_m
        return motor, (d * r / J_a, -(self.f_a + d) / J_a, k / J_a)

    def resonance(self) -> Mode:
        """The pair of complex poles: the free oscillation of motor against arm; an error if it is overdamped."""
        return _mode(self.three_states().poles(), "poles")

    def antiresonance(self) -> Mode:
        """The pair of complex zeros of the motor's motion: the arm oscillates and the motor stands still.

        >>> round(irb1400_joint_1().antiresonance().frequency, 2)  # sqrt(k / J_a)
        114.12
        """
        return _mode(np.roots([self.J_a, self.f_a + self.d, self.k]).astype(np.complex128), "zeros")

    def spread(self, deviations: Mapping[str, float]) -> Mode:
        """Standard deviations of the resonance from those of the joint's own numbers, to first order, independent.

        >>> round(irb1400_joint_1().spread(irb1400_joint_1_deviations()).frequency, 2)  # of 150.31 rad/s
        3.75
        """
        if not isinstance(deviations, Mapping):
            raise ArgumentTypeError(f"deviations is a {type(deviations).__name__}: expected numbers by name")
        variance = np.zeros(2)
        for name, deviation in deviations.items():
            value = getattr(self, name, None)
            if not isinstance(value, float) or value == 0:
                raise ArgumentError(f"deviations: expected names of numbers that are not zero, found {name!r}: {value}")
            step = 1e-5 * value
            more, less = (np.array(replace(self, **{name: value + h}).resonance()) for h in (step, -step))
            variance += ((more - less) / (2 * step) * deviation) ** 2
        return Mode(*np.sqrt(variance).tolist())

    def bode(self, w: ArrayLike | None = None, title: str = "flexible joint") -> Any:
        """A Matplotlib figure: magnitude and phase from motor torque to the velocities of motor and arm, over Hz.

        The arm's velocity is divided by r, so that both are the same at low frequencies. w: (K,) rad/s, a decade to
        either side of the resonance if not given.

        >>> [ax.get_ylabel() for ax in irb1400_joint_1().bode().axes]
        ['magnitude [dB re 1 rad/s per N m]', 'phase [deg]']
        """
        from matplotlib.figure import Figure

        resonance, antiresonance = self.resonance(), self.antiresonance()
        model = self.three_states()
        w = resonance.frequency * np.geomspace(0.1, 10, 1000) if w is None else real_numbers(w, "w")
        figure = Figure(figsize=(8, 6.5), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for label, C, style in (("motor", model.C, "-"), ("arm, divided by r", np.eye(1, 3, 1) / self.r, "--")):
            response = model._replace(C=C).frequency_response(w)
            upper.semilogx(w / (2 * np.pi), 20 * np.log10(abs(response)), style, color="black", label=label)
            lower.semilogx(w / (2 * np.pi), np.degrees(np.unwrap(np.angle(response))), style, color="black")
        for what, mode, style in (("resonance", resonance, "-."), ("antiresonance", antiresonance, ":")):
            for ax in (upper, lower):
                label = f"{what} {mode.hertz:.2f} Hz, damping ratio {mode.damping:.3f}"
                ax.axvline(mode.hertz, linestyle=style, color="0.5", label=label)
        upper.set(ylabel="magnitude [dB re 1 rad/s per N m]", title=f"{title}: motor torque to velocity")
        lower.set(ylabel="phase [deg]", xlabel="frequency [Hz]")
        upper.legend(fontsize="small")
        for ax in (upper, lower):
            ax.grid(True, which="both", color="0.92")
        return figure


def irb1400_joint_1() -> FlexibleJoint:
    """Joint 1 of the ABB IRB 1400, the other joints at rest: Table 3.1, with its J_a / r and k / r on the arm's side.

    >>> joint = irb1400_joint_1()
    >>> round(joint.J_a, 2), round(joint.k)  # kg m^2, N m/rad; the table has 0.052 and 677.2
    (6.16, 80222)
    >>> round(joint.resonance().frequency, 3), round(joint.resonance().damping, 4)
    (150.312, 0.031)
    """
    return FlexibleJoint(J_m=5.9e-4, J_a=5.2e-2 * GEAR, f_m=1.3e-2, k=677.2 * GEAR, r=1 / GEAR)


def irb1400_joint_1_deviations() -> dict[str, float]:
    """The standard deviations of Table 3.1, of the numbers of `irb1400_joint_1`; r is exact.

    >>> round(irb1400_joint_1_deviations()["k"])  # N m/rad; the table has 29.0
    3435
    """
    return {"J_m": 2.2e-5, "J_a": 1.8e-3 * GEAR, "f_m": 3.2e-4, "k": 29.0 * GEAR}


def _mode(roots: NDArray[np.complex128], what: str) -> Mode:
    """Frequency and damping of the complex pair among roots."""
    root = roots[np.argmax(roots.imag)]
    if root.imag <= 1e-7 * abs(root):
        raise ArgumentError(f"{what}: expected a pair that oscillates, found {roots.tolist()}")
    return Mode(float(abs(root)), float(-root.real / abs(root)))
