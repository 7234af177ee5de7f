# SPDX-License-Identifier: MIT
"""The inertial unit: what the physics' sensors read, with seeded noise and biases, and late if so set."""

from __future__ import annotations

import math
from collections import deque
from typing import Deque, Optional

import mujoco
import numpy as np

from shellbot_common import TICK

from .config import SimulatorConfig
from .model_builder import IMU_SITE
from .state import ImuSample

_BIAS = 11  # with the seed, seeds the biases: a generator of their own leaves the noise as it is without them


class ImuSensor:
    """One sample per tick from the sensors of the site `imu`.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    config : SimulatorConfig
        Standard deviations of noise and biases, latency, and whether there is an orientation.
    """

    def __init__(self, model: mujoco.MjModel, config: SimulatorConfig) -> None:
        start = int(model.sensor_adr[model.sensor("accelerometer").id])
        self._accelerometer = slice(start, start + 3)
        self._site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, IMU_SITE)
        self._model = model
        self._config = config
        self._rng: Optional[np.random.Generator] = None
        self._specific_force = np.zeros(3)
        self._summed, self._steps = np.zeros(3), 0  # accelerometer over the physics steps of the present tick
        self._noise = np.zeros((3, 3))
        self._gyroscope_bias, self._accelerometer_bias = np.zeros(3), np.zeros(3)
        self._before: Optional[np.ndarray] = None  # imu -> world at the end of the tick before, quaternion w, x, y, z
        self._earlier: Deque[ImuSample] = deque(maxlen=config.imu_latency)  # samples of the ticks that lie behind
        slope, azimuth = math.radians(config.slope_deg), math.radians(config.slope_azimuth_deg)
        self._up = np.array(config.up)
        self._level = np.zeros(4)  # turns "up" of a sloping floor's axes to z: the unit knows gravity, not the floor
        mujoco.mju_axisAngle2Quat(self._level, np.array([math.sin(azimuth), -math.cos(azimuth), 0.0]), slope)

    def reset(self, rng: Optional[np.random.Generator], seed: Optional[int]) -> None:
        """Start a new noise sequence and draw the biases of this seed; None means none of both."""
        self._rng = rng
        self._earlier.clear()
        drawn = np.zeros((2, 3)) if seed is None else np.random.default_rng([seed, _BIAS]).standard_normal((2, 3))
        self._gyroscope_bias = self._config.gyroscope_bias_std * drawn[0]
        self._accelerometer_bias = self._config.accelerometer_bias_std * drawn[1]

    def keep(self, data: mujoco.MjData) -> None:
        """Keep what the next ticks need of this one: its attitude, and its sample if readings come late."""
        if self._earlier.maxlen:
            self._earlier.append(self._present(data))
        self._before = self._quaternion(data)

    def accumulate(self, data: mujoco.MjData) -> None:
        """Take the accelerometer of the step just solved: a real one averages, so that no impact is lost."""
        self._summed += data.sensordata[self._accelerometer]
        self._steps += 1

    def read(self) -> None:
        """End the tick: take the mean of its accelerations, and draw its noise."""
        self._specific_force = self._summed / max(self._steps, 1)
        self._summed, self._steps = np.zeros(3), 0
        self._noise = np.zeros((3, 3)) if self._rng is None else self._rng.standard_normal((3, 3))

    def rest(self, data: mujoco.MjData, gravity: float) -> None:
        """Take the reading at rest: a robot just placed on the floor carries no load before its first step."""
        self.read()
        self._before = None
        self._specific_force = data.site_xmat[self._site].reshape(3, 3).T @ (gravity * self._up)

    def sample(self, data: mujoco.MjData) -> ImuSample:
        """Return the reading that has arrived by now: of the present, or as many ticks before as the latency says."""
        return self._earlier[0] if self._earlier else self._present(data)

    def _present(self, data: mujoco.MjData) -> ImuSample:
        quaternion = self._quaternion(data)
        rate = self._rate(data, quaternion)
        mujoco.mju_mulQuat(quaternion, self._level, quaternion.copy())
        if self._rng is not None:
            error = math.radians(self._config.orientation_std_deg) * self._noise[0]
            mujoco.mju_quatIntegrate(quaternion, error, 1.0)
        noise, config = self._noise, self._config
        return ImuSample(
            orientation=quaternion[[1, 2, 3, 0]] if config.imu_orientation else None,
            angular_velocity=rate + self._gyroscope_bias + config.gyroscope_std * noise[1],
            specific_force=self._specific_force + self._accelerometer_bias + config.accelerometer_std * noise[2],
        )

    def _quaternion(self, data: mujoco.MjData) -> np.ndarray:
        """Return the attitude imu -> world, (4,) w, x, y, z."""
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, data.site_xmat[self._site])
        return quaternion

    def _rate(self, data: mujoco.MjData, quaternion: np.ndarray) -> np.ndarray:
        """Return the angular velocity in the unit's own frame, (3,) rad/s.

        Of a unit without orientation it is the mean over the tick, because somebody will integrate it; one that has
        integrated it already gives the rate of the moment.
        """
        if not self._config.imu_orientation and self._before is not None:
            turn = np.zeros(3)
            mujoco.mju_subQuat(turn, quaternion, self._before)
            return turn / TICK
        velocity = np.zeros(6)  # rotation first, in the site's own frame
        mujoco.mj_objectVelocity(self._model, data, mujoco.mjtObj.mjOBJ_SITE, self._site, velocity, 1)
        return velocity[:3]
