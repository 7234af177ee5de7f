# SPDX-License-Identifier: MIT
"""What every behaviour promises, as checks that raise AssertionError: run on a core whose mode table names it."""

from __future__ import annotations

import copy
from typing import Any, Iterable, Iterator, List, Tuple

import numpy as np
from action_echo import LEVEL, EchoRobot, yaw_quaternion

from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.interface import Feedback
from shellbot_action_manager.modes.mode_table import Mode
from shellbot_common import TICK
from shellbot_control import JointLimits
from shellbot_description import expand

JUMP = 0.16  # rad in a tick: a swinging leg at top speed
KICK = 0.10  # rad in a tick: change of a joint's step from one tick to the next; 0.09 at 0.2 m/s with a turn
PUSH_KICK = 0.24  # rad in a tick, of gores that push a ball: their speed is limited, and reverses within a tick
PUSHING = ("roll", "open_ball")  # and the behaviour that follows, for a tick
TILTED = np.array([np.sin(0.5), 0.0, 0.0, np.cos(0.5)])  # rolled by 1 rad
TICKS = 150  # of a behaviour that does not end by itself
LIMIT = 4000  # ticks for anything to end

_LIMITS: List[JointLimits] = []


def joint_limits(core: ActionManagerCore) -> JointLimits:
    """Limits of the robot's description, all driven joints."""
    if not _LIMITS:
        _LIMITS.append(JointLimits.from_urdf(expand("simulation"), core.geometry.joint_names))
    return _LIMITS[0]


def transitions(core: ActionManagerCore, behaviour: str) -> Iterator[Tuple[Mode, str]]:
    """Every mode and request that the table leads through a behaviour."""
    table = core.config.modes
    for (mode, request), transition in table.transitions.items():
        if behaviour in transition.steps or table.modes[transition.goal].behaviour == behaviour:
            yield mode, request


def running(robot: EchoRobot) -> str:
    """Name of the behaviour of the last tick."""
    mode, table = robot.output.mode, robot.core.config.modes
    return mode.step if mode.step in table.behaviours else table.modes[mode.mode].behaviour


class Contract:
    """One robot under watch.

    Parameters
    ----------
    config
        Of `load_config`, such as modes_path.
    """

    def __init__(self, **config: Any) -> None:
        self.robot = EchoRobot(ActionManagerCore.from_description(**config), "stand")
        self.robot.run(0.1)
        self.limits = joint_limits(self.robot.core)
        self.sudden = False  # commands are: then a step may be twice as long, and begin at once
        self.forget()

    def forget(self) -> None:
        """Do not compare with what was before, as after a stop."""
        self._previous = self._step = None
        self._ran = ""

    def tick(self, **commands: Any) -> None:
        """One tick; references are continuous in position and velocity and keep every limit."""
        self.robot.tick(**commands)
        self.check()

    def check(self) -> None:
        q, output = self.robot.q.copy(), self.robot.output
        where = f"in {running(self.robot)} at {self.robot.t:.2f} s, {output.mode}"
        assert (q >= self.limits.lower - 1e-9).all(), f"below a joint limit {where}"
        assert (q <= self.limits.upper + 1e-9).all(), f"above a joint limit {where}"
        assert (np.abs(self.robot.core.twist) <= output.walkspace.max_velocity + 1e-9).all(), f"too fast {where}"
        assert 0.0 <= output.mode.progress <= 1.0, where
        step = None if self._previous is None else q - self._previous
        if step is not None:
            jump = np.abs(step).max()
            assert jump <= (2.0 * JUMP if self.sudden else JUMP), f"a joint jumps by {jump:.3f} rad {where}"
        if step is not None and self._step is not None and not self.sudden:
            kick = np.abs(step - self._step).max()
            limit = PUSH_KICK if {running(self.robot), self._ran} & set(PUSHING) else KICK
            assert kick <= limit, f"a joint's velocity jumps by {kick / TICK:.1f} rad/s {where}"
        self._previous, self._step, self._ran = q, step, running(self.robot)

    def go(self, mode: Mode) -> None:
        """Bring the robot to rest in a mode."""
        table = self.robot.core.config.modes
        if mode == Mode.HALFWAY:  # no request leads there: stopped while it closes
            self.request("shell")
            for _ in range(400):
                self.tick()
            self.robot.core.emergency_stop()
            self.tick()
            self.robot.core.rearm()
            self.forget()
            self.tick()
        for _ in range(3):
            if self.robot.output.mode.mode == mode:
                return
            if (self.robot.output.mode.mode, mode.label) in table.transitions:
                self.request(mode.label)
            else:
                self.request("sit")
            self.finish()

    def move(self) -> None:
        """Walk and pose the body, where the mode obeys that: behaviours begin out of motion."""
        for _ in range(60):
            self.tick(twist=[0.2, 0.1, 0.3], body_pose=np.array([0.01, 0.0, 0.01, 0.0, 0.05, 0.0]))

    def request(self, name: str) -> None:
        if name == "recover":  # of a robot that fell
            self.robot.orientation = TILTED
            self.tick()
        core = self.robot.core
        accepted, reason = core.perform("wave", {"leg": 2}) if name == "perform" else core.request_mode(name)
        assert accepted, reason

    def finish(self) -> None:
        """Tick to the end of the transition."""
        for _ in range(LIMIT):
            self.tick()
            if running(self.robot) == "open_ball":  # it is turned upright
                self.robot.orientation = LEVEL
            if self.robot.output.mode.mode == self.robot.output.mode.target and not self.robot.output.mode.step:
                return
        raise AssertionError(f"does not end: {self.robot.output.mode}")

    def begin(self, behaviour: str) -> None:
        """Tick until a behaviour has just begun, from the first mode that leads to it."""
        mode, request = next(transitions(self.robot.core, behaviour))
        self.go(mode)
        self.move()
        self.request(request)
        for _ in range(LIMIT):
            self.tick()
            if running(self.robot) == behaviour:
                return
        raise AssertionError(f"{behaviour} never begins")


def check_transitions(mode: Mode, requests: Iterable[str], **config: Any) -> None:
    """What is requested in a mode, out of motion too, ends in the goal that the table names."""
    at_rest = Contract(**config)
    at_rest.go(mode)
    assert at_rest.robot.output.mode.mode == mode
    at_rest.robot.history.clear()
    for request in requests:
        contract = copy.deepcopy(at_rest)
        contract.move()
        contract.request(request)
        contract.finish()
        assert contract.robot.output.mode.mode == contract.robot.core.config.modes.transitions[mode, request].goal
        contract.tick(body_pose=np.zeros(6))


def check_enters(behaviour: str, **config: Any) -> None:
    """It begins from every mode that the table allows, and the transition ends in the goal."""
    found = list(transitions(ActionManagerCore.from_description(**config), behaviour))
    assert found, f"no row of the mode table leads to {behaviour}"
    for mode, request in found:
        check_transitions(mode, [request], **config)


def check_survives_bad_feedback(behaviour: str, **config: Any) -> None:
    """Lost joints hold the references; a lost or senseless attitude stops nothing."""
    contract = Contract(**config)
    contract.begin(behaviour)
    robot = contract.robot
    lost = robot.q.copy()
    lost[[1, 30]] = np.nan
    held = robot.q.copy()
    for feedback in (None, Feedback(lost), Feedback(robot.q[:7])):
        for _ in range(5):
            robot.t = round(robot.t + TICK, 9)
            output = robot.core.step(robot.t, robot.commands, feedback)
            assert output.notice
            robot.apply(output)
            assert np.abs(robot.q - held).max() <= JUMP
            held = robot.q.copy()
            assert np.isfinite(robot.q).all()
    contract.forget()
    for orientation in (None, np.full(4, np.nan), np.zeros(4), LEVEL):
        robot.orientation = orientation
        for _ in range(10):
            contract.tick()


def check_aborts_safely(behaviour: str, **config: Any) -> None:
    """Stopped or fallen it holds the joints where they are commanded, in a safe mode, and can be resumed."""
    contract = Contract(**config)
    contract.begin(behaviour)
    robot = contract.robot
    for _ in range(7):
        contract.tick()
    robot.core.emergency_stop()
    held = robot.q.copy()
    robot.run(0.3, twist=[0.2, 0.0, 0.0])
    assert (robot.q == held).all()
    robot.core.rearm()
    contract.forget()
    for _ in range(TICKS):
        contract.tick(twist=np.zeros(3))
    assert robot.output.mode.mode in contract.robot.core.config.modes.modes

    contract = Contract(**config)
    contract.begin(behaviour)
    robot, table = contract.robot, contract.robot.core.config.modes
    safe = robot.core._behaviours[behaviour].safe_modes
    mode, robot.orientation = robot.output.mode.mode, TILTED
    robot.run(0.25)
    if robot.output.mode.mode != mode or "tipped" in robot.output.mode.text:
        assert robot.output.mode.name in safe
        assert robot.output.mode.step == ""
        mode, held = robot.output.mode.mode, robot.q.copy()
        robot.run(0.5)
        assert robot.output.mode.mode == mode, "the safe mode is not safe"
        assert (robot.q == held).all()
    else:
        assert running(robot) == behaviour or table.modes[mode].behaviour != behaviour


def check_keeps_limits(behaviour: str, seed: int, **config: Any) -> None:
    """Whatever is commanded, no joint, speed or step exceeds its limit."""
    rng, contract = np.random.default_rng(seed), Contract(**config)
    contract.begin(behaviour)
    contract.sudden = True
    for i in range(TICKS):
        if i % 15 == 0:
            commands = {
                "twist": rng.uniform(-3.0, 3.0, 3) * rng.choice([0.1, 1.0, np.nan], p=[0.5, 0.4, 0.1]),
                "body_pose": rng.uniform(-0.4, 0.4, 6) * rng.choice([0.1, 1.0, np.nan], p=[0.5, 0.4, 0.1]),
                "upper_shells": [None, rng.uniform(-0.3, 0.9, 2), np.full(2, np.inf)][rng.integers(3)],
                "gait": str(rng.choice(["", "tripod", "ripple", "wave", "tetrapod", "moonwalk"])),
                "lost_legs": [(), (), (), (int(rng.integers(1, 7)),), (2, 5)][rng.integers(5)],
            }
            contract.robot.orientation = [None, yaw_quaternion(rng.uniform(-3.0, 3.0))][rng.integers(2)]
        contract.tick(**{**commands, "twist_time": contract.robot.t + rng.choice([0.0, 0.01, 5.0], p=[0.1, 0.8, 0.1])})


CHECKS = (check_survives_bad_feedback, check_aborts_safely)
