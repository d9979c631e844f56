"""Coupled robots are called as robots are: batches, `out=`, copies, errors."""

import copy
import pickle

import numpy as np
import pytest

import fastdyn as fd
from tests.samples import assert_rounded, computed, core, draw, each_row, part, same
from tests.test_coupling import close, driven, random_coupling, state


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda arm: pickle.loads(pickle.dumps(arm))])
def test_copies_are_the_same_robot(how):
    arm = fd.robots.random_tree(4, seed=5).coupled(*random_coupling(4, 3, 5), names="abc", motors=driven(3, 3))
    values = state(arm, 10)
    tau = arm.inverse_dynamics(*values)
    other = how(arm)
    assert other.names == arm.names
    assert np.array_equal(other.inverse_dynamics(*values), tau)
    with pytest.raises(ValueError, match="read-only"):
        other.G[0, 0] = 3


def test_what_it_says_of_itself():
    robot = fd.robots.random_tree(4, seed=0)
    arm = robot.coupled(np.eye(4)[:, :2])
    assert arm.n == 2
    assert arm.names == ("phi1", "phi2")
    assert arm.name == robot.name
    assert arm.joints == robot.joints
    assert arm.links == robot.links
    assert "2 coordinates move 4 joints" in repr(arm)
    assert np.array_equal(arm.joint_positions([[1, 2]]), [[1, 2, 0, 0]])
    with pytest.raises(AttributeError):
        arm.offset = np.ones(4)
    with pytest.raises(ValueError, match="read-only"):
        arm.G[0, 0] = 3


@each_row
def test_out_threads_and_batches(row):
    arm = fd.robots.random_tree(4, seed=5).coupled(*random_coupling(4, 2, 5))
    values = draw(arm, row, 1200, seed=10)
    expected = computed(arm, row, values)
    assert same(computed(arm, row, values, threads=2), expected)
    for make in (np.empty_like, lambda a: np.empty((*a.shape, 2))[..., 0]):
        out = tuple(make(array) for array in expected)
        found = computed(arm, row, values, out=out)
        assert all(a is b for a, b in zip(found, out, strict=True))
        assert same(out, expected)
    single = computed(arm, row, values, dtype=np.float32)
    for T in (1, 7, 8, 9, 16, 17, 1199):
        last = part(values, np.s_[-T:])
        assert same(computed(arm, row, last), part(expected, np.s_[-T:])), T
        assert same(computed(arm, row, last, dtype=np.float32), part(single, np.s_[-T:])), T
    for t in (0, 1199):
        assert_rounded(computed(arm, row, part(values, t)), part(expected, t), arm, row, part(values, t))
    with pytest.raises(fd.ArgumentError, match=r"out(\[0\])? has shape"):
        computed(arm, row, values, out=(np.empty(5),) * len(expected))
    if core(arm, row.gives[0]) == (2,):
        alias = values["q"].copy()
        found = computed(arm, row, values | {"q": alias}, out=(alias, *(np.empty_like(a) for a in expected[1:])))
        assert found[0] is alias
        assert same(found, expected)


def test_batch_axes_broadcast():
    arm = fd.robots.random_tree(4, seed=5).coupled(*random_coupling(4, 2, 6))
    q, qd, tau = state(arm, 11)
    many = np.tile(tau, (3, 5, 1))
    wrenches = {"link2": np.ones((5, 6))}
    assert arm.forward_dynamics(q, qd, many, wrenches).shape == (3, 5, 2)
    assert arm.forward_dynamics(np.tile(q, (3, 1, 1)), qd, tau, wrenches).shape == (3, 5, 2)
    assert arm.inverse_dynamics(q, qd, many).shape == (3, 5, 2)
    assert arm.kinetic_energy(q, np.tile(qd, (5, 1))).shape == (5,)
    assert arm.potential_energy(q).shape == ()
    assert arm.joint_reactions(q, qd, many).shape == (3, 5, 4, 6)
    close(arm.forward_dynamics(q, qd, many, wrenches)[2, 3], arm.forward_dynamics(q, qd, tau, {"link2": np.ones(6)}))


def test_wrenches_are_on_physical_links():
    robot = fd.robots.random_tree(4, seed=5)
    arm = robot.coupled(*random_coupling(4, 2, 7))
    q, qd, qdd = state(arm, 12)
    wrenches = np.random.default_rng(0).normal(size=(4, 6))
    Q, Qd, Qdd = arm.joint_positions(q), arm.G @ qd, arm.G @ qdd
    tau = arm.inverse_dynamics(q, qd, qdd, wrenches)
    close(tau, arm.G.T @ robot.inverse_dynamics(Q, Qd, Qdd, wrenches))
    named = {f"link{i + 1}": w for i, w in enumerate(wrenches)}
    assert np.array_equal(tau, arm.inverse_dynamics(q, qd, qdd, named))
    with pytest.raises(fd.ArgumentError, match=r"wrenches has shape \(2, 6\), but .* has 4 joints"):
        arm.inverse_dynamics(q, qd, qdd, np.zeros((2, 6)))


def test_errors_count_coordinates():
    arm = fd.robots.random_tree(4, seed=5).coupled(np.eye(4)[:, :2])
    z, name = np.zeros(2), r"random_tree\(4, 5\)"
    with pytest.raises(
        fd.ArgumentError, match=rf"qd has shape \(4,\), but {name} has 2 coordinates: expected \(..., 2\)"
    ):
        arm.inverse_dynamics(z, np.zeros(4), z)
    with pytest.raises(fd.ArgumentError, match=r"batch axes do not fit together: q \(3, 2\), qd \(4, 2\)"):
        arm.bias_forces(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(fd.NotFiniteError, match=r"qdd\[1, 0\] is nan"):
        arm.inverse_dynamics(z, z, [[0, 0], [np.nan, 0]])
    with pytest.raises(fd.ArgumentTypeError, match="tau has dtype"):
        arm.forward_dynamics(z, z, ["a", "b"])
    with pytest.raises(fd.ArgumentError, match="method is 'lu'"):
        arm.forward_dynamics(z, z, z, method="lu")
    with pytest.raises(fd.ArgumentError, match="threads is 0"):
        arm.mass_matrix(z, threads=0)


def test_results_beyond_float64_are_errors():
    arm = fd.robots.two_link(g=1e155).coupled([[1e155], [1.0]])
    with np.errstate(over="ignore"), pytest.raises(fd.NotFiniteError, match="beyond the range of float64"):
        arm.gravity_forces([0.0])


def test_a_coordinate_that_moves_no_inertia_is_named():
    links = [fd.Link("base"), fd.Link("a", 1.0, (0.5, 0, 0)), fd.Link("b"), fd.Link("c")]
    joints = [fd.Joint(f"j{i}", p, c) for i, (p, c) in enumerate((("base", "a"), ("a", "b"), ("a", "c")))]
    robot = fd.Robot(links, joints)
    arm = robot.coupled([[1, 0], [1, 1], [0, 2]], names=("good", "idle"))
    z = np.zeros((3, 2))
    with pytest.raises(fd.SingularMassMatrixError, match="at sample 0: coordinate 'idle' moves no inertia"):
        arm.forward_dynamics(z, z, z)
    with pytest.raises(fd.SingularMassMatrixError, match="matrix: coordinate 'idle'"):
        arm.forward_dynamics(z[0], z[0], z[0])
    with pytest.raises(fd.SingularMassMatrixError, match="coordinate 'phi2' moves no inertia that those before"):
        robot.coupled(np.eye(3)).forward_dynamics([0] * 3, [0] * 3, [0] * 3)
    with pytest.raises(fd.SingularMassMatrixError, match="at sample 0: coordinate 'idle'"):
        arm.forward_dynamics(z, z, z, method="crba", dtype=np.float32)
    turned = robot.coupled([[1, 0], [1, 1], [0, 2]], motors=[None, fd.Motor(0.5, 2.0)])
    close(turned.forward_dynamics(z[0], z[0], [2.5, 6.0]), [10.0, 3.0])  # 0.25 kg m^2 and a rotor of 2 kg m^2
    # a singular robot whose coordinates all move something is not singular
    close(robot.coupled([[1], [5], [7]]).forward_dynamics([0], [0], [2.5]), [10.0])


@pytest.mark.parametrize(
    ("G", "more", "message"),
    [
        (np.eye(3), {}, r"G: expected shape \(2, m\) with 1 <= m <= 2, found shape \(3, 3\)"),
        (np.ones((2, 3)), {}, r"found shape \(2, 3\)"),
        (np.ones(2), {}, r"found shape \(2,\)"),
        (np.ones((2, 0)), {}, r"found shape \(2, 0\)"),
        ([[1], [1, 2]], {}, "G: expected a rectangular matrix"),
        ([["a"], ["b"]], {}, "G: expected real numbers"),
        ([[1], [np.inf]], {}, "G: expected finite numbers"),
        ([[1, 2], [2, 4]], {}, "coordinate 'phi2' moves the joints as those before it do"),
        ([[1, 0], [2, 0]], {}, "coordinate 'phi2' moves no joint"),
        ([[1], [1]], {"offset": [1, 2, 3]}, r"offset: expected shape \(2,\), found shape \(3,\)"),
        ([[1], [1]], {"offset": [1, np.nan]}, "offset: expected finite numbers"),
        (np.eye(2), {"names": ["a"]}, "names: expected 2 different names"),
        (np.eye(2), {"names": ["a", "a"]}, "names: expected 2 different names"),
        (np.eye(2), {"names": ["a", ""]}, "names: expected a name"),
        (np.eye(2), {"names": 3}, "names: expected 2, one for each coordinate, found 3"),
        (np.eye(2), {"names": [["a"], "b"]}, r"names: expected a name, found \['a'\]"),
        (np.eye(2), {"motors": fd.Motor()}, "motors: expected 2, one for each coordinate, found Motor"),
        (np.eye(2), {"offset": "ab"}, "offset: expected real numbers"),
        (None, {}, r"G: expected shape \(2, m\) .* found shape \(\)"),
        (object(), {}, r"G: expected shape \(2, m\) .* found shape \(\)"),
        (np.eye(3), {"offset": [1, 2]}, r"G: expected shape \(2, m\)"),
    ],
)
def test_couplings_that_are_none(G, more, message):
    with pytest.raises(fd.RobotError, match=message):
        fd.robots.two_link().coupled(G, **more)


def test_columns_of_very_different_size_are_independent():
    fd.robots.two_link().coupled([[1e-12, 0], [0, 1e12]])
