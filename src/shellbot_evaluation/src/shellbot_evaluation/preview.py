# SPDX-License-Identifier: MIT
"""Actions and gaits, simulated to be looked at: every tick of them, and pictures of the robot in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from robot_evaluation.errors import DefinitionError, EvaluationError
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.gait.gait_table import Gait, find_gait
from shellbot_action_manager.gait.walking import LEG_AZIMUTH
from shellbot_chain.chain import Chain
from shellbot_chain.errors import MissionFailed
from shellbot_client import Shellbot
from shellbot_common.rotations import rotation_from_quaternion, rotation_from_rpy, rpy_from_quaternion
from shellbot_common.view import View
from shellbot_simulator.core.errors import RenderError
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.state import SimState

from .mission_film import SIZE, cropped

CYCLES = 2  # of a gait that are recorded, after as many that are not
MOVED_DEG = 0.5  # from which on the joints of a kind are worth a plot
LIFTED = 0.01  # m: a foot that rises so far above the others is what the picture is about
_DISTANCE, _ELEVATION_DEG = 1.1, -27.0  # of the camera from the body's centre, m; negative: from above
_AZIMUTH_DEG, _ASIDE_DEG = -49.0, -25.0  # of the camera around the robot; from the leg that it faces


@dataclass(frozen=True)
class Recording:
    """What the robot did in the simulator: m ticks of a robot with n joints and six feet."""

    title: str
    states: Tuple[SimState, ...]  #: Ground truth
    commanded: np.ndarray  #: (m, n) Commanded joints, rad
    steps: Tuple[str, ...]  #: Of the action, at each tick, such as "2 of 7: lift"; empty for a gait
    phase: np.ndarray  #: (m, 6) Of the legs in the gait cycle, 0..1; NaN while none is walked
    joint_names: Tuple[str, ...]
    simulator: Simulator  #: Draws the states
    failure: str = ""  #: Why the action did not end; empty: it did

    @property
    def t(self) -> np.ndarray:
        """Time since the beginning (m,), s."""
        time = np.array([state.time for state in self.states])
        return time - time[0]

    @property
    def joints(self) -> np.ndarray:
        """Measured joints (m, n), rad."""
        return np.array([state.q for state in self.states])

    @property
    def position(self) -> np.ndarray:
        """Position of the body (m, 3) since the beginning, in the axes that it had then, m."""
        p = np.array([state.p_world_base for state in self.states])
        yaw = rpy_from_quaternion(*self.states[0].quat_world_base)[2]
        return np.asarray((p - p[0]) @ rotation_from_rpy(0.0, 0.0, yaw))

    @property
    def attitude(self) -> np.ndarray:
        """Roll, pitch and yaw of the body (m, 3), without jumps, yaw since the beginning, rad."""
        rpy = np.unwrap([rpy_from_quaternion(*state.quat_world_base) for state in self.states], axis=0)
        rpy[:, 2] -= rpy[0, 2]
        return np.asarray(rpy)

    @property
    def foot_height(self) -> np.ndarray:
        """Height of the lowest point of each foot above the ground (m, 6), m."""
        return np.array([state.foot_height for state in self.states])

    @property
    def feet(self) -> np.ndarray:
        """Feet (m, 6, 3) under the body: origin and heading of base_link, z up from the ground, m."""
        found = []
        for state in self.states:
            yaw = rpy_from_quaternion(*state.quat_world_base)[2]
            R_world_base = rotation_from_quaternion(state.quat_world_base)  # noqa: N806
            p_world = state.p_base_foot @ R_world_base.T
            p_level = p_world @ rotation_from_rpy(0.0, 0.0, yaw)
            found.append(p_level + [0.0, 0.0, state.p_world_base[2]])
        return np.array(found)

    @property
    def contact(self) -> np.ndarray:
        """Feet that carry load by ground truth, (m, 6)."""
        return np.array([state.contacts.foot_contact for state in self.states])

    @property
    def boundaries(self) -> List[Tuple[float, str]]:
        """When each step begins, s, and its name."""
        t, begins = self.t, [i for i, s in enumerate(self.steps) if i == 0 or s != self.steps[i - 1]]
        return [(float(t[i]), self.step_name(i)) for i in begins]

    @property
    def azimuth_deg(self) -> float:
        """Where a camera sees best around the robot, 0 ahead of it, 90 to its left: near the one leg that is lifted."""
        heights = np.sort(self.foot_height.max(axis=0))
        if heights[-1] - heights[-2] < LIFTED:
            return _AZIMUTH_DEG
        return math.degrees(LEG_AZIMUTH[int(self.foot_height.max(axis=0).argmax())]) + _ASIDE_DEG

    def step_name(self, i: int) -> str:
        """Return the name of the step at tick i."""
        return self.steps[i].rpartition(": ")[2]

    def groups(self) -> Mapping[str, List[int]]:
        """Return the columns of each kind of joint (coxa, femur, ...) of which one moves."""
        moved = np.degrees(np.ptp(self.joints, axis=0)) > MOVED_DEG
        found: Dict[str, List[int]] = {}
        for i, name in enumerate(self.joint_names):
            found.setdefault(name.rpartition("_")[2], []).append(i)
        return {kind: columns for kind, columns in found.items() if moved[columns].any()}


def record_action(
    name: str,
    parameters: Mapping[str, float],
    folders: Sequence[Union[str, Path]] = (),
    seed: int = 0,
    variant: str = "simulation",
) -> Recording:
    """Perform an action in the simulator and keep every tick of it.

    Parameters
    ----------
    name : str
        Of the action.
    parameters : mapping of str to float
        Those that differ from their defaults.
    folders : sequence of path-like
        With actions of one's own.
    seed : int
        Of the simulator.
    variant : str
        Of the robot.

    Raises
    ------
    EvaluationError
        If the library cannot be read, or the action is refused.
    """
    try:
        robot = Shellbot.simulated(seed=seed, variant=variant, record=False, action_folders=tuple(map(str, folders)))
        recorder = _Recorder(robot)
        robot.chain.stand_up()
        robot.chain.manager.plan_action(name, parameters)  # refused here, before anything is recorded
    except ActionManagerError as error:
        raise EvaluationError(str(error)) from error
    failure = ""
    try:
        robot.chain.perform(name, each_tick=recorder.keep, **parameters)
    except MissionFailed as failed:
        failure = str(failed)
    values = "".join(f" {key}={value:g}" for key, value in parameters.items())
    return recorder.recording(f"{name}{values}", failure)


def record_gait(
    name: str, twist: Sequence[float] = (0.2, 0.0, 0.0), seed: int = 0, variant: str = "simulation"
) -> Tuple[Recording, Gait]:
    """Walk in the simulator and keep two cycles, after two that are not kept; return the gait, too.

    Parameters
    ----------
    name : str
        Of the gait table.
    twist : (3,) sequence of float
        Forward and leftward, m/s, turning, rad/s; what is faster than the gait is slowed down.
    seed : int
        Of the simulator.
    variant : str
        Of the robot.

    Raises
    ------
    DefinitionError
        If the twist is none to walk with.
    EvaluationError
        If there is no such gait.
    """
    if len(twist) != 3 or not np.isfinite(twist).all() or not np.any(twist):
        raise DefinitionError(
            f"the twist is {tuple(twist)}; give forward and leftward m/s and turning rad/s, one of them not 0"
        )
    robot = Shellbot.simulated(seed=seed, variant=variant, record=False)
    chain, recorder = robot.chain, _Recorder(robot)
    try:
        gait = find_gait(chain.manager.gaits, name)
    except ActionManagerError as error:
        raise EvaluationError(str(error)) from error
    chain.stand_up()
    robot.gait(name)
    cycles = _Cycles()
    chain.walk(twist, until=lambda c: cycles.are_over(_phase(c)), settle=False)
    cycles = _Cycles()

    def watch(c: Chain) -> bool:
        recorder.keep(chain)
        return cycles.are_over(_phase(c))

    chain.walk(twist, until=watch, settle=False)
    x, y, rate = chain.manager.twist
    speeds = f"{x:.2f} m/s ahead, {y:.2f} m/s to the left, {math.degrees(rate):.0f} deg/s"
    slower = " (as fast as the gait allows)" if np.abs(chain.manager.twist - twist).max() > 0.01 else ""
    return recorder.recording(f"gait {name}: {speeds}{slower}"), gait


def spread(recording: Recording, count: int) -> List[int]:
    """Return `count` ticks, or all where there are fewer, from the first to the last at equal distances."""
    m = len(recording.states)
    return [int(i) for i in np.linspace(0, m - 1, min(count, m)).round()]


def pictures(
    recording: Recording, ticks: Sequence[int], speed: float = 1.0, azimuth_deg: Optional[float] = None
) -> Iterator[Tuple[str, np.ndarray]]:
    """Draw the robot as it was at some ticks: caption and picture (height, width, 3) uint8.

    Parameters
    ----------
    recording : Recording
        What the robot did.
    ticks : sequence of int
        Of the recording.
    speed : float
        Of a film against the robot, for the captions.
    azimuth_deg : float, optional
        Where the camera stands around the robot at its start, 0 ahead of it, 90 to its left; best seen by default.

    Raises
    ------
    EvaluationError
        If nothing can be rendered here.
    """
    times, first = recording.t, recording.states[0]
    yaw_deg = math.degrees(rpy_from_quaternion(*first.quat_world_base)[2])
    stands_deg = recording.azimuth_deg if azimuth_deg is None else azimuth_deg
    faster = f"   ({speed:.2g}x)" if speed > 1.01 else ""
    try:
        for i in ticks:
            state = recording.states[i]
            recording.simulator.show(state)
            target = (*state.p_world_base[:2].tolist(), float(first.p_world_base[2]))
            view = View(target, _DISTANCE, yaw_deg + stands_deg + 180.0, _ELEVATION_DEG)
            step = f"  {recording.step_name(i)}" if recording.steps else ""
            yield f"{times[i]:5.2f} s{step}{faster}", cropped(recording.simulator.render(*SIZE, view))
    except RenderError as error:
        raise EvaluationError(f"{error}; or give --plots-only, which needs no pictures") from error
    finally:
        recording.simulator.close()


class _Recorder:
    """Keeps the ticks of a robot that is simulated in this process."""

    def __init__(self, robot: Shellbot) -> None:
        self._chain = robot.chain
        self._states: List[SimState] = []
        self._commanded: List[np.ndarray] = []
        self._steps: List[str] = []
        self._phase: List[np.ndarray] = []

    def keep(self, _chain: Any) -> None:
        """Keep the present tick."""
        chain = self._chain
        applied, status = chain.robot.applied, chain.manager.performer.status
        self._states.append(chain.state)
        self._commanded.append(np.full(len(chain.joint_names), np.nan) if applied is None else np.array(applied))
        if status is not None:
            self._steps.append(status.step)
        self._phase.append(_phase(chain))

    def recording(self, title: str, failure: str = "") -> Recording:
        """Return what was kept."""
        return Recording(
            title,
            tuple(self._states),
            np.array(self._commanded),
            tuple(self._steps),
            np.array(self._phase),
            self._chain.joint_names,
            self._chain.simulator,
            failure,
        )


class _Cycles:
    """Counts gait cycles by the phase of the first leg."""

    def __init__(self) -> None:
        self._passed = 0.0
        self._before = math.nan

    def are_over(self, phase: np.ndarray) -> bool:
        """Take the phase (6,) at the next tick; return whether `CYCLES` are over."""
        now = float(phase[0])
        if math.isfinite(now - self._before):
            self._passed += (now - self._before) % 1.0
        self._before = now
        return self._passed >= CYCLES


def _phase(chain: Chain) -> np.ndarray:
    output = chain.output
    contacts = None if output is None else output.contacts
    return np.array(contacts.phase) if contacts is not None and contacts.model == "feet" else np.full(6, np.nan)
