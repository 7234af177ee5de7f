# SPDX-License-Identifier: MIT
"""The chain as on board, in virtual time: action manager, kinematics, motor driver, bytes, servos, rigid bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from ax_bus import Bus, Timeouts
from ax_bus.errors import ServoError
from ax_emulator import Fault, FaultInjector, VirtualPort
from shellbot_common import TICK, Notice
from shellbot_kinematics.solver import JointTargets
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.driving.driver_state import Condition, DriverState, Phase, Reaction
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_simulator.core.simulator import Simulator

from .chain import Chain
from .chain_config import ChainConfig
from .emulated_robot import EmulatedRobot, EmulatedRobotConfig
from .errors import ChainError, DefinitionError

HOST_TIME = 40e-6  # s of each write and each read of the host: 80 us a READ, as measured of an x86 host
_TORQUE_LIMIT_S = 5.0  # until the torque is up


@dataclass(frozen=True)
class BusOptions:
    """The bus of an `OnboardChain`.

    Parameters
    ----------
    faults : tuple of Fault
        Schedule, counted from the moment when the driver is ready.
    host_time : float
        s that each write and each read of the host takes.
    link_latency : float
        s that the driver allows for the link.
    return_delay : int
        Of the servos, units of 2 us.
    charge : float
        Of the battery, 0 to 1.
    driver : DriverConfig or None
        Parameters of the driver; the package's own if None.
    """

    faults: Tuple[Fault, ...] = ()
    host_time: float = HOST_TIME
    link_latency: float = 1e-3
    return_delay: int = 0
    charge: float = 0.78
    driver: Optional[DriverConfig] = None


class OnboardChain(Chain):
    """A `Chain` whose last link is the motor driver on an emulated robot, in virtual time.

    Everything that a `Chain` does works here, too. The state's joints are what is true; the cores see what the driver
    has read from the bus. The latency is the same as there: the command of tick k acts from tick k + 1.

    Parameters
    ----------
    config : ChainConfig, optional
        As of `Chain`; `variant` is walker, or simulation for all 31 servos.
    bus : BusOptions, optional
        The bus.
    **changes
        Fields of ChainConfig to set.

    Attributes
    ----------
    robot : EmulatedRobot
        Bodies, servos, battery.
    driver : MotorDriver
        The driver.
    notices : list of Notice
        Everything that the driver said.
    """

    def __init__(self, config: Optional[ChainConfig] = None, bus: Optional[BusOptions] = None, **changes: Any) -> None:
        self.bus_options = bus if bus is not None else BusOptions()
        super().__init__((config or ChainConfig(variant="walker")).replace(**changes))

    @property
    def driver_state(self) -> DriverState:
        """What the driver says of itself."""
        return self.driver.state()

    def run(self, seconds: float, each_tick: Optional[Callable[[Any], None]] = None) -> None:
        """Tick for a while with the commands as they are; `each_tick` is called before each tick."""
        super().run(seconds, each_tick)

    def add_faults(self, faults: Sequence[Fault]) -> None:
        """Add faults whose times count from now."""
        self.robot.add_faults(list(faults))

    def _make_simulator(self, urdf: str) -> Simulator:
        options = self.bus_options
        self._robot_config = EmulatedRobotConfig(
            variant="full" if self.config.variant == "simulation" else self.config.variant,
            seed=self.config.seed,
            friction=self.config.friction,
            timestep=self.config.timestep,
            self_collision=self.config.self_collision,
            return_delay=options.return_delay,
            charge=options.charge,
        )
        self.robot = EmulatedRobot(self._robot_config)
        return self.robot.simulator

    def _restart(self) -> None:
        """Switch the robot off and on: servos as after power-on, the driver starts anew."""
        options = self.bus_options
        if self.robot.chain.time > 0.0:  # a used one, or another seed
            self.robot = EmulatedRobot(self._robot_config.replace(seed=self.config.seed))
            self.simulator = self.robot.simulator
        self.robot.chain.faults = FaultInjector(seed=self.config.seed or 0)
        self.port = VirtualPort(self.robot.chain, options.host_time)
        bus = Bus(self.port, Timeouts(link_latency=options.link_latency))
        self.notices: List[Notice] = []
        try:
            self.driver = MotorDriver(bus, self.robot.servo_map, options.driver)
            self.start_report = self.driver.start()
        except ServoError as error:
            raise DefinitionError(str(error)) from error
        # whole ticks of physics and driver fall together, so that contacts and IMU are of the tick
        self._due = TICK * np.ceil(self.port.now() / TICK + 1e-9)
        self.port.sleep(self._due - self.port.now())
        end = self._due + _TORQUE_LIMIT_S
        while self.driver.state().ladder.phase is not Phase.WAITING:
            if self._due > end:
                raise ChainError(f"the torque did not come up: {self.driver.state().ladder}")
            self._apply(None)
            self._advance()
        self.add_faults(options.faults)

    def _measured(self) -> np.ndarray:
        return self.driver.state().position

    def _limited(self, targets: JointTargets) -> Optional[np.ndarray]:
        return targets.position if targets.names == self.driver.joint_names else self._ordered(targets)

    def _ordered(self, targets: JointTargets) -> np.ndarray:
        index = {name: i for i, name in enumerate(targets.names)}
        return np.array([targets.position[index[name]] for name in self.driver.joint_names])

    def _apply(self, command: Optional[np.ndarray]) -> None:
        self.driver.tick(command, due=self._due)
        self.notices += self.driver.events()

    def _advance(self) -> None:
        # a fault may have held the host up for longer than a tick: those ticks are lost, as on the robot
        self._due = max(self._due + TICK, TICK * np.ceil(self.port.now() / TICK - 1e-9))
        self.port.sleep(self._due - self.port.now())
        self.robot.chain.advance(self._due)

    @property
    def _applied(self) -> np.ndarray:
        return self.driver.state().command

    @property
    def is_announced(self) -> bool:
        """Whether the driver says that something is wrong: a rung beyond a warning, a servo lost or coming back."""
        state = self.driver.state()
        if state.ladder.reaction > Reaction.WARN:
            return True
        return any(servo.condition in (Condition.LOST, Condition.REJOINING) for servo in state.servos)
