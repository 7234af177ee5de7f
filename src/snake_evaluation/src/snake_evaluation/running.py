# SPDX-License-Identifier: MIT
"""Gaits and velocities of the snake that runs over ROS, such as in Gazebo, beside those of one in this process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.tables import format_cell, markdown_table
from shellbot_common.rotations import rotation_from_quaternion
from snake_motion.chassis import BodyGeometry, body_poses, chassis_of
from snake_motion.gait_table import GaitRow

from .commanded import driven_steps
from .cycles import cost_of_steps, request_cycles, steps_of
from .snake_run import SnakeRun, Truth

CYCLES = 6  # measured, after those that begin a case


@dataclass(frozen=True)
class Case:
    """A gait of the table with direction +1, or else a velocity by `cmd_vel`."""

    gait: str = ""
    twist: Tuple[float, float, float] = (0.0, 0.0, 0.0)  #: Ahead, left, turning, m/s and rad/s

    @property
    def name(self) -> str:
        """The row's first column."""
        ahead, left, turn = self.twist
        return self.gait or f"`cmd_vel` {ahead:g}, {left:g} m/s, {turn:g} rad/s"

    def period(self, run: SnakeRun) -> float:
        """Return the duration of a cycle, s."""
        return run.core.engine.gaits.shape(self.gait).period if self.gait else run.setup.period


VELOCITIES = (
    Case(twist=(0.1, 0.0, 0.0)), Case(twist=(0.0, 0.1, 0.0)), Case(twist=(0.0, -0.2, 0.0)), Case(twist=(0.0, 0.0, 0.5)),
)  # fmt: skip


def cases_of(run: SnakeRun, gaits: Optional[Sequence[str]] = None) -> List[Case]:
    """Return the cases of a robot: gaits by name; else all that it can do, and velocities if it has maps.

    Raises
    ------
    SettingsError
        If there is no gait of a name, or it cannot do it; the text says which there are, or why.
    """
    able = run.core.engine.gaits
    if gaits is not None:
        for name in gaits:
            able.shape(name)
        return [Case(name) for name in gaits]
    moving = [Case(name) for name in able.shapes if able.rows[name] != GaitRow()]
    return moving + list(VELOCITIES if run.core.drive.maps else ())


class Progress(NamedTuple):
    """What a robot makes of a cycle."""

    step: np.ndarray  #: (3,) Forward, left, m, and turning, rad: the mean
    cost: float  #: Of transport, by the positive work of the joints; NaN for steps below 1 mm


class Track:
    """Joint angles and powers, and poses of the head, over time.

    Parameters
    ----------
    geometry : BodyGeometry
        Sizes of the robot.
    """

    def __init__(self, geometry: BodyGeometry) -> None:
        self._geometry = geometry
        #: Stamp, s, angles from head to tail, rad, and positive power of all joints, W
        self.joints: List[Tuple[float, Sequence[float], float]] = []
        #: Stamp, s, place of the head in the world, m, and its attitude there, x, y, z, w
        self.poses: List[Tuple[float, Sequence[float], Sequence[float]]] = []

    def forget(self) -> None:
        """Drop all but the newest."""
        self.joints, self.poses = self.joints[-1:], self.poses[-1:]

    @property
    def time(self) -> float:
        """Newest stamp, s; of a track that has begun."""
        return self.poses[-1][0]

    def truth(self, time: float) -> Truth:
        """Return the virtual chassis at the pose and the joints that are next to a time, s."""
        _, place, quaternion = min(self.poses, key=lambda pose: abs(pose[0] - time))
        _, q, _ = min(self.joints, key=lambda joints: abs(joints[0] - time))
        bodies = body_poses(np.array(q), self._geometry, rotation_from_quaternion(np.array(quaternion)))
        x, y, _, yaw, roll, up = chassis_of(bodies)
        return Truth(x + place[0], y + place[1], yaw, roll, up)

    def progress(self, begin: float, period: float, mass_kg: float) -> Progress:
        """Return what `CYCLES` cycles from a time on, s, made; of a robot of this mass."""
        steps = steps_of([self.truth(begin + k * period) for k in range(CYCLES + 1)])
        end = begin + CYCLES * period
        powers = [power for stamp, _, power in self.joints if begin <= stamp <= end]
        work = float(np.mean(powers)) * (end - begin)  # samples are as far apart as the ticks
        return Progress(steps.mean(axis=0), cost_of_steps(work, mass_kg, steps))


def embedded_progress(case: Case, run: SnakeRun) -> Progress:
    """Return what a robot in this process makes, as `Track.progress`; its work is that of every step of the physics."""
    if not case.gait:
        steps = driven_steps(run, np.array(case.twist), CYCLES)
        return Progress(steps.mean(axis=0), cost_of_steps(run.energy, run.simulator.mass, steps))
    found = request_cycles(run, case.gait, 1, CYCLES)
    step = np.array([1e-3 * found.forward_mm, 1e-3 * found.left_mm, math.radians(found.yaw_deg)])
    return Progress(step, found.cost_of_transport)


def row(case: Case, running: Progress, embedded: Progress) -> Dict[str, str]:
    """Return a row of the table from what both robots make."""

    def text(step: np.ndarray) -> str:
        ahead, left, turn = round(1e3 * step[0]) + 0, round(1e3 * step[1]) + 0, round(math.degrees(step[2]), 1) + 0.0
        return f"{ahead}, {left} mm, {turn:.1f}°"

    return {
        "case": case.name,
        "running": text(running.step),
        "embedded": text(embedded.step),
        "running_cost": format_cell(running.cost, 2),
        "embedded_cost": format_cell(embedded.cost, 2),
    }


def table(rows: Sequence[Dict[str, str]]) -> str:
    """Return the rows as Markdown."""
    heads = {
        "case": "gait",
        "running": "robot over ROS: forward, left, turned a cycle",
        "embedded": "embedded simulator in one process",
        "running_cost": "cost of transport over ROS",
        "embedded_cost": "in one process",
    }
    return markdown_table(rows, heads)
