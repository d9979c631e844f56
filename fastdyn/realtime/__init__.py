"""Control loops at a fixed rate on an ordinary computer, with a report of their computation times and lateness.

    from fastdyn.realtime import Loop
    report = Loop(robot, rate=1000).run(step, seconds=10)  # step(bound, t) reads and writes bound.q, bound.tau, ...
    print(report)

An empty loop on the same core shows what the host alone causes. An ordinary operating system guarantees no deadline,
and the report claims none. `python -m fastdyn.realtime` runs a computed-torque loop on a simulated arm.
"""

from fastdyn.control import ComputedTorque
from fastdyn.realtime.loop import Loop, Step
from fastdyn.realtime.report import Record, Report, Spread
from fastdyn.simulation import SimulatedArm

__all__ = ["ComputedTorque", "Loop", "Record", "Report", "SimulatedArm", "Spread", "Step"]
