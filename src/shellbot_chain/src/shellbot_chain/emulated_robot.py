# SPDX-License-Identifier: MIT
"""The robot through bytes: rigid bodies of the simulator, driven by the torque of an emulated servo chain."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from ax_bus.errors import ServoError
from ax_bus.registers import RAD_PER_STEP
from ax_emulator import Battery, CoupledChain, Fault, FaultInjector, MotorBank, ServoBehaviour, World
from robot_evaluation.errors import DefinitionError
from shellbot_common import ProfileError, RobotProfile, Settings, choice, number
from shellbot_description import DescriptionError, expand, robot_profile
from shellbot_motor_driver.emulated_servos import emulated_servos
from shellbot_motor_driver.map.driven_robot import DrivenRobot
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.map.shellbot import shellbot
from shellbot_simulator.core.config import SimulatorConfig, load_config
from shellbot_simulator.core.errors import SimulatorError
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.state import SimState

from .simulated_robot import zero_errors

_LONGEST_BEHIND = 0.2  # s
_WALKING_SLOPE = 16  # the stiffness that the direct simulation takes


@dataclass(frozen=True)
class EmulatedRobotConfig(Settings, error=DefinitionError):
    """What an emulated robot is built from."""

    variant: str = choice(("walker", "full"), default="walker")  #: walker (19 servos, 24 joints) or full (31, 36)
    #: Of the start's deviations, the IMU's noise, the servos' interrupts and the faults' chances; None: no noise
    seed: Optional[int] = number(0, 2**31 - 1, default=0, hint="None for no noise")
    friction: float = number(1e-3, math.inf, default=0.8)  #: Sliding friction of every contact
    timestep: float = 0.002  #: Of the physics, s; the servos' control loop takes the same steps (of a real one: 1 ms)
    self_collision: bool = True  #: Whether the robot's parts collide with each other
    return_delay: int = 0  #: Return delay of the servos as they come out of the box, units of 2 us
    charge: float = number(0.0, 1.0, default=0.78)  #: Of the battery, 0 to 1; 0.78 rests at the servos' nominal 12 V
    pose: str = ""  #: Named pose at the start; empty: that of the profile
    #: Quaternion x, y, z, w of base_link at the start; None: upright
    attitude: Optional[Tuple[float, ...]] = None
    #: Standard deviation of the constant errors of the joints' zeros against the servo map, drawn from the seed
    joint_offset_deg: float = number(0.0, 5.0, "deg", default=0.0)

    @property
    def physical_variant(self) -> str:
        """Variant of the rigid bodies: the servos of `full` drive the joints of `simulation`."""
        return "simulation" if self.variant == "full" else self.variant


@dataclass(frozen=True)
class EmulatedBody:
    """The robot that is emulated."""

    urdf: str  #: Of the rigid bodies
    profile: RobotProfile  #: Of the rigid bodies
    driven: DrivenRobot  #: What is on the servos

    @classmethod
    def of_shellbot(cls, config: EmulatedRobotConfig) -> EmulatedBody:
        """Return Shellbot's variant."""
        variant = config.physical_variant
        return cls(expand(variant), robot_profile(variant), shellbot(config.variant))

    @classmethod
    def from_texts(cls, urdf: str, profile: str, servos: str) -> EmulatedBody:
        """Return the robot of a description; raises `ServoMapError` for a text that cannot be used."""
        driven = DrivenRobot.from_texts(urdf, profile, servos)
        return cls(urdf, driven.profile, driven)


class EmulatedRobot(World):
    """Simulator, servos, battery and the line to them, on one clock.

    The clock is the chain's: whoever advances the chain (a `VirtualPort` in virtual time, a `PtyServer` in real time)
    moves the physics, too. In each step the motors compute their torques from their registers and from where the horns
    really are, the simulator moves the bodies, and the battery sags under what the motors draw.

    Parameters
    ----------
    config : EmulatedRobotConfig, optional
        What to build.
    faults : FaultInjector, optional
        What goes wrong when.
    physics : SimulatorConfig, optional
        Settings of the simulator, in which those of the configuration take effect; the package's own if not given.
    body : EmulatedBody, optional
        Which robot; the variant of Shellbot in the configuration if not given.
    **changes
        Fields of the configuration to set.

    Attributes
    ----------
    simulator : Simulator
        The rigid bodies: ground truth, pushes, friction.
    chain : CoupledChain
        What a port connects to.
    servo_map : ServoMap
        Which servo turns which joint, and how.
    battery : Battery
        The supply.
    lost_time : float
        s that physics has skipped because this machine was too slow for real time (`catch_up`).
    on_tick : callable or None
        Called after each 10 ms of physics.
    """

    def __init__(
        self,
        config: Optional[EmulatedRobotConfig] = None,
        faults: Optional[FaultInjector] = None,
        physics: Optional[SimulatorConfig] = None,
        body: Optional[EmulatedBody] = None,
        **changes: Any,
    ) -> None:
        self.config = (config or EmulatedRobotConfig()).replace(**changes)
        try:
            physics = (physics or load_config()).replace(
                friction=self.config.friction,
                timestep=self.config.timestep,
                self_collision=self.config.self_collision,
            )
            body = body or EmulatedBody.of_shellbot(self.config)
            self.simulator = Simulator(body.urdf, body.profile, physics)
            self.servo_map = ServoMap.load(body.driven)
            start = body.profile.pose(self.config.pose or body.profile.base.spawn_pose)
        except (DescriptionError, ProfileError, SimulatorError, ServoError) as error:
            raise DefinitionError(str(error)) from error
        behaviour = ServoBehaviour(interrupts=self.config.seed is not None)
        servos = emulated_servos(self.servo_map, self.config.return_delay, behaviour, self.config.seed or 0)
        entries = self.servo_map.entries
        self._gear = np.array([entry.sign * entry.gear for entry in entries])
        self._joints = _joints_of_servos(self.servo_map)
        # each joint that a servo turns gets an equal fraction of its torque
        self._spread = (self._joints.T / self._joints.sum(axis=1)) * self._gear  # (n joints, n servos)
        self._mean = self._joints / self._joints.sum(axis=1, keepdims=True)  # (n servos, n joints)
        errors = zero_errors(self.joint_names, self.config.joint_offset_deg, self.config.seed)
        self._zero = np.array([entry.zero for entry in entries]) * RAD_PER_STEP + self._gear * (self._mean @ errors)
        self.battery = Battery(self.config.charge)
        self.simulator.reset(np.array(list(start.values())), seed=self.config.seed, attitude=self.config.attitude)
        self.bank = MotorBank(servos)
        self.chain = CoupledChain(servos, self, faults=faults if faults is not None else FaultInjector())
        self._steps = 0
        self.lost_time = 0.0
        self.on_tick: Optional[Callable[[], None]] = None
        self._place_horns()
        for servo in servos:
            servo.table.power_on(servo.motor.steps)
            servo.table["cw_compliance_slope"] = servo.table["ccw_compliance_slope"] = _WALKING_SLOPE
            servo.motor.restart()

    @property
    def next_time(self) -> float:
        """When the next physics step is due, s of the chain's time."""
        return (self._steps + 1) * self.config.timestep + self.lost_time

    @property
    def joint_names(self) -> List[str]:
        """Order of the joint arrays."""
        return list(self.simulator.joint_names)

    def step(self) -> None:
        """Do one physics step: torques of the motors, motion of the bodies, sag of the battery."""
        torque = self.bank.step(self.bank.position, self.bank.velocity, self.config.timestep)
        self.simulator.step_torque(self._spread @ torque, self.bank.braking @ self._joints)
        self._place_horns()
        self.chain.set_supply(self.battery.drain(self.bank.current(), self.config.timestep))
        self._steps += 1
        if self.on_tick is not None and self._steps % self.simulator.config.steps_per_tick == 0:
            self.on_tick()

    def catch_up(self, time: float) -> float:
        """Skip what physics is behind ``time`` by more than a fifth of a second; return the s skipped.

        In real time, a machine that stood still for a second must not then run a second of physics at once, during
        which nobody answers the bus.
        """
        behind = time - self.next_time - _LONGEST_BEHIND
        if behind <= 0.0:
            return 0.0
        self.lost_time += behind
        return behind

    def add_faults(self, faults: List[Fault]) -> None:
        """Add faults whose times count from now."""
        now = self.chain.time
        for fault in faults:
            self.chain.faults.add(replace(fault, start=fault.start + now, stop=fault.stop + now))

    def state(self) -> SimState:
        """Return the true state of the bodies."""
        return self.simulator.state()

    def close(self) -> None:
        """End the renderer, if there is one."""
        self.simulator.close()

    def _place_horns(self) -> None:
        """Let the servos' registers show where physics is now."""
        q, dq = self.simulator.joint_position, self.simulator.joint_velocity
        self.bank.position = self._zero + self._gear * (self._mean @ q)
        self.bank.velocity = self._gear * (self._mean @ dq)


def _joints_of_servos(servo_map: ServoMap) -> np.ndarray:
    """Return which joints each servo turns, (n servos, n joints) of 0 and 1."""
    servo_of_joint = servo_map.expand(np.arange(len(servo_map.entries)))
    return (servo_of_joint[None, :] == np.arange(len(servo_map.entries))[:, None]).astype(np.float64)
