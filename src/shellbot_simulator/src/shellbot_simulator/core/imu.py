# SPDX-License-Identifier: MIT
"""The inertial unit: how the physics moves it, with seeded noise and biases, and late if so set."""

from __future__ import annotations

import math
from collections import deque
from typing import Deque, Optional, Tuple

import mujoco
import numpy as np

from shellbot_common import TICK
from shellbot_common.seed_streams import Stream, seeded

from .config import SimulatorConfig
from .model_builder import IMU_SITE
from .state import ImuSample

_XYZW = np.array([1, 2, 3, 0])  # places of the components in a quaternion w, x, y, z


class ImuSensor:
    """One sample per tick from the motion of the site `imu`.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    config : SimulatorConfig
        Standard deviations of noise and biases, latency, and whether there is an orientation.
    """

    def __init__(self, model: mujoco.MjModel, config: SimulatorConfig) -> None:
        self._site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, IMU_SITE)
        self.model = model  # another one of the same robot may take its place
        self._config = config
        self._rng: Optional[np.random.Generator] = None
        self._noise = np.zeros((3, 3))
        self._gyroscope_bias, self._accelerometer_bias = np.zeros(3), np.zeros(3)
        #: At the end of the tick before: imu -> world, quaternion w, x, y, z, and velocity in the world, m/s
        self._before: Optional[Tuple[np.ndarray, np.ndarray]] = None
        self._earlier: Deque[ImuSample] = deque(maxlen=config.imu_latency)  # samples of the ticks that lie behind
        slope, azimuth = math.radians(config.slope_deg), math.radians(config.slope_azimuth_deg)
        self._gravity = config.gravity * np.array(config.up)  # as an accelerometer feels it: upwards
        self._level = np.zeros(4)  # turns "up" of a sloping floor's axes to z: the unit knows gravity, not the floor
        mujoco.mju_axisAngle2Quat(self._level, np.array([math.sin(azimuth), -math.cos(azimuth), 0.0]), slope)

    def reset(self, rng: Optional[np.random.Generator], seed: Optional[int]) -> None:
        """Start a new noise sequence and draw the biases of this seed; None means none of both."""
        self._rng = rng
        self._earlier.clear()
        drawn = np.zeros((2, 3)) if seed is None else seeded(seed, Stream.IMU_BIAS).standard_normal((2, 3))
        self._gyroscope_bias = self._config.gyroscope_bias_std * drawn[0]
        self._accelerometer_bias = self._config.accelerometer_bias_std * drawn[1]

    def keep(self, data: mujoco.MjData) -> None:
        """Keep what the next ticks need of this one: its motion, and its sample if readings come late."""
        if self._earlier.maxlen:
            self._earlier.append(self._present(data))
        self._before = self._quaternion(data), self._velocity(data, 0)[3:]

    def draw(self) -> None:
        """Draw the noise of this tick."""
        self._noise = np.zeros((3, 3)) if self._rng is None else self._rng.standard_normal((3, 3))

    def rest(self) -> None:
        """Begin at rest: a robot just placed on the floor carries no load before its first step."""
        self.draw()
        self._before = None

    def sample(self, data: mujoco.MjData) -> ImuSample:
        """Return the reading that has arrived by now: of the present, or as many ticks before as the latency says."""
        return self._earlier[0] if self._earlier else self._present(data)

    def orientation(self, data: mujoco.MjData) -> Optional[np.ndarray]:
        """Return the quaternion x, y, z, w of `sample` without the rest."""
        if self._earlier:
            return self._earlier[0].orientation
        return self._measured_attitude(self._quaternion(data)) if self._config.imu_orientation else None

    def _measured_attitude(self, quaternion: np.ndarray) -> np.ndarray:
        """Return against gravity, with noise, x, y, z, w, what is w, x, y, z in the world's axes."""
        measured = np.zeros(4)
        mujoco.mju_mulQuat(measured, self._level, quaternion)
        if self._rng is not None:
            error = math.radians(self._config.orientation_std_deg) * self._noise[0]
            mujoco.mju_quatIntegrate(measured, error, 1.0)
        if not self._config.imu_yaw:
            w, x, y, z = measured.copy()  # not by yaw_from_quaternion: on arrays it takes 8 times as long
            yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
            back = np.array([math.cos(0.5 * yaw), 0.0, 0.0, -math.sin(0.5 * yaw)])
            mujoco.mju_mulQuat(measured, back, measured.copy())
        return measured[_XYZW]

    def _present(self, data: mujoco.MjData) -> ImuSample:
        quaternion = self._quaternion(data)
        rate, force = self._motion(data, quaternion)
        noise, config = self._noise, self._config
        turn = rate + self._gyroscope_bias + config.gyroscope_std * noise[1]
        turn[2] *= config.imu_yaw
        return ImuSample(
            orientation=self._measured_attitude(quaternion) if config.imu_orientation else None,
            angular_velocity=turn,
            specific_force=force + self._accelerometer_bias + config.accelerometer_std * noise[2],
        )

    def _quaternion(self, data: mujoco.MjData) -> np.ndarray:
        """Return the attitude imu -> world, (4,) w, x, y, z."""
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, data.site_xmat[self._site])
        return quaternion

    def _velocity(self, data: mujoco.MjData, is_local: int) -> np.ndarray:
        """Return the unit's velocity, (6,) rotation first, in its own axes or those of the world."""
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_SITE, self._site, velocity, is_local)
        return velocity

    def _motion(self, data: mujoco.MjData, quaternion: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return angular velocity and specific force in the unit's own axes, (3,) rad/s, (3,) m/s^2.

        Means over the tick, as a real unit gives them: an impact between two samples is not lost. But the angular
        velocity of a unit with orientation, which is not integrated, is that of the moment.
        """
        turn, acceleration, middle = np.zeros(3), np.zeros(3), quaternion.copy()
        if self._before is not None:
            before, velocity = self._before
            mujoco.mju_subQuat(turn, quaternion, before)
            acceleration = (self._velocity(data, 0)[3:] - velocity) / TICK
            mujoco.mju_quatIntegrate(middle, turn, -0.5)
        force = np.zeros(3)
        mujoco.mju_negQuat(middle, middle.copy())
        mujoco.mju_rotVecQuat(force, acceleration + self._gravity, middle)
        is_mean = self._before is not None and not self._config.imu_orientation
        return turn / TICK if is_mean else self._velocity(data, 1)[:3], force
