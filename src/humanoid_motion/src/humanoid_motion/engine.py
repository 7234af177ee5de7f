# SPDX-License-Identifier: MIT
"""The walking engine: one tick in, joint angles out. Time is passed in; nothing here knows ROS."""

from __future__ import annotations

import math
from typing import List, Optional, Sequence

import numpy as np

from humanoid_motion.base_estimator import BaseEstimator
from humanoid_motion.body_model import G, Posture
from humanoid_motion.dcm_plan import PlannedInstant, instant
from humanoid_motion.feedback import ComObserver, foothold_shift, predicted_error
from humanoid_motion.footsteps import FootstepPlanner, foothold, remaining
from humanoid_motion.interface import EngineState, Feedback
from humanoid_motion.parameters import WalkError, WalkParameters
from humanoid_motion.planar import LEFT, RIGHT, moved, outwards, point_of, seen_from, turned, wrapped, yaw_matrix
from humanoid_motion.soles import Soles
from humanoid_motion.swing import SwingFoot, lift_height
from humanoid_motion.whole_body import PlannedFoot, WholeBody
from shellbot_common import TICK, RobotProfile
from shellbot_common.rotations import rotation_from_rpy

_AHEAD = 4  # steps that the plan looks ahead
_SWING_SPEED = 1.6  # m/s
_LEVEL_SPEED = 0.03  # m/s: of the base's height after that of the floor under the feet
_LATE_SPEED = 0.1  # m/s: a foot that finds no ground in time goes on downwards


class WalkingEngine:
    """Walks.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        Order and stiffness of the joints, and the pose it stands in.
    parameters : WalkParameters, optional
        Of the walk.
    heading : str
        ``imu`` or ``feet``, see `BaseEstimator`.
    """

    def __init__(
        self,
        urdf_text: str,
        profile: RobotProfile,
        parameters: Optional[WalkParameters] = None,
        heading: str = "imu",
    ) -> None:
        self._p = parameters or WalkParameters()
        self._body = WholeBody(urdf_text, profile, self._p.arm_swing)
        self._soles = Soles(self._body.model.sole_rectangle, self._p)
        # how far the base is ahead of the soles' frames with its centre of mass over the planned centre of pressure
        self._ahead = self._p.zmp_ahead - float(self._body.model.posture(self._body.rest).com[0])
        self._base_height = self._p.hip_height - float(self._body.legs[LEFT].hip[2])
        self._heading = heading
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next tick finds the robot standing on both feet, at the odometry's origin."""
        self._estimator = BaseEstimator(self._p.odometry_scale, self._heading)
        self._planner = FootstepPlanner(self._p)
        self._twist, self._most = np.zeros(3), np.zeros(3)
        self._goal: Optional[np.ndarray] = None
        self._mode, self._support, self._time = "stand", LEFT, 0.0
        self._is_new, self._has_begun = True, False
        self._feet: List[np.ndarray] = []
        self._shift, self._error, self._pressure = np.zeros(2), np.zeros(2), np.zeros(2)
        self._is_last = False

    def resume(self, is_elsewhere: bool = False) -> None:
        """Let the next tick find the robot standing where it is, after something else has moved its joints.

        Parameters
        ----------
        is_elsewhere : bool
            Its feet were not observed meanwhile: odometry goes on where it ended, with the heading of the IMU.
        """
        if is_elsewhere:
            self._estimator.lift()
            self._twist = np.zeros(3)
        self._mode, self._time, self._has_begun, self._goal = "stand", 0.0, False, None

    def observe(self, feedback: Feedback) -> Posture:
        """Go on with the odometry only, in a tick in which something else moves the joints.

        Raises
        ------
        WalkError
            If a measurement is not finite or of a wrong length.
        """
        feedback.check(len(self._body.rest))
        posture = self._body.model.posture(feedback.q)
        self._estimator.update(posture, feedback.attitude, feedback.wrenches)
        return posture

    # --- commands ---

    def command_twist(self, twist: Sequence[float]) -> None:
        """Walk with a twist: ahead, sideways (m/s), turning (rad/s); limited, and zero for what is not finite."""
        self._twist, self._goal = self._planner.limited(np.asarray(twist, dtype=float)), None

    def walk_to(self, x: float, y: float, yaw: float, most: Sequence[float] = (0.15, 0.06, 0.52)) -> None:
        """Walk to a pose of the odometry frame and stand there with parallel feet.

        Parameters
        ----------
        x, y, yaw : float
            Of the base, m and rad.
        most : (3,) sequence of float
            Greatest speeds ahead, sideways, turning, m/s and rad/s.

        Raises
        ------
        WalkError
            If a number is not finite or a speed is not positive; the robot goes on with what it did.
        """
        goal = np.array([x, y, self._planner.centre[2] + wrapped(yaw - self._planner.centre[2])])
        self._set_goal(goal, most)

    def walk_by(self, x: float, y: float, turn: float, most: Sequence[float] = (0.15, 0.06, 0.52)) -> None:
        """Walk to a pose seen from the base, as `walk_to`; `turn` may be more than a full turn."""
        centre = self._planner.centre
        self._set_goal(np.append(point_of(centre, x, y), centre[2] + turn), most)

    def _set_goal(self, goal: np.ndarray, most: Sequence[float]) -> None:
        speeds = np.asarray(most, dtype=float)
        if not (np.isfinite(goal).all() and np.isfinite(speeds).all() and np.all(speeds > 0.0)):
            raise WalkError(f"goal {goal.tolist()} at most {speeds.tolist()}: give finite numbers, and speeds above 0")
        self._goal, self._most = goal, self._planner.limited(speeds)

    @property
    def has_arrived(self) -> bool:
        """Whether the robot stands, at its goal if it has one."""
        return self._mode == "stand" and (self._goal is None or self._planner.is_at(self._goal))

    @property
    def weight(self) -> float:
        """Of the robot, N."""
        return self._body.model.mass * G

    @property
    def most_offset(self) -> np.ndarray:
        """Angle between command and joint at which a servo has its full effort, (n,), rad."""
        return self._body.most_offset

    @property
    def has_stopped(self) -> bool:
        """Whether the robot stands, and nothing makes it walk in the next tick."""
        return self._mode == "stand" and not self._wants_to_walk()

    @property
    def centre(self) -> np.ndarray:
        """Where the base is planned: x, y, yaw, odometry frame."""
        return self._planner.centre.copy()

    def state(self) -> EngineState:
        """Return what the engine is doing."""
        place = self._estimator.place
        return EngineState(
            self._mode,
            self._support,
            self._time / self._step_time if self._mode == "walk" else 0.0,
            self._error,
            self._pressure,
            np.array([place[0], place[1], self._estimator.yaw]),
        )

    # --- one tick ---

    def step(self, feedback: Feedback) -> np.ndarray:
        """Return the joint angles to command, (n,), rad, for the measurement of one tick (10 ms).

        Raises
        ------
        WalkError
            If a measurement is not finite or of a wrong length: hold the former command.
        """
        posture = self.observe(feedback)
        if not self._has_begun:
            self._begin(posture)
        self._observe(posture, feedback.wrenches)
        self._advance(posture, feedback.wrenches)
        plan = self._plan()
        self._correct(plan)
        self._com += self._omega * (plan.dcm + self._lean - self._com) * TICK
        self._com += self._p.com_pull * (self._observer.place - self._com)
        return self._joints(posture, feedback.rates)

    def _begin(self, posture: Posture) -> None:
        """Take the feet where they are; for the first time, they are at the odometry's origin."""
        self._has_begun = True
        self._omega = math.sqrt(G / (self._base_height + float(posture.com[2])))
        if self._is_new:
            middle = np.mean([self._estimator.sole_pose(posture, side)[:2] for side in (LEFT, RIGHT)], axis=0)
            self._estimator.place[:2] -= middle + [self._ahead, 0.0]
        self._feet = [self._estimator.sole_pose(posture, side) for side in (LEFT, RIGHT)]
        self._planner.centre = np.zeros(3) if self._is_new else self._centre_of_feet()
        self._planner.twist, self._is_new = np.zeros(3), False
        self._observer = ComObserver(self._omega)
        self._com = self._measured_com(posture)
        self._step_time, self._double = self._p.step_time, self._p.double_support
        self._swing = SwingFoot(self._feet[RIGHT], _SWING_SPEED)
        self._from = self._soles.zmp_between(self._feet)
        self._error, self._pressure = np.zeros(2), self._from.copy()
        self._lean, self._level = np.zeros(2), float(self._estimator.heights.mean())

    def _centre_of_feet(self) -> np.ndarray:
        left, right = self._feet
        yaw = left[2] + 0.5 * wrapped(right[2] - left[2])
        middle = np.append(
            0.5 * (left[:2] + right[:2]), self._planner.centre[2] + wrapped(yaw - self._planner.centre[2])
        )
        return np.append(point_of(middle, self._ahead, 0.0), middle[2])

    def _measured_com(self, posture: Posture) -> np.ndarray:
        return np.asarray((self._estimator.place + self._estimator.rotation @ posture.com)[:2])

    def _observe(self, posture: Posture, wrenches: np.ndarray) -> None:
        force = np.maximum(wrenches[:, 2], 0.0)
        pressure = self._pressure
        if force.sum() > 5.0:
            points = [
                (self._estimator.place + self._estimator.rotation @ (r @ sole + p))[:2]
                for (r, p), sole in zip(posture.soles, self._estimator.sole_points)
            ]
            pressure = np.asarray(force @ np.array(points) / force.sum())
        # on a slope gravity pulls, too, as a centre of pressure further downhill would
        self._lean = -self._estimator.gravity[:2] / self._omega**2
        self._observer.update(self._measured_com(posture), pressure + self._lean, TICK)

    # --- support and steps ---

    def _advance(self, posture: Posture, wrenches: np.ndarray) -> None:
        if self._mode == "stand":
            if self._wants_to_walk():
                self._start()
            return
        p = self._p
        self._time += TICK
        swing = 1 - self._support
        fraction = (self._time - self._double) / (self._step_time - self._double)
        landed = fraction > p.landing_from and wrenches[swing, 2] > p.landing_force
        if landed or self._time >= self._step_time + p.landing_wait:
            self._land(posture, swing)
        elif fraction > 0.0:
            self._swing.advance(self._target(), self._step_time - self._time, TICK)
            self._feet[swing] = self._swing.pose.copy()

    def _wants_to_walk(self) -> bool:
        if self._goal is not None:
            return not self._planner.is_at(self._goal)
        return bool(np.any(np.abs(self._twist) > 1e-4))

    def _start(self) -> None:
        """Begin with the leg that leads sideways or around; the weight shifts to the other one first."""
        aim = remaining(self._planner.centre, self._goal) if self._goal is not None else self._twist
        sideways = aim[1] if abs(aim[1]) > 1e-4 else aim[2]
        self._mode, self._support = "walk", RIGHT if sideways >= 0.0 else LEFT
        self._from = self._soles.zmp_between(self._feet)
        self._next_step(self._p.first_double_support)

    def _land(self, posture: Posture, foot: int) -> None:
        """Make the swing foot, which carries, the support where it really is."""
        self._estimator.measure_height(posture, foot)
        for side in (LEFT, RIGHT):
            self._feet[side] = self._estimator.sole_pose(posture, side)
        self._from = self._soles.zmp(self._feet[self._support], self._support)
        self._support = foot
        if self._is_last:
            self._mode, self._time = "stand", 0.0
            self._planner.twist = np.zeros(3)
            return
        self._next_step(self._p.double_support)

    def _next_step(self, double: float) -> None:
        swing = 1 - self._support
        before = self._planner.centre.copy()
        stops = not self._wants_to_walk()
        twist = self._most if self._goal is not None else self._twist
        self._planner.step(swing, twist, self._goal, self._p.step_time)
        still = np.all(np.abs(seen_from(before, self._planner.centre)) < 1e-4)
        self._is_last = bool(stops and still)
        self._time, self._double = 0.0, double
        self._step_time = self._p.step_time + double - self._p.double_support
        self._swing = SwingFoot(self._feet[swing], _SWING_SPEED)
        self._shift = np.zeros(2)

    def _target(self) -> np.ndarray:
        """Return the foothold of the swing foot: beside the centre, shifted by the feedback, within the legs' room."""
        swing = 1 - self._support
        target = foothold(self._planner.centre, swing, self._p.foot_distance, self._ahead)
        target[:2] += turned(self._shift, target[2])
        step = seen_from(self._feet[self._support], target)
        sign = outwards(swing)
        apart = min(max(sign * step[1], self._p.least_foot_distance), self._p.greatest_foot_distance)
        return np.append(point_of(self._feet[self._support], step[0], sign * apart), target[2])

    # --- plan and correction ---

    def _plan(self) -> PlannedInstant:
        if self._mode == "stand":
            middle = self._soles.zmp_between(self._feet)
            return PlannedInstant(middle, np.zeros(2), middle, middle)
        zmps = [self._from, self._soles.zmp(self._feet[self._support], self._support)]
        foot, side = self._target(), 1 - self._support
        last = self._soles.zmp(foot, side)
        if self._is_last:
            zmps += [0.5 * (zmps[-1] + last)] * 2
        else:
            zmps.append(last)
            centre = self._planner.centre
            for _ in range(_AHEAD):
                side = 1 - side
                centre = moved(centre, self._planner.step_of(self._planner.twist, side, self._p.step_time))
                zmps.append(self._soles.zmp(foothold(centre, side, self._p.foot_distance, self._ahead), side))
        return instant(
            self._time,
            self._step_time,
            self._double,
            np.array(zmps),
            self._p.step_time,
            self._p.double_support,
            self._omega,
        )

    def _correct(self, plan: PlannedInstant) -> None:
        """Set the centre of pressure, and shift the next foothold by what it cannot correct."""
        p = self._p
        self._error = self._observer.dcm - plan.dcm - self._lean
        requested = plan.zmp + (1.0 + p.dcm_gain) * self._error
        both = self._mode == "stand" or self._time < self._double
        carrying = (LEFT, RIGHT) if both else (self._support,)
        self._pressure = self._soles.within(requested, self._feet, carrying, self._support)
        if self._mode != "walk" or self._is_last:
            return
        yaw = self._feet[self._support][2]
        remaining = max(self._step_time - self._time, 0.0)
        error, offset = turned(self._error, -yaw), turned(self._pressure - plan.zmp, -yaw)
        at_end = predicted_error(error, offset, self._omega, p.dcm_gain, remaining)
        change = foothold_shift(at_end, p) - self._shift
        if remaining > 0.08:
            self._shift = self._shift + np.clip(change, -0.012, 0.012)

    # --- joints ---

    def _joints(self, posture: Posture, rates: np.ndarray) -> np.ndarray:
        """Return the command for base, feet and centre of pressure as they are planned, (n,), rad."""
        estimator = self._estimator
        acceleration = np.append(self._omega**2 * (self._observer.place - self._pressure - self._lean), 0.0)
        to_base = estimator.rotation.T
        gravity = to_base @ (estimator.gravity - acceleration)
        points = np.array(
            [
                to_base
                @ (np.append(self._soles.nearest(self._pressure, self._feet[side], side), 0.0) - estimator.place)
                for side in (LEFT, RIGHT)
            ]
        )
        weight, shares = 0.5, self._soles.shares(self._pressure, self._feet)
        if self._mode == "walk" and self._time >= self._double:
            shares = (1.0, 0.0) if self._support == LEFT else (0.0, 1.0)
        if self._is_swinging:
            weight = self._p.support_weight if self._support == LEFT else 1.0 - self._p.support_weight
        q = self._body.angles(self._planned_feet(posture, rates), weight)
        return self._body.command(q, posture, gravity, shares, points)

    @property
    def _is_swinging(self) -> bool:
        return self._mode == "walk" and self._time > self._double

    def _planned_feet(self, posture: Posture, rates: np.ndarray) -> List[PlannedFoot]:
        """Return both feet, the swinging one from a base nearer to the measured one."""
        p, estimator = self._p, self._estimator
        yaw = self._feet[LEFT][2] + 0.5 * wrapped(self._feet[RIGHT][2] - self._feet[LEFT][2])
        roll = float(np.clip(-(p.tilt_gain * estimator.roll + p.tilt_rate_gain * rates[0]), -0.3, 0.3))
        pitch = float(np.clip(-(p.tilt_gain * estimator.pitch + p.tilt_rate_gain * rates[1]), -0.3, 0.3))
        rotation = yaw_matrix(yaw) @ rotation_from_rpy(roll, pitch, 0.0)
        heights = estimator.heights
        self._level += float(np.clip(heights.mean() - self._level, -_LEVEL_SPEED * TICK, _LEVEL_SPEED * TICK))
        place = np.append(self._com, self._base_height + self._level)
        place[:2] -= (rotation @ posture.com)[:2]
        feet = [PlannedFoot(foot, float(h), place, rotation) for foot, h in zip(self._feet, heights)]
        if self._is_swinging:
            swing, part = 1 - self._support, p.swing_from_measured
            late = max(0.0, self._time - self._step_time)
            fraction = (self._time - self._double) / (self._step_time - self._double)
            feet[swing] = PlannedFoot(
                self._feet[swing],
                lift_height(fraction, p.lift) + self._swing_ground(fraction) - _LATE_SPEED * late,
                place + part * (estimator.place - place),
                yaw_matrix(yaw)
                @ rotation_from_rpy(
                    part * estimator.roll + (1.0 - part) * roll, part * estimator.pitch + (1.0 - part) * pitch, 0.0
                ),
            )
        return feet

    def _swing_ground(self, fraction: float) -> float:
        """Return the height of the floor under the swinging foot, m: from where it lifted off to that of the other."""
        start, end = self._estimator.heights[1 - self._support], self._estimator.heights[self._support]
        return float(start + (end - start) * min(max(fraction, 0.0), 1.0))
