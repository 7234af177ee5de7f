# SPDX-License-Identifier: MIT
"""The inertial unit: what the physics' sensors read, with seeded noise."""

from __future__ import annotations

import math
from typing import Optional

import mujoco
import numpy as np

from .config import SimulatorConfig
from .model_builder import IMU_SITE
from .state import ImuSample


class ImuSensor:
    """One sample per tick from the sensors of the site `imu`.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    config : SimulatorConfig
        Standard deviations of the noise.
    """

    def __init__(self, model: mujoco.MjModel, config: SimulatorConfig) -> None:
        start = int(model.sensor_adr[model.sensor("accelerometer").id])
        self._accelerometer = slice(start, start + 3)
        self._site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, IMU_SITE)
        self._model = model
        self._config = config
        self._rng: Optional[np.random.Generator] = None
        self._specific_force = np.zeros(3)
        self._noise = np.zeros((3, 3))
        slope, azimuth = math.radians(config.slope_deg), math.radians(config.slope_azimuth_deg)
        self._up = np.array(config.up)
        self._level = np.zeros(4)  # turns "up" of a sloping floor's axes to z: the unit knows gravity, not the floor
        mujoco.mju_axisAngle2Quat(self._level, np.array([math.sin(azimuth), -math.cos(azimuth), 0.0]), slope)

    def reset(self, rng: Optional[np.random.Generator]) -> None:
        """Start a new noise sequence; None means no noise."""
        self._rng = rng

    def read(self, data: mujoco.MjData) -> None:
        """Take the accelerometer of the last solved step, and draw the noise of this tick."""
        self._specific_force = data.sensordata[self._accelerometer].copy()
        self._noise = np.zeros((3, 3)) if self._rng is None else self._rng.standard_normal((3, 3))

    def rest(self, data: mujoco.MjData, gravity: float) -> None:
        """Take the reading at rest: a robot just placed on the floor carries no load before its first step."""
        self.read(data)
        self._specific_force = data.site_xmat[self._site].reshape(3, 3).T @ (gravity * self._up)

    def sample(self, data: mujoco.MjData) -> ImuSample:
        """Return the reading for the present positions and velocities."""
        rotation = data.site_xmat[self._site]  # imu -> world
        velocity = np.zeros(6)  # rotation first, in the site's own frame
        mujoco.mj_objectVelocity(self._model, data, mujoco.mjtObj.mjOBJ_SITE, self._site, velocity, 1)
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, rotation)
        mujoco.mju_mulQuat(quaternion, self._level, quaternion.copy())
        if self._rng is not None:
            error = math.radians(self._config.orientation_std_deg) * self._noise[0]
            mujoco.mju_quatIntegrate(quaternion, error, 1.0)
        return ImuSample(
            orientation=quaternion[[1, 2, 3, 0]],
            angular_velocity=velocity[:3] + self._config.gyroscope_std * self._noise[1],
            specific_force=self._specific_force + self._config.accelerometer_std * self._noise[2],
        )
