# SPDX-License-Identifier: MIT
"""``scripts/experiment humanoid --running``: the walks of `running` with the humanoid that runs, such as in Gazebo."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Dict, List, Optional, Sequence

import rosgraph
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from humanoid_evaluation.running import FALLEN, WALKS, Sample, Walk, score, table
from humanoid_motion.planar import wrapped
from shellbot_common import SettingsError
from shellbot_common.publisher_node import Publisher
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_evaluation.console import run_tool, say
from shellbot_evaluation.tables import write_between_markers

_START = "start the robot, such as scripts/sim robot:=humanoid simulator:=gazebo"
_WAIT = 30.0  # s of wall clock for the first message
_REST = 1.5  # s of simulated time before and after each walk
_PERIOD = 0.02  # s of wall clock between commands


class _Listener:
    def __init__(self, topic: str) -> None:
        self.samples: List[Sample] = []
        self._topic = topic
        rospy.Subscriber(topic, Odometry, self._on_message, queue_size=1000, tcp_nodelay=True)

    def _on_message(self, message: Odometry) -> None:
        place, q = message.pose.pose.position, message.pose.pose.orientation
        roll, pitch, yaw = rpy_from_quaternion(q.x, q.y, q.z, q.w)
        if self.samples:
            yaw = self.samples[-1][3] + wrapped(yaw - self.samples[-1][3])
        stamp = message.header.stamp.to_sec()
        self.samples.append((stamp, place.x, place.y, yaw, place.z, max(abs(roll), abs(pitch))))

    def wait(self) -> None:
        end = time.monotonic() + _WAIT
        while not self.samples:
            if time.monotonic() > end or rospy.is_shutdown():
                raise SettingsError(f"nothing on {self._topic}; {_START}")
            time.sleep(_PERIOD)


def run_walks(walks: Sequence[Walk]) -> List[Dict[str, object]]:
    """Return a row for each walk, one after the other; those after a fall are left out.

    Raises
    ------
    SettingsError
        If there is no ROS master or no robot, or the simulation is paused.
    """
    if not rosgraph.is_master_online():
        raise SettingsError(f"no ROS master at {rosgraph.get_master_uri()}; {_START}")
    rospy.init_node("running", anonymous=True, disable_signals=True)
    command = Publisher("cmd_vel", Twist, queue_size=1)
    truth, odometry = _Listener("ground_truth/odom"), _Listener("odom")
    truth.wait()
    odometry.wait()
    rows: List[Dict[str, object]] = []
    for walk in walks:
        _rest(truth)
        first, first_own = len(truth.samples) - 1, len(odometry.samples) - 1
        _drive(walk, command, truth, odometry)
        _rest(truth)
        rows.append(score(walk, truth.samples[first:], odometry.samples[first_own:]))
        if truth.samples[-1][5] > FALLEN:
            break
    return rows


def _drive(walk: Walk, command: Publisher, truth: _Listener, odometry: _Listener) -> None:
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = walk.twist
    start, begin = odometry.samples[-1], truth.samples[-1][0]
    while not walk.is_done(start[1:4], odometry.samples[-1][1:4]):
        now = truth.samples[-1]
        if now[5] > FALLEN or now[0] > begin + walk.limit or rospy.is_shutdown():
            break
        command.publish(message)
        time.sleep(_PERIOD)
    command.publish(Twist())


def _rest(truth: _Listener) -> None:
    end = truth.samples[-1][0] + _REST
    silent = time.monotonic() + _WAIT
    while truth.samples[-1][0] < end:
        if time.monotonic() > silent:
            raise SettingsError("ground_truth/odom stands still; is the simulation paused?")
        time.sleep(_PERIOD)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the walks and print their table; returns 0, 1 after a fall."""
    parser = argparse.ArgumentParser(prog="scripts/experiment humanoid --running", description=__doc__)
    parser.add_argument("--write", metavar="PAGE", help="put the table between the markers `running` of a page")
    options = parser.parse_args(arguments)
    return run_tool(lambda: _run(options.write))


def _run(page: Optional[str]) -> int:
    rows = run_walks(WALKS)
    say(table(rows))
    if page:
        write_between_markers(Path(page), "running", table(rows))
    return int(any(row["fell"] == "yes" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
