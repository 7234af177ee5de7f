# SPDX-License-Identifier: MIT
"""How the ball moves over the ground, for all behaviours of it: measured velocity in, joints with open gores out."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np

from shellbot_action_manager.behaviours.protocol import State
from shellbot_action_manager.behaviours.transformation import Transformation
from shellbot_action_manager.body.geometry import RobotGeometry
from shellbot_action_manager.body.legs import LowerCommand, limb_commands
from shellbot_action_manager.body.levelling import leans
from shellbot_action_manager.body.limbs import LimbCommand
from shellbot_action_manager.body.pushers import Pushers
from shellbot_action_manager.body.rolling import RollingConfig
from shellbot_action_manager.body.yielding import Yielding
from shellbot_common.rotations import rotation_from_quaternion

_AZIMUTH = np.arange(6) * np.pi / 3.0  # of the legs, rad


def unmeasured(state: State) -> str:
    """Return what of the IMU a rolling ball lacks, in words: attitude or angular velocity; empty: nothing."""
    if state.orientation is None:
        return "attitude"
    rate = state.angular_velocity
    return "" if rate is not None and np.isfinite(rate).all() else "angular velocity"


class BallDrive:
    """The gores of the ball as pushers.

    Parameters
    ----------
    config : RollingConfig
        Radius, pushers and joint rates.
    geometry : RobotGeometry
        Of a robot with upper legs.
    transformation : Transformation
        Whose posture the pushers' offsets are added to.

    Attributes
    ----------
    R_world_base : (3, 3) array
        Attitude at the last tick at which there was one.
    omega_world : (3,) array
        Angular velocity at the same tick, rad/s.
    """

    def __init__(self, config: RollingConfig, geometry: RobotGeometry, transformation: Transformation) -> None:
        assert geometry.upper is not None
        self._config, self._transformation = config, transformation
        self._yaw = float(geometry.closed_lower[0, :2].sum())
        self._pushers = Pushers(config.pushers, _AZIMUTH + self._yaw, _AZIMUTH + np.radians(geometry.upper.azimuth))
        self._yielding = Yielding(config.yielding, geometry.limbs)
        self.R_world_base, self.omega_world = np.eye(3), np.zeros(3)
        self.reset()

    def reset(self) -> None:
        """Begin with shut gores."""
        self._offset = np.zeros((6, 4))
        self._yielding.reset()

    def measure(self, state: State) -> Optional[np.ndarray]:
        """Return the velocity (2,) over the ground in level axes that do not turn, m/s; None: not measured."""
        if unmeasured(state):
            return None
        assert state.orientation is not None and state.angular_velocity is not None
        self.R_world_base = rotation_from_quaternion(state.orientation)
        self.omega_world = self.R_world_base @ state.angular_velocity
        return self._config.radius * np.array([self.omega_world[1], -self.omega_world[0]])

    @property
    def leans(self) -> Tuple[np.ndarray, np.ndarray]:
        """How far each lower gore is on the low side (6,), and how fast that grows (6,), 1/s."""
        R = self.R_world_base
        return leans(-R[2], R.T @ self.omega_world, self._yaw)

    def start_distance(self, direction: np.ndarray) -> float:
        """Return how far the ball, as it lies, would start in a level direction (2,), m."""
        return self._pushers.start_distance(self.R_world_base, direction)

    def step(
        self, dt: float, state: State, push: np.ndarray, level: bool = False, catch: Optional[np.ndarray] = None
    ) -> Dict[str, LimbCommand]:
        """Return the limbs' command of a tick.

        Parameters
        ----------
        dt : float
            s.
        state : State
            Measured.
        push : (2,) array
            Direction in level axes and fraction, length 0 to 1.
        level : bool
            Whether the ball is kept level as well, at rest on its pole.
        catch : (6, 2) array, optional
            Offsets of femurs and tibiae, rad.
        """
        goal = self._pushers.offsets(self.R_world_base, self.omega_world, push)
        if catch is not None:
            goal[:, :2] += catch
        step = np.repeat(self._config.joint_rate, 2) * dt
        self._offset = self._offset + np.clip(goal - self._offset, -step, step)
        posture = self._transformation.closed_posture(dt, state, level)
        posture[:, 2:] += self._offset
        self._transformation.unhook(dt, posture, state, ("lower", "upper"))
        limbs = limb_commands(LowerCommand(posture[:, :4], None), posture[:, 4:], None)
        return self._yielding.step(dt, limbs, state.q)
