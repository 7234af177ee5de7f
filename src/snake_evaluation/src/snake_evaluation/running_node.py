# SPDX-License-Identifier: MIT
"""``scripts/experiment snake --running``: gaits and velocities of the snake that runs, such as in Gazebo, and here."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path
from typing import Dict, List, Optional, Sequence

import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from robot_evaluation.console import add_page, run_tool, say
from robot_evaluation.parallel import map_jobs
from robot_evaluation.running_robot_node import WAIT, begin_node, loaded_robot, wait_until
from robot_evaluation.tables import write_between_markers
from shellbot_common import SettingsError
from shellbot_common.publisher_node import Publisher
from shellbot_msgs.msg import Mode
from snake_motion.config import load_engine_config
from snake_motion.from_description import read_description

from .commanded import BEGIN
from .cycles import WARM_UP
from .running import CYCLES, Case, Progress, Track, cases_of, embedded_progress, row, table
from .snake_run import SLOW, Setup, SnakeRun

_START = "start the robot, such as scripts/sim robot:=snake simulator:=gazebo"
_PAUSE = 0.5  # s before a case
_LATE = 0.1  # s by which joints may be older than the pose


class RunningSnake:
    """The robot that runs.

    Raises
    ------
    SettingsError
        If there is no ROS master, no snake, or nothing comes of it.
    """

    def __init__(self) -> None:
        begin_node(_START)
        urdf, profile, self._mass = loaded_robot(_START)
        geometry, _, _ = read_description(urdf, profile, load_engine_config())
        self._names, self.modules = list(profile.joint_names), geometry.modules
        self.time_scale = float(rospy.get_param("snake_motion/time_scale", 1.0))
        gaits_file = rospy.get_param("snake_motion/gaits_file", "")
        self.gaits_file = Path(gaits_file) if gaits_file else None
        self._news, self._mode, self._changes = threading.Condition(), Mode(), 0
        self._velocity, self._gait = Publisher("cmd_vel", Twist, queue_size=1), Publisher("gait", String, queue_size=1)
        self._track = Track(geometry)
        rospy.Subscriber("mode", Mode, self._on_mode, queue_size=10)
        rospy.Subscriber("joint_states", JointState, self._on_joints, queue_size=1000, tcp_nodelay=True)
        rospy.Subscriber("ground_truth/odom", Odometry, self._on_pose, queue_size=1000, tcp_nodelay=True)
        parts = {
            "nothing on ground_truth/odom": lambda: bool(self._track.poses),
            "nothing on joint_states": lambda: bool(self._track.joints),
            "nothing listens to gait": lambda: bool(self._gait.get_num_connections()),
            "nothing listens to cmd_vel": lambda: bool(self._velocity.get_num_connections()),
        }
        with self._news:
            for failure, has_come in parts.items():
                if not self._news.wait_for(has_come, WAIT):
                    raise SettingsError(f"{failure}; {_START}")

    def progress(self, case: Case, period: float) -> Progress:
        """Return what a case makes; the robot lies still afterwards.

        Raises
        ------
        SettingsError
            If the robot does not begin, or does something else meanwhile, or the simulation is reset or stands still.
        """
        track = self._track
        track.forget()
        try:
            self._pass(_PAUSE)
            twist = Twist()
            twist.linear.x, twist.linear.y, twist.angular.z = case.twist
            if case.gait:
                self._gait.publish(f"{case.gait} 1")
                self._begin(case)
                begin = track.time + WARM_UP * period
                self._pass(WARM_UP * period)
            else:
                self._pass(BEGIN + WARM_UP * period, twist)
                begin = track.time
            before = self._changes
            self._pass(begin - track.time + CYCLES * period + _LATE, None if case.gait else twist)
            if self._changes != before or not self._mode.step:
                raise SettingsError(f"{case.name}: the robot did something else meanwhile: {self._mode.text}")
            if abs(track.joints[-1][0] - track.time) > _LATE:
                raise SettingsError(f"{case.name}: joint_states ended at {track.joints[-1][0]:.2f} s")
            return track.progress(begin, period, self._mass)
        finally:
            self._gait.publish("still 1")

    def _begin(self, case: Case) -> None:
        limit = self._track.time + WAIT

        def has_begun() -> bool:
            if self._track.time > limit:
                raise SettingsError(f"{case.gait} does not begin within {WAIT:g} s; the robot: {self._mode.text}")
            return bool(self._mode.step == f"{case.gait} +1")

        wait_until(has_begun, lambda: self._track.time)

    def _pass(self, seconds: float, twist: Optional[Twist] = None) -> None:
        """Let simulated time pass, with a velocity if one is given."""
        end = self._track.time + seconds
        command = None if twist is None else lambda: self._velocity.publish(twist)
        wait_until(lambda: self._track.time >= end, lambda: self._track.time, command)

    def _on_mode(self, message: Mode) -> None:
        self._changes += (message.name, message.step) != (self._mode.name, self._mode.step)
        self._mode = message

    def _on_joints(self, message: JointState) -> None:
        angles = dict(zip(message.name, message.position))
        if all(name in angles for name in self._names):
            power = float(sum(max(0.0, effort * speed) for effort, speed in zip(message.effort, message.velocity)))
            stamp = message.header.stamp.to_sec()
            with self._news:
                self._track.joints.append((stamp, [angles[name] for name in self._names], power))
                self._news.notify_all()

    def _on_pose(self, message: Odometry) -> None:
        p, q = message.pose.pose.position, message.pose.pose.orientation
        with self._news:
            self._track.poses.append((message.header.stamp.to_sec(), (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)))
            self._news.notify_all()


def compare(gaits: Optional[Sequence[str]], friction: float) -> List[Dict[str, str]]:
    """Return a row for each case, one after the other on the robot that runs.

    Parameters
    ----------
    gaits : sequence of str, optional
        Names; all that this robot can do, and velocities, if not given.
    friction : float
        Of the embedded simulator's floor.

    Raises
    ------
    SettingsError
        As of `RunningSnake`, and for a gait that this robot cannot do.
    """
    robot = RunningSnake()
    servo = {scale: name for name, scale in SLOW.items()}.get(robot.time_scale, "ax")
    setup = Setup(robot.modules, servo, friction, gaits_file=robot.gaits_file)

    def one(case: Case) -> Dict[str, str]:
        embedded = SnakeRun(setup)
        running = robot.progress(case, case.period(embedded))
        found = row(case, running, embedded_progress(case, embedded))
        sys.stderr.write(f"{found['case']}: {found['running']}; here {found['embedded']}\n")  # of a run that ends early
        return found

    return map_jobs(one, [(case.name, case) for case in cases_of(SnakeRun(setup), gaits)], 1)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the cases and print their table."""
    parser = argparse.ArgumentParser(prog="scripts/experiment snake --running", description=__doc__)
    parser.add_argument(
        "--gait",
        nargs="+",
        metavar="NAME",
        help="only these gaits, no velocities (default: all that the robot can do, and velocities where it has maps)",
    )
    parser.add_argument("--friction", type=float, default=0.8, help="of the embedded simulator's floor (default 0.8)")
    add_page(parser, "running-snake")
    options = parser.parse_args(arguments)
    return run_tool(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    text = table(compare(options.gait, options.friction))
    say(text)
    if options.write:
        write_between_markers(options.write, "running-snake", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
