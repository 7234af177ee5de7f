# SPDX-License-Identifier: MIT
"""Settings of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

from shellbot_common import Settings, number, package_file
from snake_motion.errors import SnakeMotionError


@dataclass(frozen=True)
class EngineConfig(Settings, error=SnakeMotionError):
    """Validated settings; the meaning of each is in ``config/engine.yaml``."""

    fade: float = number(0.1, 20.0, "s", default=1.0)
    command_fade: float = number(0.05, 20.0, "s", default=0.4)
    command_timeout: float = number(0.05, 10.0, "s", default=0.5)
    upright_deg: float = number(10.0, 180.0, "deg", default=35.0)
    righting_arc_deg: float = number(30.0, 300.0, "deg", default=60.0)
    righting_period: float = number(0.2, 60.0, "s", default=2.0)
    righting_attempts: int = number(0, 20, default=4)
    lost_error_deg: float = number(5.0, 180.0, "deg", default=45.0)
    lost_time: float = number(0.05, 60.0, "s", default=1.0)
    limp_error_deg: float = number(0.5, 180.0, "deg", default=2.0)
    limp_effort: float = number(0.0, 0.5, default=0.02)
    acceleration: float = number(1.0, 1e5, "rad/s^2", default=100.0)


def load_engine_config(file: Optional[Union[str, Path]] = None) -> EngineConfig:
    """Return the settings of a file, ``config/engine.yaml`` of the package if not given; raises SnakeMotionError."""
    return EngineConfig.load(file or package_file("snake_motion", "config/engine.yaml"))
