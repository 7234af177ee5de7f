# SPDX-License-Identifier: MIT
"""The action manager without ROS: modes, transitions, walking and posing, one call per tick."""

from __future__ import annotations

from typing import Callable, Dict, Optional, Tuple

import numpy as np

from shellbot_action_manager.announcer import Announcer
from shellbot_action_manager.body_pose import REST_POSE, feet_in_base, rpy_from_quaternion
from shellbot_action_manager.config import ActionManagerConfig, load_config
from shellbot_action_manager.contact_estimate import ContactEstimator
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.geometry import LOWER_COUNT, RobotGeometry, load_geometry
from shellbot_action_manager.interface import ActionOutput, ContactEstimate, Feedback, OperatorCommands
from shellbot_action_manager.mode_machine import ModeMachine
from shellbot_action_manager.mode_table import Mode
from shellbot_action_manager.on_feet import OnFeet
from shellbot_action_manager.postures import FootMove, find_standing
from shellbot_action_manager.reference_builder import ReferenceBuilder
from shellbot_action_manager.rising import FAN_CLOSED_FROM, LowerCommand, Moves, feet_command, plan_lie_down, plan_rise
from shellbot_action_manager.twist_command import fresh_twist
from shellbot_action_manager.upper_shells import clamp_upper

TICK = 0.01
"""s of simulated time: the nominal time between two ticks."""

GAP = 0.05
"""s: ticks farther apart are a gap, after which the robot goes on as if one tick had passed."""

_SAME_POSTURE = 0.2  # rad: nearer than this the last references go on after a stop, farther away the measured joints do


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
        self.config, self.geometry = config, geometry
        self._machine = ModeMachine(config.modes)
        self._feet = OnFeet(config, geometry.legs)
        self._builder = ReferenceBuilder()
        self._steps: Dict[str, Callable[[float, OperatorCommands], Tuple[bool, float]]] = {
            "stand_up": self._stand_up,
            "stop_walking": self._stop_walking,
            "centre_body": self._centre_body,
            "step_out": self._step_out,
            "sit_down": self._sit_down,
        }
        self.reset()

    @classmethod
    def from_description(cls, variant: str = "simulation", **config: str) -> ActionManagerCore:
        """Return a core for a variant of the description; `config` goes to `load_config`."""
        return cls(load_config(**config), load_geometry(variant))

    def reset(self) -> None:
        """Begin anew, as after a start: wait for joint states, then go to the start mode. Ends an emergency stop."""
        self._begin()

    def _begin(self) -> None:
        self._machine.reset()
        self._builder.reset()
        self._announcer = Announcer()
        self._feet = OnFeet(self.config, self.geometry.legs)
        self._time: Optional[float] = None
        self._output: Optional[ActionOutput] = None
        self._lower = LowerCommand(np.zeros((6, 4)), None)
        self._upper = np.zeros((0, 2))
        self._moves: Optional[Moves] = None
        self._settling: Optional[Moves] = None
        self._planted = np.zeros(6, dtype=bool)
        self._contacts = ContactEstimator(self.config.contact_height, self.config.contact_lag)
        self._rpy: Optional[np.ndarray] = None
        self._after_stop = Mode.STAND if self.config.start_mode == "stand" else Mode.HEXAPOD
        self._rearming = False
        self._taken_over = False
        self._notice, self._progress = "", 0.0

    @property
    def mode(self) -> Mode:
        """The mode held, or the one left while a transition runs."""
        return self._machine.mode

    @property
    def twist(self) -> np.ndarray:
        """Twist (3,) that the robot is told to walk with now, after all limits: m/s, m/s, rad/s."""
        return self._feet.twist.copy()

    def request_mode(self, name: str, t: float) -> Tuple[bool, str]:
        """Ask for a mode; return whether it was accepted, and one sentence.

        Parameters
        ----------
        name : str
            hexapod, shell, sit, stand or relax.
        t : float
            Simulated time, s.
        """
        lying = self._machine.goal in (Mode.SIT, Mode.RELAX)
        if lying and name in ("stand", "hexapod") and self._tilt() > self.config.posture.upright:
            reason = f"the robot is tilted by {np.degrees(self._tilt()):.0f} deg; turn it upright first"
            self._machine.text = f"{name} refused: {reason}"
            return False, reason
        return self._machine.request(name)

    def emergency_stop(self, t: float) -> None:
        """Freeze the references now, until `rearm`."""
        if self._machine.mode == Mode.STOPPED:
            return
        if self._machine.mode != Mode.WAITING:
            self._after_stop = self._machine.goal
        self._lower = LowerCommand(self._lower.q, None)
        self._moves = self._settling = None
        self._rearming = False
        self._machine.enter(Mode.STOPPED, "emergency stop; call the service rearm to go on")

    def rearm(self, t: float) -> None:
        """End an emergency stop: at the next tick go on from the posture the robot is found in."""
        self._rearming = self._machine.mode == Mode.STOPPED

    def step(self, t: float, commands: OperatorCommands, feedback: Optional[Feedback]) -> ActionOutput:
        """Return what every limb should do at time t.

        Parameters
        ----------
        t : float
            Simulated time of the joint states that started the tick, s. Going back means reset.
        commands : OperatorCommands
            What the operator wants.
        feedback : Feedback or None
            What was measured; None or NaN joints: the references are held.
        """
        if self._time is not None and t < self._time:
            stopped = self._machine.mode == Mode.STOPPED
            self._begin()
            if stopped:  # a latched stop outlives a reset of the simulation
                self.emergency_stop(t)
        if self._time is not None and t == self._time and self._output is not None:
            return self._output
        dt = TICK if self._time is None or t - self._time > GAP else t - self._time
        self._time = t
        complaint = self._check(feedback)
        self._notice = complaint
        if feedback is not None and not complaint:
            self._see(feedback)
            self._act(dt, t, commands)
        self._announcer.say("input", complaint)
        self._output = self._publishable(t, dt)
        return self._output

    def _check(self, feedback: Optional[Feedback]) -> str:
        """Return why this tick's feedback cannot be used, or nothing."""
        if feedback is None:
            return "no joint_states; holding, start the simulator or the driver"
        q, names = feedback.joint_position, self.geometry.joint_names
        if q.shape != (len(names),):
            return f"joint states have {q.size} positions, expected {len(names)}; use the same variant everywhere"
        lost = [name for name, value in zip(names, q) if not np.isfinite(value)]
        if lost:
            more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            return f"joint_states lack {lost[0]}{more}; holding, check the variant and the servo"
        return ""

    def _see(self, feedback: Feedback) -> None:
        q = feedback.joint_position
        self._q_lower, self._q_upper = q[:LOWER_COUNT].reshape(6, 4), q[LOWER_COUNT:].reshape(-1, 2)
        orientation = feedback.orientation
        if orientation is not None and not (np.isfinite(orientation).all() and np.linalg.norm(orientation) > 0.5):
            orientation = None
        self._orientation = orientation
        self._rpy = None if orientation is None else rpy_from_quaternion(orientation)
        self._p_measured = self.geometry.legs.forward(self._q_lower)

    def _tilt(self) -> float:
        if self._rpy is None:
            return 0.0
        return float(np.arccos(np.clip(np.cos(self._rpy[0]) * np.cos(self._rpy[1]), -1.0, 1.0)))

    def _act(self, dt: float, t: float, commands: OperatorCommands) -> None:
        machine = self._machine
        if machine.mode == Mode.WAITING:
            start = Mode[self.config.start_mode.upper()]
            self._take_over(self._q_lower, start if start != Mode.SIT else Mode.STAND)
            if machine.mode == Mode.SIT and start != Mode.SIT:
                self.request_mode(self.config.start_mode, t)
        elif machine.mode == Mode.STOPPED and self._rearming:
            self._rearming = False
            near = np.abs(self._lower.q - self._q_lower).max() < _SAME_POSTURE
            self._take_over(self._lower.q if near else self._q_lower, self._after_stop)
        if not self._taken_over:  # stopped before anything was measured: freeze what is found
            self._taken_over = True
            self._lower, self._upper = LowerCommand(self._q_lower.copy(), None), self._q_upper.copy()
        if machine.mode == Mode.STOPPED:
            return
        self._upper_step(dt, commands)
        if self._settling is not None:
            self._lower = self._settling.step(dt)
            if self._settling.done:
                self._settling, self._planted = None, np.ones(6, dtype=bool)
            return
        if machine.step is not None:
            done, self._progress = self._steps[machine.step](dt, commands)
            if done:
                self._moves = None
                machine.finish_step()
        elif machine.mode == Mode.RELAX:
            q = self._q_lower.copy()
            low, high = self.geometry.legs.limits.T
            margin = self.config.joint_margin  # follow the hand and the weight, but not into the stops
            q[:, 1:] = np.clip(q[:, 1:], low + margin, high - margin)
            self._lower = LowerCommand(q, None)
        elif machine.mode in (Mode.STAND, Mode.HEXAPOD):
            self._on_feet(dt, t, commands)

    def _take_over(self, q_lower: np.ndarray, goal: Mode) -> None:
        """Go on from the posture the robot is found in: on its feet, or lying."""
        gait = self._feet.gait
        p_base = self.geometry.legs.forward(q_lower)
        found = None
        if np.abs(q_lower[:, 0]).max() < FAN_CLOSED_FROM:
            found = find_standing(p_base, self._tilt(), gait.stance_height, self.config.posture)
        self._lower = LowerCommand(np.array(q_lower), None)
        if not self._taken_over:
            self._upper, self._taken_over = self._q_upper.copy(), True
        self._moves = None
        if found is None:
            posture = self.config.posture
            flat = np.ptp(p_base[:, 2]) <= posture.plane_tolerance and p_base[:, 2].max() < -posture.pushing_height
            self._planted = np.full(6, flat)
            self._machine.enter(Mode.SIT, "holding the joints as found; request hexapod to stand up")
            return
        self._feet.start(found.p_walk, found.pose)
        self._planted = found.p_walk[:, 2] <= 0.0
        if not self._planted.all():
            down = found.p_walk * np.array([1.0, 1.0, 0.0])
            places = [feet_in_base(feet, found.pose, gait.stance_height) for feet in (found.p_walk, down)]
            self._settling = Moves(self.geometry.legs, [FootMove(*places, self.config.posture.settle_time)])
        self._machine.enter(
            goal if goal in (Mode.STAND, Mode.HEXAPOD) else Mode.STAND, "found standing; stepping to the rest stance"
        )

    def _upper_step(self, dt: float, commands: OperatorCommands) -> None:
        if self.geometry.upper is None or self._machine.goal not in (Mode.STAND, Mode.HEXAPOD):
            return
        goal, text = self.geometry.up_upper, ""
        if commands.upper_shells is not None:
            wanted, text = clamp_upper(commands.upper_shells, self.config.upper)
            pair = self.geometry.upper.solve(*wanted)
            goal = np.tile(pair, (6, 1)) if np.isfinite(pair).all() else self._upper
        self._announcer.say("upper", text)
        way = self.config.upper.joint_rate * dt
        self._upper = self._upper + np.clip(goal - self._upper, -way, way)

    def _on_feet(self, dt: float, t: float, commands: OperatorCommands) -> None:
        walks = self._machine.mode == Mode.HEXAPOD
        twist, self._notice = fresh_twist(commands.twist, commands.twist_time, t, self.config.cmd_vel_timeout)
        self._announcer.say("cmd_vel", self._notice)
        waiting_for_gait = not self._follow_gait(commands.gait)
        self._walk(dt, twist if walks and not waiting_for_gait else np.zeros(3), commands.body_pose)

    def _follow_gait(self, name: str) -> bool:
        """Return whether the wanted gait is in use; an unknown one is refused and the present one kept."""
        try:
            ready = not name or self._feet.set_gait(name)
        except ActionManagerError as error:
            self._announcer.say("gait", str(error))
            self._notice = self._notice or str(error)
            return True
        self._announcer.say("gait", "" if ready else f"stopping to change the gait to {name}")
        return ready

    def _walk(self, dt: float, twist: np.ndarray, pose: np.ndarray, home_radius: Optional[float] = None) -> None:
        yaw = None if self._rpy is None else float(self._rpy[2])
        p_base = self._feet.step(dt, twist, pose, yaw, home_radius)
        self._announcer.say("body_pose", self._feet.text)
        told = feet_command(self.geometry.legs, p_base)
        lost = np.isnan(told.q).any(axis=1)
        # A foot that is out of reach is still told as a foot, kinematics goes as near as it can; its joints count as before.
        self._lower = LowerCommand(np.where(lost[:, None], self._lower.q, told.q), p_base)
        self._planted = self._feet.standing

    def _stand_up(self, dt: float, commands: OperatorCommands) -> Tuple[bool, float]:
        if self._moves is None:
            self._follow_gait(commands.gait)
            height, sit = self._feet.gait.stance_height, self.geometry.sit_lower
            self._moves = plan_rise(self._lower.q, height, sit, self.geometry.legs, self.config.posture)
        if self._moves.done:
            self._walk(dt, np.zeros(3), REST_POSE)
            return self._feet.at_rest, 0.9
        self._planted = np.full(6, self._moves.on_feet)
        if self._behind():
            return False, 0.8 * self._moves.progress
        self._lower = self._moves.step(dt)
        if self._moves.done and self._lower.p_base is not None:
            p_walk = self._lower.p_base + np.array([0.0, 0.0, self._feet.gait.stance_height])
            self._feet.start(p_walk, REST_POSE)
        return False, 0.8 * self._moves.progress

    def _stop_walking(self, dt: float, commands: OperatorCommands) -> Tuple[bool, float]:
        self._walk(dt, np.zeros(3), commands.body_pose)
        return self._feet.at_rest, 0.5

    def _centre_body(self, dt: float, commands: OperatorCommands) -> Tuple[bool, float]:
        self._walk(dt, np.zeros(3), REST_POSE)
        return self._feet.at_rest and self._feet.pose_reached, 0.5

    def _step_out(self, dt: float, commands: OperatorCommands) -> Tuple[bool, float]:
        x, y, _ = self.geometry.legs.forward(self.geometry.sit_lower)[0]
        self._walk(dt, np.zeros(3), REST_POSE, float(np.hypot(x, y)))
        return self._feet.at_rest, 0.5

    def _sit_down(self, dt: float, commands: OperatorCommands) -> Tuple[bool, float]:
        if self._moves is None:
            p_base = feet_in_base(self._feet.p_walk, self._feet.pose, self._feet.gait.stance_height)
            self._moves = plan_lie_down(p_base, self.geometry.sit_lower, self.geometry.legs, self.config.posture)
        self._planted = np.ones(6, dtype=bool)
        if not self._behind():
            self._lower = self._moves.step(dt)
        return self._moves.done, self._moves.progress

    def _behind(self) -> bool:
        """Return whether the joints do not follow, so that a move has to wait for them; say which one."""
        error = np.abs(self._lower.q - self._q_lower)
        worst = int(np.argmax(error))
        late = bool(error.flat[worst] > self.config.posture.follow_error)
        name = self.geometry.joint_names[worst]
        self._announcer.say(
            "follow",
            f"waiting for {name}, {error.flat[worst]:.2f} rad behind; are kinematics and the connector running?"
            if late
            else "",
        )
        return late

    def _publishable(self, t: float, dt: float) -> ActionOutput:
        waiting = not self._taken_over
        nobody = np.zeros(6, dtype=bool)
        if waiting:
            contacts = ContactEstimate(nobody, np.full(6, np.nan), np.full((6, 3), np.nan))
        else:
            standing = self._contacts.step(dt, self._p_measured, self._planted, self._orientation)
            phases = self._feet.phases if self._walking() else np.full(6, np.nan)
            contacts = ContactEstimate(standing, phases, self._p_measured)
        references = None if waiting else self._builder.build(t, dt, self._lower, self._upper)
        self._announcer.say("machine", self._machine.text)
        status = self._machine.status(self._doing(), self._progress, self._announcer.text)
        return ActionOutput(references, status, contacts, self._feet.limits, self._notice)

    def _walking(self) -> bool:
        stepping = self._machine.step in ("stand_up", "stop_walking", "centre_body", "step_out")
        return (stepping or self._machine.mode in (Mode.STAND, Mode.HEXAPOD)) and self._feet.walking

    def _doing(self) -> str:
        if self._settling is not None:
            return "settling"
        if not self._walking():
            return ""
        return "walking" if self._feet.twist.any() else "stepping_home"
