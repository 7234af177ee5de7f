# SPDX-License-Identifier: MIT
"""Action manager, kinematics, physics and odometry in one process, one tick of latency as on the wire."""

from __future__ import annotations

import math

import numpy as np

from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.estimation.odometry import OdometryCore
from shellbot_action_manager.interface import Feedback, OperatorCommands
from shellbot_description import expand
from shellbot_kinematics.solver import ShellbotSolver
from shellbot_simulator.config import load_config
from shellbot_simulator.simulator import Simulator

_URDF = {}


class SimulatedRobot:
    """Real cores on the real simulator; records what the figures are about."""

    def __init__(self, seed: int = 0, friction: float = 0.8, variant: str = "simulation", **config: str) -> None:
        urdf = _URDF.setdefault(variant, expand(variant))
        self.simulator = Simulator(urdf, load_config().replace(friction=friction))
        self.simulator.reset(seed=seed)
        self.solver = ShellbotSolver(urdf)
        self.core = ActionManagerCore.from_description(variant, **config)
        self.odometry = OdometryCore(self.core.config)
        self.twist = np.zeros(3)
        self.body_pose = np.zeros(6)
        self.imu = True
        self.state = self.simulator.state()
        self._under_way = None
        self.forget()

    def forget(self) -> None:
        """Begin new records."""
        self.heights, self.tilts, self.lowest, self.others, self.margins = [], [], [], set(), []

    def tick(self) -> None:
        state = self.state
        feedback = Feedback(state.q, state.imu.orientation if self.imu else None, state.imu.angular_velocity)
        commands = OperatorCommands(twist=self.twist, twist_time=state.time, body_pose=self.body_pose)
        self.output = self.core.step(state.time, commands, feedback)
        self.estimate = self.odometry.step(state.time, self.output.contacts, feedback.orientation)
        targets = None
        if self.output.references is not None:
            targets = self.solver.solve(self.output.references, state.q, 0.01).position
        if self._under_way is not None:
            self.simulator.command(self._under_way)
        self._under_way = targets
        self.simulator.step_tick()
        self.state = self.simulator.state()
        self.heights.append(self.state.p_world_base[2])
        self.tilts.append(2.0 * math.asin(min(1.0, math.hypot(*self.state.quat_world_base[:2]))))
        self.lowest.append(self.state.foot_height.min())
        self.others |= set(self.state.contacts.other_links)
        limits = self.simulator.joint_range
        self.margins.append(np.minimum(self.state.q - limits[:, 0], limits[:, 1] - self.state.q).min())

    def run(self, seconds: float, twist=(0.0, 0.0, 0.0)) -> None:
        self.twist = np.asarray(twist, dtype=float)
        for _ in range(int(round(seconds / 0.01))):
            self.tick()

    def until(self, mode: str, seconds: float = 8.0) -> None:
        self.twist = np.zeros(3)
        for _ in range(int(seconds / 0.01)):
            self.tick()
            status = self.output.mode
            if (status.name, status.target.label, status.step) == (mode, mode, ""):
                return
        raise AssertionError(f"not in mode {mode} after {seconds} s: {self.output.mode}")

    def truth(self) -> np.ndarray:
        """x, y in m and yaw in rad of the body."""
        q = self.state.quat_world_base
        return np.array([*self.state.p_world_base[:2], 2.0 * math.atan2(q[2], q[3])])

    def go(self, axis: int, goal: float, speed: float) -> np.ndarray:
        """Move along one axis until the robot's own odometry says so; return the true motion seen from the start."""
        start, own, turned, last = self.truth(), self.estimate, 0.0, self.estimate.yaw
        true_turn, true_last = 0.0, start[2]
        brake = 0.7 * self.output.walkspace.max_acceleration[axis]
        self.twist = np.zeros(3)
        done = 0.0
        for _ in range(3000):
            rest = abs(goal) - abs(done)
            if rest < 0.001:
                break
            self.twist[axis] = math.copysign(min(speed, math.sqrt(2.0 * brake * rest) + 0.01), goal)
            self.tick()
            c, s = math.cos(own.yaw), math.sin(own.yaw)
            dx, dy = self.estimate.x - own.x, self.estimate.y - own.y
            turned += math.remainder(self.estimate.yaw - last, 2.0 * math.pi)
            last = self.estimate.yaw
            done = (c * dx + s * dy, c * dy - s * dx, turned)[axis]
            true_turn, true_last = self._follow(true_turn, true_last)
        else:
            raise AssertionError("30 s were not enough")
        self.twist = np.zeros(3)
        for _ in range(120):
            self.tick()
            true_turn, true_last = self._follow(true_turn, true_last)
        end, (c, s) = self.truth(), (math.cos(start[2]), math.sin(start[2]))
        dx, dy = end[:2] - start[:2]
        return np.array([c * dx + s * dy, c * dy - s * dx, true_turn])

    def _follow(self, turn: float, last: float):
        yaw = self.truth()[2]
        return turn + math.remainder(yaw - last, 2.0 * math.pi), yaw
