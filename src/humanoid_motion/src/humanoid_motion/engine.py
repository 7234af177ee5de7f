# SPDX-License-Identifier: MIT
"""The walking engine: one tick in, joint angles out. Time is passed in; nothing here knows ROS."""

from __future__ import annotations

import math
from typing import Optional, Sequence, Tuple

import numpy as np

from humanoid_motion.base_estimator import BaseEstimator
from humanoid_motion.base_reference import BaseReference
from humanoid_motion.body_model import G, Posture
from humanoid_motion.dcm_plan import PlannedInstant
from humanoid_motion.feedback import ComObserver
from humanoid_motion.footsteps import FootstepPlanner
from humanoid_motion.interface import EngineState, Feedback
from humanoid_motion.parameters import WalkError, WalkParameters
from humanoid_motion.planar import LEFT, point_of, wrapped
from humanoid_motion.soles import Soles
from humanoid_motion.stepping import Stepping
from humanoid_motion.whole_body import WholeBody
from shellbot_common import TICK, RobotProfile

_FARTHEST = 1e4  # m (and rad): what is farther is a mistake


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
        ``imu`` or ``feet``, see `BaseEstimator`; a WalkError for anything else.
    """

    def __init__(
        self,
        urdf_text: str,
        profile: RobotProfile,
        parameters: Optional[WalkParameters] = None,
        heading: str = "imu",
    ) -> None:
        if heading not in ("imu", "feet"):
            raise WalkError(f"heading is {heading!r}; choose one of imu, feet")
        self._p = parameters or WalkParameters()
        # arms take the legs' yaw momentum off the soles, which so turn less: without a gyroscope nothing tells how much
        arm_swing = self._p.arm_swing_feet if heading == "feet" else self._p.arm_swing
        self._body = WholeBody(urdf_text, profile, arm_swing)
        self._soles = Soles(self._body.model.sole_rectangle, self._p)
        # how far the base is ahead of the soles' frames with its centre of mass over the planned centre of pressure
        self._ahead = self._p.zmp_ahead - float(self._body.model.posture(self._body.rest).com[0])
        self._base_height = self._p.hip_height - float(self._body.legs[LEFT].hip[2])
        self._heading = heading
        self._imu = self._body.model.link_joint(profile.imu).origin[:3, 3].copy() if profile.imu else np.zeros(3)
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next tick finds the robot standing on both feet, at the odometry's origin."""
        self._estimator = BaseEstimator(self._p.odometry_scale, self._heading, self._imu)
        self._stepping = Stepping(self._p, self._soles, self._ahead)
        self._pressure = np.zeros(2)
        self._loads: Optional[Tuple[np.ndarray, np.ndarray]] = None  # forces and points of the last plan
        self._has_begun = False

    def resume(self, is_elsewhere: bool = False) -> None:
        """Let the next tick find the robot standing where it is, after something else has moved its joints.

        Parameters
        ----------
        is_elsewhere : bool
            Its feet were not observed meanwhile: odometry goes on where it ended, with the heading of the IMU.
        """
        if is_elsewhere:
            self._estimator.lift()
            self._stepping.twist = np.zeros(3)
        self._stepping.stand()
        self._has_begun = False

    def observe(self, feedback: Feedback) -> Posture:
        """Go on with the odometry only, in a tick in which something else moves the joints; as for `step`."""
        posture = self._body.model.posture(feedback.q)
        self._posture = posture
        self._estimator.update(posture, feedback)
        return posture

    # --- commands ---

    def command_twist(self, twist: Sequence[float]) -> None:
        """Walk with a twist: ahead, sideways (m/s), turning (rad/s); limited, and zero for what is not finite."""
        self._stepping.drive(self._planner.limited(np.asarray(twist, dtype=float)))

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
            If a number is not finite or beyond 10,000, or a speed is not positive; the robot goes on with what it did.
        """
        goal = np.array([x, y, self._planner.centre[2] + wrapped(yaw - self._planner.centre[2])])
        self._set_goal(goal, most, (x, y, yaw))

    def walk_by(self, x: float, y: float, turn: float, most: Sequence[float] = (0.15, 0.06, 0.52)) -> None:
        """Walk to a pose seen from the base, as `walk_to`; `turn` may be more than a full turn."""
        if self._has_begun and not self._stepping.is_walking:
            self._stepping.place_feet(self._estimator.sole_poses(self._posture))
        centre = self._planner.centre
        self._set_goal(np.append(point_of(centre, x, y), centre[2] + turn), most, (x, y, turn))

    def _set_goal(self, goal: np.ndarray, most: Sequence[float], given: Sequence[float]) -> None:
        speeds = np.asarray(most, dtype=float)
        if not (np.abs(goal) <= _FARTHEST).all() or not (np.isfinite(speeds).all() and np.all(speeds > 0.0)):
            raise WalkError(
                f"goal {list(given)} (m, m, rad) with speeds up to {speeds.tolist()}: give finite numbers up to"
                f" {_FARTHEST:g}, and speeds above 0"
            )
        self._stepping.go(goal, np.minimum(speeds, self._p.limits[1]))

    @property
    def _planner(self) -> FootstepPlanner:
        return self._stepping.planner

    @property
    def has_arrived(self) -> bool:
        """Whether the robot stands, at its goal if it has one."""
        return not self._stepping.is_busy

    @property
    def weight(self) -> float:
        """Of the robot, N."""
        return self._body.model.mass * G

    def set_stiffness(self, stiffness: np.ndarray) -> None:
        """Take the stiffness of the servos in force, see `WholeBody.set_stiffness`."""
        self._body.set_stiffness(stiffness)

    @property
    def most_offset(self) -> np.ndarray:
        """Angle between command and joint at which a servo has its full effort, (n,), rad."""
        return self._body.most_offset

    @property
    def swing(self) -> Optional[int]:
        """Side of the foot that is in the air, none while both stand."""
        return self._stepping.swing if self._stepping.is_swinging else None

    @property
    def planned_wrenches(self) -> np.ndarray:
        """Wrenches (2, 6) about the soles by the plan, N and N m; a foot lands when it is to land."""
        planned, stepping, posture = np.zeros((2, 6)), self._stepping, self._posture
        planned[:, 2] = 0.5 * self.weight
        if self._loads is not None:
            for side, (force, point) in enumerate(zip(*self._loads)):
                ahead, aside, _ = (point - posture.sole_place[side]) @ posture.sole_rotation[side]
                normal = float(np.linalg.norm(force))
                planned[side, 2:5] = normal, aside * normal, -ahead * normal
        if stepping.is_swinging and stepping.fraction >= 1.0:
            planned[stepping.swing, 2] = 0.5 * self.weight
        return planned

    @property
    def goal(self) -> Optional[np.ndarray]:
        """Where it walks to, or stands since it arrived: x, y, yaw, odometry frame."""
        return self._stepping.goal

    @property
    def base_pose(self) -> np.ndarray:
        """Pose of the base in the odometry frame as it was observed last: x, y, z (m), roll, pitch, yaw (rad)."""
        estimator = self._estimator
        return np.array([*estimator.place, estimator.roll, estimator.pitch, estimator.yaw])

    def posture(self, q: np.ndarray) -> Posture:
        """Return the frames of the robot at joint angles (n,), rad."""
        return self._body.model.posture(q)

    @property
    def has_stopped(self) -> bool:
        """Whether the robot stands, and nothing makes it walk in the next tick."""
        return not (self._stepping.is_busy or self._stepping.has_to_walk())

    @property
    def centre(self) -> np.ndarray:
        """Where the base is planned: x, y, yaw, odometry frame."""
        return self._planner.centre.copy()

    def state(self) -> EngineState:
        """Return what the engine is doing."""
        base = np.array([*self._estimator.place[:2], self._estimator.yaw])
        return EngineState("walk" if self._stepping.is_busy else "stand", base)

    # --- one tick ---

    def step(self, feedback: Feedback) -> np.ndarray:
        """Return the joint angles to command, (n,), rad, for the measurement of one tick (10 ms).

        Parameters
        ----------
        feedback : Feedback
            One that `Feedback.check` lets pass.
        """
        posture, wrenches = self.observe(feedback), feedback.wrenches
        if not self._has_begun:
            self._begin(posture)
        pressure = self._estimator.pressure(posture, wrenches, self._pressure)
        # on a slope gravity pulls, too, as a centre of pressure further downhill would
        lean = self._estimator.gravity[:2] / -(self._omega**2)
        self._observer.update(self._estimator.point(posture.com), pressure + lean, TICK)
        self._stepping.advance(posture, wrenches, self._estimator)
        plan = self._stepping.plan(self._omega)
        self._correct(plan, lean)
        self._reference.follow(plan.dcm + lean, self._observer.place, self._omega)
        return self._joints(posture, feedback.rates, lean)

    def _begin(self, posture: Posture) -> None:
        """Take the feet where they are; for the first time, they are at the odometry's origin."""
        estimator, self._has_begun = self._estimator, True
        self._omega = math.sqrt(G / (self._base_height + float(posture.com[2])))
        if self._stepping.is_new:
            estimator.place[:2] -= np.mean(estimator.sole_poses(posture)[:, :2], axis=0) + [self._ahead, 0.0]
        self._stepping.place_feet(estimator.sole_poses(posture))
        self._observer = ComObserver(self._omega)
        self._reference = BaseReference(self._p, self._base_height, estimator.point(posture.com), estimator)
        self._pressure = self._soles.zmp_between(self._stepping.feet)

    def _correct(self, plan: PlannedInstant, lean: np.ndarray) -> None:
        """Set the centre of pressure, and shift the next foothold by what it cannot correct."""
        stepping = self._stepping
        dcm, requested = self._observer.request(plan.dcm, plan.zmp, lean, self._p.dcm_gain)
        self._pressure = self._soles.within(requested, stepping.feet, stepping.carries, stepping.support)
        stepping.correct(dcm, self._pressure, plan, self._omega)

    def _joints(self, posture: Posture, rates: np.ndarray, lean: np.ndarray) -> np.ndarray:
        """Return the command for base, feet and centre of pressure as they are planned, (n,), rad."""
        estimator, stepping, body = self._estimator, self._stepping, self._body
        weight, ours = 0.5, self._p.support_weight
        if stepping.is_swinging:
            weight = ours if stepping.support == LEFT else 1.0 - ours
        q = body.angles(self._reference.feet(stepping, posture, rates), weight)
        base = estimator.place, estimator.rotation
        pendulum = self._observer.place, lean, self._omega
        loads = self._soles.loads(
            self._pressure, stepping.feet, stepping.carries, base, estimator.gravity, pendulum, body.model.mass
        )
        self._loads = loads[1:]
        return body.command(q, posture, *loads)
