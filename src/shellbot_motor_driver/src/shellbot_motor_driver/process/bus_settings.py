# SPDX-License-Identifier: MIT
"""What a bus process needs to know when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from shellbot_motor_driver.driving.driver_config import DriverConfig


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
