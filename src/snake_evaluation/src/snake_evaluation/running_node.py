# SPDX-License-Identifier: MIT
"""``scripts/experiment snake --running``: gaits and velocities of the snake that runs, such as in Gazebo, and here."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence

import numpy as np
import rosgraph
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from shellbot_common import SettingsError
from shellbot_common.publisher_node import Publisher
from shellbot_evaluation.console import run_tool, say
from shellbot_evaluation.parallel import map_jobs
from shellbot_evaluation.tables import write_between_markers
from shellbot_msgs.msg import Mode

from .commanded import BEGIN
from .cycles import WARM_UP
from .running import CYCLES, GAITS, VELOCITIES, Case, Track, embedded_step, row, table
from .snake_run import Setup, SnakeRun

_START = "start the robot, such as scripts/sim robot:=snake simulator:=gazebo"
_WAIT = 60.0  # s of wall clock without news
_PERIOD = 0.02  # s of wall clock between commands


class _Robot:
    """The robot that runs: its track, its gait, and what commands it."""

    def __init__(self) -> None:
        self._news, self._mode = threading.Condition(), Mode()
        self._commands = Publisher("cmd_vel", Twist, queue_size=1), Publisher("gait", String, queue_size=1)
        self.track: Optional[Track] = None
        self._names: List[str] = []
        rospy.Subscriber("mode", Mode, self._on_mode, queue_size=10)
        rospy.Subscriber("joint_states", JointState, self._on_joints, queue_size=1000, tcp_nodelay=True)
        rospy.Subscriber("ground_truth/odom", Odometry, self._on_pose, queue_size=1000, tcp_nodelay=True)
        self._wait(lambda: bool(self._names), f"nothing on joint_states; {_START}")
        self._wait(
            lambda: all(c.get_num_connections() for c in self._commands), f"no snake obeys cmd_vel and gait; {_START}"
        )
        self.modules = len(self._names)

    def follow(self, track: Track) -> None:
        """Write what is measured from now on into a track, which has begun when this returns."""
        with self._news:
            self.track = track
        self._wait(
            lambda: bool(track.poses and track.joints), "ground_truth/odom or joint_states stand still; is it paused?"
        )

    def step(self, case: Case, period: float) -> np.ndarray:
        """Return the mean step of a case, (3,) m and rad."""
        assert self.track is not None
        self._until(0.5)
        if case.gait:
            self._commands[1].publish(f"{case.gait} 1")
            self._wait(lambda: self._mode.step == f"{case.gait} +1", f"the gait {case.gait} does not begin")
            begin = self.track.time + WARM_UP * period
        else:
            begin = self.track.time + BEGIN + WARM_UP * period
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = case.twist
        self._until(begin - self.track.time + CYCLES * period + 0.05, None if case.gait else twist)
        return self.track.step(begin, period)

    def _until(self, seconds: float, twist: Optional[Twist] = None) -> None:
        """Let simulated time pass, with a velocity if one is given."""
        assert self.track is not None
        end, last, silent = self.track.time + seconds, self.track.time, time.monotonic() + _WAIT
        while self.track.time < end:
            if self.track.time > last:
                last, silent = self.track.time, time.monotonic() + _WAIT
            if time.monotonic() > silent or rospy.is_shutdown():
                raise SettingsError("ground_truth/odom stands still; is the simulation paused?")
            if twist is not None:
                self._commands[0].publish(twist)
            time.sleep(_PERIOD)

    def lie_still(self) -> None:
        """End what was commanded: the robot lies straight."""
        self._commands[1].publish("still 1")

    def _wait(self, condition: Callable[[], bool], failure: str) -> None:
        with self._news:
            if not self._news.wait_for(condition, _WAIT):
                mode = f"; the robot's mode: {self._mode.text}" if self._mode.text else ""
                raise SettingsError(f"{failure} (waited {_WAIT:g} s{mode})")

    def _on_mode(self, message: Mode) -> None:
        with self._news:
            self._mode = message
            self._news.notify_all()

    def _on_joints(self, message: JointState) -> None:
        angles = dict(zip(message.name, message.position))
        with self._news:
            self._names = sorted(angles)  # module_01_pitch, module_02_yaw, ...
            if self.track is not None:
                self.track.joints.append((message.header.stamp.to_sec(), [angles[name] for name in self._names]))
            self._news.notify_all()

    def _on_pose(self, message: Odometry) -> None:
        p, q = message.pose.pose.position, message.pose.pose.orientation
        with self._news:
            if self.track is not None:
                self.track.poses.append((message.header.stamp.to_sec(), (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)))
            self._news.notify_all()


def compare(cases: Sequence[Case], friction: float) -> List[Dict[str, str]]:
    """Return a row for each case, one after the other on the robot that runs.

    Raises
    ------
    SettingsError
        If there is no ROS master or no robot, it does not obey, or the simulation is paused.
    """
    if not rosgraph.is_master_online():
        raise SettingsError(f"no ROS master at {rosgraph.get_master_uri()}; {_START}")
    rospy.init_node("running", anonymous=True, disable_signals=True)
    robot = _Robot()

    def one(case: Case) -> Dict[str, str]:
        embedded = SnakeRun(Setup(modules=robot.modules, friction=friction))
        robot.follow(Track(embedded.geometry))
        return row(case, robot.step(case, case.period(embedded)), embedded_step(case, embedded))

    try:
        return map_jobs(one, [(case.name, case) for case in cases], 1)
    finally:
        robot.lie_still()


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the cases and print their table."""
    parser = argparse.ArgumentParser(prog="scripts/experiment snake --running", description=__doc__)
    parser.add_argument(
        "--gait",
        nargs="+",
        metavar="NAME",
        help="only these gaits, no velocities (default: all, and velocities, whose maps are of 16 modules)",
    )
    parser.add_argument("--friction", type=float, default=0.8, help="of the embedded simulator's floor (default 0.8)")
    parser.add_argument("--write", metavar="PAGE", help="put the table between the markers `running-snake` of a page")
    options = parser.parse_args(arguments)
    return run_tool(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    names = [case.gait for case in GAITS]
    unknown = [name for name in options.gait or () if name not in names]
    if unknown:
        raise SettingsError(f"gait {unknown[0]!r} does not exist; choose from {', '.join(names)}")
    cases = [case for case in GAITS if case.gait in options.gait] if options.gait else [*GAITS, *VELOCITIES]
    text = table(compare(cases, options.friction))
    say(text)
    if options.write:
        write_between_markers(Path(options.write), "running-snake", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
