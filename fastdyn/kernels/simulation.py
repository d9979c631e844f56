"""Simulation: a robot moves under torques, step by step, on any kind of scalar; one motion in each lane.

`S` is a (SETTINGS, n) array: one row per quantity, one column per coordinate. `numbers` is a (1, NUMBERS) array of
integers. Coordinates x are q, and with flexible joints q of the arm, then of the motors (both on the arm's side of the
gear). Each step begins with a record of the state, of the torques and of the accelerations at its beginning.

Friction is regularised: the Coulomb part grows in proportion to the velocity up to 1 / PER_SLIP and is constant beyond,
so that a joint at rest creeps instead of changing direction at every step. Joint stops are springs with dampers; those
of flexible joints hold arm and motor.

Implicit steps take springs and viscous friction at the end of the step: with h the step, c = h (h k + d) of a flexible
joint acts on the arm as a rotor of inertia c B / (B + c), B the motor's, so that forward dynamics stays as it is.
"""

from fastdyn.scalars import add, fill, give, kernel, load, maximum, minimum, store, take, where_above, width

# fmt: off
(
    VISCOUS, PLUS, MINUS, PER_SLIP,     # friction of the motor; one over the velocity where it is full
    LOW, HIGH, STOP_K, STOP_D,          # joint stops: where they begin, stiffness, damping
    MOTOR_STOP_K, MOTOR_STOP_D,         # those of the motors of flexible joints
    EFFORT,                             # the largest torque
    SPRING, DAMPER, ARM_VISCOUS,        # flexible joints: stiffness, damping, friction on the arm's side
    BACK, PER_ROTOR,                    # of flexible joints: c / (B + c) and 1 / (B + c)
    STEP, IMPLICIT_STEP,                # column 0: the step, s; the same or 0, for implicit springs
    SETTINGS,
) = range(19)
(
    FIRST, LAST, TOTAL,                 # steps of this call, and of the whole motion
    EVERY,                              # every so many steps are recorded
    HOLD, DELAY,                        # steps for which the controller holds a torque, 0: continuous; delay in holds
    ROUGH, FLEXIBLE, STAGES,            # is there friction or a stop; are joints flexible; 1 or 4 stages (RK4)
    REFERENCES,                         # values of the reference, from FIRST on; the last one holds afterwards
    NUMBERS,
) = range(11)
# fmt: on


def scratch_rows(m, gains, reference, delay, work):
    """Rows of scratch for m coordinates."""
    return state_columns(m, delay) + 12 * m + gains + reference + 5 * m + work


def state_columns(m, delay):
    """Columns of a motion's state: positions and velocities of arm and motors, the torque, torques on their way."""
    return 5 * m + m * delay


@kernel
def simulate(
    forward, control, P, tree, G, pattern, P_c, tree_c, G_c, pattern_c, S, numbers,
    state, gains, reference, noise, q_out, qd_out, qdd_out, tau_out, motor_out, scratch,
):  # fmt: skip
    """Steps FIRST to LAST of all motions; returns a status as calls do.

    forward(P, tree, G, pattern, q, qd, tau, qdd, work): forward dynamics; control(P_c, tree_c, G_c, pattern_c, seen,
    reference, gains, tau, work): the controller; seen: measured q and qd of the motors, then those of the arm.
    """
    m, flexible, delay, hold = S.shape[1], numbers[0, FLEXIBLE], numbers[0, DELAY], numbers[0, HOLD]
    N, columns, wide = (2 if flexible else 1) * m, reference.shape[1] // numbers[0, REFERENCES], gains.shape[1]
    end = 5 * m + m * delay
    kept = scratch[:end]
    x, v, tau, way = kept[:N], kept[2 * m : 2 * m + N], kept[4 * m : 5 * m], kept[5 * m :]
    xs, vs, a = scratch[end : end + N], scratch[end + 2 * m : end + 2 * m + N], scratch[end + 4 * m : end + 4 * m + N]
    sum_x, sum_v = scratch[end + 6 * m : end + 6 * m + N], scratch[end + 8 * m : end + 8 * m + N]
    spare = scratch[end + 6 * m : end + 10 * m]  # the rows of sum_x and sum_v, not in use yet when noise is read
    total, rest, fresh = scratch[end + 10 * m :][:m], scratch[end + 11 * m :][:m], scratch[end + 12 * m :][:m]
    seen = scratch[end + 13 * m : end + 17 * m]
    gains_ = scratch[end + 17 * m : end + 17 * m + wide]
    reference_ = scratch[end + 17 * m + wide : end + 17 * m + wide + columns]
    work = scratch[end + 17 * m + wide + columns :]
    check, worst, h = fill(scratch, 0.0), -1, S[STEP, 0]
    for first in range(0, state.shape[0], width(scratch)):
        take(state, first, kept, 0)
        take(gains, first, gains_, 0)
        for j in range(N):
            store(vs, j, fill(scratch, 0.0))
            store(a, j, fill(scratch, 0.0))
        for k in range(numbers[0, FIRST], numbers[0, LAST]):
            for stage in range(numbers[0, STAGES]):
                fraction = stage_time(stage)
                for j in range(N):
                    store(xs, j, load(x, j) + load(vs, j) * (fraction * h))
                    store(vs, j, load(v, j) + load(a, j) * (fraction * h))
                if hold == 0 or (stage == 0 and k % hold == 0):
                    held = 0 if hold == 0 else k // hold - numbers[0, FIRST] // hold
                    place = 2 * (k - numbers[0, FIRST]) + int(2 * fraction) if hold == 0 else held
                    place = min(place, numbers[0, REFERENCES] - 1) * columns
                    take(reference[:, place : place + columns], first, reference_, 0)
                    # the motors', then those of the arm behind the springs: the same if there are none
                    for j in range(m):
                        store(seen, j, load(xs, N - m + j))
                        store(seen, m + j, load(vs, N - m + j))
                        store(seen, 2 * m + j, load(xs, j))
                        store(seen, 3 * m + j, load(vs, j))
                    if noise.shape[0] > 0:
                        begin = held * 2 * N
                        take(noise[:, begin : begin + 2 * N], first, spare, 0)
                        for j in range(4 * m):
                            add(seen, j, load(spare, j % (2 * N)))
                    control(P_c, tree_c, G_c, pattern_c, seen, reference_, gains_, fresh, work)
                    limited(S, fresh)
                    delayed(way, fresh, tau)
                if flexible:
                    behind_springs(S, xs, vs, tau, total, rest)
                elif numbers[0, ROUGH]:
                    driven(S, xs, vs, tau, total)
                else:
                    for j in range(m):
                        store(total, j, load(tau, j))
                bad = forward(P, tree, G, pattern, xs[:m], vs[:m], total, a[:m], work)
                worst = max(worst, bad)
                if flexible:
                    for j in range(m):
                        store(a, m + j, load(rest, j) + S[BACK, j] * load(a, j))
                if stage == 0 and k % numbers[0, EVERY] == 0:
                    row = k // numbers[0, EVERY] * m
                    check = check + give(q_out[:, row : row + m], first, x[:m], 0)
                    check = check + give(qd_out[:, row : row + m], first, v[:m], 0)
                    check = check + give(qdd_out[:, row : row + m], first, a[:m], 0)
                    check = check + give(tau_out[:, row : row + m], first, tau, 0)
                    if flexible:
                        give(motor_out[:, 3 * row : 3 * row + m], first, x[m:], 0)
                        give(motor_out[:, 3 * row + m : 3 * row + 2 * m], first, v[m:], 0)
                        give(motor_out[:, 3 * row + 2 * m : 3 * row + 3 * m], first, a[m:], 0)
                if k < numbers[0, TOTAL]:
                    if numbers[0, STAGES] == 1:
                        euler(x, v, a, h)
                    else:
                        weigh(sum_x, sum_v, vs, a, stage)
            if k < numbers[0, TOTAL] and numbers[0, STAGES] == 4:
                for j in range(N):
                    add(x, j, load(sum_x, j) * h)
                    add(v, j, load(sum_v, j) * h)
        check = check + give(state, first, kept, 0)
    return check, worst


@kernel
def stage_time(stage):
    """When a stage of the classic Runge-Kutta method is, in steps."""
    return 0.0 if stage == 0 else 1.0 if stage == 3 else 0.5


@kernel
def weigh(sum_x, sum_v, vs, a, stage):
    """Adds a stage's velocities and accelerations, with the weights of the classic Runge-Kutta method."""
    weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
    for j in range(vs.shape[0]):
        if stage == 0:
            store(sum_x, j, load(vs, j) * weight)
            store(sum_v, j, load(a, j) * weight)
        else:
            add(sum_x, j, load(vs, j) * weight)
            add(sum_v, j, load(a, j) * weight)


@kernel
def euler(x, v, a, h):
    """Semi-implicit: velocities first, then positions with the new velocities."""
    for j in range(x.shape[0]):
        add(v, j, load(a, j) * h)
        add(x, j, load(v, j) * h)


@kernel
def limited(S, tau):
    """Torques within the largest ones."""
    for j in range(tau.shape[0]):
        most = load(tau, j) * 0.0 + S[EFFORT, j]
        store(tau, j, maximum(minimum(load(tau, j), most), -most))


@kernel
def delayed(way, fresh, tau):
    """The torque that acts now: `fresh`, or the oldest of those on their way, which make room for it."""
    m, end = tau.shape[0], way.shape[0]
    for j in range(m):
        store(tau, j, load(fresh, j) if end == 0 else load(way, j))
    for j in range(m, end):
        store(way, j - m, load(way, j))
    if end > 0:
        for j in range(m):
            store(way, end - m + j, load(fresh, j))


@kernel
def friction(S, j, rate):
    """Viscous friction, and Coulomb friction that is full from a velocity of 1 / PER_SLIP on."""
    one = rate * 0.0 + 1.0
    slip = maximum(minimum(rate * S[PER_SLIP, j], one), -one)
    return rate * S[VISCOUS, j] + where_above(slip, 0.0, slip * S[PLUS, j], -(slip * S[MINUS, j]))


@kernel
def stop(S, j, x, rate, stiffness, damping):
    """The torque of a joint stop: a spring and a damper, while the joint is beyond."""
    zero = rate * 0.0
    over, under = maximum(x - S[HIGH, j], zero), maximum(S[LOW, j] - x, zero)
    return stiffness * (under - over) - where_above(over + under, 0.0, damping * rate, zero)


@kernel
def driven(S, x, v, tau, total):
    """The torques on the joints of a rigid robot: motors less friction, and stops."""
    for j in range(total.shape[0]):
        rate = load(v, j)
        stopped = stop(S, j, load(x, j), rate, S[STOP_K, j], S[STOP_D, j])
        store(total, j, load(tau, j) - friction(S, j, rate) + stopped)


@kernel
def behind_springs(S, x, v, tau, total, rest):
    """The torques on an arm behind springs, and the part of the motors' accelerations that does not depend on it.

    (3.70), energy-consistent: B t'' + f t' + s = tau, M q'' + ... = s - f_a q', s = k (t - q) + d (t' - q').
    """
    m, h = total.shape[0], S[IMPLICIT_STEP, 0]
    for j in range(m):
        place, rate, motor, turning = load(x, j), load(v, j), load(x, m + j), load(v, m + j)
        bend, bending = motor - place, turning - rate
        spring = (bend + bending * h) * S[SPRING, j] + bending * S[DAMPER, j]
        held = stop(S, j, motor, turning, S[MOTOR_STOP_K, j], S[MOTOR_STOP_D, j])
        push = load(tau, j) - friction(S, j, turning) - spring + held
        store(rest, j, push * S[PER_ROTOR, j])
        stopped = stop(S, j, place, rate, S[STOP_K, j], S[STOP_D, j])
        store(total, j, spring + push * S[BACK, j] - rate * S[ARM_VISCOUS, j] + stopped)
