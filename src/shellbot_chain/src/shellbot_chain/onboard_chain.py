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
_NOT_ON_THE_BUS = {
    "design": "driver and servos on the bus are those of config/shellbot.yaml",
    "servos": "servos on the bus have margin, punch and steps in their registers, and a battery (BusOptions.charge)",
    "torque_scale": "servos on the bus have the torque of their model and battery (BusOptions.charge)",
    "command_latency": "the bus has its own latency (BusOptions.host_time, link_latency, return_delay)",
    "joint_offset_deg": "the zeros on the bus are those of config/servos.yaml",
}


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
    notices : list of Notice
        Everything that the driver reported.
    """

    def __init__(self, config: ChainConfig, options: BusOptions, body: Optional[EmulatedBody] = None) -> None:
        for name, instead in _NOT_ON_THE_BUS.items():
            if getattr(config, name) != getattr(ChainConfig(), name):
                raise DefinitionError(f"{name} is {getattr(config, name)}; {instead}: leave it out")
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
    def is_announced(self) -> bool:
        """Whether the driver says that something is wrong: a rung beyond a warning, a servo lost or coming back."""
        state = self.driver.state()
        if state.ladder.reaction > Reaction.WARN:
            return True
        return any(servo.condition in (Condition.LOST, Condition.REJOINING) for servo in state.servos)

    def restart(self, seed: Optional[int], pose: str = "", attitude: Optional[Sequence[float]] = None) -> None:
        """Switch the robot off and on: servos as after power-on, the driver starts anew.

        Raises
        ------
        DefinitionError
            If a pose or an attitude is given: the emulated robot is switched on as it was put down, in its spawn pose.
        """
        if pose or attitude is not None:
            raise DefinitionError("the emulated robot starts in its spawn pose; leave out pose and attitude")
        options = self._options
        if self.emulated.chain.time > 0.0:  # a used one, or another seed
            self.emulated = EmulatedRobot(self._config.replace(seed=seed), physics=self._physics, body=self._body)
        self.emulated.chain.faults = FaultInjector(seed=seed or 0)
        self.port = VirtualPort(self.emulated.chain, options.host_time)
        bus = Bus(self.port, Timeouts(link_latency=options.link_latency))
        self.notices: List[Notice] = []
        try:
            self.driver = MotorDriver(bus, self.emulated.servo_map, options.driver)
            self.driver.start()
        except ServoError as error:
            raise DefinitionError(str(error)) from error
        # whole ticks of physics and driver fall together, so that contacts and IMU are of the tick
        self._due = TICK * np.ceil(self.port.now() / TICK + 1e-9)
        self.port.sleep(self._due - self.port.now())
        robot, start = self.emulated.servo_map.robot, (options.driver or DriverConfig()).compliance
        compliance = Compliance(start.slope, start.margin, start.punch)
        self._order, self._efforts = JointOrder(self.driver.joint_names), EffortOffset(self.driver.limits)
        self._efforts.set_stiffness(*springs(dict.fromkeys(robot.classes, compliance), robot))
        end = self._due + _TORQUE_LIMIT_S
        while self.driver.state().ladder.phase is not Phase.WAITING:
            if self._due > end:
                raise ChainError(f"the torque did not come up: {self.driver.state().ladder}")
            self.apply(None)
            self.advance()
        self.add_faults(options.faults)

    def add_faults(self, faults: Sequence[Fault]) -> None:
        """Add faults whose times count from now."""
        self.emulated.add_faults(list(faults))

    def measured(self, state: SimState) -> np.ndarray:
        """Return what the driver has read from the bus, (n,) rad."""
        return self.driver.state().position

    def effort(self, state: SimState) -> np.ndarray:
        """Return the torques by the loads that the driver has read from the bus, (n,) N m."""
        return self.driver.state().effort

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

    def advance(self) -> None:
        """Let 10 ms pass."""
        # a fault may have held the host up for longer than a tick: those ticks are lost, as on the robot
        self._due = max(self._due + TICK, TICK * np.ceil(self.port.now() / TICK - 1e-9))
        self.port.sleep(self._due - self.port.now())
        self.emulated.chain.advance(self._due)


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
        servos = [(servo.joint, servo.age, servo.torque_on) for servo in self.robot.driver.state().servos]
        self.commands = replace(self.commands, lost_legs=self._lost_servos.update(self.time, servos))
        return super().tick()
