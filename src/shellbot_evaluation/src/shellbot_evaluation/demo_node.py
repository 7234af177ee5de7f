# SPDX-License-Identifier: MIT
"""The scripted demo on the live system: stand up, walk, turn, tilt, score against ground truth, report, end."""

from __future__ import annotations

import math
import queue
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import rospy
from geometry_msgs.msg import Pose, Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from robot_evaluation.end_launch_node import end_launch
from robot_evaluation.errors import EvaluationError
from robot_evaluation.pictures import save_all
from robot_evaluation.planar import PlanarPath
from robot_evaluation.plots import plot_paths
from robot_evaluation.reports import write_json
from shellbot_chain.errors import MissionFailed
from shellbot_client.mission import ZERO_TWIST, Mission, MissionState, Observation
from shellbot_client.pose_conversions import greatest_acceleration, planar_pose, position_and_quaternion
from shellbot_common.init_node import init_node
from shellbot_common.motion_conversions import pose_message, twist_message
from shellbot_common.publisher_node import Publisher
from shellbot_common.rotations import tilt_from_quaternion, yaw_from_quaternion
from shellbot_msgs.msg import Mode, Walkspace
from shellbot_msgs.srv import RequestMode

from .camera_node import CameraNode
from .demo_params import DemoParams, launch_start_time
from .mission_film import Reel
from .parts import score_parts
from .summary import TOUR, make_summary, mission_table, score_phases, score_tilt, summary_table

PICTURE_EVENTS = {
    "stand:settled": "standing",
    "forward:half": "walking forward",
    "forward:settled": "after 1st walk",
    "sideways:half": "walking sideways",
    "turn:half": "turning",
    "turn:settled": "turned",
    "tilt:settled": "tilted",
    "walk out:half": "walking",
    "close:settled": "closed to a ball",
    "roll:half": "rolling",
    "roll:settled": "at the point",
    "open:settled": "open again",
    "walk on:half": "walking on",
}


class DemoNode:
    """Feeds the mission from topics and the topics from the mission; each joint_states is one tick."""

    def __init__(self, params: DemoParams) -> None:
        self._params = params
        self._mission = Mission(params.phases())
        is_tour = params.plan == "tour"
        self._names = TOUR if is_tour else tuple(phase.name for phase in params.phases()[1:])
        self._table = summary_table if is_tour else lambda summary: mission_table(summary, self._names)
        self._reel = Reel() if params.films() else None
        self._text = ""  # of the mode
        self._ended = threading.Event()
        self._requests: queue.Queue[str] = queue.Queue()
        self._odom: Tuple[float, float, float] = (math.nan, math.nan, math.nan)
        self._velocity: Tuple[float, float] = (0.0, 0.0)
        self._acceleration = greatest_acceleration(Walkspace())
        self._mode: Tuple[str, str, str] = ("waiting", "waiting", "")  # mode, target, step
        self._own_rows: List[Tuple[float, float, float, float]] = []
        self._true_rows: List[Tuple[float, ...]] = []
        self._body_pose: Optional[Tuple[float, ...]] = None
        self._standing: Optional[Tuple[float, float]] = None  # wall clock and simulated time, s
        self._now, self._wall_end = 0.0, 0.0
        self._cmd_vel = Publisher("cmd_vel", Twist, queue_size=1)
        self._pose = Publisher("body_pose", Pose, queue_size=1)
        film = None if self._reel is None else self._on_film
        self._camera = CameraNode(params.picture_patience_s, film) if params.pictures else None
        threading.Thread(target=self._serve_requests, daemon=True).start()
        rospy.Subscriber("walkspace", Walkspace, self._on_walkspace, queue_size=1)
        rospy.Subscriber("mode", Mode, self._on_mode, queue_size=10)
        rospy.Subscriber("ground_truth/odom", Odometry, self._on_truth, queue_size=100, tcp_nodelay=True)
        rospy.Subscriber("odom", Odometry, self._on_odom, queue_size=100, tcp_nodelay=True)
        rospy.Subscriber("joint_states", JointState, self._on_tick, queue_size=100, tcp_nodelay=True)

    def run(self) -> bool:
        """Wait for the end, report, and return whether every phase was done."""
        started = time.time()
        while not self._ended.wait(0.2):
            if rospy.is_shutdown():
                self._mission.message = "the system was shut down before the demo had ended"
                break
            if time.time() - started > self._params.wall_limit_s:
                phase = self._mission.phase
                self._mission.message = (
                    f"not done within {self._params.wall_limit_s:.0f} s of wall time, in phase"
                    f" '{phase.name if phase else '-'}' at simulated {self._now:.1f} s; is the simulator running?"
                )
                break
        wall_end = self._wall_end or time.time()
        self._cmd_vel.publish(twist_message(ZERO_TWIST))
        success = self._mission.state is MissionState.SUCCEEDED
        summary = self._summary(success, wall_end)
        # stdout, not the log: the table is what the demo is for, and log lines would break its columns
        sys.stdout.write("\n" + self._table(summary) + "\n")
        sys.stdout.flush()
        if not success:
            rospy.logerr("demo: %s", self._mission.message)
        return success

    def _summary(self, success: bool, wall_end: float) -> Dict[str, Any]:
        scores: Dict[str, Dict[str, float]] = {}
        warnings: List[str] = []
        try:
            scores = self._scores()
        except EvaluationError as error:
            success, self._mission.message = False, f"cannot be scored: {error}; is ground_truth/odom published?"
        files = self._write_pictures(warnings)
        factor = start = math.nan
        if self._standing is not None:
            wall_standing, t_standing = self._standing
            factor = (self._now - t_standing) / max(wall_end - wall_standing, 1e-9)
            start = wall_standing - (self._params.start_time or launch_start_time())
        summary = make_summary(scores, factor, start, success, self._mission.message, files, warnings, self._names)
        folder = self._params.results_folder()
        if folder is not None:
            write_json(folder / "summary.json", summary)
            rospy.loginfo("demo: results in %s", folder)
        return summary

    def _scores(self) -> Dict[str, Dict[str, float]]:
        records = self._mission.records
        if len(records) < 2:
            return {}
        truth, own = self._paths()
        if self._params.plan == "mission":
            return {part.name: asdict(part) for part in score_parts(records, truth, own)}
        scores = score_phases(records, truth, own)
        rows = np.array(self._true_rows)
        for record in records:
            if record.phase.name == "tilt":
                scores["tilt"] = score_tilt(record, rows[:, 0], tilt_from_quaternion(rows[:, 4:8]))
        return scores

    def _paths(self) -> Tuple[PlanarPath, PlanarPath]:
        if len(self._true_rows) < 2 or len(self._own_rows) < 2:
            raise EvaluationError("no ground truth or no odometry was received")
        true, own = np.array(self._true_rows), np.array(self._own_rows)
        return (
            PlanarPath(true[:, 0], true[:, 1:3], np.unwrap(yaw_from_quaternion(true[:, 4:8]))),
            PlanarPath(own[:, 0], own[:, 1:3], np.unwrap(own[:, 3])),
        )

    def _write_pictures(self, warnings: List[str]) -> List[str]:
        folder, camera = self._params.results_folder(), self._camera
        if camera is not None:
            camera.busy()
            if camera.missing:
                warnings.append(f"no picture of: {', '.join(camera.missing)} (camera/image_raw gave none in time)")
        if folder is None:
            return []
        paths = list(save_all(folder, camera.pictures)) if camera is not None else []
        if self._reel is not None and self._reel.count:
            paths.append(folder / "film.gif")
            self._reel.save(paths[-1])
        if len(self._mission.records) > 1:
            try:
                paths.append(self._draw_path(folder))
            except EvaluationError as error:
                warnings.append(f"no path.png: {error}")
        return [path.name for path in paths]

    def _draw_path(self, folder: Path) -> Path:
        window = self._mission.records[1].t_start, self._mission.records[-1].t_end
        truth, own = (path.between(*window) for path in self._paths())
        plot_paths(folder / "path.png", "The demo seen from above", {"demo": truth}, {"demo": own})
        return folder / "path.png"

    def _on_mode(self, message: Mode) -> None:
        self._mode, self._text = (message.name, message.target, message.step), message.text

    def _on_film(self, t: float, picture: np.ndarray) -> None:
        phase, records = self._mission.phase, self._mission.records
        if self._reel is not None and phase is not None and records and self._reel.due(t):  # from when it stands
            self._reel.add(t, records[0].t_end, phase, self._text, picture)

    def _on_walkspace(self, message: Walkspace) -> None:
        self._acceleration = greatest_acceleration(message)

    def _on_truth(self, message: Odometry) -> None:
        p, q = position_and_quaternion(message)
        self._true_rows.append((message.header.stamp.to_sec(), *p, *q))

    def _on_odom(self, message: Odometry) -> None:
        self._odom = planar_pose(message)
        self._velocity = (message.twist.twist.linear.x, message.twist.twist.linear.y)
        self._own_rows.append((message.header.stamp.to_sec(), *self._odom))

    def _on_tick(self, message: JointState) -> None:
        if self._ended.is_set():
            return
        self._now = message.header.stamp.to_sec()
        hold = self._camera is not None and self._camera.busy()
        try:
            command = self._mission.step(
                Observation(self._now, *self._odom, *self._mode, hold, self._velocity, self._acceleration)
            )
        except MissionFailed:
            self._end()
            return
        if command.request_mode is not None:
            self._requests.put(command.request_mode)
        if command.event is not None:
            self._note(command.event)
        if len(self._mission.records) > 0:  # no motion is requested before the robot stands
            self._cmd_vel.publish(twist_message(command.twist))
            if command.body_pose != self._body_pose:
                self._body_pose = command.body_pose
                self._pose.publish(pose_message(command.body_pose))
        if self._mission.state is not MissionState.RUNNING:
            self._end()

    def _end(self) -> None:
        self._wall_end = time.time()
        self._ended.set()

    def _note(self, event: str) -> None:
        phase, _, moment = event.partition(":")
        if moment == "done":
            rospy.loginfo("demo: %s done at simulated %.1f s", phase, self._now)
        if event == "stand:stop":
            self._standing = (time.time(), self._now)
        if self._camera is not None and event in PICTURE_EVENTS:
            self._camera.take(PICTURE_EVENTS[event])

    def _serve_requests(self) -> None:
        # A service call waits for its answer, which must not keep the ticks waiting.
        while not rospy.is_shutdown():
            mode = self._requests.get()
            try:
                rospy.wait_for_service("request_mode", timeout=5.0)
                answer = rospy.ServiceProxy("request_mode", RequestMode)(mode)
            except (rospy.ROSException, rospy.ServiceException) as error:
                self._mission.refused(f"request_mode cannot be called: {error}")
                continue
            if not answer.accepted:
                self._mission.refused(answer.reason)


def main() -> int:
    """Run the node; returns the exit status."""
    init_node("demo")
    try:
        params = DemoParams.read(rospy.get_param)
        params.results_folder()
    except EvaluationError as error:
        rospy.logfatal("demo: %s", error)
        return 2
    if not DemoNode(params).run():
        return 1
    end_launch("demo")
    return 0
