"""A robot in the browser, moved from Python and by sliders (extra `live`: viser)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import MissingExtraError
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.limits import limits_of
from fastdyn.mechanism.poses import coordinates, outward, poses_at, reach
from fastdyn.rotations import to_quaternion
from fastdyn.view.scene import scene

METAL, DRUM = (186, 194, 203), (11, 98, 196)  # colours of links and joints
Rod = tuple[str, Array, Array, float, tuple[int, int, int]]  # its link, its ends in the link's axes, radius, colour


class Live:
    """A robot in the browser, with a slider for each coordinate. Made by `fd.view_live`; close() or `with` ends it.

    url: the page's address. q: (n,) rad or m, the posture shown.
    """

    def __init__(self, robot: Mechanism, q: ArrayLike | None, host: str, port: int) -> None:
        try:
            import viser
        except ImportError as problem:
            raise MissingExtraError("view_live needs viser, which is missing: pip install fastdyn[live]") from problem
        given = np.clip(0.0, *limits_of(robot).position.T) if q is None else q
        coordinates(robot, given)  # checks
        self.robot, self.q = robot, np.array(given, dtype=np.float64)
        self._lock = threading.Lock()
        self._server = viser.ViserServer(host=host, port=port, label=robot.name, verbose=False)
        self.url = f"http://{host}:{self._server.get_port()}"
        box = reach(robot, np.zeros(len(robot.joints)), 0.5)
        size, centre = float(np.ptp(box, axis=0).max()) or 1.0, box.mean(axis=0)
        draw, camera = self._server.scene, self._server.initial_camera
        camera.look_at, camera.position = centre, centre + size * np.array((0.7, -0.9, 0.4))
        draw.add_grid("/grid", width=4 * size, height=4 * size, cell_size=size / 10, section_size=size / 2)
        self._links = {link.name: draw.add_frame(f"/{k}", show_axes=False) for k, link in enumerate(robot.all_links)}
        for k, (link, start, end, radius, colour) in enumerate(rods(robot, 0.013 * size)):
            length = float(np.linalg.norm(end - start))
            if length > 1e-3 * radius:
                part = draw.add_cylinder(f"{self._links[link].name}/{k}", radius, length, colour)
                part.wxyz, part.position = to_quaternion(_along((end - start) / length)), (start + end) / 2
        self._sliders = []
        for k, (each, value) in enumerate(zip(scene(robot)["coordinates"], self.q.tolist(), strict=True)):
            unit, (low, high) = each["units"]["q"], each["position"]
            span = 1.0 if unit == "m" else np.pi
            low, high = (value - span if low is None else low), (value + span if high is None else high)
            step = max((high - low) / 1000, 1e-9)
            label = f"{each['name']} [{unit}]"
            self._sliders.append(self._server.gui.add_slider(label, low, high, step, min(max(value, low), high)))
            self._sliders[k].on_update(partial(self._dragged, k))
        self._place()

    def update(self, q: ArrayLike) -> None:
        """Shows the posture q, (n,) rad or m, and moves the sliders; takes some milliseconds."""
        coordinates(self.robot, q)  # checks
        with self._lock, self._server.atomic():
            self.q = np.array(q, dtype=np.float64)
            for slider, value in zip(self._sliders, self.q.tolist(), strict=True):
                slider.value = min(max(value, slider.min), slider.max)
            self._place()

    def close(self) -> None:
        """Ends the server; its port is free again."""
        self._server.stop()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _dragged(self, k: int, event: Any) -> None:
        if event.client is None:  # moved by update
            return
        with self._lock, self._server.atomic():
            self.q[k] = event.target.value
            self._place()

    def _place(self) -> None:
        poses = poses_at(self.robot, coordinates(self.robot, self.q))
        world = self.robot.mount @ np.array(list(poses.values()))
        for name, turned, place in zip(poses, to_quaternion(world[:, :3, :3]), world[:, :3, 3], strict=True):
            self._links[name].wxyz, self._links[name].position = turned, place


def view_live(robot: Mechanism, q: ArrayLike | None = None, host: str = "127.0.0.1", port: int = 8080) -> Live:
    """Shows a robot in the browser while Python runs; sliders move it, and so does `update(q)` of what is returned.

    q: (n,) rad or m; zero, or the limit next to it, if not given. host: 127.0.0.1 lets only this machine connect. port:
    the next free one if it is taken, any if 0. Needs viser, the extra `live`.
    """
    return Live(robot, q, host, port)


def rods(robot: Mechanism, radius: float) -> Iterator[Rod]:
    """Links from their origins to the joints they carry, a drum for each joint, a rail for each that slides."""
    zero = np.zeros(3)
    for joint in outward(robot):
        origin, tail, axis = np.asarray(joint.origin), np.asarray(joint.tail), np.asarray(joint.axis)
        hinge, centre = origin[:3, 3], -tail[:3, :3].T @ tail[:3, 3]  # the joint's place on its parent and child
        yield joint.parent, zero, hinge, radius, METAL
        yield joint.child, centre, zero, radius, METAL
        if joint.kind in ("prismatic", "helical"):
            low, high = min(joint.limits.lower, 0.0), max(joint.limits.upper, 0.0)
            travel = np.clip((low, high), -1.0, 1.0) * (joint.pitch or 1.0)
            ends = hinge + travel[:, None] * (origin[:3, :3] @ axis)
            yield joint.parent, ends[0], ends[1], 0.4 * radius, METAL
        if joint.kind != "fixed":
            half = 2 * radius * (tail[:3, :3].T @ axis)
            yield joint.child, centre - half, centre + half, 1.6 * radius, DRUM


def _along(z: Array) -> Array:
    """A rotation whose third column is the unit vector z."""
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
