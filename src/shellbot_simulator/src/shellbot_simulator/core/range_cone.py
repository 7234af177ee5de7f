# SPDX-License-Identifier: MIT
"""Range sensors: the nearest thing that echoes in a cone, by rays to the floor, to what stands on it, and to obstacles.

MuJoCo casts rays, too, but one by one in five times the time, many at once with boxes that are missed (3.2 and 3.3),
and with the normals that an echo depends on in newer versions only. A rangefinder of its model would cost each step.
"""

from __future__ import annotations

import math
from typing import Optional, Sequence

import mujoco
import numpy as np

from shellbot_common.robot_profile import RangeSensor
from shellbot_common.seed_streams import Stream

from .config import Box
from .obstacles import first_body
from .rays import into_boxes, into_geom
from .reading import noise, stepped

_RAYS = 120  # in a cone of 60 deg, one within 4.5 deg of any direction: a wall is seen within 0.3 % of its distance
_GOLDEN = math.pi * (3.0 - math.sqrt(5.0))  # rad


class RangeCone:
    """One sensor.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    boxes : sequence of Box
        That stand on the floor.
    link : str
        The cone is about its x axis.
    sensor : RangeSensor
        The profile's.
    index : int
        Of the sensor: each has noise of its own.
    std : float
        Standard deviation of the noise, m.
    """

    def __init__(
        self, model: mujoco.MjModel, boxes: Sequence[Box], link: str, sensor: RangeSensor, index: int, std: float
    ) -> None:
        self._sensor, self._stream, self._std = sensor, Stream.RANGE_SENSORS + index, std
        self._model = model
        self._obstacles = np.flatnonzero(model.geom_bodyid >= first_body(model)).tolist()
        self._body = model.body(link).id
        self._rays = cone(math.radians(sensor.field_of_view_deg), _RAYS)
        self._least_cosine = math.cos(math.radians(sensor.echo_angle_deg))
        x, y, length, width, height = np.array(boxes).reshape(-1, 5).T
        self._centres = np.column_stack([x, y, 0.5 * height])
        self._halves = 0.5 * np.column_stack([length, width, height])

    def distance(self, data: mujoco.MjData) -> float:
        """Return the true distance to what echoes, m; infinite if nothing does within the greatest distance."""
        rays = self._rays @ data.xmat[self._body].reshape(3, 3).T
        origin = data.xpos[self._body]
        floor = np.where(rays[:, 2] < 0.0, -origin[2] / np.minimum(rays[:, 2], -1e-12), math.inf)
        entries = [(floor, np.abs(rays[:, 2])), into_boxes(origin - self._centres, rays, self._halves)]
        entries += [into_geom(self._model, data, geom, origin, rays) for geom in self._obstacles]
        distances, cosines = (np.column_stack(values) for values in zip(*entries))
        # what stands in front hides what is behind, whether it echoes or not
        first = distances.argmin(axis=1)[:, None]
        distance = np.take_along_axis(distances, first, axis=1)
        echoes = np.take_along_axis(cosines, first, axis=1) >= self._least_cosine
        nearest = float(np.min(distance[echoes], initial=math.inf))
        return nearest if nearest <= self._sensor.limits[1] else math.inf

    def read(self, data: mujoco.MjData, seed: Optional[int], tick: int) -> float:
        """Return the reading at a tick, m, with the noise of a seed if there is one.

        Infinite where nothing is heard, minus infinite where it is too near to be measured (REP 117).
        """
        value = self.distance(data) + self._std * noise(seed, self._stream, tick, 1)
        least, most = self._sensor.limits
        reading = float(stepped(value, self._sensor.resolution)[0])
        return math.inf if reading > most else -math.inf if reading < least else reading


def cone(angle: float, count: int) -> np.ndarray:
    """Return unit vectors (count, 3) evenly over a cone of a whole `angle` (rad) about x, axis first and rim last."""
    part = np.arange(count) / max(count - 1, 1)
    x = 1.0 - part * (1.0 - math.cos(0.5 * angle))  # equal steps along the axis are equal areas of the sphere
    radius, turn = np.sqrt(1.0 - x * x), _GOLDEN * np.arange(count)
    return np.column_stack([x, radius * np.cos(turn), radius * np.sin(turn)])
