# SPDX-License-Identifier: MIT
"""Measures a running system from outside: time to standing, real-time factor, load, latency of commands and gains.

Run by `scripts/bench ros` in a process of its own, one for each launch; prints its figures as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import xmlrpc.client
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
import rosgraph
import rosnode
import rospy
from dynamic_reconfigure.client import Client
from geometry_msgs.msg import Twist
from sensor_msgs.msg import JointState

from robot_evaluation.errors import EvaluationError
from shellbot_common import TICK, RobotProfile
from shellbot_common.motion_conversions import twist_message
from shellbot_common.robot_profile import PARAMETER
from shellbot_control import GainTable
from shellbot_msgs.msg import Mode
from shellbot_msgs.srv import RequestMode

from .cpu_meter import CpuMeter
from .gain_change import State, change_seen
from .latency import ChangeWatch, spread_waits, worst_factor

REST_S = 0.3  # wall seconds without a change of the targets count as rest
SETTLE_S = 0.5  # wall seconds until joints are at rest after a change of gains
CHANGES = {"femur_p": 0.8, "stiffness": 0.8}  # entries of the page and by how much they change: one class, all joints


class RosProbe:
    """Listens to the chain and drives it through cmd_vel."""

    def __init__(self) -> None:
        self._mode = ""
        self._standing = threading.Event()
        self._ticks: List[Tuple[float, float]] = []  # wall clock (monotonic) and simulated time, s
        self._joints: List[State] = []  # since the last change of gains
        self._watch = ChangeWatch()
        self._drive: Optional[Tuple[float, float, float]] = None
        self._cmd_vel = rospy.Publisher("cmd_vel", Twist, queue_size=1)
        rospy.Subscriber("mode", Mode, self._on_mode, queue_size=10)
        rospy.Subscriber("joint_states", JointState, self._on_tick, queue_size=100, tcp_nodelay=True)
        rospy.Subscriber("joint_targets", JointState, self._on_targets, queue_size=100, tcp_nodelay=True)

    def stand(self, limit_s: float) -> float:
        """Wait for mode hexapod, asking for it if the robot does not go there itself; returns the wall clock time."""
        deadline = time.monotonic() + limit_s
        while not self._standing.wait(2.0):
            if time.monotonic() > deadline or rospy.is_shutdown():
                raise EvaluationError(f"the robot did not stand within {limit_s:g} s: its mode is '{self._mode}'")
            if self._mode in ("sit", "stand", "relax"):
                rospy.wait_for_service("request_mode", timeout=5.0)
                rospy.ServiceProxy("request_mode", RequestMode)("hexapod")
        return time.time()

    def sustained(self, seconds: float) -> Dict[str, Any]:
        """Walk for so many wall seconds; returns real-time factor (mean and worst second) and processor load."""
        meter = CpuMeter(node_pids())
        self._drive = (0.15, 0.0, 0.0)
        first = len(self._ticks)
        time.sleep(seconds)
        rows = self._ticks[first:]
        fractions = meter.fractions()
        self._drive = None
        self._cmd_vel.publish(twist_message((0.0, 0.0, 0.0)))
        if len(rows) < 10:
            raise EvaluationError(f"only {len(rows)} joint_states came in {seconds:g} s; is the simulator running?")
        (w0, s0), (w1, s1) = rows[0], rows[-1]
        return {
            "real_time_factor": (s1 - s0) / (w1 - w0),
            "worst_second": worst_factor(rows),
            "cpu_fraction": fractions,
            "simulated_s": s1 - s0,
        }

    def latencies(self, samples: int, noise: float) -> List[float]:
        """Seconds from publishing cmd_vel at rest to receiving the first joint_targets that differ, repeatedly.

        `noise` (rad) is a change of the targets that does not count.
        """
        found = []
        for wait in spread_waits(samples, TICK):
            self._watch.wait_still(REST_S, 20.0, noise)
            time.sleep(wait)
            self._watch.arm()
            sent = time.monotonic()
            self._cmd_vel.publish(twist_message((0.15, 0.0, 0.0)))
            found.append(self._watch.wait_change(2.0) - sent)
            self._cmd_vel.publish(twist_message((0.0, 0.0, 0.0)))
        return found

    def gains(self, changes: int) -> Dict[str, Any]:
        """Change entries of the page of gains while the robot stands, there and back.

        Returns
        -------
        dict
            Entry to latencies_s, from before the call to the first joint_states with the torques of the new gains;
            beyond_n_m, the most that a torque differs from those of both gains, and the least number of joints seen.
        """
        profile = RobotProfile.from_text(rospy.get_param(PARAMETER))
        page = Client("gains", timeout=60.0)
        rospy.Subscriber("joint_states", JointState, self._on_joints, queue_size=100, tcp_nodelay=True)
        found: Dict[str, Any] = {}
        for name, factor in CHANGES.items():
            before = page.get_configuration(timeout=60.0)
            rows: List[Tuple[float, float, int]] = []
            for wait in spread_waits(changes, TICK):
                self._watch.wait_still(REST_S, 20.0)
                time.sleep(SETTLE_S + wait)
                value = before[name] * (1.0 if len(rows) % 2 else factor)
                rows.append(self._gain_change(page, profile, name, value))
            page.update_configuration({name: before[name]})
            latencies, beyond, joints = zip(*rows)
            found[name] = {"latencies_s": latencies, "beyond_n_m": max(beyond), "joints": min(joints)}
        return found

    def _gain_change(self, page: Client, profile: RobotProfile, name: str, value: float) -> Tuple[float, float, int]:
        old = _stiffness(page.get_configuration(), profile)
        self._joints = []
        while not self._joints:
            time.sleep(TICK)
        sent = time.monotonic()
        new = _stiffness(page.update_configuration({name: value}), profile)
        while time.monotonic() - sent < 5.0:
            time.sleep(0.1)  # what follows the change, too
            seen, beyond, joints = change_seen(list(self._joints), old, new)
            if seen < time.monotonic() - 0.1:
                return seen - sent, beyond, joints
        raise EvaluationError(f"{name} of the page of gains did not reach all joints within 5 s; see the launch's log")

    def _on_mode(self, message: Mode) -> None:
        self._mode = message.name
        if message.name == "hexapod" and message.target == "hexapod":
            self._standing.set()

    def _on_tick(self, message: JointState) -> None:
        self._ticks.append((time.monotonic(), message.header.stamp.to_sec()))
        drive = self._drive
        if drive is not None and len(self._ticks) % 10 == 0:
            self._cmd_vel.publish(twist_message(drive))

    def _on_joints(self, message: JointState) -> None:
        self._joints.append((time.monotonic(), message.position, message.effort))

    def _on_targets(self, message: JointState) -> None:
        self._watch.feed(message.position, time.monotonic())


def _stiffness(page: Mapping[str, Any], profile: RobotProfile) -> np.ndarray:
    """Return p of each joint, N m/rad, as the page has it."""
    table = GainTable.from_page(page, profile.classes).for_joints(profile.joints)
    return np.array([gains.p for gains in table.values()])


def node_pids() -> Dict[str, int]:
    """Return the process of every node of the graph but this one."""
    master = rosgraph.Master(rospy.get_name())
    pids: Dict[str, int] = {}
    for name in rosnode.get_node_names():
        uri = rosnode.get_api_uri(master, name)
        if name == rospy.get_name() or uri is None:
            continue
        try:
            answer: Any = xmlrpc.client.ServerProxy(uri).getPid(rospy.get_name())
        except OSError:
            continue  # ended since the list was made
        if answer[0] == 1:  # code, status text, process
            pids[name.lstrip("/")] = int(answer[2])
    return pids


def main() -> int:
    """Measure and print; returns the exit status."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--started", type=float, required=True, help="when the launch was started, seconds since the epoch")
    p.add_argument("--seconds", type=float, default=20.0)
    p.add_argument("--samples", type=int, default=50)
    p.add_argument("--noise", type=float, default=1e-6)
    p.add_argument("--gain-changes", type=int, default=0)
    arguments = p.parse_args()
    rospy.init_node("bench_probe", disable_signals=True)
    try:
        probe = RosProbe()
        figures: Dict[str, Any] = {"start_s": probe.stand(120.0) - arguments.started}
        figures.update(probe.sustained(arguments.seconds))
        figures["latencies_s"] = probe.latencies(arguments.samples, arguments.noise)
        figures["gains"] = probe.gains(arguments.gain_changes) if arguments.gain_changes else {}
    except (EvaluationError, rospy.ROSException, rospy.ServiceException) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
