# SPDX-License-Identifier: MIT
"""The action manager without ROS: runs the behaviour that the mode table names, one call per tick."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from shellbot_action_manager.actions.performance import PerformanceCommands, PerformanceObservation
from shellbot_action_manager.actions.performer import Performer
from shellbot_action_manager.actions.plan import Plan
from shellbot_action_manager.behaviours.perform import NO_ACTION
from shellbot_action_manager.behaviours.protocol import Behaviour, Commands, Motion, State
from shellbot_action_manager.behaviours.registry import build_behaviours
from shellbot_action_manager.behaviours.robot import Robot
from shellbot_action_manager.body.feed_forward import FeedForward, FeedForwardConfig
from shellbot_action_manager.body.geometry import LEG_COUNT, RobotGeometry, load_geometry
from shellbot_action_manager.body.limbs import found, held
from shellbot_action_manager.body.reference_builder import ReferenceBuilder
from shellbot_action_manager.config import ActionManagerConfig, load_config
from shellbot_action_manager.errors import ActionError
from shellbot_action_manager.estimation.contact_models import build_contact_models
from shellbot_action_manager.estimation.memory import counts_at
from shellbot_action_manager.estimation.payload import PayloadEstimator
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_action_manager.gait.twist_command import fresh_twist
from shellbot_action_manager.gait.twist_stream import TwistStream
from shellbot_action_manager.gait.walk_engine import WalkEngine
from shellbot_action_manager.gait.walking import rest_footholds
from shellbot_action_manager.interface import ActionOutput, Feedback, OperatorCommands
from shellbot_action_manager.modes.announcer import Announcer
from shellbot_action_manager.modes.mode_machine import ModeMachine
from shellbot_action_manager.modes.mode_table import STOPPED, WAITING, Mode
from shellbot_common import TICK, Stamp, classify_stamp
from shellbot_common.performance import Outcome
from shellbot_common.rotations import is_attitude, rpy_from_quaternion, wrap_angle

_ANSWER_HOLDS = 5.0  # s that the answer to a request stays the sentence of the mode topic
_FAILED_AFTER = 0.2  # s: a shorter failure, such as a tilt, is a push or a bad reading
_SAME_POSTURE = 0.2  # rad: nearer than this the last command goes on after a stop, farther away the measured joints do


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
        self.reset()

    @classmethod
    def from_description(cls, variant: str = "simulation", **config: str) -> ActionManagerCore:
        """Return a core for a variant of the description; `config` goes to `load_config`."""
        return cls(load_config(**config), load_geometry(variant))

    def reset(self) -> None:
        """Begin anew, as after a start: wait for joint states, then go to the start mode. Ends an emergency stop."""
        self._announcer = Announcer()
        self._machine = ModeMachine(self.config.modes)
        self._robot = Robot(self.config, self.geometry, self._announcer)
        self._behaviours = build_behaviours(self.config.modes, self._robot)
        self._limits = self._behaviours[self._machine.behaviour].limits
        self._running: Optional[Behaviour] = None
        self._stream = TwistStream(self.config.lapse, self.config.cmd_vel_timeout)
        self._builder = ReferenceBuilder(self.geometry.limbs)
        self._feed_forward = FeedForward(self.config.feed_forward, self.geometry.body, self.geometry.limbs)
        self.feed(self.config.feed_forward)
        self._contact_models = build_contact_models(self.config, self.geometry)
        self._contact_model = "feet"
        self._time: Optional[float] = None
        self._output: Optional[ActionOutput] = None
        self._state: Optional[State] = None
        self._motion: Optional[Motion] = None
        self._goal = Mode[self.config.start_mode.upper()]
        self._pose: Optional[np.ndarray] = None
        self._odom_yaw: Optional[float] = None  # of odom in the IMU's level axes, rad
        self._effort: Optional[np.ndarray] = None
        self.payload = PayloadEstimator(self.geometry)
        self._orders = PerformanceCommands()
        self._gait_before = ""  # that of before the last action with gaits of its own
        self._rearming = False
        self._ignored = ""
        self._notice, self._failing_for, self._answered = "", 0.0, 0.0

    @property
    def mode(self) -> Mode:
        """The mode held, or the one left while a transition runs."""
        return self._machine.mode

    @property
    def motion(self) -> Optional[Motion]:
        """What the limbs are commanded to, by the last tick; None before the first joint states."""
        return self._motion

    @property
    def memory(self) -> List[float]:
        """What `resume` needs: time (s) and yaw of odom in the IMU's level axes (rad); empty if that is not known."""
        return [] if self._time is None or self._odom_yaw is None else [self._time, self._odom_yaw]

    def resume(self, memory: Sequence[float], t: float) -> None:
        """Know how odom lies in the IMU's axes from another core, such as that of a node that died.

        Parameters
        ----------
        memory : sequence of float
            `memory` of the other core.
        t : float
            Present time, s.
        """
        if counts_at(t, memory, 2):
            self._odom_yaw = memory[1]

    @property
    def engine(self) -> WalkEngine:
        """Where the feet are to be: to look at."""
        return self._robot.engine

    @property
    def twist(self) -> np.ndarray:
        """Twist (3,) that the robot is commanded to move with now, after all limits: m/s, m/s, rad/s."""
        return np.zeros(3) if self._motion is None else self._motion.twist.copy()

    @property
    def footsteps(self) -> Optional[np.ndarray]:
        """Where the feet (6, 3) in the air will land, in base_link, m; NaN for those that stand. None: not planned.

        Computed when it is read: no tick pays for it.
        """
        return None if self._running is None else self._running.footsteps

    def request_mode(self, name: str) -> Tuple[bool, str]:
        """Request a mode by its name in the mode table; return whether it was accepted, and one sentence."""
        self._answered = 0.0
        if name == "perform" and not self.performer.active:
            self._machine.answer(f"perform refused: {NO_ACTION}")
            return False, NO_ACTION
        return self._machine.request(name, self._refusal)

    def perform(self, name: str, parameters: Mapping[str, float], speed: float = 1.0) -> Tuple[bool, str]:
        """Plan an action of the library and begin it; return whether it was accepted, and one sentence."""
        try:
            return self.begin_action(self.plan_action(name, parameters), speed)
        except ActionError as error:
            return False, str(error)

    def plan_action(self, name: str, parameters: Mapping[str, float]) -> Plan:
        """Return an action of the library, planned for the rest stance of the present gait.

        It changes nothing, and may take longer than a tick: it needs no lock.

        Parameters
        ----------
        name : str
            Of the action.
        parameters : mapping of str to float
            Those that differ from their defaults.

        Raises
        ------
        ActionError
            If there is no such action or parameter, or the robot cannot do it.
        """
        footholds, height = self._rest_stance()
        plan = self._robot.planner.plan(self.config.actions, name, parameters, footholds, height)
        for gait in plan.gaits:
            if gait not in self.gaits:
                raise ActionError(f"{name} walks by gait '{gait}'; there are: {', '.join(sorted(self.gaits))}")
        return plan

    def _rest_stance(self) -> Tuple[np.ndarray, float]:
        gait = self._robot.engine.gait
        return rest_footholds(gait.rest_radius), gait.stance_height

    def begin_action(self, plan: Plan, speed: float = 1.0) -> Tuple[bool, str]:
        """Begin a planned action; return whether it was accepted, and one sentence.

        Parameters
        ----------
        plan : Plan
            Of `plan_action`. If the gait has another rest stance by now, it is planned anew.
        speed : float
            Fraction of the speed that the limits allow, 0.05 to 1.
        """
        performer = self._robot.performer
        if performer.active:
            return False, f"{performer.status.name} is being performed; cancel it first"  # type: ignore[union-attr]
        if not isinstance(speed, (int, float)) or not 0.05 <= speed <= 1.0:
            return False, f"speed is {speed}; give 0.05 to 1 of the speed that the limits allow"
        try:
            footholds, height = self._rest_stance()
            if height != plan.height or (footholds != plan.footholds).any():
                plan = self.plan_action(plan.name, plan.parameters)
            performer.load(plan, speed, self._seen())
        except ActionError as error:
            return False, str(error)
        self._gait_before = self._robot.engine.gait.name if plan.gaits else ""
        reason = self._lead_action(0.0)
        return not reason, reason or self._machine.text

    @property
    def performer(self) -> Performer:
        """The action that is performed or was last: its status, pause, undo and cancel."""
        return self._robot.performer

    @property
    def gaits(self) -> Mapping[str, Gait]:
        """The gait table in use."""
        return self._robot.engine.gaits

    def change_gaits(self, gaits: Mapping[str, Gait]) -> None:
        """Replace the gait table, for good; a robot that walks goes on with the new numbers without a stop."""
        self.config = replace(self.config, gaits=gaits)
        self._robot.engine.gaits = gaits

    def feed(self, config: FeedForwardConfig) -> None:
        """Feed other torques forward from now on; they come and go smoothly."""
        self.config = replace(self.config, feed_forward=config)
        self._feed_forward.config = config
        engine = self._robot.engine
        engine.load_fed, engine.motion_fed = config.gravity, config.gravity and config.motion

    def emergency_stop(self) -> None:
        """Freeze the references now, until `rearm`."""
        self._rearming = False  # also of a robot that was armed again since the last tick
        if self._machine.mode == STOPPED:
            return
        if self._machine.mode != WAITING:
            self._goal = self._machine.goal
        self._abort("emergency stop")
        self._machine.enter(STOPPED)

    def rearm(self) -> None:
        """End an emergency stop: at the next tick go on from the posture the robot is found in."""
        self._rearming = self._machine.mode == STOPPED

    def step(self, t: float, commands: OperatorCommands, feedback: Optional[Feedback]) -> ActionOutput:
        """Return what every limb should do at time t.

        Parameters
        ----------
        t : float
            Simulated time of the joint states that started the tick, s. A late one (see `classify_stamp`) changes
            nothing, the last output is returned; one that is older by more than a gap resets.
        commands : OperatorCommands
            What the operator commands.
        feedback : Feedback or None
            What was measured; None or NaN joints: the references are held.
        """
        kind = classify_stamp(self._time, t)
        if kind in (Stamp.REPEATED, Stamp.LATE) and self._output is not None:
            return self._output
        if kind is Stamp.RESET:
            stopped = self._machine.mode == STOPPED
            self.reset()
            if stopped:  # a latched stop outlives a reset of the simulation
                self.emergency_stop()
        dt = t - self._time if self._time is not None and kind is Stamp.NEXT else TICK
        self._time = t
        self._forget_old_answers(dt)
        self._announcer.say("machine", self._machine.text)  # the answer to a request is older than this tick
        self._notice = self._check(feedback)
        self._announcer.say("input", self._notice)
        self._pose = None if feedback is None else feedback.pose
        self._effort = None if feedback is None else feedback.effort
        if feedback is not None and not self._notice:
            self._state = self._measure(feedback)
            self._state = self._take_over(self._state)
            self._lead_action(dt)
            self._run(dt, t, commands, self._state)
            self._compare_headings(self._state)
        else:
            self._lead_action(dt)
        self._output = self._report(t, dt)
        return self._output

    def _lead_action(self, dt: float) -> str:
        """Let the action request modes and walk; return why a request of it was refused, or nothing."""
        performer = self.performer
        self._orders = performer.go_on(dt, self._seen()) if performer.active else PerformanceCommands()
        if self._orders.request:
            accepted, reason = self.request_mode(self._orders.request)
            if not accepted:
                performer.end(Outcome.ABORTED, reason)
                return reason
        return ""

    def _seen(self) -> PerformanceObservation:
        """Return what an action goes by."""
        machine, state, motion = self._machine, self._state, self._motion
        measured: Dict[str, float] = {}
        if state is not None:
            pairs = ((command.q, self.geometry.limbs[name]) for name, command in state.commanded.limbs.items())
            behind = max(float(np.abs(q - group.measured(state.q)).max(initial=0.0)) for q, group in pairs)
            measured["behind_deg"] = float(np.degrees(behind))
            if state.rpy is not None:
                roll, pitch = np.degrees(state.rpy[:2])
                measured.update(roll_deg=float(roll), pitch_deg=float(pitch), tilt_deg=float(np.degrees(state.tilt)))
        progress = 0.0 if motion is None else motion.progress
        return PerformanceObservation(
            machine.mode.label,
            machine.goal.label,
            machine.steps[machine.finished :],
            machine.text,
            progress,
            motion is not None and motion.activity != "",
            self._pose,
            tuple(self._limits.max_acceleration.tolist()),
            measured,
        )

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

    def _measure(self, feedback: Feedback) -> State:
        """Return the state of this tick; before the first command the limbs are commanded to where they are."""
        q = feedback.joint_position
        orientation = feedback.orientation
        if orientation is not None and not is_attitude(orientation):
            orientation = None
        if self._motion is None:
            self._motion = Motion(found(self.geometry.limbs, q))
        return State(
            q=q,
            orientation=orientation,
            angular_velocity=feedback.angular_velocity,
            rpy=None if orientation is None else np.array(rpy_from_quaternion(*orientation.tolist())),
            commanded=self._motion,
            odom_heading=None if self._pose is None else float(self._pose[2]) + (self._odom_yaw or 0.0),
        )

    def _compare_headings(self, state: State) -> None:
        """See how odom lies in the IMU's axes: odometry begins with yaw 0 whatever the IMU says."""
        heading = state.yaw if self._motion is None or self._motion.heading is None else self._motion.heading
        if heading is not None and self._pose is not None:
            self._odom_yaw = wrap_angle(heading - float(self._pose[2]))

    def _refusal(self, names: Sequence[str], before: Sequence[str] = ()) -> str:
        state = self._state
        if state is None or any(self._behaviours[name].changes_attitude for name in before):
            return ""
        for behaviour in map(self._behaviours.__getitem__, names):
            reason = behaviour.refusal(state)
            if reason:
                return reason
            if behaviour.changes_attitude:  # the state in which the next one begins is not this one
                break
        return ""

    def _take_over(self, state: State) -> State:
        """Leave waiting at the first joint states, or stopped after rearm, as the robot is found."""
        machine, table = self._machine, self.config.modes
        starts = machine.mode == WAITING
        if not starts and not (machine.mode == STOPPED and self._rearming):
            return state
        limbs, measured = held(state.commanded.limbs), found(self.geometry.limbs, state.q)
        if any(np.abs(limbs[name].q - command.q).max() >= _SAME_POSTURE for name, command in measured.items()):
            limbs = measured
        state = replace(state, commanded=replace(state.commanded, limbs=limbs))
        for row in table.take_over:
            mode = self._goal if self._goal in row.modes else row.modes[0]
            motion = self._behaviours[table.modes[mode].behaviour].take_over(state)
            if motion is not None:
                break
        else:
            return state
        self._motion, self._running, self._rearming = motion, None, False
        machine.enter(mode, row.text if row.continues else "")
        if not row.continues:
            machine.answer(row.text)  # the mode's own sentence says more, once this is no news
        elif starts and mode != self._goal:
            self.request_mode(self._goal.label)
        return replace(state, commanded=motion)

    def _select(self, state: State) -> Behaviour:
        """Return the behaviour that the mode table names for this tick; a new one begins at the present command."""
        machine = self._machine
        behaviour = self._behaviours[machine.behaviour]
        if behaviour is not self._running:
            reason = self._robot.lacks_a_leg() if behaviour.needs_all_legs and machine.finished else None
            if reason:  # since it was requested
                machine.enter(machine.mode if machine.mode in (Mode.STAND, Mode.HEXAPOD) else Mode.STAND)
                machine.answer(reason)
                behaviour = self._behaviours[machine.behaviour]
            self._running = behaviour
            behaviour.enter(state)
        return behaviour

    def _run(self, dt: float, t: float, commands: OperatorCommands, state: State) -> None:
        self._robot.engine.lost_legs.lose(np.array([leg in commands.lost_legs for leg in range(1, LEG_COUNT + 1)]))
        machine, behaviour = self._machine, self._select(state)
        reason = behaviour.failure(state)
        self._failing_for = self._failing_for + dt if reason else 0.0
        if reason and self._failing_for > _FAILED_AFTER:
            machine.enter(Mode[self._abort(reason).upper()], reason)
            return
        motion = behaviour.step(dt, self._obeyed(t, commands), state)
        self._motion, self._notice = motion, self._notice or motion.notice
        self._limits = behaviour.limits
        if machine.mode != STOPPED:  # what is stopped touches the ground as before: a ball rolls on
            self._contact_model = behaviour.contact_model
        if motion.done and machine.step is not None:
            machine.finish_step()
            self._running = None

    def _abort(self, reason: str) -> str:
        """End the running behaviour and hold the joints where they are commanded; return the mode that it asks for."""
        mode = "" if self._running is None else self._running.abort(reason)
        self._running = None
        if self._motion is not None:
            self._motion = Motion(held(self._motion.limbs), self._motion.planted, heading=self._motion.heading)
        return mode

    def _obeyed(self, t: float, commands: OperatorCommands) -> Commands:
        """Return the commands that count in the mode gone to."""
        twist, complaint = fresh_twist(
            commands.twist, commands.twist_time, t, self._stream.timeout(commands.twist_time)
        )
        lapsed = bool(commands.twist.any()) and not twist.any() and not complaint
        if lapsed and self.twist.any():
            complaint = "cmd_vel ended without a zero; braking"
        ignored = ""
        if "cmd_vel" not in self._machine.obeys:
            ignored = f"cmd_vel does not count in mode {self._machine.goal.label}" if twist.any() else ""
            twist, complaint = np.zeros(3), ""
        gait = commands.gait or self._gait_before
        if self._orders.twist is not None:
            ignored = f"cmd_vel does not count while {self.performer.name} walks" if twist.any() else ""
            twist, complaint, gait = self._orders.twist, "", self._orders.gait or gait
            lapsed = False
        self._announcer.say("cmd_vel", complaint)
        self._notice = complaint or (ignored if ignored != self._ignored else "")  # once: the mode's text says it, too
        self._ignored = ignored
        foot_velocity, wrong = fresh_twist(
            commands.foot_velocity, commands.foot_velocity_time, t, self.config.cmd_vel_timeout, "foot_velocity"
        )
        self._announcer.say("foot_velocity", wrong)
        return Commands(
            twist,
            commands.body_pose,
            commands.upper_shells,
            gait,
            self._machine.obeys,
            commands.lost_legs,
            foot_velocity,
            lapsed,
        )

    def _forget_old_answers(self, dt: float) -> None:
        """Remove an answer from the mode's text after _ANSWER_HOLDS s; a new request restarts the time."""
        self._answered = self._answered + dt if self._machine.passing else 0.0
        if self._answered > _ANSWER_HOLDS:
            self._machine.forget_answer()
            self._announcer.say("machine", self._machine.text, is_news=False)

    def _report(self, t: float, dt: float) -> ActionOutput:
        motion, state, references, contacts = self._motion, self._state, None, None
        if motion is not None and state is not None:
            contacts = self._contact_models[self._contact_model].step(dt, state, motion)
            self.payload.step(dt, motion, state, self._effort)
            self._robot.holding.payload = self.payload.latest
            efforts = self._feed_forward.step(dt, motion, state, contacts)
            references = self._builder.build(t, dt, motion.limbs, efforts)
        self._announcer.say("machine", self._machine.text)
        activity, progress = ("", 0.0) if motion is None else (motion.activity, motion.progress)
        if self._running is None:  # the motion is that of a step that has ended; the next one has not begun
            progress = 0.0
        status = self._machine.status(activity, progress, self._announcer.text)
        return ActionOutput(references, status, contacts, self._limits, self._notice)
