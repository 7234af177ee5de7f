# SPDX-License-Identifier: MIT
"""Walks of the humanoid that runs over ROS, such as in Gazebo: commands by `cmd_vel`, its own odometry ends each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

import numpy as np

from humanoid_motion.planar import seen_from
from shellbot_evaluation.tables import markdown_table

FALLEN = 0.9  # rad of tilt

# s of simulated time, pose of the torso (x, y, yaw; yaw unwrapped), height, tilt
Sample = Tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Walk:
    """A velocity that is commanded until the odometry has seen a distance or an angle."""

    name: str
    twist: Tuple[float, float, float]  #: m/s, m/s, rad/s
    length: float  #: m, or rad of a turn

    def is_done(self, start: Sequence[float], pose: Sequence[float]) -> bool:
        """Return whether a pose (x, y, yaw) is as far from the start as the walk is long."""
        if self.twist[2]:
            return abs(pose[2] - start[2]) >= self.length
        return math.hypot(pose[0] - start[0], pose[1] - start[1]) >= self.length

    @property
    def limit(self) -> float:
        """Time, s, after which a walk has failed."""
        return 5.0 + 2.0 * self.length / max(abs(speed) for speed in self.twist)


WALKS = (
    Walk("3 m at 0.10 m/s", (0.10, 0.0, 0.0), 3.0),
    Walk("3 m at 0.15 m/s", (0.15, 0.0, 0.0), 3.0),
    Walk("1 m back at 0.10 m/s", (-0.10, 0.0, 0.0), 1.0),
    Walk("0.5 m to the left at 0.05 m/s", (0.0, 0.05, 0.0), 0.5),
    Walk("0.5 m to the right at 0.05 m/s", (0.0, -0.05, 0.0), 0.5),
    Walk("360° at 30°/s", (0.0, 0.0, math.radians(30.0)), 2.0 * math.pi),
    Walk("3 m at 0.20 m/s", (0.20, 0.0, 0.0), 3.0),
)


def score(walk: Walk, truth: Sequence[Sample], odometry: Sequence[Sample]) -> Dict[str, object]:
    """Return a row of the table: what truth and odometry moved by, from the first sample to the last."""
    rows = [np.array(samples) for samples in (truth, odometry)]
    (ahead, left, turn), own = (seen_from(row[0, 1:4], row[-1, 1:4]) for row in rows)
    turn, own_turn = (math.degrees(row[-1, 3] - row[0, 3]) for row in rows)
    height = rows[0][:, 4]
    return {
        "walk": walk.name,
        "fell": "yes" if np.max(rows[0][:, 5]) > FALLEN else "no",
        "ahead": f"{ahead:.3f}",
        "left": f"{left:.3f}",
        "turned": f"{turn:.1f}",
        "odometry": f"{1e3 * math.hypot(own[0] - ahead, own[1] - left):.0f} mm, {abs(own_turn - turn):.1f}°",
        "height": f"{1e3 * 0.5 * (np.max(height) - np.min(height)):.1f}",
        "seconds": f"{rows[0][-1, 0] - rows[0][0, 0]:.1f}",
    }


def table(rows: List[Dict[str, object]]) -> str:
    """Return the rows as Markdown."""
    heads = {
        "walk": "walk",
        "fell": "fell",
        "ahead": "ahead, m",
        "left": "left, m",
        "turned": "turned, deg",
        "odometry": "odometry off",
        "height": "torso height, ± mm",
        "seconds": "seconds",
    }
    return markdown_table(rows, heads)
