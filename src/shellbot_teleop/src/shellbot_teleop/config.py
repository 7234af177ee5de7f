# SPDX-License-Identifier: MIT
"""Settings of window, terminal and page: one frozen, checked dataclass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Tuple

from shellbot_common import Settings, choice, number, required
from shellbot_teleop.errors import ConfigError
from shellbot_teleop.limits import Limits, Vector3

Range = Tuple[float, float]
_NODE = re.compile(r"/?[A-Za-z]\w*(/\w+)*")


@dataclass(frozen=True)
class TeleopConfig(Settings, error=ConfigError):
    """Settings; meaning, unit and default of each are in ``config/teleop.yaml``."""

    publish_rate: float = number(5.0, 100.0, "Hz", hint="the robot's command time-out is 0.5 s")
    speed_scale: float = number(0.1, 1.0)
    speed_step: float = number(0.01, 0.5)
    tilt_rate: float = number(0.01, 3.0, "rad/s")
    shift_rate: float = number(0.001, 0.5, "m/s")
    shell_height_rate: float = number(0.001, 0.5, "m/s")
    shell_angle_rate: float = number(0.01, 3.0, "rad/s")
    fallback_velocity: Vector3 = number(0.0, 10.0, "m/s, rad/s")
    fallback_shift: Vector3 = number(0.0, 1.0, "m")
    fallback_tilt: Vector3 = number(0.0, 3.2, "rad")
    shell_height_range: Range = number(-1.0, 1.0, "m", ordered=True)
    shell_angle_range: Range = number(-3.2, 3.2, "rad", ordered=True)
    gaits: Tuple[str, ...] = required()
    release_grace: float = number(0.0, 0.05, "s")
    first_hold: float = number(0.1, 1.0, "s")
    repeat_hold: float = number(0.05, 0.5, "s")
    service_timeout: float = number(0.1, 30.0, "s")
    stale_after: float = number(0.1, 10.0, "s")
    gains_servers: Tuple[str, ...] = required()
    alive_rate: float = number(5.0, 100.0, "Hz", hint="the robot takes an operator for dead after 0.2 s without")
    page_silence: float = number(0.1, 0.5, "s", hint="a page sends a sign of life 25 times a second")
    armed: bool = required()
    dead_man: bool = required()
    theme: str = choice(("dark", "light"))
    fine: float = number(0.05, 1.0, default=0.3)

    def conflict(self) -> str:
        """Return which of the names is missing or there twice, if one is."""
        if not self.gaits:
            return "gaits is empty; name at least one gait"
        servers, listed = set(self.gains_servers), list(self.gains_servers)
        if not servers or len(servers) < len(listed) or not all(map(_NODE.fullmatch, servers)):
            return f"gains_servers is {listed}; name each node once, in letters, digits, _ and /, such as gains"
        return ""

    @property
    def period(self) -> float:
        """Seconds between two publications while a key is held."""
        return 1.0 / self.publish_rate

    @property
    def fallback_limits(self) -> Limits:
        """Limits until the walkspace is known."""
        x, y, z = self.fallback_shift
        return Limits(self.fallback_velocity, (-x, -y, -z), self.fallback_shift, self.fallback_tilt)
