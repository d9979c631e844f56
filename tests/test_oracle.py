"""Every quantity against the oracle, on 240 random robots: each state on its own, and in a batch.

Errors are norm-wise: the largest difference over a scale, which is the largest among the reference and the terms it is
the sum of, so that terms that happen to cancel are not held against an algorithm that rounds each of them.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

import fastdyn as fd
from tests import oracle

EPS = np.finfo(float).eps
SIZES = [*range(1, 19), *range(1, 19), 22, 28, 34, 40]  # numbers of joints; six robots of each
STATES = 2
ROWS = [0, 1] * 5 + [0]  # the two states fill a block of eight lanes, and begin another one


def random_pose(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Q * np.sign(np.linalg.det(Q)), rng.uniform(-0.5, 0.5, 3)
    return T


def random_body(name, rng):
    """Three rods that cross in the centre of mass, turned at random: moments that a real body can have."""
    R = random_pose(rng)[:3, :3]
    rods = rng.uniform(0.001, 0.02, 3)
    return fd.Link(name, rng.uniform(0.1, 1), rng.uniform(-0.2, 0.2, 3), R @ np.diag(rods.sum() - rods) @ R.T)


def with_fixed_links(robot, rng):
    """Puts a bracket (fixed, massive or bare) under about half of the joints, and hangs a tool on every third link."""
    links, joints = list(robot.all_links), []
    for joint in robot.all_joints:
        if rng.uniform() < 0.5:
            name = f"bracket of {joint.name}"
            links.append(random_body(name, rng) if rng.uniform() < 0.7 else fd.Link(name))
            pose = {"origin": random_pose(rng), "tail": random_pose(rng)}
            joints.append(fd.Joint(f"weld of {name}", joint.parent, name, "fixed", **pose))
            joint = replace(joint, parent=name)
        joints.append(joint)
    for carrier in robot.all_links[::3]:  # the first of them is the base
        tool = random_body(f"tool of {carrier.name}", rng)
        links.append(tool)
        joints.append(fd.Joint(f"weld of {tool.name}", carrier.name, tool.name, "fixed", origin=random_pose(rng)))
    return fd.Robot(links, joints, name=f"{robot.name}, fixed links", gravity=robot.gravity, mount=random_pose(rng))


def right_angled(n, rng):
    """A tree whose axes are parallel, meet or coincide, or miss that by an angle between 1e-1 and 1e-17."""

    def square_pose():
        quarter = np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3)
        T = np.eye(4)
        T[:3, :3] = quarter * np.sign(np.linalg.det(quarter))
        T[:3, 3] = rng.choice([0, 0, 0.3, -0.25], 3)
        if rng.uniform() < 0.4:
            off = np.eye(4)
            angle = 10 ** rng.uniform(-17, -1)
            off[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            T = T @ off
        return T

    links, joints = [fd.Link("base")], []
    for i in range(n):
        parent = links[rng.integers(max(0, i - 2), i + 1)].name
        kind = "prismatic" if rng.uniform() < 0.3 else "revolute"
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1])
        links.append(random_body(f"link{i}", rng))
        joints.append(fd.Joint(f"joint{i}", parent, f"link{i}", kind, square_pose(), axis, square_pose()))
    return fd.Robot(links, joints, name=f"right_angled({n})", gravity=(0, 0, -9.81), mount=square_pose())


def shuffled(robot, rng):
    links, joints = (rng.permutation(np.array(parts, object)) for parts in (robot.all_links, robot.all_joints))
    return fd.Robot(links, joints, name=f"{robot.name}, shuffled", gravity=robot.gravity, mount=robot.mount)


def make_robots(n, rng):
    seed = int(rng.integers(2**31))
    chain, tree = fd.robots.random_chain, fd.robots.random_tree
    yield chain(n, seed)
    yield chain(n, seed, prismatic=0.4, drives=True)
    yield tree(n, seed, prismatic=0.3, drives=True)
    yield with_fixed_links(chain(n, seed, prismatic=0.3), rng)
    yield shuffled(with_fixed_links(tree(n, seed, prismatic=0.3, drives=True), rng), rng)
    yield right_angled(n, rng)


def norm(array, axis=None):
    """Of long doubles, too."""
    return np.sqrt((np.asarray(array) ** 2).sum(axis=axis))


def largest(*terms):
    """For each state, the largest number among all terms; where all are zero, as good as zero is asked for."""
    return np.max([np.abs(term).reshape(STATES, -1).max(axis=1) for term in terms], axis=0) + np.finfo(float).tiny


class Case:
    """A robot, two states of it, and what the oracle says of them, each found when first asked for."""

    def __init__(self, robot, rng):
        self.robot, n = robot, robot.n
        self.q = rng.uniform(-np.pi, np.pi, (STATES, n))
        self.qd, self.qdd = rng.normal(size=(2, STATES, n))
        self.qd[rng.uniform(size=(STATES, n)) < 0.1] = 0.0  # at rest there is no Coulomb friction
        self.tau = 10 * rng.normal(size=(STATES, n))
        self.wrenches = rng.normal(size=(STATES, n, 6))

    def each(self, function, *names):
        states = zip(*(getattr(self, name) for name in names), strict=True)
        return np.stack([function(self.robot, *state) for state in states])

    def results(self, quantity, *names, **options):
        """The library's, as pairs (state, result): first of a batch, then of each state alone."""
        method, arguments = getattr(self.robot, quantity), [getattr(self, name) for name in names]
        yield from zip(ROWS, method(*(a[ROWS] for a in arguments), **options), strict=True)
        for state in range(STATES):
            yield state, method(*(a[state] for a in arguments), **options)

    def error(self, results, reference, scale):
        """Over the scale of its state, the worst of all results, in eps."""
        errors = [np.abs(found - reference[state]).max() / scale[state] for state, found in results]
        return float(np.max(errors)) / EPS

    @cached_property
    def M(self):
        return self.each(oracle.mass_matrix, "q")

    @cached_property
    def dM(self):
        return self.each(oracle.mass_matrix_derivatives, "q")

    @cached_property
    def C(self):
        return np.stack([oracle.christoffel(dM) @ qd for dM, qd in zip(self.dM, self.qd, strict=True)])

    @cached_property
    def gravity(self):
        return self.each(oracle.gravity_forces, "q")

    @cached_property
    def bias(self):
        return self.each(oracle.bias_forces, "q", "qd")

    @cached_property
    def weight(self):
        """What gravity would ask of each joint if no weight balanced another one: sizes only."""
        stands, g = [oracle.Stand(self.robot, q) for q in self.q], np.linalg.norm(self.robot.gravity)
        return np.stack([sum(b.mass * g * np.linalg.norm(b.Jv, axis=0) for b in stand.bodies()) for stand in stands])

    @cached_property
    def reach(self):
        """For each state, mass times distance of the centres from the base, all summed: a first moment's terms."""
        base = oracle.pose(self.robot.mount)[:3, 3]
        stands = [oracle.Stand(self.robot, q) for q in self.q]
        return np.array([sum(b.mass * norm(b.centre - base) for b in stand.bodies()) for stand in stands])

    @cached_property
    def mass(self):
        return sum(body.mass for body in oracle.Stand(self.robot, self.q[0]).bodies())

    @cached_property
    def tau_needed(self):
        return self.each(oracle.inverse_dynamics, "q", "qd", "qdd", "wrenches")

    @cached_property
    def pushed(self):
        """What the wrenches do at the joints."""
        return self.tau_needed - (self.M @ self.qdd[..., None])[..., 0] - self.bias

    @cached_property
    def qdd_caused(self):
        return self.each(oracle.forward_dynamics, "q", "qd", "tau", "wrenches")


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(20)
    found = [Case(robot, rng) for n in SIZES for robot in make_robots(n, rng)]
    return found


@pytest.fixture
def check(cases):
    """Asserts that error(case) <= tolerance(case), both in eps; `pytest -rP` shows how near the worst case came."""

    def run(error, tolerance):
        ratios = [(error(case) / tolerance(case), repr(case.robot)) for case in cases]
        print("worst error over tolerance: {:.3g}, {}".format(*max(ratios)))
        failed = [found for found in ratios if not found[0] <= 1]
        assert not failed, f"{len(failed)} of {len(cases)} robots, such as {failed[:3]}"

    return run


def linear(case):
    """Rounding is a few eps a joint along the way from base to tip and back; a hundred leave room for its constants."""
    return 100 * case.robot.n


def test_mass_matrix_agrees_with_the_oracle(check):
    check(lambda case: case.error(case.results("mass_matrix", "q"), case.M, largest(case.M)), linear)


def test_inverse_dynamics_agrees_with_the_oracle(check):
    def error(case):
        results = case.results("inverse_dynamics", "q", "qd", "qdd", "wrenches")
        terms = (case.M @ case.qdd[..., None], case.bias, case.weight, case.pushed)
        return case.error(results, case.tau_needed, largest(case.tau_needed, *terms))

    check(error, linear)


def test_bias_forces_agree_with_the_oracle(check):
    def error(case):
        return case.error(case.results("bias_forces", "q", "qd"), case.bias, largest(case.bias, case.weight))

    check(error, linear)


def test_gravity_forces_agree_with_the_oracle(check):
    def error(case):
        return case.error(case.results("gravity_forces", "q"), case.gravity, largest(case.weight))

    check(error, linear)


def coriolis_scale(case):
    """C is made of derivatives of M by angles, times velocities; it vanishes for one joint, M does not."""
    return largest(case.C, largest(case.M) * largest(case.qd))


def test_coriolis_matrix_agrees_with_the_oracle(check):
    check(lambda case: case.error(case.results("coriolis_matrix", "q", "qd"), case.C, coriolis_scale(case)), linear)


def test_rate_of_the_mass_matrix_less_twice_the_coriolis_matrix_is_skew(check):
    def error(case):
        rate = np.stack([dM @ qd for dM, qd in zip(case.dM, case.qd, strict=True)])
        results = [(state, C + C.T) for state, C in case.results("coriolis_matrix", "q", "qd")]
        return case.error(results, rate, coriolis_scale(case))

    check(error, linear)


def test_kinetic_energy_agrees_with_the_oracle(check):
    def error(case):
        reference = case.each(oracle.kinetic_energy, "q", "qd")
        # velocities that joints give a link may cancel
        scale = largest(reference, largest(case.M) * largest(case.qd) ** 2)
        return case.error(case.results("kinetic_energy", "q", "qd"), reference, scale)

    check(error, linear)


def test_potential_energy_agrees_with_the_oracle(check):
    def error(case):
        reference = case.each(oracle.potential_energy, "q")
        heights = [
            [link.mass * np.linalg.norm(poses[link.name][:3, 3]) for link in case.robot.all_links]
            for poses in (oracle.world_poses(case.robot, q) for q in case.q)
        ]
        # links above and below the world's origin cancel: what is rounded is weight times distance
        scale = np.linalg.norm(case.robot.gravity) * np.sum(heights, axis=1)
        return case.error(case.results("potential_energy", "q"), reference, scale)

    check(error, linear)


def test_center_of_mass_agrees_with_the_oracle(check):
    def error(case):
        reference = case.each(oracle.center_of_mass, "q")
        # links on both sides of the base cancel: what is rounded is mass times distance, over the whole mass
        return case.error(case.results("center_of_mass", "q"), reference, case.reach / case.mass)

    check(error, linear)


def momenta(case):
    """For each state, the sizes of what linear and angular momentum are sums of: (2, STATES).

    A link's momentum is a sum over the joints below it, and so is its moment, which is about the base's origin before
    that of the whole about it is taken away.
    """
    sizes = np.zeros((2, STATES))
    base = oracle.pose(case.robot.mount)[:3, 3]
    for k, (q, qd) in enumerate(zip(case.q, np.abs(case.qd), strict=True)):
        linear = 0.0
        for body in oracle.Stand(case.robot, q).bodies():
            push = body.mass * norm(body.Jv, axis=0) @ qd
            spin = norm(body.inertia) * norm(body.Jw, axis=0) @ qd
            linear += push
            sizes[1, k] += norm(body.centre - base) * push + spin
        sizes[0, k] = linear
        sizes[1, k] += case.reach[k] / case.mass * linear
    return sizes + np.finfo(float).tiny


def test_momentum_agrees_with_the_oracle(check):
    def error(case):
        reference = case.each(oracle.momentum, "q", "qd")
        results = list(case.results("momentum", "q", "qd"))
        halves = zip((np.s_[:3], np.s_[3:]), momenta(case), strict=True)
        return max(case.error([(k, p[part]) for k, p in results], reference[:, part], size) for part, size in halves)

    check(error, linear)


def test_joint_reactions_agree_with_the_oracle(check):
    def error(case):
        reference = case.each(oracle.joint_reactions, "q", "qd", "qdd", "wrenches")
        results = case.results("joint_reactions", "q", "qd", "qdd", "wrenches")
        return case.error(results, reference, largest(reference, case.weight, case.wrenches))

    check(error, linear)


@pytest.mark.parametrize("method", ["aba", "crba"])
def test_forward_dynamics_agree_with_the_oracle(check, method):
    def condition(case):
        # a relative change of M by eps changes the solution by cond(M) eps; ten for the changes along the way
        return 10 * np.linalg.cond(case.M.astype(float)).max()

    def error(case):
        terms = (case.tau, case.bias, case.weight, case.pushed)
        caused = [np.linalg.solve(case.M.astype(float), term.astype(float)[..., None]) for term in terms]
        results = case.results("forward_dynamics", "q", "qd", "tau", "wrenches", method=method)
        return case.error(results, case.qdd_caused, largest(case.qdd_caused, *caused))

    check(error, condition)


def test_wrenches_on_named_links_are_felt_where_the_links_are():
    rng = np.random.default_rng(3)
    for n in (1, 4, 9):
        robot = with_fixed_links(fd.robots.random_tree(n, seed=2, prismatic=0.3), rng)
        q, qd, qdd = rng.normal(size=(3, n))
        wrenches = {link.name: rng.normal(size=6) for link in robot.all_links}  # fixed ones and the base too
        for quantity in ("inverse_dynamics", "joint_reactions"):
            found = getattr(robot, quantity)(q, qd, qdd, wrenches)
            reference = getattr(oracle, quantity)(robot, q, qd, qdd, wrenches)
            # each of the robot's links adds a wrench, with an error of a few eps for every joint that passes it on
            assert np.abs(found - reference).max() <= 100 * n * EPS * np.abs(reference).max(), (n, quantity)


def test_joints_given_from_the_tips_inward_keep_their_own_coordinates():
    rng = np.random.default_rng(4)
    for make in (fd.robots.random_chain, fd.robots.random_tree):
        robot = make(7, seed=1, prismatic=0.3, drives=True)
        turned = fd.Robot(robot.all_links[::-1], robot.all_joints[::-1], gravity=robot.gravity)
        assert [joint.name for joint in turned.joints] == [joint.name for joint in robot.joints[::-1]]
        q, qd, qdd = rng.normal(size=(3, 5, 7))
        wrenches = rng.normal(size=(5, 7, 6))
        found = turned.inverse_dynamics(q, qd, qdd, wrenches)
        reference = np.stack(
            [oracle.inverse_dynamics(turned, *state) for state in zip(q, qd, qdd, wrenches, strict=True)]
        )
        assert np.abs(found - reference).max() <= 100 * 7 * EPS * np.abs(reference).max()
        # the same robot by another numbering: nothing but the order of the sums may differ
        back = robot.inverse_dynamics(q[:, ::-1], qd[:, ::-1], qdd[:, ::-1], wrenches[:, ::-1])[:, ::-1]
        assert np.abs(found - back).max() <= 100 * 7 * EPS * np.abs(reference).max()
        M, M_back = turned.mass_matrix(q), robot.mass_matrix(q[:, ::-1])[:, ::-1, ::-1]
        assert np.abs(M - M_back).max() <= 100 * 7 * EPS * np.abs(M).max()


class TestTheOracleItself:
    """The oracle's own derivatives, against differences of what needs none of them."""

    @pytest.fixture(params=range(4))
    def moving(self, request):
        rng = np.random.default_rng(request.param)
        robot = with_fixed_links(fd.robots.random_tree(6, request.param, prismatic=0.3, drives=True), rng)
        return robot, *rng.normal(size=(3, 6)).astype(oracle.Real)

    STEP = oracle.Real(1e-4)
    # differences of fourth order: truncation h^4 = 1e-16 times derivatives of some hundreds, rounding eps / h = 2e-12
    # where long doubles are doubles
    TOLERANCE = 1e-10

    def rate(self, function):
        """d/dt of function(t) at zero, by central differences of fourth order."""
        h = self.STEP
        return (8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h)

    def test_kinetic_energy_is_that_of_the_points_the_links_are_made_of(self, moving):
        robot, q, qd, _ = moving
        energy = sum(joint.motor.armature * rate**2 / 2 for joint, rate in zip(robot.joints, qd, strict=True))
        for link in robot.all_links:
            com = np.append(link.com, 1.0)
            second = np.trace(link.inertia) / 2 * np.eye(3) - link.inertia  # the integral of r r^T about the centre
            S = link.mass * np.outer(com, com)
            S[:3, :3] += second
            speed = self.rate(lambda t, name=link.name: oracle.world_poses(robot, q + t * qd)[name])
            energy = energy + np.trace(speed @ S @ speed.T) / 2
        assert abs(energy - oracle.kinetic_energy(robot, q, qd)) <= self.TOLERANCE * energy

    def test_mass_matrix_gives_the_kinetic_energy(self, moving):
        robot, q, qd, _ = moving
        energy = qd @ oracle.mass_matrix(robot, q) @ qd / 2
        # a sum of n^2 products
        assert abs(energy - oracle.kinetic_energy(robot, q, qd)) <= 36 * EPS * energy

    def test_gravity_forces_are_the_gradient_of_potential_energy(self, moving):
        robot, q, _, _ = moving
        slope = [self.rate(lambda t, e=e: oracle.potential_energy(robot, q + t * e)) for e in np.eye(6)]
        reference = oracle.gravity_forces(robot, q)
        assert np.abs(slope - reference).max() <= self.TOLERANCE * np.abs(reference).max()

    def test_forces_do_lagranges_equations(self, moving):
        robot, q, qd, qdd = moving

        def momentum(t):
            return oracle.mass_matrix(robot, q + t * qd + t * t * qdd / 2) @ (qd + t * qdd)

        slope = [self.rate(lambda t, e=e: oracle.kinetic_energy(robot, q + t * e, qd)) for e in np.eye(6)]
        forces = self.rate(momentum) - slope + oracle.gravity_forces(robot, q) + oracle.friction(robot, qd)
        tau = oracle.inverse_dynamics(robot, q, qd, qdd)
        assert np.abs(forces - tau).max() <= self.TOLERANCE * np.abs(tau).max()
        C = oracle.coriolis_matrix(robot, q, qd)
        same = (
            oracle.mass_matrix(robot, q) @ qdd + C @ qd + oracle.gravity_forces(robot, q) + oracle.friction(robot, qd)
        )
        assert np.abs(same - tau).max() <= 100 * 6 * EPS * np.abs(tau).max()

    def test_momentum_is_that_of_the_points_the_links_are_made_of(self, moving):
        robot, q, qd, _ = moving
        linear, angular = np.zeros(3), np.zeros((3, 3))
        for link in robot.all_links:
            com = np.append(link.com, 1.0)
            S = link.mass * np.outer(com, com)
            S[:3, :3] += np.trace(link.inertia) / 2 * np.eye(3) - link.inertia  # the integral of r r^T
            T = oracle.world_poses(robot, q)[link.name]
            speed = self.rate(lambda t, name=link.name: oracle.world_poses(robot, q + t * qd)[name])
            linear = linear + speed[:3] @ S[:, 3]
            angular = angular + T[:3] @ S @ speed[:3].T  # the integral of r v^T
        R = oracle.pose(robot.mount)[:3, :3]
        centre = R @ oracle.center_of_mass(robot, q) + oracle.pose(robot.mount)[:3, 3]
        spin = angular - np.outer(centre, linear)
        expected = [*R.T @ linear, *R.T @ [spin[1, 2] - spin[2, 1], spin[2, 0] - spin[0, 2], spin[0, 1] - spin[1, 0]]]
        assert np.abs(oracle.momentum(robot, q, qd) - expected).max() <= self.TOLERANCE * np.abs(expected).max()

    def test_wrenches_do_the_work_that_the_joints_take_from_them(self, moving):
        robot, q, qd, qdd = moving
        wrenches = np.random.default_rng(0).normal(size=(6, 6))
        poses = oracle.world_poses(robot, q)
        power = 0
        for joint, wrench in zip(robot.joints, wrenches, strict=True):
            R = poses[joint.child][:3, :3]
            speed = self.rate(lambda t, name=joint.child: oracle.world_poses(robot, q + t * qd)[name])
            spin = speed[:3, :3] @ R.T
            power += R @ wrench[:3] @ speed[:3, 3] + R @ wrench[3:] @ [spin[2, 1], spin[0, 2], spin[1, 0]]
        free, pushed = (oracle.inverse_dynamics(robot, q, qd, qdd, w) for w in (None, wrenches))
        assert abs((free - pushed) @ qd - power) <= self.TOLERANCE * np.abs(free - pushed).max()

    def test_reactions_along_the_joints_are_what_the_motors_give_less_friction_and_rotors(self, moving):
        robot, q, qd, qdd = moving
        wrenches = np.random.default_rng(0).normal(size=(6, 6))
        reactions = oracle.joint_reactions(robot, q, qd, qdd, wrenches)
        tau = oracle.inverse_dynamics(robot, q, qd, qdd, wrenches)
        for joint, reaction, rate, acceleration, torque in zip(robot.joints, reactions, qd, qdd, tau, strict=True):
            along = joint.tail[:3, :3].T @ joint.axis
            carried = along @ (reaction[3:] if joint.kind == "revolute" else reaction[:3])
            plus, minus = joint.motor.joint_coulomb
            rubbing = joint.motor.joint_viscous * rate + (plus if rate > 0 else -minus)
            assert (
                abs(carried + rubbing + joint.motor.armature * acceleration - torque) <= 100 * EPS * np.abs(tau).max()
            )
