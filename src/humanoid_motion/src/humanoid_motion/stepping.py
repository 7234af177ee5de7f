# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False
"""Which foot stands and which one swings, when it lands and where; and the plan that follows from it."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from humanoid_motion.base_estimator import BaseEstimator
from humanoid_motion.body_model import Posture
from humanoid_motion.dcm_plan import PlannedInstant, instant
from humanoid_motion.feedback import beyond_band, error_at_end, foothold_change, remaining_time
from humanoid_motion.footsteps import FootstepPlanner, foothold, reachable, remaining, step_of
from humanoid_motion.parameters import WalkParameters
from humanoid_motion.planar import LEFT, RIGHT, clamped, moved, point_of, seen_from, turned, wrapped
from humanoid_motion.soles import Soles, zmp_of
from humanoid_motion.swing import SwingFoot
from robot_mechanics.native.jit import kernel
from shellbot_common import TICK

_AHEAD = 4  # steps that the plan looks ahead
_SWING_SPEED = 1.6  # m/s
# part of the swing from which on an error at its end can be urgent: before, the pressure has just come from the other
# foot, and what it could not yet do is no push
_FREE = 0.1
_CALM = 0.08  # s before the landing, from which on only a large error moves the foothold
_SHIFT_CHANGE, _TIME_CHANGE = 0.012, 0.02  # m and s a tick
# after a landing so much higher or lower than the other foot, m, so many steps are no faster ahead than this, m/s: over
# plates of 5 mm it fell in 3 of 8 runs at 0.20 m/s; on a flat floor the heights differ by less at any speed
_ROUGH, _CAREFUL_STEPS, _CAREFUL_SPEED = 0.003, 12, 0.10
# at a goal: time until the soles rest, s, what may be left, m and rad, and how often it steps once more
_SETTLE, _NEAR, _STRAIGHT, _MOST_CORRECTIONS = 0.3, 0.004, 0.0035, 2


@kernel
def _landing(centre, shift, swing, support, distance, behind, least, greatest):
    """Return the foothold (3,) beside the centre, shifted, within the legs' room."""
    target = foothold(centre, swing, distance, behind)
    target[:2] += turned(shift, target[2])
    return reachable(target, support, swing, least, greatest)


@kernel
def _planned(former, support, landing, swing, centre, twist, is_last, now, later, distance, behind, aim, omega):
    """Return the plan at one moment, from the centres of pressure of this step and of those that follow."""
    zmps = np.empty((4 if is_last else _AHEAD + 3, 2))
    zmps[0], zmps[1] = former, zmp_of(support, 1 - swing, aim[0], aim[1])
    zmps[2] = zmp_of(landing, swing, aim[0], aim[1])
    if is_last:
        zmps[2] = 0.5 * (zmps[1] + zmps[2])
        zmps[3] = zmps[2]
    else:
        side = swing
        for row in range(3, len(zmps)):
            side = 1 - side
            centre = moved(centre, step_of(twist, side, later[0]))
            zmps[row] = zmp_of(foothold(centre, side, distance, behind), side, aim[0], aim[1])
    return instant(now[0], now[1], now[2], zmps, later[0], later[1], omega)


@kernel
def _corrected(shift, dcm, pressure, planned_dcm, planned_pressure, yaw, omega, left, is_free, gains, bands, limits):
    """Move the shift (2,) of the foothold; return whether the error is urgent, and what of it is so, ahead and aside.

    `gains` are those of pressure and foothold, `bands` the dead bands of foothold and time, `limits` of the shift those
    ahead, aside and, for an urgent error, aside.
    """
    at_end = error_at_end(dcm, pressure, planned_dcm, planned_pressure, yaw, omega, gains[0], left)
    urgent = beyond_band(at_end, bands[1])
    is_urgent = is_free and (urgent[0] != 0.0 or urgent[1] != 0.0)
    if is_urgent or left > _CALM:
        most = limits[0], limits[2] if is_urgent else limits[1]
        shift += foothold_change(beyond_band(at_end, bands[0]), shift, gains[1], most, _SHIFT_CHANGE)
    return is_urgent, urgent[0], urgent[1]


class Stepping:
    """Goes from step to step.

    Parameters
    ----------
    parameters : WalkParameters
        Of the walk.
    soles : Soles
        Where the pressure is planned.
    ahead : float
        How far the base is ahead of the soles' frames, m.

    Attributes
    ----------
    planner : FootstepPlanner
        It has the centre that walks.
    twist, goal, most : (3,) arrays
        The command: a twist, or a goal (x, y, yaw; else None) and the greatest speeds to it.
    feet : (2, 3) array
        Planned pose (x, y, yaw) of each sole, odometry frame.
    is_walking : bool
        Else the robot stands.
    support : int
        Side of the foot that stands.
    time, step_time, double : float
        Since the step began, and the durations of it and of its double support, s.
    """

    def __init__(self, parameters: WalkParameters, soles: Soles, ahead: float) -> None:
        self._p, self._soles, self._ahead = parameters, soles, ahead
        self.planner = FootstepPlanner(parameters)
        self.twist, self.most = np.zeros(3), np.zeros(3)
        self.goal: Optional[np.ndarray] = None
        self.feet, self.support = np.zeros((2, 3)), LEFT
        self.is_walking, self.time = False, 0.0
        self.step_time, self.double = parameters.step_time, parameters.double_support
        self._is_new, self._is_last = True, False
        self._shift, self._from = np.zeros(2), np.zeros(2)
        self._foothold = np.zeros(3)  # of the swing foot in this tick
        self._nominal = parameters.step_time
        p = parameters
        gains, bands = (p.dcm_gain, p.step_gain), (p.step_dead_band, p.time_dead_band)
        self._correction = gains, bands, (*p.step_limits, p.urgent_aside)
        self._careful = 0  # steps left that are slower
        self._corrections = -1  # steps taken once more at the goal; -1: it rests there, or has none
        self._swing = SwingFoot(self.feet[RIGHT], _SWING_SPEED)

    # --- what it does ---

    @property
    def swing(self) -> int:
        """Side of the foot that does not stand."""
        return 1 - self.support

    @property
    def is_swinging(self) -> bool:
        """Whether a foot is in the air."""
        return self.is_walking and self.time > self.double

    @property
    def carries(self) -> Optional[int]:
        """The side that carries the weight; none for both."""
        return self.support if self.is_walking and self.time >= self.double else None

    @property
    def fraction(self) -> float:
        """Part of the swing that is over; below 0 before it begins, above 1 while the foot is late."""
        return (self.time - self.double) / (self.step_time - self.double)

    @property
    def is_busy(self) -> bool:
        """Whether it walks, or has a goal and does not yet rest there."""
        return self.is_walking or self._corrections >= 0

    def has_to_walk(self) -> bool:
        """Return whether the command leads away from here."""
        if self.goal is not None:
            return not self.planner.is_at(self.goal)
        return bool((abs(self.twist) > 1e-4).any())

    def drive(self, twist: np.ndarray) -> None:
        """Walk with a twist (3,)."""
        self.twist, self.goal, self._corrections = twist, None, -1

    def go(self, goal: np.ndarray, most: np.ndarray) -> None:
        """Walk to a goal (3,) with at most the speeds (3,)."""
        self.goal, self.most, self._corrections = goal, most, 0

    # --- steps ---

    def stand(self) -> None:
        """Stand on both feet, without a goal."""
        self.is_walking, self.time, self.goal, self._corrections = False, 0.0, None, -1

    def place_feet(self, feet: np.ndarray) -> None:
        """Stand on feet (2, 3) where they are; those of the first time are at the odometry's origin."""
        self.feet = feet
        self.planner.centre = np.zeros(3) if self._is_new else self._centre_of_feet()
        self.planner.twist, self._is_new = np.zeros(3), False
        self.step_time, self.double = self._p.step_time, self._p.double_support
        self._from = self._soles.zmp_between(self.feet)

    @property
    def is_new(self) -> bool:
        """Whether the robot has not yet stood anywhere."""
        return self._is_new

    def _centre_of_feet(self) -> np.ndarray:
        left, right = self.feet
        yaw = left[2] + 0.5 * wrapped(right[2] - left[2])
        middle = np.append(0.5 * (left[:2] + right[:2]), self.planner.centre[2] + wrapped(yaw - self.planner.centre[2]))
        return np.append(point_of(middle, self._ahead, 0.0), middle[2])

    def advance(self, posture: Posture, wrenches: np.ndarray, estimator: BaseEstimator) -> None:
        """Take one tick: begin to walk, move the swing foot, or change the support when it lands.

        Parameters
        ----------
        posture : Posture
            As measured.
        wrenches : (2, 6) array
            Of the ground at each sole, N and N m.
        estimator : BaseEstimator
            Gives where a foot lands.
        """
        if not self.is_walking:
            if self.has_to_walk():
                self._start()
            elif self._corrections >= 0 and self.goal is not None:
                self._settle(posture, estimator, self.goal)
            return
        p = self._p
        self.time += TICK
        fraction, swing = self.fraction, self.swing
        landed = fraction > p.landing_from and wrenches[swing, 2] > p.landing_force
        if landed or self.time >= self.step_time + p.landing_wait:
            self._land(posture, estimator)
        elif fraction > 0.0:
            self._foothold = self._target()
            self._swing.advance(self._foothold, self.step_time - self.time, TICK)
            self.feet[swing] = self._swing.pose

    def _settle(self, posture: Posture, estimator: BaseEstimator, goal: np.ndarray) -> None:
        """Rest at the goal, or walk there once more if the feet did not land there."""
        self.time += TICK
        if self.time < _SETTLE:
            return
        former, self.time = self.planner.centre, 0.0
        self.place_feet(estimator.sole_poses(posture))
        x, y, yaw = remaining(self.planner.centre, goal)
        if self._corrections < _MOST_CORRECTIONS and (math.hypot(x, y) > _NEAR or abs(yaw) > _STRAIGHT):
            self._corrections += 1
        else:
            self.planner.centre, self._corrections = former, -1

    def _start(self) -> None:
        """Begin with the leg that leads sideways or around; the weight shifts to the other one first."""
        aim = remaining(self.planner.centre, self.goal) if self.goal is not None else self.twist
        sideways = aim[1] if abs(aim[1]) > 1e-4 else aim[2]
        self.is_walking, self.support = True, RIGHT if sideways >= 0.0 else LEFT
        self._from = self._soles.zmp_between(self.feet)
        self._next_step(self._p.first_double_support)

    def _land(self, posture: Posture, estimator: BaseEstimator) -> None:
        """Make the swing foot, which carries, the support where it really is."""
        estimator.measure_height(posture, self.swing)
        if abs(estimator.heights[LEFT] - estimator.heights[RIGHT]) > _ROUGH:
            self._careful = _CAREFUL_STEPS
        self.feet[:] = estimator.sole_poses(posture)
        self._from = self._soles.zmp(self.feet[self.support], self.support)
        self.support = self.swing
        if self._is_last:
            self.is_walking, self.time = False, 0.0
            self.planner.twist = np.zeros(3)
            return
        self._next_step(self._p.double_support)

    def _next_step(self, double: float) -> None:
        before = self.planner.centre.copy()
        stops = not self.has_to_walk()
        twist = self.most if self.goal is not None else self.twist
        if self._careful:
            self._careful -= 1
            twist = np.append(min(twist[0], _CAREFUL_SPEED), twist[1:])
        self.planner.step(self.swing, twist, self.goal, self._p.step_time)
        still = np.all(np.abs(seen_from(before, self.planner.centre)) < 1e-4)
        self._is_last = bool(stops and still)
        self.time, self.double = 0.0, double
        self.step_time = self._nominal = self._p.step_time + double - self._p.double_support
        self._swing = SwingFoot(self.feet[self.swing], _SWING_SPEED)
        self._shift = np.zeros(2)

    def _target(self) -> np.ndarray:
        """Return the foothold of the swing foot: beside the centre, shifted by the feedback, within the legs' room."""
        p, swing, room = self._p, self.swing, (self._p.least_foot_distance, self._p.greatest_foot_distance)
        support = self.feet[self.support]
        found = _landing(self.planner.centre, self._shift, swing, support, p.foot_distance, self._ahead, *room)
        return np.asarray(found)

    # --- plan and correction ---

    def plan(self, omega: float) -> PlannedInstant:
        """Return where centre of pressure and DCM should be now.

        Parameters
        ----------
        omega : float
            Of the pendulum, 1/s.
        """
        if not self.is_walking:
            middle = self._soles.zmp_between(self.feet)
            return PlannedInstant(middle, middle, middle)
        p, planner = self._p, self.planner
        plan: PlannedInstant = _planned(
            self._from,
            self.feet[self.support],
            self._foothold if self.is_swinging else self._target(),
            self.swing,
            planner.centre,
            planner.twist,
            self._is_last,
            (self.time, self.step_time, self.double),
            (p.step_time, p.double_support),
            p.foot_distance,
            self._ahead,
            self._soles.aim,
            omega,
        )
        return plan

    def correct(self, dcm: np.ndarray, pressure: np.ndarray, plan: PlannedInstant, omega: float) -> None:
        """Shift the next foothold, and its time, by what the centre of pressure cannot correct until the step's end.

        Parameters
        ----------
        dcm, pressure : (2,) arrays
            Measured DCM and commanded centre of pressure, on a floor without slope, odometry frame, m.
        plan : PlannedInstant
            Where they should be.
        omega : float
            Of the pendulum, 1/s.
        """
        p, left = self._p, self.step_time - self.time
        if not self.is_walking or self._is_last or left <= p.fixed_time:
            return
        yaw, is_free = self.feet[self.support, 2], self.fraction > _FREE
        is_urgent, ahead, aside = _corrected(
            self._shift, dcm, pressure, plan.dcm, plan.zmp, yaw, omega, left, is_free, *self._correction
        )
        if is_urgent:
            earlier, later = p.time_limits
            lead, nominal = turned(dcm - pressure, -yaw), max(self._nominal - self.time, 0.0)
            time = self.time + remaining_time(np.array([ahead, aside]), lead, left, nominal, omega, p.time_weight)
            time = clamped(time, self.step_time - _TIME_CHANGE, self.step_time + _TIME_CHANGE)
            self.step_time = clamped(
                time, max(self._nominal - earlier, self.time + p.fixed_time), self._nominal + later
            )
