# SPDX-License-Identifier: MIT
"""``scripts/experiment humanoid --running``: the walks of `running` with the humanoid that runs, such as in Gazebo."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from humanoid_evaluation.campaign import campaign_table
from humanoid_evaluation.running import FALLEN, WALKS, Sample, Walk, campaign_walks, measured, score, table
from robot_evaluation.console import file_of, run_tool, say
from robot_evaluation.journal import Journal
from robot_evaluation.metrics import mechanical_power, work_of
from robot_evaluation.parallel import map_jobs
from robot_evaluation.planar import YawUnwrapper
from robot_evaluation.reports import machine, write_json
from robot_evaluation.running_robot_node import PERIOD, WAIT, begin_node, loaded_robot, wait_until
from robot_evaluation.running_trace_node import RunningTrace
from robot_evaluation.tables import split_at_markers, write_between_markers
from shellbot_common import SettingsError
from shellbot_common.publisher_node import Publisher
from shellbot_common.rotations import rpy_from_quaternion

_START = "start the robot, such as scripts/sim robot:=humanoid simulator:=gazebo"
_REPETITIONS = 7  # of the thesis
_REST = 1.5  # s of simulated time before and after each walk


class _Listener:
    def __init__(self, topic: str) -> None:
        self.samples: List[Sample] = []
        self._topic, self._turns = topic, YawUnwrapper()
        rospy.Subscriber(topic, Odometry, self._on_message, queue_size=1000, tcp_nodelay=True)

    def _on_message(self, message: Odometry) -> None:
        place, q = message.pose.pose.position, message.pose.pose.orientation
        roll, pitch, yaw = rpy_from_quaternion(q.x, q.y, q.z, q.w)
        stamp, tilt = message.header.stamp.to_sec(), max(abs(roll), abs(pitch))
        self.samples.append((stamp, place.x, place.y, self._turns.update(yaw), place.z, tilt))

    def wait(self) -> None:
        end = time.monotonic() + WAIT
        while not self.samples:
            if time.monotonic() > end or rospy.is_shutdown():
                raise SettingsError(f"nothing on {self._topic}; {_START}")
            time.sleep(PERIOD)


class RunningHumanoid:
    """The robot that runs.

    Raises
    ------
    SettingsError
        If there is no ROS master or no robot.
    """

    def __init__(self) -> None:
        begin_node(_START)
        _, profile, self._mass = loaded_robot(_START)
        self._topics = RunningTrace(profile.joint_names)
        self._command = Publisher("cmd_vel", Twist, queue_size=1)
        self._truth, self._odometry = _Listener("ground_truth/odom"), _Listener("odom")
        self._truth.wait()
        self._odometry.wait()

    def walk(self, walk: Walk) -> Tuple[List[Sample], List[Sample], float, float]:
        """Walk, and return truth and odometry from standing to standing, or lying, work of the joints, J, and mass, kg.

        Raises
        ------
        SettingsError
            If the robot lies on the ground or does not arrive, or the simulation is reset or stands still.
        EvaluationError
            If it publishes no joint_states.
        """
        self._rest()
        if self._has_fallen:
            raise SettingsError(f"the robot has fallen, so {walk.name} was not begun; {_START} anew")
        first, first_own = len(self._truth.samples) - 1, len(self._odometry.samples) - 1
        self._topics.forget()
        self._drive(walk)
        self._rest()
        trace = self._topics.trace()
        work = work_of(trace, mechanical_power(trace))
        return self._truth.samples[first:], self._odometry.samples[first_own:], work, self._mass

    def run(self, job: Tuple[Walk, int]) -> Dict[str, Any]:
        """Return a run of the campaign; the number of the job only distinguishes it."""
        return measured(job[0], *self.walk(job[0]))

    @property
    def _has_fallen(self) -> bool:
        return self._truth.samples[-1][5] > FALLEN

    def _clock(self) -> float:
        return self._truth.samples[-1][0]

    def _drive(self, walk: Walk) -> None:
        message = Twist()
        message.linear.x, message.linear.y, message.angular.z = walk.twist
        start, limit = self._odometry.samples[-1], self._clock() + walk.limit

        def has_ended() -> bool:
            if self._clock() > limit:
                raise SettingsError(
                    f"{walk.name}: not there after {walk.limit:.0f} s; does another operator hold control?"
                )
            return self._has_fallen or walk.is_done(start[1:4], self._odometry.samples[-1][1:4])

        try:
            wait_until(has_ended, self._clock, lambda: self._command.publish(message))
        finally:
            self._command.publish(Twist())

    def _rest(self) -> None:
        end = self._clock() + _REST
        wait_until(lambda: self._clock() >= end, self._clock)


def run_walks(walks: Sequence[Walk]) -> List[Dict[str, object]]:
    """Return a row for each walk, one after the other; those after a fall are left out."""
    robot = RunningHumanoid()
    rows: List[Dict[str, object]] = []
    for walk in walks:
        row = score(walk, *robot.walk(walk))
        sys.stderr.write(", ".join(f"{key}: {value}" for key, value in row.items()) + "\n")  # of a run that ends early
        rows.append(row)
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


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the walks and print their table; returns 0, 1 after a fall."""
    parser = argparse.ArgumentParser(prog="scripts/experiment humanoid --running", description=__doc__)
    parser.add_argument("--campaign", action="store_true", help="the thesis's 9 + 12 cases; --json FILE resumes")
    parser.add_argument("--repetitions", type=int, metavar="N", help=f"of each case of the campaign; {_REPETITIONS}")
    parser.add_argument("--json", type=file_of, metavar="FILE", help="write the runs of the campaign there")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="put the table between the markers `running` of a page, or `running-campaign`",
    )
    options = parser.parse_args(arguments)
    return run_tool(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if not options.campaign and (options.json or options.repetitions is not None):
        raise SettingsError("--json and --repetitions are of the campaign; add --campaign")
    marker = "running-campaign" if options.campaign else "running"
    if options.write:
        split_at_markers(options.write, marker)
    if options.campaign:
        repetitions = _REPETITIONS if options.repetitions is None else options.repetitions
        if repetitions < 1:
            raise SettingsError(f"--repetitions is {repetitions}; give at least 1")
        runs = run_campaign(repetitions, options.json)
        text, fell = campaign_table(runs), any(run["fell"] for run in runs)
    else:
        rows = run_walks(WALKS)
        text, fell = table(rows), any(row["fell"] == "yes" for row in rows)
    say(text)
    if options.write:
        write_between_markers(options.write, marker, text)
    return int(fell)


if __name__ == "__main__":
    sys.exit(main())
