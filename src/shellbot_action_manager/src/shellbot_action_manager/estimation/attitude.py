# SPDX-License-Identifier: MIT
"""Attitude from what an IMU measures, by a complementary filter.

The filter is the explicit complementary filter with bias estimate of R. Mahony, T. Hamel and J.-M. Pflimlin, "Nonlinear
complementary filters on the special orthogonal group", IEEE Transactions on Automatic Control 53 (2008), equation 32,
with the direction "up" as its only reference: there is no magnetometer, so the yaw is that of the integrated gyroscope.
Averaging the specific force against the world's axes, and learning the bias at rest, are as in D. Laidig and T. Seel,
"VQF", Information Fusion 91 (2023).

Why a module of our own: vqf, which is as accurate on a rolling ball, has no ARM binaries, no one release for Python 3.8
to 3.13, and a fixed sample time; imufusion learns no bias while it moves; ahrs trusts the accelerometer while it is
shaken, and its present release needs Python 3.9; ROS's imu_complementary_filter is a node, which a chain in one process
cannot run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Optional, Tuple

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number
from shellbot_common.rotations import quaternion_from_rpy

GRAVITY = 9.81  # m/s^2
_STILL_TIME = 1.0  # s at rest before the gyroscope is taken to read its bias
_STILL_MEAN = 0.5  # s: time constant of its mean, and of learning the bias from it
_STILL_GAIN = 1.0  # 1/s: nothing but gravity acts
_STILL_FORCE = 0.5  # m/s^2 by which a biased accelerometer may differ from gravity at rest

Vector = Tuple[float, float, float]
Quaternion = Tuple[float, float, float, float]


@dataclass(frozen=True)
class AttitudeConfig(Settings, error=ConfigError):
    """Gains and limits of the attitude filter."""

    gain: float = number(0.01, 10.0, "1/s")  #: Turning of the estimate per error of its "up", 1/s
    bias_gain: float = number(0.0, 10.0, "1/s^2")  #: Change of the gyroscope's bias per error of "up", 1/s^2
    bias_limit: float = number(0.0, 0.5, "rad/s")  #: Greatest bias of the gyroscope, each axis, rad/s
    #: Time constant of the low-pass of the specific force, against the world's axes, s
    force_time: float = number(0.0, 10.0, "s")
    #: The specific force counts in full if its norm differs from gravity by less than the first fraction, beyond the
    #: second not at all
    trusted: Tuple[float, float] = number(0.001, 1.0, ordered=True)
    rest_rate: float = number(0.0, 0.2, "rad/s")  #: At rest the gyroscope stays this near to its mean, rad/s
    #: By which the messages of the IMU are late, s: its orientation is turned on by its angular velocity
    latency: float = number(0.0, 0.1, "s")


@dataclass(frozen=True)
class ImuReading:
    """What is known from the IMU at a tick."""

    # Not the simulator's ImuSample, which the robot's nodes must not import: that is measured in the unit's own frame,
    # this estimated in base_link, and any part may be unknown.

    #: (4,) Quaternion x, y, z, w of base_link in a world whose z is up; None: not known
    orientation: Optional[np.ndarray] = None
    angular_velocity: Optional[np.ndarray] = None  #: (3,) rad/s in base_link, without the bias as far as it is known
    specific_force: Optional[np.ndarray] = None  #: (3,) m/s^2 in base_link; None: not known

    def later(self, dt: float) -> ImuReading:
        """Return the reading with its orientation turned on by its angular velocity for dt, s."""
        if dt == 0.0 or self.orientation is None or self.angular_velocity is None:
            return self
        x, y, z, w = self.orientation.tolist()
        rate = _vector(self.angular_velocity)
        return replace(self, orientation=np.array(_turned((x, y, z, w), _combined(dt, rate, 0.0, rate))))


class AttitudeFilter:
    """Turns angular velocity and specific force into orientation, one call per sample.

    The gyroscope is integrated. The specific force is averaged against the world's axes, in which what a step or a turn
    of a ball adds is nothing on average, and its direction corrects roll, pitch and the bias of the gyroscope, with
    less weight the more its norm differs from gravity. The first 1/gain s are a mean. At rest the gyroscope reads its
    bias, the only occasion to learn that about the vertical; turning by less than `bias_limit` as steadily as a
    turntable looks the same.

    Parameters
    ----------
    config : AttitudeConfig
        Gains and limits.
    """

    def __init__(self, config: AttitudeConfig) -> None:
        self._config = config
        self.reset()

    def reset(self, before: Optional[np.ndarray] = None) -> None:
        """Forget attitude and bias.

        Parameters
        ----------
        before : (4,) array or None
            Quaternion of an attitude of before, whose heading the first sample goes on with; None: it has heading 0.
        """
        self._q: Optional[Quaternion] = None
        self._before: Optional[Quaternion] = None if before is None else tuple(before.tolist())
        self._bias: Vector = (0.0, 0.0, 0.0)
        self._mean: Vector = (0.0, 0.0, 0.0)  # of the gyroscope, low-passed
        self._force: Vector = (0.0, 0.0, 0.0)  # low-passed as the world sees it, in the present axes of the body
        self._age = self._still_time = 0.0  # s since the start or a gap; s at rest

    @property
    def bias(self) -> np.ndarray:
        """Estimated bias of the gyroscope, (3,) rad/s."""
        return np.array(self._bias)

    def step(self, dt: float, angular_velocity: np.ndarray, specific_force: np.ndarray) -> ImuReading:
        """Return the attitude at this sample.

        Parameters
        ----------
        dt : float
            s since the sample before; 0 at the first one and after a gap, over which nothing can be integrated: roll
            and pitch then begin anew, yaw and bias go on.
        angular_velocity : (3,) array
            rad/s in base_link; finite. The mean since the sample before, as units give it that integrate or filter.
        specific_force : (3,) array
            m/s^2 in base_link, a mean, too; at rest it points up. NaN: this sample corrects nothing.
        """
        config = self._config
        gyro, force = _vector(angular_velocity), _vector(specific_force)
        norm = math.sqrt(_dot(force, force))
        if self._q is None:
            if not (math.isfinite(norm) and norm > 0.0):
                return ImuReading(None, np.array(gyro), None)
            self._q, dt = self._first(force), 0.0
        if dt <= 0.0:
            self._age, self._still_time, self._mean = 0.0, 0.0, gyro
            self._force = force if math.isfinite(norm) else (0.0, 0.0, 0.0)
            return self._reading(gyro, specific_force)
        self._age += dt
        turn = _combined(dt, gyro, -dt, self._bias)
        self._q = _turned(self._q, turn)
        self._force = _seen_turned(self._force, turn)
        if math.isfinite(norm):
            blend = dt / min(max(self._age, dt), config.force_time + dt)
            present = _seen_turned(force, _combined(0.5, turn, 0.0, turn))
            self._force = _combined(1.0 - blend, self._force, blend, present)
            self._correct(dt)
        self._learn_standing(dt, gyro, norm)
        return self._reading(gyro, specific_force)

    def _first(self, force: Vector) -> Quaternion:
        """Return the attitude that a specific force shows, turned from that of before about a level axis."""
        if self._before is None:
            roll, pitch = math.atan2(force[1], force[2]), math.atan2(-force[0], math.hypot(force[1], force[2]))
            return quaternion_from_rpy(roll, pitch, 0.0)
        up = _up(self._before)
        axis = _cross(force, up)
        length = math.sqrt(_dot(axis, axis))
        turn = math.atan2(length, _dot(force, up)) / length if length > 0.0 else 0.0
        return _turned(self._before, _combined(turn, axis, 0.0, axis))

    def _correct(self, dt: float) -> None:
        """Turn "up" towards the specific force, and charge the difference to the bias."""
        config, force = self._config, self._force
        assert self._q is not None
        norm = math.sqrt(_dot(force, force))
        full, none = config.trusted
        off = abs(norm / GRAVITY - 1.0)
        if off >= none:
            return
        weight = 1.0 if off <= full else (none - off) / (none - full)
        error = _cross(_combined(1.0 / norm, force, 0.0, force), _up(self._q))
        starts, is_still = self._age * config.gain < 1.0, self._still_time > _STILL_TIME
        gain = _STILL_GAIN if is_still else 1.0 / self._age if starts else config.gain
        self._q = _turned(self._q, _combined(weight * gain * dt, error, 0.0, error))
        if not (starts or is_still):
            self._set_bias(_combined(1.0, self._bias, -weight * config.bias_gain * dt, error))

    def _learn_standing(self, dt: float, gyro: Vector, norm: float) -> None:
        config, blend = self._config, min(dt / _STILL_MEAN, 1.0)
        self._mean = _combined(1.0 - blend, self._mean, blend, gyro)
        is_still = (
            abs(norm - GRAVITY) < _STILL_FORCE
            and max(abs(g - m) for g, m in zip(gyro, self._mean)) < config.rest_rate
            and max(abs(m) for m in self._mean) < config.bias_limit
        )
        self._still_time = self._still_time + dt if is_still else 0.0
        if self._still_time > _STILL_TIME:
            self._age = math.inf  # whatever the start was, it is corrected here
            self._set_bias(_combined(1.0 - blend, self._bias, blend, self._mean))

    def _set_bias(self, bias: Vector) -> None:
        limit = self._config.bias_limit
        x, y, z = (min(max(b, -limit), limit) for b in bias)
        self._bias = x, y, z

    def _reading(self, gyro: Vector, specific_force: np.ndarray) -> ImuReading:
        orientation = None if self._q is None else np.array(self._q)
        return ImuReading(orientation, np.array(_combined(1.0, gyro, -1.0, self._bias)), known(specific_force))


def known(values: np.ndarray) -> Optional[np.ndarray]:
    """Return the values if all of them are finite, else None."""
    return values if all(map(math.isfinite, values.tolist())) else None


# Three floats and four: a tenth of the time that arrays of this length take.


def _vector(values: np.ndarray) -> Vector:
    x, y, z = values.tolist()
    return x, y, z


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _combined(s: float, a: Vector, r: float, b: Vector) -> Vector:
    return s * a[0] + r * b[0], s * a[1] + r * b[1], s * a[2] + r * b[2]


def _up(q: Quaternion) -> Vector:
    """Return "up" seen from the body, of a `q` of unit length; `up_from_quaternion` takes 20 times as long."""
    x, y, z, w = q
    return 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


def _seen_turned(v: Vector, turn: Vector) -> Vector:
    """Return a vector of the world in the axes of a body that has turned (rotation vector, rad)."""
    angle = math.sqrt(_dot(turn, turn))
    if angle < 1e-9:
        return v
    axis = _combined(1.0 / angle, turn, 0.0, turn)
    s, c = math.sin(angle), math.cos(angle)
    return _combined(1.0, _combined(c, v, -s, _cross(axis, v)), (1.0 - c) * _dot(axis, v), axis)


def _turned(q: Quaternion, turn: Vector) -> Quaternion:
    """Return the orientation after a turn of the body (rotation vector in its own axes, rad), of unit length."""
    angle = math.sqrt(_dot(turn, turn))
    s = 0.5 - angle * angle / 48.0 if angle < 1e-3 else math.sin(0.5 * angle) / angle
    a, b, c, d = s * turn[0], s * turn[1], s * turn[2], math.cos(0.5 * angle)
    x, y, z, w = q
    x, y, z, w = (
        w * a + x * d + y * c - z * b,
        w * b - x * c + y * d + z * a,
        w * c + x * b - y * a + z * d,
        w * d - x * a - y * b - z * c,
    )
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    return x / norm, y / norm, z / norm, w / norm
