# SPDX-License-Identifier: MIT
"""Turns the steps of an action into postures at every tick, and refuses what the robot cannot do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from scipy.spatial.transform import Rotation

from robot_mechanics.trajectories import Keyframes, Limits, Through, Trajectory, fastest
from shellbot_action_manager.actions.library import COORDINATES, Motion, Step
from shellbot_action_manager.body.geometry import LEG_COUNT
from shellbot_action_manager.errors import ActionError, ConfigError
from shellbot_action_manager.gait.walking import LEG_AZIMUTH
from shellbot_common import TICK, Settings, number
from shellbot_common.rotations import rotation_from_rpy

if TYPE_CHECKING:
    from shellbot_action_manager.actions.library import ActionLibrary
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.config import ActionManagerConfig

_DOWN = 1e-4  # m: a foot that is lifted by less stands
_DRAGGED = 1e-3  # m that a standing foot may be moved
_CLEAR = 0.03  # m that a foot is lifted on its way back to where it stood
_LONGEST = 600.0  # s
_STRETCHED = 1.005  # times of `at` may be this much too short: they are rounded


@dataclass(frozen=True)
class ActionConfig(Settings, error=ConfigError):
    """Limits of actions; others are those of sections `body` and `upper`."""

    foot_velocity: float = number(0.01, 2.0, "m/s")
    foot_acceleration: float = number(0.05, 50.0, "m/s^2")
    upper_acceleration: float = number(0.1, 100.0, "rad/s^2")
    stability: float = number(0.0, 0.2, "m")  #: Least distance of the body's centre from the edge of the standing feet


@dataclass(frozen=True)
class Postures:
    """Postures of the robot over its footholds, m of them."""

    pose: np.ndarray  #: (m, 6) Body relative to its rest pose, m and rad
    feet: np.ndarray  #: (m, 6, 3) Feet relative to where they stand, in the axes of their legs: out, left, up, m
    upper: np.ndarray  #: (m, 6, 2) Joints of the upper legs, rad; (m, 0, 2) without

    @property
    def stands(self) -> np.ndarray:
        """Which feet stand, (m, 6)."""
        return np.asarray(self.feet[..., 2] <= _DOWN)

    def __getitem__(self, i: int) -> Postures:
        """Return posture `i` alone."""
        return Postures(self.pose[i][None], self.feet[i][None], self.upper[i][None])


@dataclass(frozen=True)
class Performance:
    """An action, planned: postures every `TICK`, and which step each belongs to."""

    name: str
    postures: Postures
    steps: Tuple[str, ...]  #: Names
    ends: np.ndarray  #: (k,) Posture at which each step ends
    footholds: np.ndarray  #: (6, 3) Where the feet stand in W, m
    height: float  #: Of the body over them at rest, m

    @property
    def duration(self) -> float:
        """Time at full speed, s."""
        return TICK * (len(self.postures.pose) - 1)


class Planner:
    """Plans actions of one robot.

    Parameters
    ----------
    config : ActionManagerConfig
        Sections `action`, `body` and `upper`.
    geometry : RobotGeometry
        The robot.
    """

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry) -> None:
        self._config, self._geometry = config, geometry
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
    ) -> Performance:
        """Return an action as postures.

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
        postures, names, ends, wheres = self.rest, [], [], []
        for step in library.steps(name, given):
            try:
                postures = _joined(postures, self._step(step, postures[-1]))
            except ActionError as error:
                raise library.complain(name, step.where, str(error)) from None
            names.append(step.name)
            ends.append(len(postures.pose) - 1)
            wheres.append(step.where)
            if TICK * ends[-1] > _LONGEST:
                raise library.complain(name, step.where, f"it would take longer than {_LONGEST:g} s; repeat less")
        back = self.back(postures[-1])
        if len(back.pose) > 1:
            postures = _joined(postures, back)
            names.append("back to rest")
            ends.append(len(postures.pose) - 1)
            wheres.append(wheres[-1])
        performance = Performance(name, postures, tuple(names), np.array(ends), footholds, height)
        found = self.refusal(postures, footholds, height)
        if found is not None:
            i, reason = found
            at = int(np.searchsorted(performance.ends, i))
            seconds = TICK * i
            raise library.complain(name, wheres[at], f"{reason} (after {seconds:.2f} s, {names[at]})")
        return performance

    def back(self, present: Postures) -> Postures:
        """Return the way from a posture to the one at rest: lifted feet first, then body and shells."""
        down = present
        away = np.linalg.norm(present.feet[-1], axis=1) > 1e-9
        if away.any():
            legs = tuple(int(leg) + 1 for leg in np.flatnonzero(away))
            over: Dict[str, float] = {"x": 0.0, "y": 0.0, "z": _CLEAR}
            lift = Motion("foot", legs, None, (over,), None, 0)
            lower = replace(lift, through=({"z": 0.0},))
            down = _joined(down, self._step(Step("", (lift,), 0.0), down[-1]))
            down = _joined(down, self._step(Step("", (lower,), 0.0), down[-1]))
        motions = []
        if present.pose.any():
            motions.append(Motion("body", (), None, (), None, 0))
        if (np.abs(present.upper - self.rest.upper) > 1e-9).any():
            motions.append(Motion("upper", tuple(range(1, LEG_COUNT + 1)), None, (), None, 0))
        if motions:
            down = _joined(down, self._step(Step("", tuple(motions), 0.0), down[-1]))
        return down

    def _step(self, step: Step, start: Postures) -> Postures:
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
        moved = np.flatnonzero(np.nansum(np.abs(np.diff(path, axis=0)), axis=1) > 1e-9)
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
                R_walk_leg = _leg_axes()[motion.toward - 1, :2, :2]  # noqa: N806
                for pair in (slice(0, 2), slice(3, 5)):  # x and y, roll and pitch
                    if np.isfinite(values[pair]).any():
                        values[pair] = R_walk_leg @ np.nan_to_num(values[pair])
        return values

    def _timed(self, motion: Motion, points: np.ndarray) -> Union[Trajectory, Keyframes]:
        limits = self._limits[motion.kind]
        if motion.at:
            keyframes = Keyframes(points, (0.0, *motion.at))
            stretch = float(keyframes.stretch(limits).max())
            if stretch > _STRETCHED:
                raise ActionError(f"at of {motion.kind} is too fast; multiply its times by {stretch + 0.005:.2f}")
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

    def refusal(self, postures: Postures, footholds: np.ndarray, height: float) -> Optional[Tuple[int, str]]:
        """Return the first posture that the robot cannot take, and why; None: all is well.

        Parameters
        ----------
        postures : Postures
            At every tick.
        footholds : (6, 3) array
            Where the feet stand in W, m.
        height : float
            Of the body over them at rest, m.
        """
        config, legs = self._config, self._geometry.legs
        p_walk = feet_in_walk_axes(postures.feet, footholds)
        stands = postures.stands
        p_base = _all_in_base(p_walk, postures.pose, height)
        found: List[Tuple[int, str]] = []
        q = legs.solve(np.swapaxes(p_base, 0, 1))  # (6, m, 3)
        margin = legs.margin(q) - config.joint_margin
        bad = (margin < 0.0).any(axis=(0, 2))
        if bad.any():
            i = int(bad.argmax())
            found.append((i, f"{legs.explain(q[:, i], config.joint_margin)}; move less, or from another posture"))
        flat = (legs.margin(q, stands=True)[..., 2] < 0.0) & stands.T
        if flat.any():
            i = int(flat.any(axis=0).argmax())
            leg = int(flat[:, i].argmax()) + 1
            found.append((i, f"the shell of lower_{leg} would touch the ground; keep the body higher or nearer"))
        dragged = stands[1:] & stands[:-1] & (np.linalg.norm(postures.feet[1:, :, :2], axis=2) > _DRAGGED)
        low = postures.feet[..., 2] < -_DOWN
        for name, wrong in (("stands away from its foothold; lift it", dragged), ("goes into the ground", low)):
            if wrong.any():
                i = int(wrong.any(axis=1).argmax())
                found.append((i, f"the foot of lower_{int(wrong[i].argmax()) + 1} {name}; feet end where they began"))
        edge = stability(p_walk, stands, postures.pose[:, :2])
        if (edge < config.action.stability).any():
            i = int((edge < config.action.stability).argmax())
            text = f"the body's centre is {1e3 * edge[i]:.0f} mm inside the standing feet; give"
            found.append((i, f"{text} {1e3 * config.action.stability:.0f} at least, lean away from the lifted leg"))
        found.extend(self._upper_refusals(postures))
        return min(found, default=None)

    def _upper_refusals(self, postures: Postures) -> List[Tuple[int, str]]:
        if self._geometry.upper is None:
            return []
        limits = self._geometry.upper.limits
        outside = np.maximum(limits[0] - postures.upper, postures.upper - limits[1])
        wrong = (outside > 1e-6).any(axis=(1, 2))
        if not wrong.any():
            return []
        i = int(wrong.argmax())
        leg, joint = np.unravel_index(int(outside[i].argmax()), outside[i].shape)
        name = ("shoulder", "shell")[int(joint)]
        low, high = limits[:, joint]
        angle = postures.upper[i, leg, joint]
        return [(i, f"upper_{leg + 1}_{name} would go to {angle:.2f} rad, limits {low:.2f} to {high:.2f} rad")]


def feet_in_walk_axes(offsets: np.ndarray, footholds: np.ndarray) -> np.ndarray:
    """Return feet (..., 6, 3) in W from their offsets in the axes of their legs and where they stand (6, 3), m."""
    return footholds + np.einsum("kij,...kj->...ki", _leg_axes(), offsets)


def stability(p_walk: np.ndarray, stands: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return how far (m,) the body's centre is inside the polygon of the standing feet; negative outside.

    Parameters
    ----------
    p_walk : (m, 6, 3) array
        Feet in W, counter-clockwise as they are numbered, m.
    stands : (m, 6) array of bool
        Which of them stand; below three there is no polygon: minus infinity.
    centre : (m, 2) array
        Of the body in W, m.
    """
    least = np.full(len(p_walk), np.inf)
    for i in range(LEG_COUNT):
        for j in range(1, LEG_COUNT):  # the next foot that stands: those between i and j do not
            k = (i + j) % LEG_COUNT
            between = [(i + n) % LEG_COUNT for n in range(1, j)]
            edge = stands[:, i] & stands[:, k] & ~stands[:, between].any(axis=1)
            along = p_walk[:, k, :2] - p_walk[:, i, :2]
            to = centre - p_walk[:, i, :2]
            inside = (along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0]) / np.maximum(np.linalg.norm(along, axis=1), 1e-9)
            least = np.where(edge, np.minimum(least, inside), least)
    return np.where(stands.sum(axis=1) >= 3, least, -np.inf)


def _leg_axes() -> np.ndarray:
    """Return the axes of the legs in W, (6, 3, 3): x outwards, z up."""
    return np.stack([rotation_from_rpy(0.0, 0.0, azimuth) for azimuth in LEG_AZIMUTH])


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


def _joined(first: Postures, second: Postures) -> Postures:
    """Return postures one after the other; the first of the second is the last of the first."""
    return Postures(*(np.concatenate((a, b[1:])) for a, b in zip(vars(first).values(), vars(second).values())))


def _all_in_base(p_walk: np.ndarray, pose: np.ndarray, height: float) -> np.ndarray:
    """Return `feet_in_base` of many postures (m, 6, 3)."""
    R_walk_base = Rotation.from_euler("xyz", pose[:, 3:]).as_matrix()  # noqa: N806
    return np.asarray((p_walk - (pose[:, None, :3] + [0.0, 0.0, height])) @ R_walk_base)
