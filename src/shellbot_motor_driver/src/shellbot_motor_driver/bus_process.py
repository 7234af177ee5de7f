# SPDX-License-Identifier: MIT
"""The bus loop in its own process: targets and state through shared memory, requests through a pipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Tuple

import numpy as np

from shellbot_control import JointLimits, Notice
from shellbot_motor_driver.compliance import Compliance
from shellbot_motor_driver.driver_config import DriverConfig
from shellbot_motor_driver.driver_state import Answer, DriverState, StartReport

Array = np.ndarray


@dataclass(frozen=True)
class BusSettings:
    """What the bus process needs to know.

    Parameters
    ----------
    port : str
        Device, best a stable name.
    variant : str
        ``walker`` or ``full``.
    baud : int
        Rate of the line.
    direction : str
        Who turns the line (`DIRECTIONS`).
    direction_options : mapping
        Its parameters.
    link_latency : float
        Latency of adapter and kernel that 99 of 100 replies keep, s.
    margin : float
        s that a reply may be late on top (the process's own wake-up).
    servo_map : str
        Another file than the package's ``config/servos.yaml``.
    config : DriverConfig
        Parameters of the driver.
    priority : int
        SCHED_FIFO priority, 0 for none; a refusal is said and survived.
    cpu : int
        Core to stay on, -1 for any.
    restart : bool
        Whether a bus process that dies is started again, into hold.
    """

    port: str
    variant: str = "walker"
    baud: int = 1_000_000
    direction: str = "auto"
    direction_options: Mapping[str, Any] = field(default_factory=dict)
    link_latency: float = 1e-3
    margin: float = 0.5e-3
    servo_map: str = ""
    config: DriverConfig = DriverConfig()
    priority: int = 0
    cpu: int = -1
    restart: bool = True


class BusProcess:
    """The methods of `MotorDriver` for another process. Not thread-safe but for `set_targets` and `state`.

    Call `poll` regularly (the node does, at its own rate): it notices a dead bus process and restarts it.

    Parameters
    ----------
    settings : BusSettings
        What to run.
    """

    def __init__(self, settings: BusSettings) -> None:
        self.settings = settings

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Order of targets and joint arrays."""
        raise NotImplementedError

    @property
    def limits(self) -> JointLimits:
        """Limits that every command keeps."""
        raise NotImplementedError

    @property
    def pid(self) -> Optional[int]:
        """The bus process's number, None while there is none."""
        raise NotImplementedError

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        raise NotImplementedError

    def start(self, timeout: float = 20.0) -> StartReport:
        """Start the process, open the port, run `MotorDriver.start`.

        Raises
        ------
        PortError
            Port missing, in use, not permitted.
        StartError
            As `MotorDriver.start`.
        BusProcessError
            If the process ends or does not answer in ``timeout`` s.
        """
        raise NotImplementedError

    def poll(self) -> bool:
        """Notice death, restart if allowed; return whether the bus process lives. Never blocks for long."""
        raise NotImplementedError

    def set_targets(self, targets: Array) -> None:
        """Give new targets, (n_joints,) rad; the bus process takes the latest at its next tick.

        Raises
        ------
        shellbot_control.TargetsError
            If the shape is wrong or a value is not finite; the driver then holds as if none had come.
        """
        raise NotImplementedError

    def tick(self, targets: Optional[Array] = None) -> None:
        """Do `set_targets` and `poll`: programs of `MotorDriver` run unchanged."""
        raise NotImplementedError

    def state(self) -> DriverState:
        """Return the latest state; its ``stamp`` shows its age against ``time.monotonic()``."""
        raise NotImplementedError

    def events(self) -> Tuple[Notice, ...]:
        """Return what happened since the last call."""
        raise NotImplementedError

    def hold(self) -> Array:
        """As `MotorDriver.hold`."""
        raise NotImplementedError

    def torque(self, on: bool) -> Answer:
        """As `MotorDriver.torque`."""
        raise NotImplementedError

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """As `MotorDriver.emergency_stop`; through the shared memory, so that no queue delays it."""
        raise NotImplementedError

    def rearm(self) -> Answer:
        """As `MotorDriver.rearm`."""
        raise NotImplementedError

    def set_compliance(self, table: Mapping[str, Compliance]) -> Answer:
        """As `MotorDriver.set_compliance`."""
        raise NotImplementedError

    def drive_fan(self, velocity: float) -> Answer:
        """As `MotorDriver.drive_fan`."""
        raise NotImplementedError

    def shutdown(self, torque_off: bool = True, timeout: float = 5.0) -> None:
        """End the process: stop burst, torque off (or holding on), port closed."""
        raise NotImplementedError
