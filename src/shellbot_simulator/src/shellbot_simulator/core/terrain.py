# SPDX-License-Identifier: MIT
"""Grounds by name (config/terrains.yaml), as boxes on a floor that may slope: data that any simulator can build."""

from __future__ import annotations

import dataclasses
import math
from functools import lru_cache
from typing import Any, Dict, Mapping, Tuple

import numpy as np

from shellbot_common import Settings, number, package_file, read_yaml

from .config import Box
from .errors import ConfigError

CELL_M, WIDTH_M, STARTS_M = 0.1, 1.6, 0.45  # of what stands on the floor; it begins in front of the robot
WALL_M = (6.0, 1.0)  # width, height
_PLATE_M, _SHEET_M = (40.0, 40.0, 1.0), 0.001  # of a slope or of ice in Gazebo, and how far it lies above its floor
_BEYOND_M = 10.0  # the last step, and a platform behind its trench

_TOGETHER = (
    ("steps", "step_height", "step_depth"),
    ("rubble_height", "rubble_length"),
    ("trench_width", "trench_depth", "trench_behind"),
)


@dataclasses.dataclass(frozen=True)
class Terrain(Settings, error=ConfigError):
    """What a ground is made of; 0 is nothing of that kind."""

    slope_deg: float = number(0.0, 45.0, "deg", default=0.0)  #: The floor rises towards `slope_azimuth_deg`
    slope_azimuth_deg: float = number(-360.0, 360.0, "deg", default=0.0)
    friction: float = number(0.0, 5.0, default=0.0)  #: Of every contact; 0: the simulator's own
    steps: int = number(0, 20, default=0)  #: Number of steps up
    step_height: float = number(0.0, 0.2, "m", default=0.0)
    step_depth: float = number(0.0, 5.0, "m", default=0.0)
    rubble_height: float = number(0.0, 0.2, "m", default=0.0)  #: Of the highest boxes
    rubble_length: float = number(0.0, 20.0, "m", default=0.0)
    trench_width: float = number(0.0, 0.5, "m", default=0.0)
    trench_depth: float = number(0.0, 0.2, "m", default=0.0)  #: Height of the platform that it crosses
    trench_behind: float = number(0.0, 5.0, "m", default=0.0)  #: From the platform's edge to the trench

    wall_distance: float = number(0.0, 20.0, "m", default=0.0)  #: From the start to a wall across, 1 m high

    def conflict(self) -> str:
        """Return which size is missing of what is there."""
        for group in _TOGETHER:
            if len({getattr(self, name) > 0 for name in group}) > 1:
                return f"{', '.join(group)} go together; give all of them a number above 0, or none"
        return ""

    def boxes(self, seed: int = 0) -> Tuple[Box, ...]:
        """Return what stands on the floor."""
        found: Tuple[Box, ...] = ()
        for step in range(self.steps):  # each is a box on the floor, up to the next one
            height = (step + 1) * self.step_height
            depth = self.step_depth if step < self.steps - 1 else _BEYOND_M
            found += ((STARTS_M + step * self.step_depth + 0.5 * depth, 0.0, depth, WIDTH_M, height),)
        if self.rubble_height:
            found += rubble(seed, self.rubble_height, self.rubble_length)
        if self.trench_width:
            behind = STARTS_M + self.trench_behind + self.trench_width
            near = (STARTS_M + 0.5 * self.trench_behind, 0.0, self.trench_behind, WIDTH_M, self.trench_depth)
            found += (near, (behind + 0.5 * _BEYOND_M, 0.0, _BEYOND_M, WIDTH_M, self.trench_depth))
        if self.wall_distance:
            found += ((self.wall_distance + 0.5 * CELL_M, 0.0, CELL_M, WALL_M[0], WALL_M[1]),)
        return found

    def settings(self, seed: int = 0) -> Dict[str, Any]:
        """Return the fields of SimulatorConfig that make this ground."""
        found: Dict[str, Any] = {"boxes": self.boxes(seed)}
        if self.slope_deg:
            found.update(slope_deg=self.slope_deg, slope_azimuth_deg=self.slope_azimuth_deg)
        if self.friction:
            found["friction"] = self.friction
        return found


def rubble(seed: int, height: float, length: float) -> Tuple[Box, ...]:
    """Return a field of boxes side by side, each 10 to 100 % of `height` (m), over a `length` (m) ahead."""
    rng = np.random.default_rng([seed, round(1e3 * height)])
    xs = np.arange(STARTS_M + 0.5 * CELL_M, STARTS_M + length, CELL_M)
    ys = np.arange(0.5 * (CELL_M - WIDTH_M), 0.5 * WIDTH_M, CELL_M)
    return tuple((float(x), float(y), CELL_M, CELL_M, float(height * rng.uniform(0.1, 1.0))) for x in xs for y in ys)


@lru_cache(maxsize=None)
def terrains() -> Mapping[str, Terrain]:
    """Return the grounds of config/terrains.yaml by name.

    Raises
    ------
    ConfigError
        If a size is wrong; the text names ground and key.
    """
    table = read_yaml(package_file("shellbot_simulator", "config/terrains.yaml"), ConfigError)
    return {name: Terrain.from_mapping(entry, f"terrains.yaml: {name}.") for name, entry in table.items()}


def terrain(name: str) -> Terrain:
    """Return a ground by name.

    Raises
    ------
    ConfigError
        If there is none of that name; lists those that there are.
    """
    if name not in terrains():
        raise ConfigError(f"there is no terrain {name!r}; choose one of {', '.join(terrains())} (config/terrains.yaml)")
    return terrains()[name]


def sdf_model(ground: Terrain, friction: float, seed: int = 0) -> str:
    """Return a ground as a static SDF model for Gazebo, whose own floor stays below it.

    A slope is a tilted plate there, as gravity belongs to Gazebo's world; it rises from the floor below the robot.

    Parameters
    ----------
    ground : Terrain
        What to build.
    friction : float
        Sliding friction where the ground has none of its own.
    seed : int
        Of what is drawn.
    """
    mu = ground.friction or friction
    slope, azimuth = math.radians(ground.slope_deg), math.radians(ground.slope_azimuth_deg)
    parts = [
        (x, y, 0.5 * height, length, width, height, 0.0, 0.0) for x, y, length, width, height in ground.boxes(seed)
    ]
    if slope or ground.friction:
        up = np.array([-math.sin(slope) * math.cos(azimuth), -math.sin(slope) * math.sin(azimuth), math.cos(slope)])
        x, y, z = (-0.5 * _PLATE_M[2] * up).tolist()
        parts.append((x, y, z + _SHEET_M, *_PLATE_M, -slope, azimuth))
    shapes = []
    for index, (x, y, z, length, width, height, pitch, yaw) in enumerate(parts):
        geometry = f"<geometry><box><size>{length!r} {width!r} {height!r}</size></box></geometry>"
        pose = f"<pose>{x!r} {y!r} {z!r} 0 {pitch!r} {yaw!r}</pose>"
        surface = f"<surface><friction><ode><mu>{mu!r}</mu><mu2>{mu!r}</mu2></ode></friction></surface>"
        shapes.append(f'<collision name="c{index}">{pose}{geometry}{surface}</collision>')
        shapes.append(f'<visual name="v{index}">{pose}{geometry}</visual>')
    link = f'<link name="ground">{"".join(shapes)}</link>'
    return f'<sdf version="1.6"><model name="terrain"><static>true</static>{link}</model></sdf>'
