# SPDX-License-Identifier: MIT
"""What the robot does at each tick: the walking engine, a pose, or lying limp; and what is requested next."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from humanoid_motion.engine import WalkingEngine
from humanoid_motion.fall import FallParameters
from humanoid_motion.fall_manager import FallManager
from humanoid_motion.held_joints import POSE_SPEED, HeldJoints
from humanoid_motion.interface import Feedback, Status
from humanoid_motion.late_joints import LateJoints
from humanoid_motion.measurement_watch import MeasurementWatch
from humanoid_motion.motions import MODES, MotionReader, load_motions
from humanoid_motion.parameters import WalkError, WalkParameters
from humanoid_motion.performer import GET_UP, Performer
from shellbot_common import TICK, RobotProfile, package_file
from shellbot_common.performance import Outcome
from shellbot_common.rotations import wrap_angle

# s in which the command goes over to the engine's; from a step that was held it has further to go
_FADE, _FADE_FROM_STEP = 0.5, 1.0
SILENCE = 0.1  # s without a measurement after which a walk is not gone on with from the held command, which would jump
# After a step that was held the robot rocks, and a step then makes it fall: it walks when both soles have carried this
# fraction of the weight, and the torso has turned slower than this (rad/s), for so long (s); or after so long (s)
_STANDS, _CALM, _CALM_FOR, _SETTLES = 0.2, 0.15, 0.3, 4.0
_WARM_UP = 80  # ticks: some steps
_STOPPED = "Emergency stop: the joints are held where they are; rearm it (button or service rearm) to resume."
_ELSEWHERE = 0.2  # rad of a joint from the stance at the start, from where the engine cannot begin


class HumanoidCore:
    """One robot: engine, latched joint targets, falls. Time is counted in ticks.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        Joints, couplings, poses.
    walk : WalkParameters, optional
        Of the walking engine.
    fall : FallParameters, optional
        Of the detection of falls.
    heading : str
        ``imu`` or ``feet``, as for the engine.
    motions_file : str or Path
        Motions of the user's, beside those delivered; none if empty.

    Attributes
    ----------
    engine : WalkingEngine
        It has the odometry, too.
    falls : FallManager
        What is known of a fall.
    performer : Performer
        What is known of the motion that is performed.
    """

    def __init__(
        self,
        urdf_text: str,
        profile: RobotProfile,
        walk: Optional[WalkParameters] = None,
        fall: Optional[FallParameters] = None,
        heading: str = "imu",
        motions_file: Union[str, Path] = "",
    ) -> None:
        self.engine = WalkingEngine(urdf_text, profile, walk, heading)
        self._is_by_feet = heading == "feet"
        self._joints, self._late = HeldJoints(urdf_text, profile), LateJoints(profile.joint_names)
        self._is_stopped = False
        reader = MotionReader.of_robot(urdf_text, profile)
        motions = load_motions(reader, motions_file)
        self.performer = Performer({**motions.performed, **reader.poses()})
        fall = fall or FallParameters.load(package_file("humanoid_motion", "config/fall.yaml"))
        self.falls = FallManager(fall, motions.falls, self.engine.most_offset, self.engine.weight)
        self._watch = MeasurementWatch(tuple(profile.contacts), self.engine.weight)
        self.reset()

    def reset(self) -> None:
        """Begin anew, with a robot that stands or lies; an emergency stop stays."""
        self.engine.reset()
        self.falls.reset()
        self._watch.reset()
        self.performer.end(Outcome.ABORTED, "the simulation was reset")
        self._late.reset()
        self._mode = "engine"
        self._command: Optional[np.ndarray] = None
        self._time: Optional[float] = None
        self._settling = self._calm = 0.0  # s that are left until it may walk; for which it has been calm
        self._origin = self._joints.stance  # where a motion leads back to, (n,) rad
        self._fade: Tuple[np.ndarray, float, float] = (np.zeros(0), 0.0, _FADE)  # from, s left, s in all

    def warm_up(self) -> None:
        """Compile the kernels of a walk, which takes some seconds once after an installation; then begin anew."""
        q, half = self._joints.stance, 0.5 * self.engine.weight
        standing = Feedback(q, (0.0, 0.0, 0.0, 1.0), np.zeros(3), np.array([[0.0, 0.0, half, 0.0, 0.0, 0.0]] * 2))
        standing.check(len(q))
        self.engine.command_twist((0.1, 0.0, 0.1))
        for _ in range(_WARM_UP):
            self._late.update(self.engine.step(standing), q, self.engine.most_offset)
        self.reset()

    @property
    def joint_limits(self) -> Tuple[np.ndarray, np.ndarray]:
        """Lower and upper limit of each joint, (n,), rad."""
        return self._joints.limits

    # --- requests ---

    def command_twist(self, twist: Sequence[float]) -> None:
        """Walk with a twist; from a pose the robot goes to its stance first.

        What comes during a fall or an emergency stop is forgotten, and what comes before the robot stands after one.
        """
        if self._is_stopped or self._watch.is_frozen or (self._watch.soles and np.any(twist)):
            return
        if self._mode == "engine" and self._settling > 0.0:
            return
        self.engine.command_twist(twist)
        moves = bool(np.isfinite(twist).all() and np.any(twist))
        if moves and self._mode == "motion":
            self.performer.cancel("cmd_vel came")
        elif moves and self._mode == "pose" and self._joints.pose != self._joints.standing:
            self.take_pose(self._joints.standing)

    def walk_to(self, x: float, y: float, yaw: float) -> None:
        """Walk to a pose of the odometry frame; raises WalkError where it does not stand, or for nonsense."""
        self._check_armed()
        if self._mode != "engine":
            raise WalkError(f"the robot does not stand ({self.status().text}); request stand first")
        self._check_measured("goal refused")
        if self._watch.soles:
            raise WalkError(self._watch.soles)
        if self._settling > 0.0:
            raise WalkError("the robot does not stand yet; give the goal a second later")
        self.engine.walk_to(x, y, yaw)

    def move_joints(self, targets: Mapping[str, float], speed: float) -> float:
        """Move joints to a target that is held until the next one; returns the duration, s.

        Parameters
        ----------
        targets : mapping of str to float
            Joint to angle, rad; the other joints go on with what they do.
        speed : float
            Fraction of the joints' maximum speed.

        Raises
        ------
        WalkError
            For targets that `JointMotion.resolved` refuses, while walking or stopped, and after a fall.
        """
        self._joints.check(targets, speed)
        self._check_armed()
        self._check_free("joints are not moved")
        if self._mode != "pose":
            self._hold()
        return self._joints.move(targets, speed)

    def _hold(self) -> None:
        """Hold the present command."""
        assert self._command is not None
        self._joints.hold(self._command)
        self._mode = "pose"

    def take_pose(self, name: str, speed: float = POSE_SPEED) -> float:
        """Move all joints to a pose of the profile; returns the duration, s. In its stance the robot can walk again.

        Raises
        ------
        WalkError
            If there is no such pose, and as for `move_joints`.
        """
        targets = self._joints.targets_of(name)
        if self._mode == "engine" and name == self._joints.standing and self.engine.has_stopped:
            return 0.0
        return self.move_joints(targets, speed)

    def perform(self, name: str, speed: float = 1.0) -> str:
        """Perform a motion, then stand or hold as it says; returns a sentence. `performer.status` has its progress.

        Parameters
        ----------
        name : str
            One of `performer.motions`, or GET_UP after a fall.
        speed : float
            Fraction of the speed that its frames mean.

        Raises
        ------
        WalkError
            If there is no such motion, and while walking, moving, stopped, or fallen.
        """
        self._check_armed()
        if name == GET_UP:
            text = self.request("recover")
            self.performer.begin_get_up()
            return text
        motion = self.performer.find(name, speed)
        self._check_free(f"{name} is not performed")
        if self._mode == "pose" and self._joints.is_moving:
            raise WalkError(f"{name} is not performed while the joints move: {self.status().text} Wait for its end.")
        assert self._command is not None
        self._origin = self._joints.stance if self._mode == "pose" else self._command
        duration = self.performer.begin(motion, self._command, speed)
        self._late.begin_motion()
        self._mode = "motion"
        return f"performs {name} in {duration:.1f} s"

    def cancel(self) -> None:
        """End the action: a motion comes to rest and the robot goes back to its stance; getting up lies down limp."""
        if self.performer.is_active:
            self.performer.cancel("it was requested")
            if self._mode == "fall":
                self.falls.give_up()

    def request(self, mode: str) -> str:
        """Go to a mode or pose by name; returns what happens, raises WalkError if it cannot be.

        Parameters
        ----------
        mode : str
            ``stand``, which ends a motion, too, ``recover`` (get up after a fall), or a pose of the profile.
        """
        self._check_armed()
        if mode == "stand":
            self._watch.clear_soles()
        if mode in self.performer.motions and mode not in self._joints.poses:
            raise WalkError(f"{mode} is a motion and no mode; perform it: scripts/action run {mode}")
        if mode == "stand" and self._mode == "motion":
            self.performer.cancel("stand was requested")
            return "goes back to its stance"
        if mode == "recover":
            if self._mode != "fall":
                raise WalkError(f"it has not fallen; {self.status().text}")
            self.falls.get_up()
            return self.falls.text
        name = self._joints.standing if mode == "stand" else mode
        if name not in self._joints.poses:
            names = dict.fromkeys([*MODES, *self._joints.poses])
            raise WalkError(f"there is no mode or pose '{name}'; there are {', '.join(names)}")
        duration = self.take_pose(name)
        return f"takes the pose {name} in {duration:.1f} s" if duration else "it stands"

    def emergency_stop(self) -> None:
        """End whatever moves the joints, which something else holds where they are, until `rearm`."""
        self._is_stopped = True
        self._halt("an emergency stop came")

    def _halt(self, reason: str) -> None:
        """End the walk, getting up or the motion: the joints are held."""
        self.engine.command_twist((0.0, 0.0, 0.0))
        self.falls.give_up()
        self.performer.end(Outcome.ABORTED, reason)
        if self._mode == "motion":
            self._hold()

    def rearm(self) -> None:
        """End the emergency stop: stand where the feet are, hold the joints, or lie limp after a fall."""
        if not self._is_stopped:
            return
        self._is_stopped = False
        self._go_on()

    def _go_on(self, is_elsewhere: bool = False) -> None:
        """Stand where the feet are, or hold the joints, after a command that was held."""
        if self._command is not None and self._mode == "engine":
            self.engine.resume(is_elsewhere)
            self._fade = self._command, _FADE_FROM_STEP, _FADE_FROM_STEP
            self._settling, self._calm = _SETTLES, 0.0
        elif self._command is not None and self._mode == "pose":
            self._hold()

    def _check_armed(self) -> None:
        if self._is_stopped:
            raise WalkError(_STOPPED)
        if self._watch.frozen:
            raise WalkError(self._watch.frozen)

    def _check_free(self, what: str) -> None:
        if self._mode == "fall":
            raise WalkError(f"{what}: {self.status().text}")
        if self._mode == "motion":
            raise WalkError(f"{what}: {self.status().text} Wait for its end, or request stand first.")
        if self._mode == "engine" and not self.engine.has_stopped:
            raise WalkError(f"{what} while it walks; stop first (cmd_vel 0)")
        self._check_measured(what)

    def _check_measured(self, what: str) -> None:
        if self._command is None:
            raise WalkError(f"{what} before the joints are measured; wait for joint_states, imu/data, foot forces")

    # --- ticks ---

    def step(self, feedback: Feedback, t: Optional[float] = None) -> np.ndarray:
        """Return the joint angles to command, (n,), rad, for the measurement of one tick (10 ms).

        Parameters
        ----------
        feedback : Feedback
            What was measured.
        t : float, optional
            When, s. After more than SILENCE a robot that walked stands where its feet are. Not given: a tick later.

        Raises
        ------
        WalkError
            If a measurement is not finite, of a wrong length, or frozen: hold the former command.
        """
        if self._is_by_feet:  # the unit may have no yaw axis
            feedback = replace(feedback, rates=np.append(feedback.rates[:2], 0.0))
        feedback.check(len(self._joints.stance))
        self._after_silence(t)
        self._watch.update(feedback, self._command)
        if self.falls.observe(feedback, self._watch.imu, self._up_of_soles):
            self._mode = "fall"
        elif self._command is None and np.abs(feedback.q - self._joints.stance).max() > _ELSEWHERE:
            self._begin_from(feedback.q)
        feedback = self._credible(feedback)
        if self._mode == "fall":
            command = self._fallen(feedback)
        elif self._is_stopped:
            self.engine.observe(feedback)
            command = feedback.q if self._command is None else self._command
        elif self._mode == "engine":
            self._settle(feedback)
            command = self._faded(self.engine.step(feedback))
        elif self._mode == "motion":
            self.engine.observe(feedback)
            command = self.performer.step()
        else:
            self.engine.observe(feedback)
            command = self._posed()
        self._command = command
        self._late.update(command, feedback.q, self.engine.most_offset)
        if self.performer.is_active:
            self._follow_action()
        return command

    def _after_silence(self, t: Optional[float]) -> None:
        before, self._time = self._time, t
        was_silent = t is not None and before is not None and t - before > SILENCE
        if was_silent and self._mode == "engine" and not self._is_stopped and not self.engine.has_stopped:
            self.engine.command_twist((0.0, 0.0, 0.0))
            self._go_on(is_elsewhere=True)

    def _settle(self, feedback: Feedback) -> None:
        """Find out whether it has come to rest after a command that was held."""
        if self._settling > 0.0:
            stands = feedback.wrenches[:, 2].min() > _STANDS * self.engine.weight
            self._calm = self._calm + TICK if stands and np.abs(feedback.rates).max() < _CALM else 0.0
            self._settling = 0.0 if self._calm >= _CALM_FOR else self._settling - TICK

    def _up_of_soles(self) -> np.ndarray:
        """Return the mean normal (3,) of the soles in the torso's frame at the commanded angles."""
        q = self._joints.stance if self._command is None else self._command
        normal = self.engine.posture(q).sole_rotation[:, :, 2].sum(axis=0)
        return np.asarray(normal / np.linalg.norm(normal))

    def _credible(self, feedback: Feedback) -> Feedback:
        """Return the measurement, with planned forces in place of those that cannot be true.

        Raises
        ------
        WalkError
            If something is frozen, and the robot does not lie.
        """
        watch, doubted = self._watch, self._watch.soles
        if watch.has_changed():
            self._halt(watch.frozen) if watch.is_frozen else self._go_on(is_elsewhere=True)
        if watch.is_frozen and self._mode != "fall":
            raise WalkError(watch.frozen)
        if self._mode == "engine" and not self._is_stopped:
            watch.watch_soles(
                feedback.wrenches, self.falls.detector.tilt, not self.engine.has_stopped, self.engine.swing
            )
            if watch.soles and not doubted:
                self.engine.command_twist((0.0, 0.0, 0.0))
        return replace(feedback, wrenches=self.engine.planned_wrenches) if watch.soles else feedback

    def _begin_from(self, q: np.ndarray) -> None:
        """Go slowly to the stance from where something else, such as this node before it was restarted, left it."""
        self._command = q
        self._hold()
        self._joints.move(self._joints.targets_of(self._joints.standing), POSE_SPEED)

    def _follow_action(self) -> None:
        """End the action where what it leads to is reached, or something else has begun; lead a motion to its end."""
        performer = self.performer
        is_get_up = performer.status is not None and performer.status.name == GET_UP
        self._late.note()
        if self._mode == "engine":
            performer.finish() if is_get_up else self._finish_motion()
        elif self._mode == "fall" and not is_get_up:
            performer.end(Outcome.ABORTED, "the robot fell; request recover to get up")
        elif self._mode == "fall" and self.falls.activity == "get_up":
            performer.show(self.falls.text)
        elif self._mode == "fall":
            performer.finish() if performer.is_cancelled else performer.end(Outcome.ABORTED, self.falls.text)
        elif self._mode == "pose" and self._joints.pose != self._joints.standing:
            performer.end(Outcome.CANCELLED, "the joints were moved on its way back to the stance")
        elif self._mode == "motion" and performer.is_played:
            self._hold()
            if performer.holds:
                self._finish_motion()
            else:
                self._joints.go_back(self._origin)
                performer.go_back()

    def _finish_motion(self) -> None:
        """End a motion as it was to end, or as one that joints did not follow."""
        if self._late.in_motion and not self.performer.is_cancelled:
            self.performer.end(Outcome.ABORTED, f"the motion is over, but {self._late.in_motion} was behind")
        self.performer.finish()

    def _posed(self) -> np.ndarray:
        command = self._joints.step()
        if self._joints.has_reached_stance:
            self.engine.resume()
            self._mode, self._fade = "engine", (command, _FADE, _FADE)
        return command

    def _fallen(self, feedback: Feedback) -> np.ndarray:
        command = np.clip(self.falls.step(feedback), *self._joints.limits)  # limp joints rest against their stops
        if self.falls.stands:
            self.falls.reset()
            self.engine.resume(is_elsewhere=True)
            self._mode, self._fade = "engine", (command, _FADE, _FADE)
        return command

    def _faded(self, command: np.ndarray) -> np.ndarray:
        """Return the engine's command, led over from the one before the engine resumed."""
        former, left, whole = self._fade
        if left <= 0.0:
            return command
        self._fade = former, left - TICK, whole
        part = left / whole
        return command + part * part * (3.0 - 2.0 * part) * (former - command)

    @property
    def has_fallen(self) -> bool:
        """Whether the robot falls or lies."""
        return self._mode == "fall"

    def status(self) -> Status:
        """Return what the robot does."""
        if self._is_stopped:
            fallen = " It has fallen: request recover then." if self._mode == "fall" else ""
            return Status("stopped", "stopped", _STOPPED + fallen)
        behind = self._late.text(self._mode == "fall")
        frozen = f" But {self._watch.frozen}." if self._watch.frozen else ""
        if self._mode == "fall":
            activity = self.falls.activity
            return Status(activity, {"get_up": "stand"}.get(activity, "fallen"), self.falls.text + frozen + behind)
        if frozen:
            return Status("stopped", "stopped", f"The joints are held:{frozen[4:]} It goes on when they change.")
        if self._mode == "motion" and self.performer.status is not None:
            performed = self.performer.status
            text = f"It performs {performed.name}: {performed.step}{', paused' if performed.paused else ''}.{behind}"
            return Status("motion", performed.name, text, performed.progress)
        if self._mode == "pose":
            return self._joints.status(behind)
        mode, goal = self.engine.state().mode, self.engine.goal
        if self._watch.soles:
            return Status(mode, "stand", self._watch.soles + behind)
        if self._settling > 0.0:
            return Status(mode, "stand", "It comes to rest on its feet; then it obeys cmd_vel." + behind)
        if goal is None:
            text = {"stand": "It stands and obeys cmd_vel.", "walk": "It walks."}[mode]
            return Status(mode, mode, text + behind)
        what = {"stand": "It arrived and stands at", "walk": "It walks to"}[mode]
        heading = math.degrees(wrap_angle(goal[2]))  # the engine counts turns on
        text = f"{what} x {goal[0]:.2f} m, y {goal[1]:.2f} m, {heading:.0f} deg.{behind}"
        return Status(mode, mode, text)
