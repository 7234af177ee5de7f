# SPDX-License-Identifier: MIT
"""The action manager without ROS: modes, transitions, walking and posing, one call per tick."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional, Tuple

import numpy as np

from shellbot_action_manager.announcer import Announcer
from shellbot_action_manager.body_motion import BodyMotion
from shellbot_action_manager.config import ActionManagerConfig, load_config
from shellbot_action_manager.contact_estimate import ContactEstimator
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.geometry import RobotGeometry, load_geometry
from shellbot_action_manager.interface import ActionOutput, ContactEstimate, Feedback, OperatorCommands
from shellbot_action_manager.mode_machine import ModeMachine
from shellbot_action_manager.mode_table import Mode
from shellbot_action_manager.reference_builder import ReferenceBuilder
from shellbot_action_manager.twist_command import fresh_twist
from shellbot_common import TICK, Stamp, classify_stamp

_STANDING = (Mode.STAND, Mode.HEXAPOD)
_ANSWER_HOLDS = 5.0  # s that the answer to a request stays the sentence of the mode topic
_TIPPED_AFTER = 0.2  # s: a shorter tilt is a push or a bad reading


class ActionManagerCore:
    """Decides at each tick what every limb should do.

    Parameters
    ----------
    config : ActionManagerConfig
        Settings, gaits and the mode table.
    geometry : RobotGeometry
        The robot.
    """

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry) -> None:
        self.config = config
        self.geometry = replace(geometry, legs=replace(geometry.legs, shank_min=config.shank_min))
        self.reset()

    @classmethod
    def from_description(cls, variant: str = "simulation", **config: str) -> ActionManagerCore:
        """Return a core for a variant of the description; `config` goes to `load_config`."""
        return cls(load_config(**config), load_geometry(variant))

    def reset(self) -> None:
        """Begin anew, as after a start: wait for joint states, then go to the start mode. Ends an emergency stop."""
        self._announcer = Announcer()
        self._machine = ModeMachine(self.config.modes)
        self._body = BodyMotion(self.config, self.geometry, self._announcer)
        self._builder = ReferenceBuilder()
        self._contacts = ContactEstimator(self.config.contact.height, self.config.contact.lag)
        self._time: Optional[float] = None
        self._output: Optional[ActionOutput] = None
        self._after_stop = Mode.STAND if self.config.start_mode == "stand" else Mode.HEXAPOD
        self._rearming = False
        self._notice, self._progress, self._tipped, self._answered = "", 0.0, 0.0, 0.0

    @property
    def mode(self) -> Mode:
        """The mode held, or the one left while a transition runs."""
        return self._machine.mode

    @property
    def twist(self) -> np.ndarray:
        """Twist (3,) that the robot is told to walk with now, after all limits: m/s, m/s, rad/s."""
        return self._body.feet.twist.copy()

    def request_mode(self, name: str, t: float) -> Tuple[bool, str]:
        """Ask for a mode; return whether it was accepted, and one sentence.

        Parameters
        ----------
        name : str
            hexapod, shell, sit, stand or relax.
        t : float
            Simulated time, s.
        """
        tilt, lying = self._body.tilt, self._machine.goal in (Mode.SIT, Mode.RELAX)
        if lying and name in ("stand", "hexapod") and tilt > self.config.posture.upright:
            reason = f"the robot is tilted by {np.degrees(tilt):.0f} deg; turn it upright first"
            self._answered = 0.0
            self._machine.answer(f"{name} refused: {reason}")
            return False, reason
        self._answered = 0.0
        return self._machine.request(name)

    def emergency_stop(self, t: float) -> None:
        """Freeze the references now, until `rearm`."""
        if self._machine.mode == Mode.STOPPED:
            return
        if self._machine.mode != Mode.WAITING:
            self._after_stop = self._machine.goal
        self._body.freeze()
        self._rearming = False
        self._machine.enter(Mode.STOPPED, "stopped; to go on call rearm, or torque true if it was switched off")

    def rearm(self, t: float) -> None:
        """End an emergency stop: at the next tick go on from the posture the robot is found in."""
        self._rearming = self._machine.mode == Mode.STOPPED

    def step(self, t: float, commands: OperatorCommands, feedback: Optional[Feedback]) -> ActionOutput:
        """Return what every limb should do at time t.

        Parameters
        ----------
        t : float
            Simulated time of the joint states that started the tick, s. A late one (see `classify_stamp`) changes
            nothing, the last output is returned; one that is older by more than a gap resets.
        commands : OperatorCommands
            What the operator wants.
        feedback : Feedback or None
            What was measured; None or NaN joints: the references are held.
        """
        kind = classify_stamp(self._time, t)
        if kind in (Stamp.REPEATED, Stamp.LATE) and self._output is not None:
            return self._output
        if kind is Stamp.RESET:
            stopped = self._machine.mode == Mode.STOPPED
            self.reset()
            if stopped:  # a latched stop outlives a reset of the simulation
                self.emergency_stop(t)
        dt = t - self._time if self._time is not None and kind is Stamp.NEXT else TICK
        self._time = t
        self._let_answers_pass(dt)
        self._announcer.say("machine", self._machine.text)  # what a request was answered is older than this tick
        self._notice = self._check(feedback)
        self._announcer.say("input", self._notice)
        if feedback is not None and not self._notice:
            self._body.see(feedback)
            self._take_over(t)
            self._act(dt, t, commands)
        self._output = self._report(t, dt)
        return self._output

    def _check(self, feedback: Optional[Feedback]) -> str:
        """Return why this tick's feedback cannot be used, or nothing."""
        if feedback is None:
            return "no joint_states; holding, start the simulator or the driver"
        q, names = feedback.joint_position, self.geometry.joint_names
        if q.shape != (len(names),):
            return f"joint states have {q.size} positions, expected {len(names)}; use the same variant everywhere"
        if np.isfinite(q).all():
            return ""
        lost = [name for name, value in zip(names, q) if not np.isfinite(value)]
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        return f"joint_states lack {lost[0]}{more}; holding, check the variant and the servo"

    def _take_over(self, t: float) -> None:
        """Leave waiting at the first joint states, or stopped after rearm, as the robot is found."""
        machine = self._machine
        begins = machine.mode == Mode.WAITING
        if not begins and not (machine.mode == Mode.STOPPED and self._rearming):
            return
        self._rearming = False
        goal = Mode[self.config.start_mode.upper()] if begins else self._after_stop
        if self._body.take_over():
            machine.enter(goal if goal in _STANDING else Mode.STAND, "")
            machine.answer("found standing; stepping to the rest stance")
            return
        machine.enter(Mode.SIT, "holding the joints as found; request hexapod to stand up")
        if begins and goal in _STANDING:
            self.request_mode(goal.label, t)

    def _act(self, dt: float, t: float, commands: OperatorCommands) -> None:
        machine, body = self._machine, self._body
        if machine.mode == Mode.STOPPED or self._has_tipped_over(dt):
            return
        if machine.goal in _STANDING:
            body.move_upper(dt, commands.upper_shells)
        if body.settling:
            body.settle(dt)
        elif machine.step is not None:
            if machine.step == "stand_up":
                self._follow_gait(commands.gait)
            done, self._progress = body.steps[machine.step](dt, commands.body_pose)
            if done:
                body.finish_step()
                machine.finish_step()
        elif machine.mode == Mode.RELAX:
            body.relax()
        elif machine.mode in _STANDING:
            twist, complaint = fresh_twist(commands.twist, commands.twist_time, t, self.config.cmd_vel_timeout)
            self._announcer.say("cmd_vel", complaint)
            self._notice = complaint
            obeyed = self._follow_gait(commands.gait) and machine.mode == Mode.HEXAPOD
            body.walk(dt, twist if obeyed else np.zeros(3), commands.body_pose)

    def _has_tipped_over(self, dt: float) -> bool:
        """Hold the joints when the robot fell over, instead of walking on in the air; return whether it just did."""
        tilt = self._body.tilt
        on_feet = self._machine.mode in _STANDING or self._machine.step is not None
        self._tipped = self._tipped + dt if on_feet and tilt > self.config.posture.upright else 0.0
        if self._tipped <= _TIPPED_AFTER:
            return False
        self._body.freeze()
        degrees = np.degrees(tilt)
        self._machine.enter(Mode.SIT, f"tipped over by {degrees:.0f} deg, holding; turn it upright, then request stand")
        return True

    def _follow_gait(self, name: str) -> bool:
        """Return whether the wanted gait is in use; an unknown one is refused and the present one kept."""
        try:
            ready = not name or self._body.feet.set_gait(name)
        except ActionManagerError as error:
            if self._announcer.say("gait", str(error)):
                self._notice = self._notice or str(error)
            return True
        self._announcer.say("gait", "" if ready else f"stopping to change the gait to {name}")
        return ready

    def _let_answers_pass(self, dt: float) -> None:
        """Take an answer off the mode's text after a while; the same answer to a new request starts the while anew."""
        self._answered = self._answered + dt if self._machine.passing else 0.0
        if self._answered > _ANSWER_HOLDS:
            self._machine.forget_answer()

    def _report(self, t: float, dt: float) -> ActionOutput:
        body = self._body
        references, unknown = None, np.full(6, np.nan)
        contacts = ContactEstimate(np.zeros(6, dtype=bool), unknown, np.full((6, 3), np.nan))
        if body.p_measured is not None:
            references = self._builder.build(t, dt, body.lower, body.upper)
            standing = self._contacts.step(dt, body.p_measured, body.planted, body.orientation)
            contacts = ContactEstimate(standing, body.feet.phases if self._steps() else unknown, body.p_measured)
        self._announcer.say("machine", self._machine.text)
        status = self._machine.status(self._doing(), self._progress, self._announcer.text)
        return ActionOutput(references, status, contacts, body.feet.limits, self._notice)

    def _steps(self) -> bool:
        """Return whether the gait's clock runs."""
        walking_step = self._machine.step in ("stand_up", "stop_walking", "centre_body", "step_out")
        return (walking_step or self._machine.mode in _STANDING) and self._body.feet.walking

    def _doing(self) -> str:
        if self._body.settling:
            return "settling"
        if not self._steps():
            return ""
        return "walking" if self._body.feet.twist.any() else "stepping_home"
