# SPDX-License-Identifier: MIT
"""Closing to a ball and opening: one path of the joints for all, see `config/transform.yaml`."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np

from shellbot_action_manager.behaviours.ball_drive import BallDrive, unmeasured
from shellbot_action_manager.behaviours.protocol import Behaviour, Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.behaviours.robot import Robot
from shellbot_action_manager.behaviours.transformation import Transformation
from shellbot_action_manager.body.body_pose import REST_POSE
from shellbot_action_manager.body.legs import lower_command
from shellbot_action_manager.body.limbs import LimbCommand, held
from shellbot_action_manager.body.righting import Righting
from shellbot_action_manager.body.rolling import RollingControl

NO_ATTITUDE = "no attitude from the IMU: how the ball lies is not known; look at imu/data, then try again"
_UNLEVEL = "no attitude from the IMU: the robot cannot keep level while it closes; look at imu/data, then try again"
_BLIND = "no {} from the IMU while {}; shut, look at imu/data, then request stand"
NO_SHELLS = "this robot has no upper shells and cannot close; the modes are hexapod, stand, sit, relax"
_TO_RISE = "then request stand, which rolls it upright"
_LOST_SHUT = "{} is lost while the ball shuts, which may lie tilted by it; mend it before the ball rolls"
_TOO_EARLY = "cmd_vel does not count before the robot is {}"


def heading_of(state: State) -> float:
    """Return the heading that a ball steers by, rad: the commanded one, else, as none is, the yaw of the body."""
    return (state.yaw or 0.0) if state.commanded.heading is None else state.commanded.heading


def as_found(state: State) -> Motion:
    """Return the motion of a robot that is found on the path, as after a restart: odometry still has the heading."""
    heading = state.commanded.heading
    if heading is None:
        heading = state.odom_heading
    return Motion(held(state.commanded.limbs), heading=heading)


class OnPath(Behaviour):
    """Base of the behaviours between standing and the closed ball.

    What touches the ground there are gores that slide, and that turn the body by some 70 degrees: place and heading
    are kept, so that the ball rolls forward where the robot walked forward. Only a behaviour that rolls names another
    contact model.
    """

    contact_model = "none"
    safe_modes: Tuple[str, ...] = ("halfway", "shell")

    def __init__(self, name: str, robot: Robot) -> None:
        super().__init__(name, robot)
        self._direction, self._ignores = 1, False
        self._lost: Optional[Tuple[int, ...]] = None  # legs at the last tick; None: at none yet
        self._heading = 0.0

    @property
    def _greatest_tilt(self) -> float:
        """Tilt with which it begins, rad."""
        return self._robot.config.posture.upright

    def refusal(self, state: State) -> Optional[str]:
        """Refuse without upper legs, or with a body that lies on its side."""
        if self._robot.transformation is None:
            return NO_SHELLS
        if state.tilt <= self._greatest_tilt:
            return None
        lies, limit = np.degrees([state.tilt, self._greatest_tilt])
        return f"the robot lies tilted by {lies:.0f} deg, more than {limit:.0f}; {self._robot.after_a_fall}"

    def enter(self, state: State) -> None:
        """Begin at the present command, wherever on the path it is."""
        self._path().begin(state, self._direction)
        self._lost, self._heading = None, heading_of(state)

    def failure(self, state: State) -> Optional[str]:
        """Report a joint that did not come, or a tilt with which nothing stands on gores."""
        transformation = self._path()
        if transformation.late:
            return transformation.late
        upright = self._robot.config.posture.upright
        if state.tilt > upright and not transformation.on_pole:
            return f"tipped over by {np.degrees(state.tilt):.0f} deg, holding; {self._robot.after_a_fall}"
        return None

    def abort(self, reason: str) -> str:
        """Hold part of the way."""
        self._robot.announcer.say("transform", "")
        return self.safe_modes[0]

    def _too_early(self, commands: Commands, what: str) -> str:
        """Return once, while a velocity is commanded on the way, before what it does not count."""
        is_new = commands.twist.any() and not self._ignores
        self._ignores = bool(commands.twist.any())
        return _TOO_EARLY.format(what) if is_new else ""

    def _lost_now(self, commands: Commands) -> str:
        """Return a leg that is lost since the last tick, or nothing; one that was when it began is known."""
        before, self._lost = self._lost, commands.lost_legs
        lost = () if before is None else [leg for leg in commands.lost_legs if leg not in before]
        return f"lower_{lost[0]}" if lost else ""

    def _tips(self, state: State) -> bool:
        """Return whether the robot leans too far on its pole ends."""
        return self._path().on_pole and state.tilt > self._robot.config.transform.shut_tilt

    def _drive(self) -> BallDrive:
        drive = self._robot.ball_drive
        assert drive is not None
        return drive

    def _start_distance(self, direction: np.ndarray) -> float:
        return self._drive().start_distance(direction)

    def _path(self) -> Transformation:
        transformation = self._robot.transformation
        assert transformation is not None  # requests are refused, and no posture is recognised, without upper legs
        return transformation


@register("close_ball")
class CloseBall(OnPath):
    """Plays the path forwards, from wherever it is."""

    needs_all_legs = True
    _tipped = False  # since it began

    def enter(self, state: State) -> None:
        """Begin at the present command; a ball that lies on its side and only shuts does not tip."""
        super().enter(state)
        self._tipped = self._tips(state)

    def refusal(self, state: State) -> Optional[str]:
        """Accept every attitude of a ball that only has to shut; refuse to close without one, or on a slope."""
        transformation = self._robot.transformation
        if transformation is not None and transformation.nearly_closed:
            return None
        if transformation is not None and state.orientation is None:
            return _UNLEVEL
        if transformation is not None and transformation.on_pole:
            return None
        return self._robot.lacks_a_leg() or super().refusal(state) or self._robot.is_on_a_slope(state)

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion."""
        transformation, leg = self._path(), self._lost_now(commands)
        limbs = transformation.step(dt, 1, state)
        done = transformation.closed
        self._robot.announcer.say("transform", "" if done else transformation.text)
        notice = self._too_early(commands, "closed")
        if leg and transformation.nearly_closed:
            notice = _LOST_SHUT.format(leg)
        elif leg:
            transformation.lose(leg)
        if not self._tipped and self._tips(state):
            self._tipped = True
            notice = f"tipped by {np.degrees(state.tilt):.0f} deg while closing: shuts as it lies; {_TO_RISE}"
        return Motion(limbs, progress=transformation.fraction, done=done, notice=notice, heading=self._heading)


@register("open_ball")
class OpenBall(OnPath):
    """Rolls upright if need be, plays the path backwards, and hands the feet to the walking engine."""

    changes_attitude = True

    def __init__(self, name: str, robot: Robot) -> None:
        super().__init__(name, robot)
        self._direction = -1
        config = robot.config.rolling
        self._righting = Righting(config.righting, RollingControl(config, self._start_distance), config.radius)
        self._rights = False
        self._loosening = 0  # direction in which the fan turns, 0 while it does not

    def refusal(self, state: State) -> Optional[str]:
        """Refuse, besides, a ball without an attitude."""
        if self._robot.transformation is not None and self._path().on_pole:
            return NO_ATTITUDE if state.orientation is None else None
        return super().refusal(state)

    def enter(self, state: State) -> None:
        """Begin at the present command; a ball that leans, or has no attitude, rolls upright first."""
        super().enter(state)
        self._rights, self.contact_model = False, OnPath.contact_model
        leans = state.orientation is None or state.tilt > self._robot.config.transform.open_tilt
        if self._path().nearly_closed and leans:
            self._right()
        elif self._tips(state):  # a ball whose gores still push is not quite shut
            self._shut_and_right(state)

    def failure(self, state: State) -> Optional[str]:
        """Report, besides, that it does not come upright, or has no attitude."""
        if self._rights and unmeasured(state):
            return _BLIND.format(unmeasured(state), "rolling upright")
        if state.orientation is None and self._path().nearly_closed:
            return _BLIND.format("attitude", "beginning to open")
        lies = f"lies tilted by {np.degrees(state.tilt):.0f} deg"
        if self._rights and self._righting.has_timed_out:
            after = f"{lies} after {self._righting.time:.0f} s of rolling upright"
            return f"{after}; clear and level its surroundings, then try again"
        if self._path().on_pole:
            return self._path().late or None
        return super().failure(state)

    def abort(self, reason: str) -> str:
        """Shut again on the pole, where a closed ball is what is safe; hold part of the way before."""
        mode, transformation = super().abort(reason), self._robot.transformation
        on_pole = transformation is not None and transformation.on_pole and not transformation.late
        return "shell" if on_pole else mode

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion."""
        transformation, robot = self._path(), self._robot
        notice = self._too_early(commands, "standing")
        if not self._rights and self._tips(state):
            notice = f"tilted by {np.degrees(state.tilt):.0f} deg while opening: shut again, rolling upright"
            self._shut_and_right(state)
        if self._rights:
            return self._upright(dt, state, notice)
        leg = self._lost_now(commands)
        limbs = transformation.step(dt, -1, state)
        if leg:
            transformation.lose(leg)
        done = transformation.standing
        robot.announcer.say("transform", "" if done else transformation.text)
        if done:
            height = robot.engine.gait.stance_height
            feet = robot.geometry.legs.forward(lower_command(limbs).q)
            robot.engine.start(feet + np.array([0.0, 0.0, height]), REST_POSE)
        return Motion(limbs, progress=1.0 - transformation.fraction, done=done, notice=notice, heading=self._heading)

    def _shut_and_right(self, state: State) -> None:
        self._path().begin_closed(state)
        self._right()

    def _right(self) -> None:
        self._rights, self.contact_model = True, "rolling"
        self._righting.reset()
        self._drive().reset()

    def _upright(self, dt: float, state: State, notice: str) -> Motion:
        """Return the next motion of rolling upright; when it is caught, the path goes on with open gores."""
        drive, righting = self._drive(), self._righting
        velocity, push = drive.measure(state), np.zeros(2)
        if velocity is not None:
            behind = self._path().behind(state)[1]
            push = righting.step(dt, drive.R_world_base[:, 2], drive.omega_world, velocity, behind)
        if righting.stage == "loosen":
            limbs = self._loosen(dt, state)
        else:
            self._loosening = 0
            catch = righting.catch(*drive.leans) if righting.opens else None
            limbs = drive.step(dt, state, push, catch=catch)
        self._robot.announcer.say("transform", f"rolling upright, try {righting.tries}: {righting.stage}")
        if righting.done:
            self._rights, self.contact_model = False, OnPath.contact_model
            self._path().go_on_from("fan_in_4" if righting.opens else "settle", limbs)
        return Motion(limbs, progress=0.0, notice=notice, heading=self._heading)

    def _loosen(self, dt: float, state: State) -> Dict[str, LimbCommand]:
        """Turn the fan outwards and in again, so that gores that hold each other come apart."""
        path = self._path()
        outermost = path.start_of("fan_in_4")
        if not self._loosening:
            self._loosening = -1
            path.go_on_from("shut", state.commanded.limbs)
        elif path.at(outermost):
            self._loosening = 1
        until = outermost if self._loosening < 0 else None
        return path.step(dt, self._loosening, state, until, lying=True)
