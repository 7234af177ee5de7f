# SPDX-License-Identifier: MIT
"""Drives a ball by its own odometry, and compares that with the truth."""

from __future__ import annotations

import math
from typing import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from shellbot_action_manager.body.roll_to import RollTo
from shellbot_chain.chain import Chain
from shellbot_common import TICK
from shellbot_common.rotations import rotation_2d

from .torque_limit import TorqueLimit

LIMIT_S = 15.0
NAN = float("nan")


class Roller:
    """Commands a rolling chain and compares its odometry with the truth.

    Parameters
    ----------
    chain : Chain
        In mode shell.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.path_m, self.torque = 0.0, TorqueLimit(chain)
        self._start_truth, self._start_own = self.truth, self.own
        self._turn = rotation_2d(_yaw_of_odom(chain))  # of odom's axes against the world's

    @property
    def truth(self) -> np.ndarray:
        """True place (2,), m, in the world."""
        return self.chain.state.p_world_base[:2].copy()

    @property
    def own(self) -> np.ndarray:
        """Place (2,), m, in odom, as the robot estimates it."""
        return np.array(self.chain.odom[:2])

    @property
    def odometry_error(self) -> float:
        """Distance of the own from the true displacement, as a fraction of the path."""
        moved = self._turn @ (self.own - self._start_own)
        return float(np.linalg.norm(moved - (self.truth - self._start_truth))) / max(self.path_m, 1e-6)

    def in_world(self, vector: np.ndarray) -> np.ndarray:
        """Return a vector (2,) of odom's axes in those of the world."""
        return self._turn @ vector

    def tick(self, v_odom: np.ndarray) -> None:
        """Command a velocity (2,) in odom's axes, m/s, and advance by a tick."""
        estimate = self.chain.estimate
        assert estimate is not None
        forward, left = rotation_2d(-estimate.yaw) @ v_odom
        self._command(forward, left)

    def for_time(self, v_odom: np.ndarray, seconds: float) -> None:
        """Command a velocity (2,) in odom's axes, m/s, for so many seconds."""
        for _ in range(int(round(seconds / TICK))):
            self.tick(v_odom)

    def until(self, v_odom: np.ndarray, condition: Callable[[], bool], limit_s: float = LIMIT_S) -> float:
        """Command a velocity until a condition holds; return how long it took, s, NaN beyond the limit."""
        for i in range(int(round(limit_s / TICK))):
            self.tick(v_odom)
            if condition():
                return (i + 1) * TICK
        return NAN

    def stop(self, seconds: float = 2.0) -> float:
        """Command zero; return how far it still rolled, m."""
        start = self.truth
        self.for_time(np.zeros(2), seconds)
        return float(np.linalg.norm(self.truth - start))

    def go(self, goal_odom: np.ndarray, limit_s: float = LIMIT_S) -> float:
        """Roll to a point (2,) in odom and stop there; return how long it took, s, NaN beyond the limit."""
        guide = RollTo(goal_odom)
        for i in range(int(round(limit_s / TICK))):
            estimate = self.chain.estimate
            assert estimate is not None
            self._command(*guide.twist(TICK, self.chain.odom, estimate.twist[:2].tolist()))
            if guide.arrived:
                return (i + 1) * TICK
        return NAN

    def _command(self, forward: float, left: float) -> None:
        before = self.truth
        self.chain.command_twist((forward, left, 0.0))
        self.chain.tick()
        self.torque.step()
        self.path_m += float(np.linalg.norm(self.truth - before))


def _yaw_of_odom(chain: Chain) -> float:
    """Return by how much the axes of odom are turned against those of the world, rad."""
    output, estimate = chain.output, chain.estimate
    assert output is not None and output.contacts is not None and estimate is not None
    if not chain.config.raw_imu:  # the IMU's own axes are those of the world
        heading = output.contacts.heading
        assert heading is not None  # a ball has one
        return heading - estimate.yaw
    R_odom_base = Rotation.from_euler("z", estimate.yaw) * Rotation.from_quat(estimate.quat_footprint_base)
    R_world_odom = (Rotation.from_quat(chain.state.quat_world_base) * R_odom_base.inv()).as_matrix()
    return math.atan2(R_world_odom[1, 0], R_world_odom[0, 0])
