# SPDX-License-Identifier: MIT
"""What a bus process needs to know when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Union

from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.map.driven_robot import DrivenRobot
from shellbot_motor_driver.map.servo_map import ServoMap


@dataclass(frozen=True)
class BusSettings:
    """What the bus process needs to know."""

    port: str  #: Device, best a stable name
    robot: Union[str, DrivenRobot] = "walker"  #: A robot, or a variant of Shellbot: ``walker`` or ``full``
    baud: int = 1_000_000  #: Rate of the line
    direction: str = "auto"  #: Who turns the line (`DIRECTIONS`)
    direction_options: Mapping[str, Any] = field(default_factory=dict)  #: Its parameters
    link_latency: float = 1e-3  #: Latency of adapter and kernel that 99 of 100 replies keep, s
    margin: float = 0.5e-3  #: s that a reply may be late on top (the process's own wake-up)
    servo_map: str = ""  #: A file in place of the robot's own servo map
    config: DriverConfig = DriverConfig()  #: Parameters of the driver
    priority: int = 0  #: SCHED_FIFO priority, 0 for none; a refusal is logged and survived
    cpu: int = -1  #: Core to stay on, -1 for any
    restart: bool = True  #: Whether a bus process that dies is started again, into hold

    def load_map(self) -> ServoMap:
        """Return the servo map; raises as `ServoMap.load`."""
        return ServoMap.load(self.robot, Path(self.servo_map) if self.servo_map else None)
