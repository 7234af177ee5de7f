# SPDX-License-Identifier: MIT
"""``scripts/experiment humanoid --running``: the walks of `running` with the humanoid that runs, such as in Gazebo."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import rosgraph
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from humanoid_evaluation.campaign import campaign_table
from humanoid_evaluation.running import FALLEN, WALKS, Sample, Walk, campaign_walks, measured, score, table
from humanoid_motion.planar import wrapped
from shellbot_common import SettingsError
from shellbot_common.publisher_node import Publisher
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_evaluation.console import run_tool, say
from shellbot_evaluation.journal import Journal
from shellbot_evaluation.parallel import map_jobs
from shellbot_evaluation.reports import machine, write_json
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


class RunningHumanoid:
    """The robot that runs.

    Raises
    ------
    SettingsError
        If there is no ROS master or no robot.
    """

    def __init__(self) -> None:
        if not rosgraph.is_master_online():
            raise SettingsError(f"no ROS master at {rosgraph.get_master_uri()}; {_START}")
        rospy.init_node("running", anonymous=True, disable_signals=True)
        self._command = Publisher("cmd_vel", Twist, queue_size=1)
        self._truth, self._odometry = _Listener("ground_truth/odom"), _Listener("odom")
        self._truth.wait()
        self._odometry.wait()

    def walk(self, walk: Walk) -> Tuple[List[Sample], List[Sample]]:
        """Walk, and return truth and odometry from standing to standing, or lying.

        Raises
        ------
        SettingsError
            If the robot lies on the ground, or the simulation is paused.
        """
        truth, odometry = self._truth, self._odometry
        _rest(truth)
        if truth.samples[-1][5] > FALLEN:
            raise SettingsError(f"the robot has fallen, so {walk.name} was not begun; {_START} anew")
        first, first_own = len(truth.samples) - 1, len(odometry.samples) - 1
        _drive(walk, self._command, truth, odometry)
        _rest(truth)
        return truth.samples[first:], odometry.samples[first_own:]

    def run(self, job: Tuple[Walk, int]) -> Dict[str, Any]:
        """Return a run of the campaign; the number of the job only distinguishes it."""
        return measured(job[0], *self.walk(job[0]))


def run_walks(walks: Sequence[Walk]) -> List[Dict[str, object]]:
    """Return a row for each walk, one after the other; those after a fall are left out."""
    robot = RunningHumanoid()
    rows: List[Dict[str, object]] = []
    for walk in walks:
        rows.append(score(walk, *robot.walk(walk)))
        if rows[-1]["fell"] == "yes":
            break
    return rows


def run_campaign(repetitions: int, file: Optional[Path]) -> List[Dict[str, Any]]:
    """Return all runs of the thesis's cases; with a file they are written there, and an interrupted campaign goes on.

    Raises
    ------
    EvaluationError
        If the journal beside the file is none of this campaign and code, or cannot be written.
    SettingsError
        After a fall: the robot does not get up everywhere. With a file the same command goes on.
    """
    with Journal.beside(file, "humanoid campaign over ROS") as journal:
        runs = map_jobs(RunningHumanoid().run, campaign_walks(repetitions), 1, None, journal)
        if file is not None:
            write_json(file, {"machine": machine(), "runs": runs})
    return runs


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
    parser.add_argument("--campaign", action="store_true", help="the thesis's 9 + 12 cases; --json FILE resumes")
    parser.add_argument("--repetitions", type=int, default=7, metavar="N", help="of each case of the campaign; 7")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the runs of the campaign there")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="put the table between the markers `running` of a page, or `running-campaign`",
    )
    options = parser.parse_args(arguments)
    return run_tool(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if options.json and not options.campaign:
        raise SettingsError("--json is for the runs of the campaign; add --campaign")
    if options.campaign:
        if options.repetitions < 1:
            raise SettingsError(f"--repetitions is {options.repetitions}; give at least 1")
        runs = run_campaign(options.repetitions, options.json)
        marker, text, fell = "running-campaign", campaign_table(runs), any(run["fell"] for run in runs)
    else:
        rows = run_walks(WALKS)
        marker, text, fell = "running", table(rows), any(row["fell"] == "yes" for row in rows)
    say(text)
    if options.write:
        write_between_markers(options.write, marker, text)
    return int(fell)


if __name__ == "__main__":
    sys.exit(main())
