# SPDX-License-Identifier: MIT
"""``scripts/experiment same``: the same commands to the robot that runs, such as in Gazebo, and to the chain here."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

import numpy as np
import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from robot_evaluation.console import seed_of
from robot_evaluation.errors import EvaluationError
from robot_evaluation.planar import PlanarPath
from robot_evaluation.tables import write_between_markers
from shellbot_client import Shellbot
from shellbot_common.rotations import yaw_from_quaternion

from .same_commands import CASES, REST, Case, Track, chain_tracks, compare, sampled_power, table


class Listener:
    """Keeps joint_states and ground_truth/odom."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._joints: List[Tuple[float, Tuple[float, ...], Optional[float]]] = []
        self._poses: List[Tuple[float, ...]] = []
        self.names: Tuple[str, ...] = ()
        rospy.Subscriber("joint_states", JointState, self._on_joints, queue_size=1000, tcp_nodelay=True)
        rospy.Subscriber("ground_truth/odom", Odometry, self._on_pose, queue_size=1000, tcp_nodelay=True)

    def _on_joints(self, message: JointState) -> None:
        with self._lock:
            self.names = tuple(message.name)
            self._joints.append((message.header.stamp.to_sec(), tuple(message.position), power_of(message)))

    def _on_pose(self, message: Odometry) -> None:
        p, q = message.pose.pose.position, message.pose.pose.orientation
        with self._lock:
            self._poses.append((message.header.stamp.to_sec(), p.x, p.y, q.x, q.y, q.z, q.w))

    def take(self, names: Sequence[str]) -> Track:
        """Return what came since the last call, joints in the order of `names`.

        Raises
        ------
        EvaluationError
            If a topic is silent, or a joint is missing.
        """
        with self._lock:
            joints, self._joints = self._joints, []
            poses, self._poses = np.array(self._poses), []
            own = list(self.names)
        missing = sorted(set(names) - set(own))
        if len(joints) < 2 or len(poses) < 2 or missing:
            lacks = (
                f"joint_states lack {', '.join(missing)}" if joints and missing else "joint_states or ground_truth/odom"
            )
            raise EvaluationError(
                f"{lacks}; start a simulator with the same robot, such as scripts/sim simulator:=gazebo"
            )
        order = [own.index(name) for name in names]
        q = np.array([position for _, position, _ in joints])[:, order]
        powers = [power for _, _, power in joints if power is not None]
        power = np.array(powers) if len(powers) == len(joints) else None
        yaw = np.unwrap(yaw_from_quaternion(poses[:, 3:]))
        path = PlanarPath(poses[:, 0], poses[:, 1:3], yaw)
        return Track(np.array([t for t, _, _ in joints]), q, path, power)


def power_of(message: JointState) -> Optional[float]:
    """Return the mechanical power of joint_states, W; None if they have no speed or no effort."""
    if not len(message.velocity) == len(message.effort) == len(message.name):
        return None
    return float(sampled_power(np.array(message.effort), np.array(message.velocity)))


def running_tracks(cases: Sequence[Case], names: Sequence[str]) -> List[Track]:
    """Return the cases one after the other on the robot that runs."""
    tracks = []
    with Shellbot() as robot:
        listener = Listener()
        robot.go_to("hexapod")
        robot.wait(1.0)
        listener.take(names)
        for case in cases:
            robot.drive(case.seconds, x=case.x, deg_s=case.deg_s)
            robot.wait(REST)
            tracks.append(listener.take(names))
    return tracks


def main(argv: Optional[List[str]] = None) -> int:
    """Run the comparison and print its table."""
    parser = argparse.ArgumentParser(prog="scripts/experiment same", description=__doc__)
    parser.add_argument("--seed", type=seed_of, default=1, help="of the chain in this process; 1")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table between the markers `same` of a page")
    arguments = parser.parse_args(argv)
    try:
        names, mass, ours = chain_tracks(CASES, arguments.seed)
        text = table(compare(CASES, ours, running_tracks(CASES, names), mass))
        sys.stdout.write(text + "\n")
        if arguments.write:
            write_between_markers(arguments.write, "same", text)
    except EvaluationError as error:
        sys.stderr.write(f"scripts/experiment same: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
