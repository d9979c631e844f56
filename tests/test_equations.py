"""Equations of motion as formulas: those of the documents, symbolically; and the numbers of the compiled robots."""

from __future__ import annotations

import math
import re
import sys
from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin
from typer.testing import CliRunner

import fastdyn as fd
from fastdyn import cli
from fastdyn.formulations import dh_rows, kane_rrt
from fastdyn.formulations.christoffel import christoffel
from fastdyn.formulations.christoffel import work_rows as christoffel_rows
from fastdyn.formulations.newton_euler_link import newton_euler_link
from fastdyn.formulations.newton_euler_link import work_rows as newton_euler_rows
from fastdyn.mechanism.chains import dh_chain
from fastdyn.quantities import QUANTITIES
from fastdyn.scalars.symbols import Symbolic
from fastdyn.specialize.symbolic.polynomials import Polynomial
from tests import samples

EPS = np.finfo(float).eps
q1, q2, q3, v1, v2, v3, a1, a2, a3 = sp.symbols("q1:4 qd1:4 qdd1:4")
m1, m2, m3, m4, m5, g = sp.symbols("m1:6 g")
c2, s2 = cos(q2), sin(q2)


def assert_same(found, expected):
    """Two formulas, or matrices of them, are the same: as sums of exponentials their difference is zero."""
    found, expected = (sp.Matrix(x if isinstance(x, list) else [x]) for x in (found, expected))
    assert found.shape == expected.shape
    for one, other in zip(found, expected, strict=True):
        assert sp.expand((one - other).rewrite(sp.exp)) == 0, f"{one} is not {other}"


def rates(eq):
    """C qd."""
    return eq.C * eq.qd


# ---------------------------------------------------------------------------------------------- the documents' formulas


def test_two_link_arm_of_the_book():
    """Fu, Gonzalez, Lee, section 3.2.6, as 3.4.2 prints it: slender rods of length l."""
    rods = {"a1": "l", "x1": "l/2", "x2": "l/2", "I1zz": "m1*l**2/12", "I2zz": "m2*l**2/12"}
    eq = fd.robots.two_link(2.3, 1.7, 0.6, 9.8062).equations(relations=rods)
    l = sp.Symbol("l")
    D12 = m2 * l**2 / 3 + m2 * l**2 * c2 / 2
    D = sp.Matrix([[m1 * l**2 / 3 + 4 * m2 * l**2 / 3 + m2 * l**2 * c2, D12], [D12, m2 * l**2 / 3]])
    h = sp.Matrix([-m2 * s2 * l**2 * v2**2 / 2 - m2 * s2 * l**2 * v1 * v2, m2 * s2 * l**2 * v1**2 / 2])
    outer = m2 * g * l * cos(q1 + q2) / 2
    c = sp.Matrix([m1 * g * l * cos(q1) / 2 + outer + m2 * g * l * cos(q1), outer])
    assert_same(eq.M, D)
    assert_same(rates(eq), h)
    assert_same(eq.g, c)
    assert_same(eq.tau, D * eq.qdd + h + c)
    assert {letter.name: letter.value for letter in eq.symbols} == {"m1": 2.3, "m2": 1.7, "l": 0.6, "g": 9.8062}


def test_general_planar_arm_of_the_lecture():
    """Udai's, with centres of mass at lc and moments I about them: as printed, to the letter."""
    names = {"a1": "l1", "x1": "lc1", "x2": "lc2", "I1zz": "I1", "I2zz": "I2"}
    eq = fd.robots.planar_2r(3.1, 1.9, 0.8, 0.5, 0.3, 0.35, 0.21, 0.08, 9.81).equations(relations=names)
    l1, lc1, lc2, I1, I2 = sp.symbols("l1 lc1 lc2 I1 I2")
    I12, h = m2 * (lc2**2 + l1 * lc2 * c2) + I2, m2 * l1 * lc2 * s2
    I11 = m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + I2
    outer = m2 * lc2 * g * cos(q1 + q2)
    G1 = m1 * lc1 * g * cos(q1) + m2 * g * (lc2 * cos(q1 + q2) + l1 * cos(q1))
    assert_same(eq.M, sp.Matrix([[I11, I12], [I12, m2 * lc2**2 + I2]]))
    assert_same(rates(eq), sp.Matrix([-h * v2**2 - 2 * h * v1 * v2, h * v1**2]))
    assert_same(eq.g, sp.Matrix([G1, outer]))
    assert str(eq.M[0, 0]) == "I1 + I2 + lc1**2*m1 + m2*(l1**2 + 2*l1*lc2*cos(q2) + lc2**2)"
    assert str(eq.C[0, 1]) == "-l1*lc2*m2*(qd1 + qd2)*sin(q2)"


def test_planar_arm_of_point_masses_of_the_slides():
    """Fakhari, Example 2: masses at the links' ends."""
    arm = fd.from_dh([fd.DHLink(a=0.4, mass=2.0), fd.DHLink(a=0.3, mass=1.5)], gravity=(0, -9.81, 0))
    eq = arm.equations(relations={"a1": "L1", "x1": "L1", "x2": "L2"})
    L1, L2 = sp.symbols("L1 L2")
    M12, c = m2 * (L1 * L2 * c2 + L2**2), m2 * L1 * L2 * s2
    outer = m2 * g * L2 * cos(q1 + q2)
    assert_same(eq.M, [[m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), M12], [M12, m2 * L2**2]])
    assert_same(rates(eq), sp.Matrix([-c * (2 * v1 * v2 + v2**2), c * v1**2]))
    assert_same(eq.g, sp.Matrix([(m1 + m2) * L1 * g * cos(q1) + outer, outer]))


@cache
def rrt():
    rods = {"p2z": "2*L1", "z1": "L1", "p3z": "L2", "z2": "L2"}
    rods |= {"I1xx": "m1*L1**2/3", "I2xx": "m2*L2**2/3", "I2yy": "m2*L2**2/3"}
    return fd.robots.rrt().equations(relations=rods | {"I3xx": "I3x", "I3yy": "I3y", "I3zz": "I3z"})


def test_rrt_arm_of_the_worked_example():
    """T1 (its square restored), T2 and T3, and the gravity forces of (15)."""
    eq = rrt()
    L1, L2, Ix, Iy, Iz = sp.symbols("L1 L2 I3x I3y I3z")
    T1 = sp.Rational(2, 3) * m1 * L1**2 * v1**2
    T2 = m2 / 3 * ((6 * L1**2 + L2**2 + 6 * L1 * L2 * c2 + L2**2 * cos(2 * q2)) * v1**2 + 2 * L2**2 * v2**2)
    speeds = ((2 * L1 + L2 * c2 + c2 * q3) * v1) ** 2 + ((L2 + q3) * v2) ** 2 + v3**2
    T3 = (Ix * c2**2 * v1**2 + Iz * s2**2 * v1**2 + Iy * v2**2 + m3 * speeds) / 2
    assert_same(eq.kinetic, T1 + T2 + T3)
    assert_same(eq.g, sp.Matrix([0, g * m2 * L2 * c2 + g * m3 * c2 * (L2 + q3), g * m3 * s2]))


def test_rrt_arm_by_kanes_equations():
    """(5) to (29), the text that follows the worked example, on the same letters."""
    P = Symbolic.array([[sp.Symbol(x)] for x in ("L1", "L2", "m1", "m2", "m3", "I3x", "I3y", "I3z", "g")])
    state = [Symbolic.array(x) for x in ((q1, q2, q3), (v1, v2, v3), (a1, a2, a3))]
    tau = Symbolic.array([0, 0, 0])
    kane_rrt.kane_rrt(P, None, *state, tau, None)
    third = {0.3333333333333333: sp.Rational(1, 3)}  # a constant of the text
    assert_same(rrt().tau, sp.Matrix([x.expression.xreplace({sp.Float(k): v for k, v in third.items()}) for x in tau]))


@cache
def main_axes():
    figures = fd.robots.MainAxes(rc2=(0.02, 0.3), rc5=(-0.1, 0.03), f=(5.0, 6.0, 7.0))
    names = {"p2x": "l1x", "p5x": "l1x", "p2z": "l1z", "p5z": "l1z", "p3z": "l2z", "p4x": "l5x", "I1zz": "I1"}
    names |= {f"I{k}yy": f"I{k}" for k in range(2, 6)} | {f"fq{k}": f"f{k}" for k in range(1, 4)}
    return figures.robot().equations(relations=names)


def test_main_axes_of_the_irb1400():
    """Norrlöf, section 3.1.5, as printed, with r_c4x = 0 and its misprints corrected (notes/equations.md)."""
    eq = main_axes()
    l1, l1z, l2, l5, x2, z2, x3, z3, z4, x5, z5 = sp.symbols("l1x l1z l2z l5x x2 z2 x3 z3 z4 x5 z5")
    I1, I2, I3, I4, I5 = sp.symbols("I1:6")
    c3, s3, lean = cos(q3), sin(q3), q2 - q3
    d11 = (
        I1 + m4 * (l1 + l5 * c3 + z4 * s2) ** 2
        + m2 / 2 * (2 * l1**2 + x2**2 + z2**2 + 4 * l1 * x2 * c2 + (x2**2 - z2**2) * cos(2 * q2)
                    + 4 * l1 * z2 * s2 + 2 * x2 * z2 * sin(2 * q2))
        + m3 * (l1 + x3 * c3 + l2 * s2 + z3 * s3) ** 2
        + m5 / 2 * (2 * l1**2 + x5**2 + z5**2 + 4 * l1 * x5 * c3 + (x5**2 - z5**2) * cos(2 * q3)
                    + 4 * l1 * z5 * s3 + 2 * x5 * z5 * sin(2 * q3))
    )  # fmt: skip
    d22 = I2 + I4 + m2 * (x2**2 + z2**2) + m3 * l2**2 + m4 * z4**2
    d23 = m3 * l2 * z3 * cos(lean) + (m3 * l2 * x3 + m4 * l5 * z4) * sin(lean)
    d33 = I3 + I5 + m3 * (x3**2 + z3**2) + m4 * l5**2 + m5 * (x5**2 + z5**2)
    c12 = v1 * (
        m2 * x2 * z2 * c2**2 - m2 * x2 * s2 * (l1 + z2 * s2)
        + c2 * (l1 * l2 * m3 + l1 * m2 * z2 + l1 * m4 * z4 + (l2 * m3 * x3 + l5 * m4 * z4) * c3
                + (l2**2 * m3 - m2 * x2**2 + m2 * z2**2 + m4 * z4**2) * s2 + l2 * m3 * z3 * s3)
    )  # fmt: skip
    c13 = v1 * (
        -l5 * m4 * (l1 + l5 * c3 + z4 * s2) * s3
        + m3 * (z3 * c3 - x3 * s3) * (l1 + x3 * c3 + l2 * s2 + z3 * s3)
        + m5 * (z5 * c3 - x5 * s3) * (l1 + x5 * c3 + z5 * s3)
    )
    g2 = g * (-(m2 * z2 + m3 * l2 + m4 * z4) * s2 - m2 * x2 * c2)
    g3 = g * (-(m3 * z3 + m5 * z5) * s3 - (m3 * x3 + m4 * l5 + m5 * x5) * c3)
    slope = sp.diff(d23, q2)
    c11 = (c12 * v2 + c13 * v3) / v1  # missing in print, as are c23 and c32
    assert_same(eq.M, [[d11, 0, 0], [0, d22, d23], [0, d23, d33]])
    assert_same(eq.C, [[c11, c12, c13], [-c12, 0, -sp.diff(d23, q3) * -v3], [-c13, slope * v2, 0]])
    assert_same(eq.g, sp.Matrix([0, g2, g3]))
    assert_same(eq.friction, sp.Matrix(sp.symbols("f1:4")).multiply_elementwise(eq.qd))
    heights = m2 * (z2 * c2 - x2 * s2) + m3 * (l2 * c2 + z3 * c3 - x3 * s3) + m4 * (z4 * c2 - l5 * s3)
    heights += m5 * (z5 * c3 - x5 * s3) + (m2 + m3 + m4 + m5) * l1z
    assert_same(eq.potential, g * heights)


# ---------------------------------------------------------------------------------------------- identities


def bent_arm():
    """Turns, slides and screws along axes that are perpendicular to each other."""
    rows = [
        fd.DHLink(a=0.3, alpha=np.pi / 2, mass=2.0, com=(-0.1, 0, 0), inertia=np.diag([0.1, 0.2, 0.2])),
        fd.DHLink(d=0.1, alpha=np.pi / 2, kind="prismatic", mass=1.0, com=(0, 0, 0.2)),
        fd.DHLink(a=0.2, kind="helical", pitch=0.05, mass=0.5, com=(-0.1, 0, 0), inertia=np.diag([0, 0.1, 0.1])),
    ]
    return fd.from_dh(rows, name="bent arm")


@pytest.mark.parametrize("make", [rrt, main_axes, lambda: bent_arm().equations()])
def test_terms_are_those_of_one_energy(make):
    """M is symmetric, dM/dt - 2 C is skew, g is the gradient of V, tau their sum."""
    eq = make()
    assert eq.M == eq.M.T
    assert not any(x.has(sp.Float) for x in (*eq.M, *eq.C, *eq.g))
    rate = sum((eq.M.diff(q) * v for q, v in zip(eq.q, eq.qd, strict=True)), sp.zeros(eq.n, eq.n))
    assert_same(rate, eq.C + eq.C.T)
    assert_same(eq.g, sp.Matrix([eq.potential]).jacobian(list(eq.q)).T)
    assert_same(eq.kinetic, (eq.qd.T * eq.M * eq.qd)[0] / 2)
    assert_same(eq.tau, eq.M * eq.qdd + rates(eq) + eq.g + eq.friction)


@pytest.mark.parametrize("formulation", ["newton_euler_link", "christoffel"])
def test_other_texts_on_the_same_letters(formulation):
    """A spherical arm, by texts that read a D-H table."""
    body = {"mass": 2.0, "inertia": np.diag([0.1, 0.2, 0.3])}
    table = [
        fd.DHLink(alpha=np.pi / 2, com=(0, 0.1, 0), **body),
        fd.DHLink(alpha=-np.pi / 2, d=0.2, com=(0, 0.3, 0.0), **body),
        fd.DHLink(kind="prismatic", com=(0, 0, -0.2), **body),
    ]
    arm = fd.from_dh(table)
    eq = arm.equations()
    chain = dh_chain(arm)
    P = Symbolic.array(chain.P)
    for row, letter in {dh_rows.MASS: "m{}", dh_rows.IXX: "I{}xx", dh_rows.IYY: "I{}yy", dh_rows.IZZ: "I{}zz"}.items():
        P[row] = Symbolic.array(sp.symbols([letter.format(k) for k in (1, 2, 3)]))
    y1, y2, z3, d2 = sp.symbols("y1 y2 z3 d2")
    P[dh_rows.D, 1], P[dh_rows.GZ] = Symbolic(d2), Symbolic(-g)
    P[dh_rows.SY, 0], P[dh_rows.SY, 1], P[dh_rows.SZ, 2] = Symbolic(y1), Symbolic(y2 + d2), Symbolic(z3)
    state = [Symbolic.array(x) for x in ((q1, q2, q3), (v1, v2, v3), (a1, a2, a3))]
    tau, D, C, c, c_ijp = (Symbolic.array(np.zeros(count)) for count in (3, 9, 9, 3, 27))

    def expressions(buffer):
        return sp.Matrix([x.expression for x in buffer]).xreplace({sp.Float(0.5): sp.Rational(1, 2)})

    if formulation == "christoffel":
        christoffel(P, chain.kinds, *state, tau, D, C, c, c_ijp, Symbolic.array(np.zeros(christoffel_rows(3))))
        assert_same(eq.C.reshape(9, 1), expressions(C))
        assert_same(eq.M.reshape(9, 1), expressions(D))
        assert_same(eq.g, expressions(c))
    else:
        work = Symbolic.array(np.zeros(newton_euler_rows(3)))
        newton_euler_link(P, chain.kinds, *state, np.empty(0, dtype=object), tau, work)
    assert_same(eq.tau, expressions(tau))


# ---------------------------------------------------------------------------------------------- the robots' numbers

MOUNT = fd.pose((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))
TOOL = {"mass": 0.7, "com": (0.01, 0.02, 0.03), "pose": fd.pose((0, 0.1, 0.2), rpy=(0.1, 0, 0))}
NUMERIC = {
    "two_link": (fd.robots.two_link(), True),
    "ur5": (fd.robots.ur5(), True),
    "square tree": (samples.square(4, seed=2, prismatic=0.3, drives=True).with_tool(**TOOL, link="link4"), True),
    "chain": (fd.robots.random_chain(3, 1, prismatic=0.3, drives=True, helical=0.4).with_mount(MOUNT), True),
    "tree": (fd.robots.random_tree(5, 2, prismatic=0.3, drives=True, helical=0.3), False),
    "geared": (samples.geared(3, 2, prismatic=0.4), True),
    "coupled": (samples.geared(5, 3), False),
}


@pytest.mark.parametrize(("robot", "letters"), NUMERIC.values(), ids=NUMERIC)
def test_numbers_are_those_of_the_compiled_robot(robot, letters):
    """In NumPy, with the robot's values as they are by default. The energies by SymPy's own evaluation.

    Formulas leave out terms of up to 64 eps of the largest; the rest are roundings of sums over the joints.
    """
    eq = robot.equations(letters)
    assert bool(eq.values) == letters
    functions = {}
    exec(eq.code("numpy"), functions)
    rng = np.random.default_rng(5)
    state = dict(zip(("q", "qd", "qdd"), rng.uniform(-1.5, 1.5, (3, 4, robot.n)), strict=True))
    energies = sp.lambdify([eq.q, eq.qd], [eq.kinetic.subs(eq.values), eq.potential.subs(eq.values)])
    q, qd, _ = state.values()
    found = {"kinetic_energy": [], "potential_energy": []}
    for one, rate in zip(q, qd, strict=True):
        for name, energy in zip(found, energies(one, rate), strict=True):
            found[name].append(energy)
    for name in ("mass_matrix", "coriolis_matrix", "gravity_forces", "inverse_dynamics"):
        row = QUANTITIES[name]
        found[name] = functions[name](*(state[field.name] for field in row.reads))
    for name, results in found.items():
        row = QUANTITIES[name]
        expected = getattr(robot, name)(*(state[field.name] for field in row.reads))
        for k, (one, other) in enumerate(zip(results, expected, strict=True)):
            scale = samples.result_scale(robot, row, {field.name: state[field.name][k] for field in row.reads})
            assert np.abs(one - other).max() <= (64 + 8 * len(robot.joints)) * EPS * scale, name


def test_friction_depends_on_the_direction():
    motor = fd.Motor(inertia=0.1, gear=2.0, viscous=0.5, coulomb=(0.3, -0.4))
    arm = fd.from_dh([fd.DHLink(mass=1.0, com=(0.5, 0, 0), motor=motor)])
    eq = arm.equations()
    (
        J,
        f,
        fp,
        fm,
        x,
    ) = sp.symbols("J1 f1 fp1 fm1 x1")
    assert eq.M[0] == J + m1 * x**2
    for rate, dry in ((2.0, fp), (-2.0, -fm), (0.0, 0)):
        assert eq.friction.subs(v1, rate)[0] == f * rate + dry
    assert {letter.name: letter.value for letter in eq.symbols}["fm1"] == 0.8
    assert "friction" in str(eq).splitlines()[0]


def test_fractions_and_roots_are_recognised_and_other_directions_are_numbers():
    def first(angle):
        rows = [fd.DHLink(alpha=angle), fd.DHLink(mass=1.0, com=(0.5, 0, 0), inertia=np.zeros((3, 3)))]
        return fd.from_dh(rows, gravity=(0, 0, 0)).equations().M[0, 1]

    x2 = sp.Symbol("x2")
    assert first(np.pi / 4) == sp.sqrt(2) * m2 * x2**2 / 2
    assert first(np.pi / 3) == m2 * x2**2 / 2
    assert float(first(0.3).subs({m2: 1, x2: 1})) == pytest.approx(math.cos(0.3), abs=4 * EPS)
    assert first(np.pi / 2) == 0


# ---------------------------------------------------------------------------------------------- written


def test_text_names_what_the_letters_mean():
    said = fd.robots.rrt().equations().text(["g", "kinetic"]).splitlines()
    assert said[0] == "rrt: M(q) qdd + C(q, qd) qd + g(q) = tau"
    assert "g[3] = g*m3*sin(q2)" in said
    assert "q3    joint3, m" in said
    assert "z2    0.7             m         centre of mass of link2 from joint2, along z of link2" in said
    assert [line for line in said if line.startswith("kinetic = ")]
    assert str(rrt()).splitlines()[2].startswith("M[1,1] = ")
    assert repr(rrt()) == "<Equations of rrt: 3 coordinates>"


def test_latex_has_subscripts_and_dots():
    eq = main_axes()
    said = eq.latex(["M", "tau", "friction", "potential"])
    assert said.startswith("\\begin{align*}\nM_{11} &= ")
    assert said.count("{") == said.count("}")
    for piece in (r"M_{23} = M_{32} &= ", r"\tau_{3} &= ", r"\ddot{q}_{2}", r"l_{1x}", r"V &= "):
        assert piece in said
    assert r"\tau_{\mathrm{f}}_" not in said
    assert eq._repr_latex_() == eq.latex()
    greek = fd.robots.two_link().equations(relations={"a1": "lambda1"})
    assert r"\lambda_{1}" in greek.latex("M")


def test_python_and_c_compute_the_same():
    """C by rewriting its statements as Python's: nothing is compiled here."""
    eq, robot = fd.robots.rrt().equations(), fd.robots.rrt()
    state = np.random.default_rng(3).normal(size=(3, 3))
    python, c = {}, {**{name: getattr(math, name) for name in ("sin", "cos", "pow")}}
    exec(eq.code("python"), python)
    text = eq.code("c")
    assert "void rrt_gravity_forces(const double q[3], double result[3])" in text
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"#include.*|\(void\).*|[;}]|(static )?const double (?=\w+ =)", "", text)
    text = re.sub(r"(const )?double (\w+)\[\d\]", r"\2", re.sub(r"\n\{", ":", text).replace("void ", "def "))
    exec(text, c)
    for name, shape, count in (("mass_matrix", (3, 3), 1), ("coriolis_matrix", (3, 3), 2), ("inverse_dynamics", 3, 3)):
        result = np.zeros(shape).ravel()
        c[f"rrt_{name}"](*state[:count], result)
        expected = getattr(robot, name)(*state[:count, None])[0]  # as a batch, compiled anyway
        scale = samples.torque_scale(robot, *state) + np.linalg.norm(robot.mass_matrix(state[0]))
        assert np.abs(np.array(python[name](*state[:count])) - expected).max() <= 64 * EPS * scale
        assert np.abs(result.reshape(shape) - expected).max() <= 64 * EPS * scale


def test_wrong_common_subexpressions_are_not_used(monkeypatch):
    monkeypatch.setattr(sp, "cse", lambda formulas, names: ([], [2 * formula for formula in formulas]))
    functions = {}
    exec(fd.robots.two_link(g=10.0).equations().code(), functions)
    assert functions["gravity_forces"]([0.0, 0.0]) == [20.0, 5.0]


def test_c_names_are_identifiers():
    arm = fd.from_dh([fd.DHLink(mass=1.0, com=(0.5, 0, 0))], name="2 arms */ é")
    assert "void robot_2_arms______mass_matrix(const double q[1], double result[1])" in arm.equations().code("c")
    assert arm.equations().code("c").count("*/") == 1


def test_one_coordinate_and_results_without_coordinates():
    slider = fd.from_dh([fd.DHLink(kind="prismatic", mass=2.0)], gravity=(0, 0, -10))
    functions = {}
    exec(slider.equations().code("numpy"), functions)
    assert functions["mass_matrix"](np.zeros((5, 1))).tolist() == [[[2.0]]] * 5
    assert functions["inverse_dynamics"](np.zeros((5, 1)), np.zeros(1), np.ones((4, 1, 1))).shape == (4, 5, 1)
    python = {}
    exec(slider.equations().code(), python)
    assert python["gravity_forces"]([0.3], g=5.0) == [10.0]


# ---------------------------------------------------------------------------------------------- relations and errors


def test_new_letters_get_the_robots_values():
    eq = fd.robots.two_link(length=0.6).equations(relations={"I1zz": "m1*r**2/12", "x1": "r - b", "a1": "2*b"})
    values = {str(letter): value for letter, value in eq.values.items()}
    assert values["r"] == pytest.approx(0.6, abs=4 * EPS)
    assert values["b"] == pytest.approx(0.3, abs=4 * EPS)
    assert "relation with I1zz" in str(eq)
    both = fd.robots.two_link().equations(relations={"x1": "a1/2", "a1": "l"})
    assert_same(both.g[0].subs(m2, 0), m1 * g * sp.Symbol("l") * cos(q1) / 2)


@pytest.mark.parametrize(
    ("relations", "said"),
    [
        ({"a7": "l"}, r"'a7' is no letter of these equations: expected some of g, m1, "),
        (
            {"x1": "a1/3"},
            r"x1 of this robot is 0.5, but its relation gives 0.333333333: expected a relation that holds",
        ),
        ({"x1": "a1/m1"}, r"expected that x1 is a polynomial in letters, found a1/m1"),
        ({"x1": "q1"}, r"expected that x1 is a polynomial in letters, found q1"),
        ({"x1": "sin(a1)"}, r"expected a formula such as 'm1\*l\*\*2/12' for x1, found 'sin\(a1\)'"),
        ({"x1": "a1 +"}, r"expected a formula such as"),
        ({"x1": "a1, 2"}, r"expected a formula such as"),
        ({"x1": "l + r"}, r"expected one relation that gives each new letter, found none: l, r"),
        ({"x1": "-l**2"}, r"expected that x1 gives one value of 'l', found \[\]"),
    ],
)
def test_relations_that_cannot_be_are_refused(relations, said):
    with pytest.raises(fd.ArgumentError, match=f"relations: {said}"):
        fd.robots.two_link().equations(relations=relations)


def test_other_errors():
    arm = fd.robots.two_link()
    with pytest.raises(fd.ArgumentError, match=r"relations: expected none with letters=False"):
        arm.equations(letters=False, relations={"a1": "l"})
    with pytest.raises(fd.ArgumentError, match=r"what contains 'D': expected some of M, C, g, friction, tau"):
        arm.equations().text(["D"])
    with pytest.raises(fd.ArgumentError, match=r"language is 'rust': expected one of python, numpy, c"):
        arm.equations().code("rust")
    with pytest.raises(fd.FormulationError, match=r"post has no moving joint: expected at least one"):
        fd.Robot([fd.Link("base")], [], name="post").equations()
    with pytest.raises(fd.FormulationError, match=r"panda has 7 joints one after the other: expected at most 6"):
        fd.robots.panda().equations()
    with pytest.raises(ValueError, match="sincos: expected numbers times coordinates, found a term"):
        (Polynomial.letter("q1") * Polynomial.letter("a1")).sincos()


def test_a_missing_sympy_is_told_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(fd.MissingExtraError, match=r"equations\(\) needs SymPy, .*: pip install fastdyn\[symbols\]"):
        fd.robots.two_link().equations()


def test_the_command_shows_them():
    def run(*arguments):
        found = CliRunner().invoke(cli.app, ["equations", *arguments])
        return found.output if found.exit_code == 0 else found.exception

    arm = fd.robots.two_link()
    assert run("two_link") == f"{arm.equations()}\n"
    assert run("two_link", "--numbers", "--what", "M, g") == f"{arm.equations(False).text(['M', 'g'])}\n"
    assert run("two_link", "--let", "a1=l", "--latex") == f"{arm.equations(relations={'a1': 'l'}).latex()}\n"
    assert run("irb1400_main_axes", "--coupled", "--code", "c").startswith(
        "/* Equations of motion of irb1400_main_axes"
    )
    assert "--let is 'a1': expected LETTER=FORMULA" in str(run("two_link", "--let", "a1"))
    assert "--latex and --code: expected one of them" in str(run("two_link", "--latex", "--code", "c"))
