# SPDX-License-Identifier: MIT
"""Node `teleop_latency`: from the real key to the robot, through the real window.

It starts the window on a virtual display of its own, presses a key of that display again and again (X events, as from a
keyboard) and listens to cmd_vel and joint_targets. The chain must be running; the robot is brought to mode hexapod.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Dict, List, Optional

import psutil
import rosgraph
import rospy
from geometry_msgs.msg import Twist
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty

from robot_evaluation.errors import EvaluationError
from robot_evaluation.reports import write_json
from robot_evaluation.tables import markdown_table
from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_common.init_node import init_node
from shellbot_msgs.msg import Mode
from shellbot_msgs.srv import RequestMode

from .cpu_meter import CpuMeter
from .latency import ChangeWatch, latency_row
from .launching import teleop_command

JOINTS = (522, 72)  # pixels: the tab of the table of joints, in the window as it opens
LOAD_S, LINES_HZ = 10.0, 20.0  # how long, and with how many lines a second in its log, the window's load is taken
WINDOW, PAGE = "window", "page"  # of the figures: the load of the window, and of what serves the page
STILL_S = 0.25  # the joint targets must not have moved for so long before a key is pressed


class LatencyMeter:
    """Presses keys and takes the times; all times are of one steady clock on this machine."""

    def __init__(self, key: str, noise: float) -> None:
        self._key, self._noise = key, noise
        self._targets = ChangeWatch()
        self._lock = threading.Condition()
        self._first_twist: Optional[float] = None
        self._zero: Optional[float] = None
        self._watching = "nothing"
        self.load: Dict[str, float] = {}  # of the window, after `measure`
        self.mode = ""
        rospy.Subscriber("cmd_vel", Twist, self._on_twist, queue_size=20, tcp_nodelay=True)
        rospy.Subscriber("joint_targets", JointState, self._on_targets, queue_size=20, tcp_nodelay=True)
        rospy.Subscriber(
            "mode",
            Mode,
            lambda message: setattr(self, "mode", message.name if message.target in ("", message.name) else ""),
        )

    def _on_twist(self, message: Twist) -> None:
        now = time.monotonic()
        zero = message.linear.x == message.linear.y == message.angular.z == 0.0
        with self._lock:
            if self._watching == "press" and not zero and self._first_twist is None:
                self._first_twist = now
            elif self._watching == "release" and zero:
                self._zero = self._zero or now
            self._lock.notify_all()

    def _on_targets(self, message: JointState) -> None:
        self._targets.feed(message.position, time.monotonic())

    def measure(self, presses: int, hold: float, rest: float) -> List[Dict[str, object]]:
        """Press and release `presses` times; hold and rest in s, the rest varied so that ticks are hit everywhere."""
        to_twist: List[float] = []
        to_target: List[float] = []
        to_zero: List[float] = []
        draw = random.Random(7)
        with virtual_display() as display:
            command = teleop_command("window_node", "--armed", "__name:=teleop_latency_window")
            window = subprocess.Popen(command, env=dict(os.environ, DISPLAY=display))
            keyboard = XKeyboard(display)
            try:
                self._wait_for_window(window)
                for _ in range(presses):
                    time.sleep(rest + draw.uniform(0.0, 0.05))
                    if self._targets.has_data:
                        with contextlib.suppress(EvaluationError):  # one that is never quite still is measured, too
                            self._targets.wait_still(STILL_S, 4.0, self._noise)
                    with self._lock:
                        self._first_twist, self._watching = None, "press"
                        pressed = time.monotonic()
                    self._targets.arm()
                    keyboard.press(self._key)
                    time.sleep(hold)
                    with self._lock:
                        if self._first_twist is not None:
                            to_twist.append(self._first_twist - pressed)
                    changed = self._targets.change
                    if changed is not None:
                        to_target.append(changed - pressed)
                    with self._lock:
                        self._zero, self._watching = None, "release"
                        released = time.monotonic()
                    keyboard.release(self._key)
                    with self._lock:
                        self._lock.wait_for(lambda: self._zero is not None, timeout=1.0)
                        if self._zero is not None:
                            to_zero.append(self._zero - released)
                if self._targets.has_data:
                    keyboard.click("Shellbot", JOINTS)
                    self.load = _load(window.pid)
            finally:
                keyboard.release(self._key)
                window.terminate()
                window.wait(timeout=10)
        found = {"key press to cmd_vel": to_twist, "key release to zero cmd_vel": to_zero}
        if self._targets.has_data:
            found["key press to first changed joint target"] = to_target
        for name, latencies in found.items():
            if not latencies:
                raise EvaluationError(
                    f"{name}: nothing was measured; is the robot in mode hexapod and does the window have the focus?"
                )
        lost = presses - min(len(to_twist), len(to_zero))
        if lost:
            raise EvaluationError(f"{lost} of {presses} presses had no cmd_vel or no zero after it.")
        return [latency_row(name, latencies) for name, latencies in found.items()]

    def _wait_for_window(self, window: subprocess.Popen) -> None:
        """Wait until the window is there, joined to ROS and in control."""
        rospy.wait_for_message("operator_alive", Empty, timeout=60.0)
        deadline = time.monotonic() + 30.0
        while time.monotonic() < deadline and window.poll() is None:
            published = dict(rosgraph.Master(rospy.get_name()).getSystemState()[0])
            if any("teleop_latency_window" in node for node in published.get(rospy.resolve_name("cmd_vel"), [])):
                time.sleep(2.0)  # both ends connect, the window is painted
                return
            time.sleep(0.2)
        raise EvaluationError("the window did not come up: start scripts/teleop --window by hand to see why.")


def _load(pid: int) -> Dict[str, float]:
    """Return what a window takes of a core, and its memory in MB, while its log scrolls."""
    time.sleep(2.0)
    meter, end = CpuMeter({"window": pid}), time.monotonic() + LOAD_S
    while time.monotonic() < end:
        rospy.loginfo("a line of a log that scrolls, at %.3f s", end - time.monotonic())
        time.sleep(1.0 / LINES_HZ)
    return {"cores": meter.fractions()["window"], "memory_mb": psutil.Process(pid).memory_info().rss / 1e6}


def _page_load(key: str) -> Dict[str, float]:
    """Return what the page's server takes of a core while one page shows the robot in 3D and drives it."""
    from shellbot_benchmarks.browser import Browser, page_server  # selenium is a developer's

    with page_server() as (address, pid):
        page = Browser(address, 1280, 800)
        try:
            page.take_control()
            page.hold(key)
            server = psutil.Process(pid)
            meter = CpuMeter({str(each.pid): each.pid for each in (server, *server.children(recursive=True))})
            time.sleep(LOAD_S)
            return {"cores": sum(meter.fractions().values())}
        finally:
            page.close()


def bring_to_hexapod(meter: LatencyMeter) -> None:
    """Request mode hexapod and wait until it is held; raises EvaluationError when it is refused."""
    rospy.wait_for_service("request_mode", timeout=60.0)
    request = rospy.ServiceProxy("request_mode", RequestMode)
    deadline = time.monotonic() + 40.0
    answer = None
    while meter.mode != "hexapod" and time.monotonic() < deadline:
        answer = request("hexapod")
        time.sleep(1.0)
    if meter.mode != "hexapod":
        raise EvaluationError(f"the robot did not reach hexapod: {answer.reason if answer else 'no answer'}")


def main() -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(description="Latency from a real key press to cmd_vel and to the joint targets.")
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--key", default="w", help="a velocity key of the key map's default layout")
    parser.add_argument("--hold", type=float, default=0.25, help="s that the key is held")
    parser.add_argument(
        "--rest",
        type=float,
        default=0.6,
        help="least s between presses; it waits longer until the joint targets are quiet",
    )
    parser.add_argument("--noise", type=float, default=1e-6, help="rad, change of a target that does not count")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    parser.add_argument("--no-robot", action="store_true", help="only cmd_vel; nothing but roscore is needed")
    arguments = parser.parse_args(rospy.myargv(sys.argv)[1:])
    init_node("teleop_latency", anonymous=True)
    try:
        meter = LatencyMeter(arguments.key, arguments.noise)
        if not arguments.no_robot:
            bring_to_hexapod(meter)
        rows = meter.measure(arguments.presses, arguments.hold, arguments.rest)
        loads = {WINDOW: meter.load}
        if not arguments.no_robot:
            loads[PAGE] = _page_load(arguments.key)
    except (EvaluationError, rospy.ROSException, rospy.ServiceException) as error:
        rospy.logerr("teleop_latency: %s", error)
        return 1
    sys.stdout.write(markdown_table(rows, digits=dict.fromkeys(rows[0], 1)))
    if arguments.output is not None:
        write_json(arguments.output, {**{str(row["what"]): row for row in rows}, **loads})
    return 0


if __name__ == "__main__":
    sys.exit(main())
