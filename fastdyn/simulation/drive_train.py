"""The drive train of one joint: motor, gear and spring. Plain NumPy.

Norrlöf, Modeling of industrial robots, LiTH-ISY-R-2208, 1999, section 3.3; equation numbers are those of the report.
The motor (inertia J_m, friction f_m) turns the arm (J_a, f_a) through a gear, theta_a = r theta_m at rest, and a spring
k with a damper d on the arm's side of the gear. With the twist delta = r theta_m - theta_a and the spring's torque
s = k delta + d delta':

    J_m theta_m'' + f_m theta_m' + e s = tau_m
    J_a theta_a'' + f_a theta_a' -   s = 0

Two readings of the same letters, which differ in the factor e on the motor's side:

    "energy"   e = r   what a gear does: it passes on all power. For simulation.
    "report"   e = 1   (3.69) to (3.71) as printed, which Table 3.1 was identified with. Energy is not conserved.

The arm's equation may be divided by r: if the report's numbers J_a, f_a, k, d are those of an energy-consistent joint
times r, all coefficients of both models are equal, and with them states, poles and transfer functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError
from fastdyn.simulation.state_space import Mode, StateSpace, finite

Reading = Literal["energy", "report"]

ARM_SIDE = ("J_a", "f_a", "k", "d")  # the report's are those of an energy-consistent joint times r
NOT_ZERO = ("J_m", "J_a", "k", "r")
TABLE_3_1 = MappingProxyType({"J_m": 5.9e-4, "J_a": 5.2e-2, "f_m": 1.3e-2, "k": 677.2})  # f_a and d: zero
TABLE_3_1_DEVIATIONS = MappingProxyType({"J_m": 2.2e-5, "J_a": 1.8e-3, "f_m": 3.2e-4, "k": 29.0})
GEAR = 118.461539  # of the IRB 1400's joint 1: 1 / r


@dataclass(frozen=True, kw_only=True)
class FlexibleJoint:
    """Motor and arm of one joint with a spring between them.

    J_m, J_a: inertias of motor and arm, kg m^2. k: stiffness, N m/rad. r: gear ratio, theta_a = r theta_m at rest.
    f_m, f_a: viscous friction of motor and arm, d: damping of the spring, N m s/rad. J_a, f_a, k and d are on
    the arm's side of the gear. reading: "energy" or "report", how the numbers are meant; see the module.

    >>> joint = FlexibleJoint(J_m=1e-3, J_a=10.0, k=4e4, r=0.01)
    >>> round(joint.three_states().resonance().frequency, 4)  # sqrt(k r^2 / J_m + k / J_a)
    89.4427
    """

    J_m: float
    J_a: float
    k: float
    r: float
    f_m: float = 0.0
    f_a: float = 0.0
    d: float = 0.0
    reading: Reading = "energy"

    def __post_init__(self) -> None:
        check_reading(self.reading)
        for each in fields(self):
            if each.name != "reading":
                value = _number(getattr(self, each.name), each.name, above_zero=each.name in NOT_ZERO)
                object.__setattr__(self, each.name, value)

    # ------------------------------------------------------------------------------------------ readings

    def energy_consistent(self) -> FlexibleJoint:
        """The same joint in the energy-consistent reading: the report's J_a, f_a, k and d divided by r.

        A, B and C are the same, element by element: the similarity of the two models is the identity.

        >>> joint = irb1400_joint_1("report").energy_consistent()
        >>> round(joint.J_a, 2), round(joint.k)  # kg m^2, N m/rad
        (6.16, 80222)
        """
        return self._scaled(1 / self.r, "energy") if self.reading == "report" else self

    def as_report(self) -> FlexibleJoint:
        """The same joint with the numbers of the report's reading: J_a, f_a, k and d times r.

        >>> round(irb1400_joint_1().as_report().k, 1)
        677.2
        """
        return self._scaled(self.r, "report") if self.reading == "energy" else self

    def _scaled(self, factor: float, reading: Reading) -> FlexibleJoint:
        arm = {name: getattr(self, name) * factor for name in ARM_SIDE}
        return replace(self, reading=reading, **arm)

    @property
    def _on_motor(self) -> float:
        """The motor's share e of the spring's torque."""
        return self.r if self.reading == "energy" else 1.0

    # ------------------------------------------------------------------------------------------ linear models

    def four_states(self) -> StateSpace:
        """(3.72), (3.73): angles and velocities of motor and arm; the output is the motor's angle. Input: tau_m, N m.

        >>> irb1400_joint_1("report").four_states().A.round(1).tolist()[1]  # -k r / J_m, -f_m / J_m, k / J_m, 0
        [-9689.2, -22.0, 1147796.6, 0.0]
        """
        J_m, J_a, k, d, r, e = self.J_m, self.J_a, self.k, self.d, self.r, self._on_motor
        A = [
            [0, 1, 0, 0],
            [-e * k * r / J_m, -(self.f_m + e * d * r) / J_m, e * k / J_m, e * d / J_m],
            [0, 0, 0, 1],
            [k * r / J_a, d * r / J_a, -k / J_a, -(self.f_a + d) / J_a],
        ]
        names = ("motor angle", "motor velocity", "arm angle", "arm velocity")
        B, C = [[0], [1 / J_m], [0], [0]], [[1, 0, 0, 0]]
        return StateSpace(np.array(A), np.array(B), np.array(C), names, ("rad", "rad/s") * 2, "flexible joint")

    def three_states(self) -> StateSpace:
        """The model of section 3.3.2: velocities of motor and arm, and the twist; the output is the motor's velocity.

        Where the report prints -k / J_a, this has k / J_a, which (3.71) asks for: with the other sign, the
        spring would drive the arm backward, and the model is unstable.

        >>> irb1400_joint_1("report").three_states().A.round(1).tolist()[2]  # the twist's rate: r theta_m' - theta_a'
        [0.0, -1.0, 0.0]
        """
        J_m, J_a, k, d, r, e = self.J_m, self.J_a, self.k, self.d, self.r, self._on_motor
        A = [
            [-(self.f_m + e * d * r) / J_m, e * d / J_m, -e * k / J_m],
            [d * r / J_a, -(self.f_a + d) / J_a, k / J_a],
            [r, -1, 0],
        ]
        names, units = ("motor velocity", "arm velocity", "twist"), ("rad/s", "rad/s", "rad")
        B, C = [[1 / J_m], [0], [0]], [[1, 0, 0]]
        return StateSpace(np.array(A), np.array(B), np.array(C), names, units, "flexible joint")

    # ------------------------------------------------------------------------------------------ energy

    def energy(self, x: ArrayLike) -> Array:
        """Energy of motor, arm and spring, J, (...), in states of either model, (..., 4) or (..., 3).

        By the numbers as they are: in the report's reading, it is not conserved even without friction (r != 1).

        >>> joint = FlexibleJoint(J_m=2.0, J_a=4.0, k=8.0, r=1.0)
        >>> float(joint.energy([1.0, 1.0, 1.0]))  # (2 + 4 + 8) / 2
        7.0
        """
        motor, arm, twist = self._motion(x)
        found: Array = (self.J_m * motor**2 + self.J_a * arm**2 + self.k * twist**2) / 2
        return found

    def power(self, x: ArrayLike, tau: ArrayLike = 0.0) -> Array:
        """The rate of `energy`, W, (...): what the motor's torque gives, less what friction and the damper take.

            dE/dt = tau theta_m' - f_m theta_m'^2 - f_a theta_a'^2 - d delta'^2 + (r - e) s theta_m'

        The last term is zero in the energy-consistent reading, e = r. tau: (...), N m.

        >>> joint = FlexibleJoint(J_m=2.0, J_a=4.0, k=8.0, r=1.0, f_m=0.5, d=3.0)
        >>> float(joint.power([2.0, 1.0, 0.0], tau=10.0))  # 10 2 - 0.5 2^2 - 3 1^2
        15.0
        """
        motor, arm, twist = self._motion(x)
        rate = self.r * motor - arm
        lost = self.f_m * motor**2 + self.f_a * arm**2 + self.d * rate**2
        gained = (self.r - self._on_motor) * (self.k * twist + self.d * rate) * motor
        found: Array = finite(tau, "tau") * motor - lost + gained
        return found

    def _motion(self, x: ArrayLike) -> tuple[Array, Array, Array]:
        """Motor velocity, arm velocity and twist from the states of either model."""
        x = finite(x, "x")
        if x.ndim and x.shape[-1] == 4:
            return x[..., 1], x[..., 3], self.r * x[..., 0] - x[..., 2]
        if x.ndim and x.shape[-1] == 3:
            return x[..., 0], x[..., 1], x[..., 2]
        raise ArgumentError(f"x: expected (..., 4) or (..., 3), states of either model, found shape {x.shape}")

    # ------------------------------------------------------------------------------------------ uncertainty

    def spread(self, deviations: Mapping[str, float], of: Literal["resonance", "antiresonance"] = "resonance") -> Mode:
        """Standard deviations of frequency, rad/s, and damping ratio from those of the parameters, to first order.

        deviations: of this joint's own numbers, by their names; taken as independent of each other. The slopes are
        central differences.

        >>> spread = irb1400_joint_1().spread(irb1400_joint_1_deviations())
        >>> round(spread.frequency, 2)  # of 150.3 rad/s
        3.75
        """
        if of not in ("resonance", "antiresonance"):
            raise ArgumentError(f"of: expected 'resonance' or 'antiresonance', found {of!r}")
        variance = np.zeros(2)
        for name, deviation in deviations.items():
            if name not in {each.name for each in fields(self)} - {"reading"}:
                raise ArgumentError(f"deviations: expected names of a joint's numbers, found {name!r}")
            value = getattr(self, name)
            step = np.cbrt(np.finfo(float).eps) * value
            if not step:
                raise ArgumentError(
                    f"deviations[{name!r}]: expected one of a number that is not zero, found {name} = 0"
                )
            more, less = (
                np.array(getattr(replace(self, **{name: value + h}).three_states(), of)()) for h in (step, -step)
            )
            slope = (more - less) / (2 * step)
            variance += (slope * _number(deviation, f"deviations[{name!r}]")) ** 2
        return Mode(*np.sqrt(variance).tolist())


def irb1400_joint_1(reading: Reading = "energy") -> FlexibleJoint:
    """Joint 1 of the ABB IRB 1400 as Table 3.1 has it, the other joints at rest.

    reading "report": the table's numbers. "energy": J_a / r and k / r in their place; poles and transfer function are the
    same.

    >>> resonance = irb1400_joint_1().three_states().resonance()
    >>> round(resonance.frequency, 3), round(resonance.damping, 4)
    (150.312, 0.031)
    """
    check_reading(reading)
    joint = FlexibleJoint(**TABLE_3_1, r=1 / GEAR, reading="report")
    return joint if reading == "report" else joint.energy_consistent()


def irb1400_joint_1_deviations(reading: Reading = "energy") -> dict[str, float]:
    """The standard deviations of Table 3.1, of the numbers of `irb1400_joint_1` in the same reading; r is exact.

    >>> irb1400_joint_1_deviations("report")["k"], round(irb1400_joint_1_deviations()["k"])
    (29.0, 3435)
    """
    check_reading(reading)
    factor = 1.0 if reading == "report" else GEAR
    return {name: value * (factor if name in ARM_SIDE else 1.0) for name, value in TABLE_3_1_DEVIATIONS.items()}


def check_reading(reading: str) -> None:
    """Raises if there is no such reading."""
    if reading not in get_args(Reading):
        raise ArgumentError(f"reading: expected 'energy' or 'report', found {reading!r}")


def _number(value: ArrayLike, name: str, above_zero: bool = False) -> float:
    """One finite number, above zero or not below it."""
    array = finite(value, name)
    expected = "above zero" if above_zero else "not below zero"
    if array.ndim:
        raise ArgumentError(f"{name}: expected one number, found shape {array.shape}")
    if array < 0 or (above_zero and array == 0):
        raise ArgumentError(f"{name}: expected a number {expected}, found {array}")
    return float(array)
