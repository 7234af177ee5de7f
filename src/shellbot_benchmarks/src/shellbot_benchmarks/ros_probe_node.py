# SPDX-License-Identifier: MIT
"""Measures a running system from outside: time to standing, real-time factor, processor load, command latency.

Run by `scripts/bench ros` in a process of its own, one for each launch; prints its figures as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import xmlrpc.client
from typing import Any, Dict, List, Optional, Tuple

import rosgraph
import rosnode
import rospy
from geometry_msgs.msg import Twist
from sensor_msgs.msg import JointState

from robot_evaluation.errors import EvaluationError
from shellbot_common import TICK
from shellbot_common.motion_conversions import twist_message
from shellbot_msgs.msg import Mode
from shellbot_msgs.srv import RequestMode

from .cpu_meter import CpuMeter
from .latency import ChangeWatch, spread_waits, worst_factor

REST_S = 0.3  # wall seconds without a change of the targets count as rest


class RosProbe:
    """Listens to the chain and drives it through cmd_vel."""

    def __init__(self) -> None:
        self._mode = ""
        self._standing = threading.Event()
        self._ticks: List[Tuple[float, float]] = []  # wall clock (monotonic) and simulated time, s
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

    def _on_mode(self, message: Mode) -> None:
        self._mode = message.name
        if message.name == "hexapod" and message.target == "hexapod":
            self._standing.set()

    def _on_tick(self, message: JointState) -> None:
        self._ticks.append((time.monotonic(), message.header.stamp.to_sec()))
        drive = self._drive
        if drive is not None and len(self._ticks) % 10 == 0:
            self._cmd_vel.publish(twist_message(drive))

    def _on_targets(self, message: JointState) -> None:
        self._watch.feed(message.position, time.monotonic())


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
    arguments = p.parse_args()
    rospy.init_node("bench_probe", disable_signals=True)
    try:
        probe = RosProbe()
        figures: Dict[str, Any] = {"start_s": probe.stand(120.0) - arguments.started}
        figures.update(probe.sustained(arguments.seconds))
        figures["latencies_s"] = probe.latencies(arguments.samples, arguments.noise)
    except (EvaluationError, rospy.ROSException, rospy.ServiceException) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
