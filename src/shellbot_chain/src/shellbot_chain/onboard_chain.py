# SPDX-License-Identifier: MIT
"""The chain as on board, in virtual time: action manager, kinematics, motor driver, bytes, servos, rigid bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ax_bus import Bus, Timeouts
from ax_bus.errors import ServoError
from ax_emulator import Fault, FaultInjector, VirtualPort
from robot_evaluation.errors import DefinitionError
from shellbot_action_manager.estimation.lost_servos import LostServos
from shellbot_common import TICK, Notice
from shellbot_control import EffortOffset, JointOrder
from shellbot_kinematics.reports import JointTargets
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.driving.driver_state import Condition, Phase, Reaction
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.map.compliance import Compliance, springs
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.state import SimState

from .chain import Chain
from .chain_config import ChainConfig
from .emulated_robot import EmulatedBody, EmulatedRobot, EmulatedRobotConfig
from .errors import ChainError

HOST_TIME = 40e-6  # s of each write and each read of the host: 80 us a READ, as measured of an x86 host
_TORQUE_LIMIT_S = 5.0  # until the torque is up
_SAG = 0.995  # of the voltage, within a tick: 0.1 to 0.2 % are usual
_NOT_ON_THE_BUS = {
    "design": "driver and servos on the bus are those of config/shellbot.yaml",
    "servos": "servos on the bus have margin, punch and steps in their registers, and a battery (BusOptions.charge)",
    "torque_scale": "servos on the bus have the torque of their model and battery (BusOptions.charge)",
    "command_latency": "the bus has its own latency (BusOptions.host_time, link_latency, return_delay)",
}


def refuse_on_bus(config: ChainConfig) -> None:
    """Raise DefinitionError for a setting of which the bus has its own."""
    for name, instead in _NOT_ON_THE_BUS.items():
        if getattr(config, name) != getattr(ChainConfig(), name):
            raise DefinitionError(f"{name} is {getattr(config, name)}; {instead}: leave it out")


@dataclass(frozen=True)
class BusOptions:
    """The bus of an `OnboardChain`."""

    faults: Tuple[Fault, ...] = ()  #: Schedule, counted from the moment when the driver is ready
    host_time: float = HOST_TIME  #: s that each write and each read of the host takes
    link_latency: float = 1e-3  #: s that the driver allows for the link
    return_delay: int = 0  #: Of the servos, units of 2 us
    charge: float = 0.78  #: Of the battery, 0 to 1
    driver: Optional[DriverConfig] = None  #: Parameters of the driver; the package's own if None


class OnboardRobot:
    """The motor driver on an emulated robot, in virtual time: the robot at the end of an `OnboardChain`.

    Parameters
    ----------
    config : ChainConfig
        `variant` is walker, or simulation for all 31 servos.
    options : BusOptions
        The bus.
    body : EmulatedBody, optional
        Another robot than Shellbot.

    Attributes
    ----------
    emulated : EmulatedRobot
        Bodies, servos, battery.
    driver : MotorDriver
        The driver.
    reported : DriverState
        What the driver reported at its last tick.
    notices : list of Notice
        Everything that it reported since it was ready.
    lowest_voltage, hottest : float
        Of the battery under load, V, and of all servos, degrees Celsius, since the restart.
    """

    def __init__(self, config: ChainConfig, options: BusOptions, body: Optional[EmulatedBody] = None) -> None:
        refuse_on_bus(config)
        self._options = options
        # joints that are read in a tick are of its beginning, and so must be the IMU's reading of that moment
        physics = config.physics()
        self._physics = physics.replace(imu_latency=physics.imu_latency + 1)
        self._config = EmulatedRobotConfig(
            variant="full" if config.variant == "simulation" else config.variant,
            seed=config.seed,
            friction=self._physics.friction,  # of a ground by name, that of the ground
            timestep=config.timestep,
            self_collision=config.self_collision,
            joint_offset_deg=config.joint_offset_deg,
            return_delay=options.return_delay,
            charge=options.charge,
        )
        self._body = body
        self.emulated = EmulatedRobot(self._config, physics=self._physics, body=body)

    @property
    def simulator(self) -> Simulator:
        """The rigid bodies."""
        return self.emulated.simulator

    @property
    def applied(self) -> np.ndarray:
        """The driver's command, (n,) rad."""
        return self.driver.state().command

    @property
    def stall_torque(self) -> np.ndarray:
        """Greatest torque of each joint's servo by supply and heat of its winding, (n,) N m, less the sag in a tick."""
        return _SAG * self.driver.limits.effort * self.emulated.servo_map.expand(self.emulated.bank.strength)

    @property
    def is_announced(self) -> bool:
        """Whether the driver says that something is wrong: a rung beyond a warning, a servo lost or coming back."""
        state = self.driver.state()
        if state.ladder.reaction > Reaction.WARN:
            return True
        return any(servo.condition in (Condition.LOST, Condition.REJOINING) for servo in state.servos)

    def restart(self, seed: Optional[int], pose: str = "", attitude: Optional[Sequence[float]] = None) -> None:
        """Switch the robot off and on: servos as after power-on, the driver starts anew.

        A robot that is put down in a named pose holds it already, as a driver before this one left it: limp gores would
        open before their torque is on.
        """
        options = self._options
        config = self._config.replace(seed=seed, pose=pose, attitude=None if attitude is None else tuple(attitude))
        if self.emulated.chain.time > 0.0 or config != self.emulated.config:
            self.emulated = EmulatedRobot(config, physics=self._physics, body=self._body)
        for servo in self.emulated.chain.servos if pose else ():
            table = servo.table
            table["goal_position"], table["torque_enable"], table["torque_limit"] = servo.motor.steps, 1, 1023
        self.emulated.chain.faults = FaultInjector(seed=seed or 0)
        self.port = VirtualPort(self.emulated.chain, options.host_time)
        self.notices: List[Notice] = []
        self.lowest_voltage, self.hottest = np.inf, -np.inf
        self.start_driver()
        if pose:
            self.driver.rearm()
        end = self._due + _TORQUE_LIMIT_S
        while self.driver.state().ladder.phase is not Phase.WAITING:
            if self._due > end:
                raise ChainError(f"the torque did not come up: {self.driver.state().ladder}")
            self.apply(None)
            self.advance()
        self.notices.clear()
        self.add_faults(options.faults)

    def start_driver(self) -> None:
        """Start a driver at the servos as they are; one that ran before ends without a word to them."""
        try:
            bus = Bus(self.port, Timeouts(link_latency=self._options.link_latency))
            self.driver = MotorDriver(bus, self.emulated.servo_map, self._options.driver)
            self.driver.start()
        except ServoError as error:
            raise DefinitionError(str(error)) from error
        # whole ticks of physics and driver fall together, so that contacts and IMU are of the tick
        self._due = TICK * np.ceil(self.port.now() / TICK + 1e-9)
        self.port.sleep(self._due - self.port.now())
        self.reported = self.driver.state()
        robot, start = self.emulated.servo_map.robot, (self._options.driver or DriverConfig()).compliance
        compliance = Compliance(start.slope, start.margin, start.punch)
        self._order, self._efforts = JointOrder(self.driver.joint_names), EffortOffset(self.driver.limits)
        self._efforts.set_stiffness(*springs(dict.fromkeys(robot.classes, compliance), robot))

    def add_faults(self, faults: Sequence[Fault]) -> None:
        """Add faults whose times count from now."""
        self.emulated.add_faults(list(faults))

    def measured(self, state: SimState) -> np.ndarray:
        """Return what the driver has read from the bus, (n,) rad."""
        return self.reported.position

    def effort(self, state: SimState) -> np.ndarray:
        """Return the torques by the loads that the driver has read from the bus, (n,) N m."""
        return self.reported.effort

    def limited(self, state: SimState, targets: JointTargets) -> Optional[np.ndarray]:
        """Return the targets in the driver's order, torques turned into angles, (n,) rad.

        Limits and speeds are the driver's own matter.
        """
        effort = () if targets.effort is None else targets.effort
        offset, _ = self._efforts.step(TICK, targets.names, effort)
        position = self._order.pick(targets.names, targets.position)
        return position if offset is None else position + offset

    def apply(self, command: Optional[np.ndarray]) -> None:
        """Tick the driver with a command, (n,) rad; None to hold."""
        self.driver.tick(command, due=self._due)
        self.notices += self.driver.events()
        self.reported = self.driver.state()

    def advance(self) -> None:
        """Let 10 ms pass."""
        # a fault may have held the host up for longer than a tick: those ticks are lost, as on the robot
        self._due = max(self._due + TICK, TICK * np.ceil(self.port.now() / TICK - 1e-9))
        self.port.sleep(self._due - self.port.now())
        self.emulated.chain.advance(self._due)
        self.lowest_voltage = min(self.lowest_voltage, self.emulated.battery.voltage)
        self.hottest = max(self.hottest, float(self.emulated.bank.temperature.max()))


class OnboardChain(Chain):
    """A `Chain` on an `OnboardRobot`: what is true stays in `state`, the cores see what the driver has read.

    Parameters
    ----------
    config : ChainConfig, optional
        As of `Chain`; `variant` is walker, or simulation for all 31 servos. Fields of which the bus has its own are
        refused.
    bus : BusOptions, optional
        The bus.
    **changes
        Fields of ChainConfig to set.
    """

    robot: OnboardRobot

    def __init__(self, config: Optional[ChainConfig] = None, bus: Optional[BusOptions] = None, **changes: Any) -> None:
        config = (config or ChainConfig(variant="walker")).replace(**changes)
        super().__init__(config, OnboardRobot(config, bus or BusOptions()))

    def reset(self, *args: Any, **kwargs: Any) -> None:
        """Start again, as `Chain.reset`; no leg is lost."""
        self._lost_servos = LostServos()
        super().reset(*args, **kwargs)

    def tick(self) -> SimState:
        """Advance by 10 ms; a leg whose servo is lost is not walked with."""
        servos = [(servo.joint, servo.age, servo.torque_on) for servo in self.robot.reported.servos]
        self.commands = replace(self.commands, lost_legs=self._lost_servos.update(self.time, servos))
        return super().tick()

    def restart_driver(self, seconds: float) -> None:
        """Let the driver end without a word, and another one start after so many seconds.

        The servos hold meanwhile, and no core hears of a joint.
        """
        self.robot.port.sleep(seconds)
        self.robot.start_driver()
        self.state = self.simulator.state()
