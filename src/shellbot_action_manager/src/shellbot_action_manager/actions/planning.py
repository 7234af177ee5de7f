# SPDX-License-Identifier: MIT
"""Turns the steps of an action into postures at every tick, and refuses what the robot cannot do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from robot_mechanics.trajectories import Keyframes, Limits, Through, Trajectory, TrajectoryError, fastest
from robot_mechanics.trajectories.curves import filled
from shellbot_action_manager.actions.draft import Draft
from shellbot_action_manager.actions.plan import Plan
from shellbot_action_manager.actions.posture_check import PostureCheck
from shellbot_action_manager.actions.postures import Postures, joined, leg_axes
from shellbot_action_manager.actions.steps import COORDINATES, LONGEST_S, Motion, Place, Step
from shellbot_action_manager.body.geometry import LEG_COUNT
from shellbot_action_manager.body.holding import Holding
from shellbot_action_manager.errors import ActionError
from shellbot_common import TICK

if TYPE_CHECKING:
    from shellbot_action_manager.actions.library import ActionLibrary
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.config import ActionManagerConfig

_CLEAR = 0.03  # m that a foot is lifted on its way back to where it stood
_STRETCHED = 1.005  # times of `at` may be this much too short: they are rounded


class Planner:
    """Plans actions of one robot.

    Parameters
    ----------
    config : ActionManagerConfig
        Sections `action`, `body` and `upper`.
    geometry : RobotGeometry
        The robot.
    holding : Holding, optional
        Judges the torques; by default those of the robot alone.
    """

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry, holding: Optional[Holding] = None) -> None:
        self._geometry = geometry
        self.check = PostureCheck(config, geometry, holding or Holding(geometry, config.action.effort))
        action = config.action
        self._limits = {
            "body": Limits(tuple(config.body.rate), tuple(config.body.acceleration)),
            "foot": Limits(action.foot_velocity, action.foot_acceleration),
            "upper": Limits(config.upper.joint_rate, action.upper_acceleration),
        }

    @property
    def limits(self) -> Mapping[str, Limits]:
        """Greatest velocity and acceleration of each kind of motion."""
        return self._limits

    @property
    def rest(self) -> Postures:
        """The posture in which every action begins and ends."""
        return Postures(np.zeros((1, 6)), np.zeros((1, LEG_COUNT, 3)), self._geometry.up_upper[None])

    def plan(
        self, library: ActionLibrary, name: str, given: Mapping[str, float], footholds: np.ndarray, height: float
    ) -> Plan:
        """Return an action, planned.

        Parameters
        ----------
        library : ActionLibrary
            Where the action is.
        name : str
            Its name.
        given : mapping of str to float
            Its parameters.
        footholds : (6, 3) array
            Where the feet stand in W, m.
        height : float
            Of the body over them at rest, m.

        Raises
        ------
        ActionError
            If there is no such action, or the robot cannot do it: names file, line, step, limb, and by how much.
        """
        draft = Draft(self, library, Place(name), footholds, height)
        draft.add(library.steps(name, given))
        draft.rest()
        return Plan(name, tuple(draft.parts), library.find(name).cancel, dict(given), footholds, height)

    def back(self, present: Postures) -> Postures:
        """Return the way from a posture to the one at rest: lifted feet first, then body and shells."""
        down = present
        away = np.linalg.norm(present.feet[-1], axis=1) > 1e-9
        if away.any():
            legs = tuple(int(leg) + 1 for leg in np.flatnonzero(away))
            over: Dict[str, float] = {"x": 0.0, "y": 0.0, "z": _CLEAR}
            lift = Motion("foot", legs, None, (over,), None, 0)
            lower = replace(lift, through=({"z": 0.0},))
            down = joined(down, self.step(Step("", (lift,), 0.0), down[-1]))
            down = joined(down, self.step(Step("", (lower,), 0.0), down[-1]))
        motions = []
        if present.pose.any():
            motions.append(Motion("body", (), None, (), None, 0))
        if (np.abs(present.upper - self.rest.upper) > 1e-9).any():
            motions.append(Motion("upper", tuple(range(1, LEG_COUNT + 1)), None, (), None, 0))
        if motions:
            down = joined(down, self.step(Step("", tuple(motions), 0.0), down[-1]))
        return down

    def step(self, step: Step, start: Postures) -> Postures:
        """Return the postures of a step, its first the one that it begins in."""
        moves: List[Tuple[Motion, Tuple[int, ...], Union[Trajectory, Keyframes]]] = []
        for motion in step.motions:
            if motion.kind == "upper" and self._geometry.upper is None:
                raise ActionError("this robot has no upper legs; leave out the motion")
            legs = _own_legs(motion, step.motions)
            if legs is not None:
                points = self._points(motion, legs, start)
                if points is not None:
                    moves.append((motion, legs, self._timed(motion, points)))
        duration = max([trajectory.duration for _, _, trajectory in moves], default=0.0)
        if not duration + step.wait <= LONGEST_S:
            raise ActionError(f"it would take {duration + step.wait:.0f} s; a step may take {LONGEST_S:g} s")
        ticks = max(int(np.ceil((duration + step.wait) / TICK)), 1 if moves or step.wait else 0)
        t = TICK * np.arange(ticks + 1)
        pose, feet, upper = (np.repeat(part, ticks + 1, axis=0) for part in (start.pose, start.feet, start.upper))
        for motion, legs, trajectory in moves:
            values = trajectory(t)
            if motion.kind == "body":
                pose = values
            else:
                part = feet if motion.kind == "foot" else upper
                part[:, [leg - 1 for leg in legs]] = values.reshape(len(t), len(legs), -1)
        return Postures(pose, feet, upper)

    def _points(self, motion: Motion, legs: Tuple[int, ...], start: Postures) -> Optional[np.ndarray]:
        """Return the points of a motion, from where it starts; None if it does not move anything."""
        if motion.kind == "body":
            first, rest = start.pose[0], self.rest.pose[0]
        else:
            of = [leg - 1 for leg in legs]
            part, at_rest = (start.feet, self.rest.feet) if motion.kind == "foot" else (start.upper, self.rest.upper)
            first, rest = part[0, of].ravel(), at_rest[0, of].ravel()
        points = [first]
        for waypoint in motion.through:
            points.append(np.tile(self._waypoint(motion, waypoint), max(len(legs), 1)))
        if not motion.through:
            points.append(rest)
        path = np.array(points)
        last = path[-1]
        for column in np.flatnonzero(np.isnan(last)):  # a coordinate that is not given at the end stays as it was last
            known = path[np.isfinite(path[:, column]), column]
            last[column] = known[-1]
        moved = np.flatnonzero(np.abs(np.diff(filled(path), axis=0)).sum(axis=1) > 1e-9)
        if not len(moved):
            return None
        return path if motion.at else path[np.concatenate(([0], moved + 1))]

    def _waypoint(self, motion: Motion, waypoint: Mapping[str, float]) -> np.ndarray:
        values = np.array([waypoint.get(key, np.nan) for key in COORDINATES[motion.kind]])
        if motion.kind == "upper":
            assert self._geometry.upper is not None
            joints = np.asarray(self._geometry.upper.solve(values[0], np.radians(values[1])))
            if not np.isfinite(joints).all():
                raise ActionError(f"the upper shells do not reach a height of {values[0]:g} m; give another one")
            return joints
        if motion.kind == "body":
            values[3:] = np.radians(values[3:])
            if motion.toward is not None:
                R_walk_leg = leg_axes()[motion.toward - 1, :2, :2]  # noqa: N806
                for pair in (slice(0, 2), slice(3, 5)):  # x and y, roll and pitch
                    if np.isfinite(values[pair]).any():
                        values[pair] = R_walk_leg @ np.nan_to_num(values[pair])
        return values

    def _timed(self, motion: Motion, points: np.ndarray) -> Union[Trajectory, Keyframes]:
        try:
            return self._fastest(motion, points, self._limits[motion.kind])
        except TrajectoryError as error:
            raise ActionError(f"the waypoints of {motion.kind} make no path: {error}") from None

    def _fastest(self, motion: Motion, points: np.ndarray, limits: Limits) -> Union[Trajectory, Keyframes]:
        if motion.at:
            keyframes = Keyframes(points, (0.0, *motion.at))
            stretch = float(keyframes.stretch(limits).max())
            if stretch > _STRETCHED:
                raise ActionError(
                    f"the times at of {motion.kind} exceed the limits of speed or acceleration; multiply them by "
                    f"{stretch + 0.005:.2f}"
                )
            return keyframes
        path = Through(points)
        quickest = fastest(path, limits)
        if motion.time is None:
            return quickest
        if motion.time < quickest.duration:
            raise ActionError(
                f"time {motion.time:g} s of {motion.kind} is too short; give {quickest.duration:.2f} s at least, or "
                "leave it out"
            )
        return Trajectory(path, motion.time)


def _own_legs(motion: Motion, motions: Sequence[Motion]) -> Optional[Tuple[int, ...]]:
    """Return the legs that a motion moves, none for the body; None if motions of higher priority take all it has."""
    others = [other for other in motions if other is not motion and other.kind == motion.kind]
    for other in others:
        shared = set(motion.legs) & set(other.legs) or motion.kind == "body"
        if shared and other.priority == motion.priority:
            limb = "the body" if motion.kind == "body" else f"leg {min(set(motion.legs) & set(other.legs))}"
            raise ActionError(f"two motions move {limb} at the same time; give one a higher priority")
    above = [other for other in others if other.priority > motion.priority]
    if motion.kind == "body":
        return None if above else ()
    taken = {leg for other in above for leg in other.legs}
    return tuple(leg for leg in motion.legs if leg not in taken) or None
