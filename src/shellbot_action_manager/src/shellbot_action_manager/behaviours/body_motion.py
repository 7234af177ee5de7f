# SPDX-License-Identifier: MIT
"""What the limbs are told, step by step: taking over, standing up, walking, sitting down, relaxing, freezing."""

from __future__ import annotations

from typing import Callable, Dict, Optional, Tuple

import numpy as np

from shellbot_action_manager.body.body_pose import REST_POSE, feet_in_base, rpy_from_quaternion
from shellbot_action_manager.body.geometry import LOWER_COUNT, RobotGeometry
from shellbot_action_manager.body.postures import FootMove, find_standing
from shellbot_action_manager.body.rising import FAN_CLOSED_FROM, LowerCommand, Moves, plan_lie_down, plan_rise
from shellbot_action_manager.body.upper_shells import clamp_upper
from shellbot_action_manager.config import ActionManagerConfig
from shellbot_action_manager.gait.on_feet import OnFeet
from shellbot_action_manager.interface import Feedback
from shellbot_action_manager.modes.announcer import Announcer

_SAME_POSTURE = 0.2  # rad: nearer than this the last references go on after a stop, farther away the measured joints do
_NO_TWIST = np.zeros(3)
_CATCHING_UP = 3.0  # s for joints to come to where a move begins: while torque comes up, or after a stop


class BodyMotion:
    """Joints and feet that are told to the lower legs, joints that are told to the upper ones.

    Parameters
    ----------
    config : ActionManagerConfig
        Settings.
    geometry : RobotGeometry
        The robot.
    announcer : Announcer
        Told what holds the body up.

    Attributes
    ----------
    feet : OnFeet
        Walking and posing.
    lower : LowerCommand
        What the lower legs are told at this tick.
    upper : (6, 2) or (0, 2) array
        Shoulder and shell that the upper legs are told, rad.
    planted : (6,) bool array
        Feet that are told to stand.
    p_measured : (6, 3) array or None
        Measured feet in base_link, m; None before the first measurement.
    orientation : (4,) array or None
        Measured quaternion x, y, z, w.
    """

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry, announcer: Announcer) -> None:
        self._config, self._geometry, self._announcer = config, geometry, announcer
        self.feet = OnFeet(config, geometry.legs)
        self.lower = LowerCommand(np.zeros((6, 4)), None)
        self.upper = np.zeros((0, 2))
        self.planted = np.zeros(6, dtype=bool)
        self.p_measured: Optional[np.ndarray] = None
        self.orientation: Optional[np.ndarray] = None
        self._rpy: Optional[np.ndarray] = None
        self._told = False
        self._late_for = 0.0
        self._moves: Optional[Moves] = None
        self._settling: Optional[Moves] = None
        self.steps: Dict[str, Callable[[float, np.ndarray], Tuple[bool, float]]] = {
            "stand_up": self._stand_up,
            "stop_walking": self._stop_walking,
            "centre_body": self._centre_body,
            "step_out": self._step_out,
            "sit_down": self._sit_down,
        }
        """Steps of the mode table: time step (s) and body pose (6,) in, whether it is done and its progress out."""

    @property
    def tilt(self) -> float:
        """Measured tilt of the body against gravity, rad; 0 without an IMU."""
        if self._rpy is None:
            return 0.0
        return float(np.arccos(np.clip(np.cos(self._rpy[0]) * np.cos(self._rpy[1]), -1.0, 1.0)))

    @property
    def settling(self) -> bool:
        """Whether feet that hung in the air are being put down."""
        return self._settling is not None

    def see(self, feedback: Feedback) -> None:
        """Take in what was measured; what the limbs are told begins there."""
        q = feedback.joint_position
        self._q_lower, self._q_upper = q[:LOWER_COUNT].reshape(6, 4), q[LOWER_COUNT:].reshape(-1, 2)
        orientation = feedback.orientation
        if orientation is not None and not (np.isfinite(orientation).all() and np.linalg.norm(orientation) > 0.5):
            orientation = None
        self.orientation = orientation
        self._rpy = None if orientation is None else rpy_from_quaternion(orientation)
        self.p_measured = self._geometry.legs.forward(self._q_lower)
        if not self._told:
            self._told = True
            self.lower, self.upper = LowerCommand(self._q_lower.copy(), None), self._q_upper.copy()

    def freeze(self) -> None:
        """Tell the joints to stay where they were told to be."""
        self.lower = LowerCommand(self.lower.q, None)
        self._moves = self._settling = None

    def finish_step(self) -> None:
        """Forget the moves of a step that is done."""
        self._moves = None

    def take_over(self) -> bool:
        """Go on from the posture the robot is found in; return whether it stands on its feet."""
        config, gait = self._config.posture, self.feet.gait
        near = np.abs(self.lower.q - self._q_lower).max() < _SAME_POSTURE
        q = self.lower.q if near else self._q_lower.copy()
        self.lower, self._moves = LowerCommand(q, None), None
        p_base = self._geometry.legs.forward(q)
        found = None
        if np.abs(q[:, 0]).max() < FAN_CLOSED_FROM:
            found = find_standing(p_base, self.tilt, gait.stance_height, config)
        if found is None:
            flat = np.ptp(p_base[:, 2]) <= config.plane_tolerance and p_base[:, 2].max() < -config.pushing_height
            self.planted = np.full(6, flat)
            return False
        self.feet.start(found.p_walk, found.pose)
        self.planted = found.p_walk[:, 2] <= 0.0
        if not self.planted.all():
            down = found.p_walk * np.array([1.0, 1.0, 0.0])
            start, goal = (feet_in_base(feet, found.pose, gait.stance_height) for feet in (found.p_walk, down))
            self._settling = Moves(self._geometry.legs, [FootMove(start, goal, config.settle_time)])
        return True

    def settle(self, dt: float) -> None:
        """Put down the feet that hung in the air when the robot was found standing."""
        if self._settling is None:
            return
        self.lower = self._settling.step(dt)
        if self._settling.done:
            self._settling, self.planted = None, np.ones(6, dtype=bool)

    def relax(self) -> None:
        """Tell the joints to be where they are: they follow the hand and the weight, but not into their stops."""
        q = self._q_lower.copy()
        low, high = self._geometry.legs.limits.T
        margin = self._config.joint_margin
        q[:, 1:] = np.clip(q[:, 1:], low + margin, high - margin)
        self.lower = LowerCommand(q, None)

    def walk(self, dt: float, twist: np.ndarray, pose: np.ndarray, home_radius: Optional[float] = None) -> None:
        """Walk with a twist (3,) and pose the body (6,), or step home and stand when the twist is zero."""
        yaw = None if self._rpy is None else float(self._rpy[2])
        told = self.feet.step(dt, twist, pose, yaw, home_radius)
        self._announcer.say("body_pose", self.feet.text)
        lost = np.isnan(told.q).any(axis=1)
        if lost.any():
            # Still told as a foot, kinematics goes as near as it can; its joints count as before.
            told = LowerCommand(np.where(lost[:, None], self.lower.q, told.q), told.p_base)
        self.lower, self.planted = told, self.feet.standing

    def move_upper(self, dt: float, wanted: Optional[np.ndarray]) -> None:
        """Bring the upper shells to a height (m) and an opening (rad), (2,), or up when None."""
        if self._geometry.upper is None:
            return
        goal, text = self._geometry.up_upper, ""
        if wanted is not None:
            inside, text = clamp_upper(wanted, self._config.upper)
            pair = self._geometry.upper.solve(*inside)
            goal = np.tile(pair, (6, 1)) if np.isfinite(pair).all() else self.upper
        self._announcer.say("upper", text)
        way = self._config.upper.joint_rate * dt
        self.upper = self.upper + np.clip(goal - self.upper, -way, way)

    def _stand_up(self, dt: float, pose: np.ndarray) -> Tuple[bool, float]:
        height = self.feet.gait.stance_height
        if self._moves is None:
            sit = self._geometry.sit_lower
            self._moves = plan_rise(self.lower.q, height, sit, self._geometry.legs, self._config.posture)
        if self._moves.done:
            self.walk(dt, _NO_TWIST, REST_POSE)
            return self.feet.at_rest, 0.9
        self.planted = np.full(6, self._moves.on_feet)
        if not self._behind(dt):
            self.lower = self._moves.step(dt)
        if self._moves.done and self.lower.p_base is not None:
            self.feet.start(self.lower.p_base + np.array([0.0, 0.0, height]), REST_POSE)
        return False, 0.8 * self._moves.progress

    def _stop_walking(self, dt: float, pose: np.ndarray) -> Tuple[bool, float]:
        self.walk(dt, _NO_TWIST, pose)
        return self.feet.at_rest, 0.5

    def _centre_body(self, dt: float, pose: np.ndarray) -> Tuple[bool, float]:
        self.walk(dt, _NO_TWIST, REST_POSE)
        return self.feet.at_rest and self.feet.pose_reached, 0.5

    def _step_out(self, dt: float, pose: np.ndarray) -> Tuple[bool, float]:
        x, y, _ = self._geometry.legs.forward(self._geometry.sit_lower)[0]
        self.walk(dt, _NO_TWIST, REST_POSE, float(np.hypot(x, y)))
        return self.feet.at_rest, 0.5

    def _sit_down(self, dt: float, pose: np.ndarray) -> Tuple[bool, float]:
        if self._moves is None:
            p_base = feet_in_base(self.feet.p_walk, self.feet.pose, self.feet.gait.stance_height)
            self._moves = plan_lie_down(p_base, self._geometry.sit_lower, self._geometry.legs, self._config.posture)
        self.planted = np.ones(6, dtype=bool)
        if not self._behind(dt):
            self.lower = self._moves.step(dt)
        return self._moves.done, self._moves.progress

    def _behind(self, dt: float) -> bool:
        """Return whether the joints do not follow, so that a move has to wait for them; say which one if it lasts."""
        error = np.abs(self.lower.q - self._q_lower)
        worst = int(np.argmax(error))
        late, text = bool(error.flat[worst] > self._config.posture.follow_error), ""
        self._late_for = self._late_for + dt if late else 0.0
        if self._late_for > _CATCHING_UP:
            text = f"waiting for {self._geometry.joint_names[worst]}, {error.flat[worst]:.2f} rad behind; "
            text += "are kinematics and the connector or motor driver running?"
        self._announcer.say("follow", text)
        return late
