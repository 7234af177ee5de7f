# SPDX-License-Identifier: MIT
"""A robot whose joints are at once where they are told to be: for tests of what is told."""

from __future__ import annotations

import math

import numpy as np

from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.interface import ActionOutput, Feedback, OperatorCommands
from shellbot_description import named_pose_array
from shellbot_kinematics import Frame, pack_references

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


class EchoRobot:
    """Runs a core against perfect joints; the yaw is the integral of what the standing feet do."""

    def __init__(self, core: ActionManagerCore, pose: str = "spawn", variant: str = "simulation") -> None:
        self.core = core
        self.q = named_pose_array(pose, variant).copy()
        self.orientation, self.angular_velocity = LEVEL, np.zeros(3)
        self.t = 0.0
        self.commands = OperatorCommands()
        self.output: ActionOutput = None  # type: ignore[assignment]
        self.history = []
        #: x, y, yaw in odom, by the commanded twist, which then turns the IMU, too; None: the robot has no odometry
        self.pose = None

    def tick(self, **commands) -> ActionOutput:
        """One tick of 10 ms; a twist given here is fresh."""
        self.t = round(self.t + 0.01, 9)
        if "twist" in commands:
            commands["twist"] = np.asarray(commands["twist"], dtype=float)
            commands.setdefault("twist_time", self.t)
        if commands:
            self.commands = OperatorCommands(**{**self.commands.__dict__, **commands})
        feedback = Feedback(self.q.copy(), self.orientation, self.angular_velocity, self.pose)
        self.output = self.core.step(self.t, self.commands, feedback)
        if self.pose is not None:
            (vx, vy, wz), yaw = self.core.twist, self.pose[2]
            v = (math.cos(yaw) * vx - math.sin(yaw) * vy, math.sin(yaw) * vx + math.cos(yaw) * vy, wz)
            self.pose = self.pose + 0.01 * np.array(v)
            self.pose[2] = math.remainder(self.pose[2], math.tau)
            self.orientation = yaw_quaternion(self.pose[2])
        self.apply(self.output)
        self.history.append((self.t, self.q.copy(), self.output))
        return self.output

    def apply(self, output: ActionOutput) -> None:
        """Move the joints to the references."""
        if output.references is not None:
            references = pack_references(output.references)
            legs = self.core.geometry.legs
            lower = self.q[:24].reshape(6, 4)
            lower[:, 0] = references.fan_position
            if references.frame[0] == Frame.FOOT:
                lower[:, 1:] = legs.solve(references.p_base[:6][:, None, :])[:, 0]
            else:
                lower[:, 1:] = references.joint_position[:6]
            if self.q.size > 24:
                self.q[24:] = references.joint_position[6:, :2].ravel()
            assert not np.isnan(self.q).any(), "a reference is out of reach"

    def run(self, seconds: float, **commands) -> ActionOutput:
        """Several ticks with the same commands."""
        for _ in range(int(round(seconds / 0.01))):
            self.tick(**commands)
        return self.output

    def until(self, mode: str, seconds: float = 8.0) -> ActionOutput:
        """Tick until a mode is reached and the robot does nothing any more."""
        for _ in range(int(seconds / 0.01)):
            out = self.tick()
            if out.mode.name == mode and out.mode.target.label == mode and out.mode.step == "":
                return out
        raise AssertionError(f"not in mode {mode} after {seconds} s: {self.output.mode}")

    def largest_step(self) -> float:
        """Largest change of a joint from one tick to the next, rad."""
        q = np.array([row[1] for row in self.history])
        return float(np.abs(np.diff(q, axis=0)).max())


def yaw_quaternion(yaw: float) -> np.ndarray:
    """Quaternion x, y, z, w of a heading."""
    return np.array([0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)])
