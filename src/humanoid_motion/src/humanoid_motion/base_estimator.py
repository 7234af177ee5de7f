# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False
"""Where the base is: attitude from the IMU, place from the material points of the loaded soles, which do not slip."""

from __future__ import annotations

import math
from typing import Optional, Tuple

import numpy as np

from humanoid_motion.body_model import G, Posture
from humanoid_motion.interface import Feedback
from humanoid_motion.planar import applied, clamped, rotation_of, undone_times, wrapped
from humanoid_motion.sole_odometry import SoleOdometry
from robot_mechanics.native.jit import kernel
from shellbot_common import TICK
from shellbot_common.rotations import rpy_from_quaternion

# of a foot that landed, for the heading: ticks after which it rests, and the power of its trust on its time
_SETTLED, _TRUST_POWER = 10.0, 4.0
_LANDS_TURNING = 9e-4  # rad in a tick: a foot that turns faster as it lands slides more than the one that lifts
# of the floor's slope on that of the loaded soles, per tick: plates come fast, but soles tilt in a push, too
_FLOOR_GAIN = 0.02
_SAME_HEIGHT, _HIGHEST_STEP = 0.001, 0.015  # m: dead band of the height of a foot that lands, and the most of it
_STEEPEST = 0.17  # sine of the slope
# of the heading on the IMU's, per tick; between, it follows the gyroscope. In the first ticks the IMU's mean is zero.
_HEADING_GAIN, _FIRST = 0.05, 100
_LOADED = 4.0  # N: below it a sole's centre of pressure is noise
_PRESSED = 5.0  # N, of both


@kernel
def _points(rotations, places, inside):
    """Return a point (s, 3) inside each sole frame in the root's frame."""
    points = places.copy()
    for s in range(len(points)):
        x, y, z = applied(rotations[s], inside[s, 0], inside[s, 1], inside[s, 2])
        points[s, 0] += x
        points[s, 1] += y
        points[s, 2] += z
    return points


@kernel
def _take_wrenches(wrenches, sole_points, rolled, loaded, loads, trusted):
    """Set centres of pressure and how they moved, ticks since landing, loads and trusts from the soles' wrenches."""
    rolled[:] = -sole_points
    for s in range(len(loads)):
        force = max(wrenches[s, 2], 0.0)
        loads[s] = force if force > _LOADED else 0.0
        loaded[s] = loaded[s] + 1.0 if loads[s] > 0.0 else 0.0
        trusted[s] = loads[s] * (min(loaded[s], _SETTLED) / _SETTLED) ** _TRUST_POWER
        if loads[s] > 0.0:
            sole_points[s, 0] = clamped(-wrenches[s, 4] / wrenches[s, 2], -0.06, 0.11)
            sole_points[s, 1] = clamped(wrenches[s, 3] / wrenches[s, 2], -0.06, 0.06)
    rolled += sole_points


@kernel
def _turn(former, old, new, floor, rpy, before, now, apart):
    """Return the turn of the loaded soles, rad, if the base had not turned since `former`, and of one to the other.

    Both trusts of a sole count, `before` the tick and `now`: one that has just lost its load bore it for most of the
    tick. It slides as it does so; and so does the other, which lands, if it turned in the air: `apart`, rad, is what
    they turned against each other in the tick before.
    """
    rotation, turns, trusted = undone_times(floor, rotation_of(rpy[0], rpy[1], rpy[2])), np.empty(2), before + now
    for s in range(2):
        x, y, _ = applied(former, old[s, 0, 0], old[s, 1, 0], old[s, 2, 0])
        ahead, aside, _ = applied(rotation, new[s, 0, 0], new[s, 1, 0], new[s, 2, 0])
        turns[s] = wrapped(math.atan2(aside, ahead) - math.atan2(y, x))
    for s in range(2):
        if now[s] == 0.0 and before[s] > 0.0 and now[1 - s] > 0.0:
            trusted[s] = apart * apart / (apart * apart + _LANDS_TURNING * _LANDS_TURNING)
            trusted[1 - s] = 1.0 - trusted[s]
    turn = (trusted[0] * turns[0] + trusted[1] * turns[1]) / trusted.sum()
    return turn, abs(turns[0] - turns[1])


@kernel
def _find_floor(floor, upright, soles, loads, gain):
    """Let the floor (3, 3) follow the loaded soles' normal."""
    nx, ny, nz = 0.0, 0.0, 0.0
    for s in range(len(loads)):
        x, y, z = applied(upright, soles[s, 0, 2], soles[s, 1, 2], soles[s, 2, 2])
        nx, ny, nz = nx + loads[s] * x, ny + loads[s] * y, nz + loads[s] * z
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    x, y = floor[0, 2] + gain * (nx / length - floor[0, 2]), floor[1, 2] + gain * (ny / length - floor[1, 2])
    steep = math.hypot(x, y)
    if steep > _STEEPEST:
        x, y = x * _STEEPEST / steep, y * _STEEPEST / steep
    # the shortest rotation that leads z there
    z = math.sqrt(1.0 - x * x - y * y)
    k = 1.0 / (1.0 + z)
    floor[0], floor[1], floor[2] = (1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)


@kernel
def _acceleration(former, rotation, specific_force, gravity):
    """Return the acceleration (3,) in the odometry frame, by the middle of the attitudes before and after."""
    x, y, z = specific_force[0], specific_force[1], specific_force[2]
    one, other = applied(former, x, y, z), applied(rotation, x, y, z)
    found = np.empty(3)
    for k in range(3):
        found[k] = 0.5 * (one[k] + other[k]) + gravity[k]
    return found


@kernel
def rpy_of(rotation: np.ndarray) -> Tuple[float, float]:
    """Return roll and pitch of a rotation (3, 3), rad."""
    return math.atan2(rotation[2, 1], rotation[2, 2]), math.asin(clamped(-rotation[2, 0], -1.0, 1.0))


@kernel
def _stand(rpy, floor, gravity, soles, sole_points, loads, gain):
    """Set floor and gravity; return rotation, roll and pitch of the base, and where the soles press, (s, 3), in it."""
    upright = rotation_of(rpy[0], rpy[1], rpy[2])
    if gain > 0.0:
        _find_floor(floor, upright, soles[0], loads, gain)
        gravity[:] = -G * floor[2]
    rotation = undone_times(floor, upright)
    roll, pitch = rpy_of(rotation)
    return rotation, roll, pitch, _points(soles[0], soles[1], sole_points)


@kernel
def _move(place, heights, former, rotation, unit, scale, at, loads, arm, is_new_floor):
    """Move the base (3,) as its unit went from one row of `unit` (2, 2) to the other; set its height over the soles."""
    # what keeps its place as the attitude changes: the unit, and the soles where a floor is found
    total, still = loads.sum(), arm.copy()
    if is_new_floor:
        for k in range(3):
            still[k] = (loads[0] * at[0, k] + loads[1] * at[1, k]) / total
    now, earlier = applied(rotation, still[0], still[1], still[2]), applied(former, still[0], still[1], still[2])
    for k in range(2):
        place[k] += scale * (unit[1, k] - unit[0, k]) - now[k] + earlier[k]
        unit[0, k] = unit[1, k]
    if total > 0.0:
        height = 0.0
        for s in range(2):
            height += loads[s] * (heights[s] - applied(rotation, at[s, 0], at[s, 1], at[s, 2])[2])
        place[2] = height / total


@kernel
def _pressure(place, rotation, soles, sole_points, wrenches, pressure):
    """Return where the ground presses, (2,); `pressure` if it hardly does."""
    points = _points(soles[0], soles[1], sole_points)
    x, y, total = 0.0, 0.0, 0.0
    for s in range(len(points)):
        force = max(wrenches[s, 2], 0.0)
        dx, dy, _ = applied(rotation, points[s, 0], points[s, 1], points[s, 2])
        x, y, total = x + force * (place[0] + dx), y + force * (place[1] + dy), total + force
    return np.array([x / total, y / total]) if total > _PRESSED else pressure.copy()


@kernel
def _sole_pose(place, rotation, sole_rotation, sole_place):
    x, y, _ = applied(rotation, sole_place[0], sole_place[1], sole_place[2])
    ahead, aside, _ = applied(rotation, sole_rotation[0, 0], sole_rotation[1, 0], sole_rotation[2, 0])
    return np.array([place[0] + x, place[1] + y, math.atan2(aside, ahead)])


class BaseEstimator:
    """Odometry at the loaded feet.

    The base moves against the point of each loaded sole under its centre of pressure (`SoleOdometry`). A foot rolls
    over its edges, so no other point of it rests (with the ankle as the fixed point, 7 to 18 % are lost). The height
    comes from the same points. The floor is where the loaded soles lie: its slope is that of the soles against
    gravity, and the odometry frame lies in it.

    Parameters
    ----------
    scale : float
        True distance over the one so found, from calibration: in a tick with an impact the accelerometer does not say
        when it came.
    heading : str
        ``imu``, or ``feet`` for a unit without yaw: the loaded soles do not turn either.
    imu : (3,) array, optional
        Where the inertial unit is in the root link, m.

    Attributes
    ----------
    place : (3,) array
        Of the root link in the odometry frame, m.
    rotation : (3, 3) array
        Root link to odometry frame.
    roll, pitch, yaw : float
        The same as angles, rad.
    heights : (2,) array
        Of the floor under each sole, odometry frame, m; `measure_height` finds that of a foot that lands.
    sole_points : (2, 3) array
        Centre of pressure of each sole in its own frame, m.
    gravity : (3,) array
        In the odometry frame, m/s^2.
    """

    def __init__(self, scale: float = 1.0, heading: str = "imu", imu: Optional[np.ndarray] = None) -> None:
        self._scale, self._heading = scale, heading
        self._imu = np.zeros(3) if imu is None else imu
        self._soles, self._unit = SoleOdometry(self._imu), np.zeros((2, 2))  # its place a tick before and now
        self.place, self.rotation = np.zeros(3), np.eye(3)
        self.roll = self.pitch = self.yaw = 0.0
        self.heights = np.zeros(2)
        self.sole_points = np.zeros((2, 3))
        self._rolled = np.zeros((2, 3))  # how far the centres of pressure moved in a tick
        self._loaded = np.zeros(2)  # ticks since each foot landed
        self._loads, self._trusted = np.zeros(2), np.zeros(2)  # N
        self._apart = 0.0  # rad: how far the soles turned against each other in the last tick
        self._yaw_start, self._yaw_rate, self._ticks = 0.0, 0.0, 0
        self._before: Optional[Posture] = None
        self.gravity = np.array([0.0, 0.0, -G])
        self._floor = np.eye(3)  # odometry frame to one with the same x-z plane in which gravity is vertical
        self._is_on_floor = False

    def update(self, posture: Posture, feedback: Feedback) -> None:
        """Take one tick.

        Parameters
        ----------
        posture : Posture
            At the measured joint angles.
        feedback : Feedback
            Attitude, rates, soles' wrenches and specific force of the same tick.
        """
        wrenches, rates, specific_force = feedback.wrenches, feedback.rates, feedback.specific_force
        roll, pitch, yaw = rpy_from_quaternion(*feedback.attitude)
        loads, trusted, trusted_before = self._loads, self._trusted, self._trusted.copy()
        _take_wrenches(wrenches, self.sole_points, self._rolled, self._loaded, loads, trusted)
        is_loaded, before, former = loads[0] > 0.0 or loads[1] > 0.0, self._before, self.rotation
        rotations, places = posture.sole_rotation, posture.sole_place
        if self._heading == "imu":
            self._follow(yaw, (math.sin(roll) * rates[1] + math.cos(roll) * rates[2]) / math.cos(pitch))
        elif before is not None and is_loaded:
            soles, trusts = (before.sole_rotation, rotations), (trusted_before, trusted)
            turn, self._apart = _turn(former, *soles, self._floor, (roll, pitch, self.yaw), *trusts, self._apart)
            self.yaw = wrapped(self.yaw - turn)
        is_new_floor = is_loaded and not self._is_on_floor
        gain = 1.0 if is_new_floor else _FLOOR_GAIN if is_loaded else 0.0
        self._is_on_floor = self._is_on_floor or is_loaded
        attitude, soles = (roll, pitch, self.yaw), (rotations, places)
        self.rotation, self.roll, self.pitch, at = _stand(
            attitude, self._floor, self.gravity, soles, self.sole_points, loads, gain
        )
        if before is None:
            former = self.rotation
        else:
            turns, known = (former, self.rotation), specific_force is not None
            acceleration = _acceleration(*turns, specific_force, self.gravity) if known else None
            self._unit[1] = self._soles.step(
                acceleration, turns, before.sole_rotation, at, self._rolled, self._loaded, loads
            )
        base = self.place, self.heights, former, self.rotation
        _move(*base, self._unit, self._scale, at, loads, self._imu, is_new_floor)
        self._before = posture

    def _follow(self, yaw: float, rate: float) -> None:
        """Take the IMU's heading, rad, and the rate of it, rad/s; the heading as it is after a fall."""
        self._ticks += 1
        if self._ticks > 1:
            self.yaw = wrapped(self.yaw + 0.5 * (rate + self._yaw_rate) * TICK)
        self._yaw_rate = rate
        error = wrapped(yaw - self._yaw_start - self.yaw)
        if self._ticks <= _FIRST:
            self._yaw_start += error / self._ticks
        else:
            self.yaw = wrapped(self.yaw + (1.0 if self._before is None else _HEADING_GAIN) * error)

    def pressure(self, posture: Posture, wrenches: np.ndarray, former: np.ndarray) -> np.ndarray:
        """Return the centre of pressure (2,), odometry frame, m; the former one while the feet carry nothing."""
        soles = posture.sole_rotation, posture.sole_place
        return np.asarray(_pressure(self.place, self.rotation, soles, self.sole_points, wrenches, former))

    def point(self, point: np.ndarray) -> np.ndarray:
        """Return a point (3,) of the base's frame in the odometry frame, (2,), m."""
        x, y, _ = applied(self.rotation, point[0], point[1], point[2])
        return np.array([self.place[0] + x, self.place[1] + y])

    def measure_height(self, posture: Posture, side: int) -> None:
        """Take the floor's height under a foot that has just landed from the other foot's."""
        points_base = _points(posture.sole_rotation, posture.sole_place, self.sole_points)
        step = float((self.rotation @ (points_base[side] - points_base[1 - side]))[2])
        step = math.copysign(min(max(abs(step) - _SAME_HEIGHT, 0.0), _HIGHEST_STEP), step)
        self.heights[side] = self.heights[1 - side] + step

    def lift(self) -> None:
        """Forget where the soles touched: the next tick finds them elsewhere."""
        self._before, self._loaded = None, np.zeros(2)
        self._soles.lift()
        self._is_on_floor = False

    def sole_poses(self, posture: Posture) -> np.ndarray:
        """Return where the soles are on the floor, (2, 3): x, y, yaw in the odometry frame."""
        soles = zip(posture.sole_rotation, posture.sole_place)
        return np.array([_sole_pose(self.place, self.rotation, rotation, place) for rotation, place in soles])
