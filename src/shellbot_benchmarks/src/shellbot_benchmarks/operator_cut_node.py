# SPDX-License-Identifier: MIT
"""Node `operator_cut`: ends operators while they drive, and takes the time until the robot is at rest.

Each time the real window is started on a virtual display, or the page in a browser, and one of its keys held; or the
joystick's program, and a stick pushed. At a random moment window, browser or program is killed (SIGKILL), or frozen
(SIGSTOP): nothing more comes from it, and no connection is closed, as when the network is cut; or the joystick's
messages end, as when it is unplugged; or the window stands on the other end of a network (`network_link`), which is
cut. The chain must be running.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Tuple

import numpy as np
import rosgraph
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Joy
from std_msgs.msg import Empty

from robot_evaluation.errors import EvaluationError
from robot_evaluation.reports import write_json
from shellbot_benchmarks.launching import teleop_command
from shellbot_benchmarks.network_link import WITHIN, NetworkSwitch, operator_environment
from shellbot_benchmarks.settling import settling_time
from shellbot_benchmarks.teleop_latency_node import LatencyMeter, bring_to_hexapod
from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_common import package_file
from shellbot_common.init_node import init_node
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_teleop.joystick_mapping import JoystickMapping

KEYS = ("w", "s", "a", "q", "wq")  # held together, of the layout at the start
LONGEST_DRIVE = 2.5  # s
WATCHED = 2.5  # s after the end of the operator
NEAR, ANGLE = 0.006, 0.04  # m, rad: from where the robot ends; the body sways less while the feet step home
ENDS = {"killed": signal.SIGKILL, "frozen": signal.SIGSTOP}
UNPLUGGED, CUT_OFF = "unplugged", "cut off"
_numbers = itertools.count(1)
STICKS = {
    "w": ("drive.forward", 1.0),
    "s": ("drive.forward", -1.0),
    "a": ("drive.left", 1.0),
    "q": ("drive.turn_left", 1.0),
}
REPEAT = 0.02  # s, of joy_node as teleop_joystick starts it
PAGE = (1280, 800)  # pixels
PATIENCE, _ANSWER = 60.0, 5.0  # s: for the start of an operator, and for the answer to a key


class WindowOperator:
    """An operator with the window, on a virtual display; also on the other end of a network that is cut."""

    def __init__(self, display: str, keyboard: XKeyboard, network: Optional[NetworkSwitch] = None) -> None:
        self._keyboard, self._keys, self._network = keyboard, "", network
        command, environment = teleop_command("window_node", "--armed"), dict(os.environ, DISPLAY=display)
        if network is not None:
            # What a dead operator could not send is sent when its network is back, and a registration by its name would
            # end the next operator of that name.
            command = [*WITHIN, *command, f"__name:=teleop_window_{next(_numbers)}"]
            environment.update(operator_environment(rosgraph.get_master_uri()))
        self._window = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    def press(self, keys: str) -> None:
        """Hold keys."""
        self._keys = keys
        for key in keys:
            self._keyboard.press(key)

    def end(self, how: str) -> None:
        """End the program, or its network."""
        if self._network is None:
            self._window.send_signal(ENDS[how])
        else:
            self._network.turn(False)

    def close(self) -> None:
        """Leave nothing."""
        self._window.kill()  # ip has become the program
        self._window.wait()
        if self._network is not None:
            self._network.turn(True)
        for key in self._keys:
            self._keyboard.release(key)


class PageOperator:
    """An operator with the page, in a browser without a display."""

    def __init__(self, address: str) -> None:
        from shellbot_benchmarks.browser import Browser  # selenium is a developer's

        self._page = Browser(address, *PAGE)
        self._page.take_control()

    def press(self, keys: str) -> None:
        """Hold keys."""
        for key in keys:
            self._page.hold(key)

    def end(self, how: str) -> None:
        """End the browser, all its processes at once."""
        self._page.signal(ENDS[how])

    def close(self) -> None:
        """Leave nothing."""
        self._page.close()


class JoystickOperator:
    """An operator with a joystick, whose messages are published here as joy_node does."""

    def __init__(self, publisher: rospy.Publisher) -> None:
        command = teleop_command("joystick_node", "--armed", "--no-joy-node")
        self._program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mapping = JoystickMapping.load(package_file("shellbot_teleop", "config/joystick.yaml"))
        self._axes = {entry.action: entry.axis for entry in mapping.axes}
        self._dead_man = next(each.button for each in mapping.buttons if each.action == "control.dead_man")
        self._publisher, self._state = publisher, Joy(axes=[0.0] * 8, buttons=[0] * 11)
        self._unplugged = threading.Event()
        threading.Thread(target=self._repeat, name="joystick", daemon=True).start()

    def _repeat(self) -> None:
        while not self._unplugged.wait(REPEAT):
            self._publisher.publish(self._state)

    def press(self, keys: str) -> None:
        """Hold the dead-man button, then push the stick as keys would drive."""
        buttons, axes = [int(number == self._dead_man) for number in range(11)], [0.0] * 8
        self._state = Joy(axes=axes, buttons=buttons)
        time.sleep(5 * REPEAT)
        for key in keys:
            action, deflection = STICKS[key]
            axes[self._axes[action]] = deflection
        self._state = Joy(axes=axes, buttons=buttons)

    def end(self, how: str) -> None:
        """End the program, or the messages."""
        if how == UNPLUGGED:
            self._unplugged.set()
        else:
            self._program.send_signal(ENDS[how])

    def close(self) -> None:
        """Leave nothing."""
        self._unplugged.set()
        self._program.kill()
        self._program.wait()


class Cutter:
    """Starts operators, by `make`, and ends them."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._heard = threading.Condition()
        self._signs, self._driven, self._heard_at = 0, False, -math.inf
        self._trail: List[Tuple[float, float, float, float]] = []  # wall clock, x, y, heading
        rospy.Subscriber("operator_alive", Empty, self._on_sign, queue_size=5, tcp_nodelay=True)
        rospy.Subscriber("cmd_vel", Twist, self._on_twist, queue_size=5, tcp_nodelay=True)
        rospy.Subscriber("ground_truth/odom", Odometry, self._on_odometry, queue_size=50, tcp_nodelay=True)

    def _note(self, **changes: Any) -> None:
        with self._heard:
            for name, value in changes.items():
                setattr(self, f"_{name}", value)
            self._heard.notify_all()

    def _on_sign(self, _: Empty) -> None:
        self._note(signs=self._signs + 1, heard_at=time.monotonic())

    def _on_twist(self, message: Twist) -> None:
        self._note(driven=bool(message.linear.x or message.linear.y or message.angular.z))

    def _on_odometry(self, message: Odometry) -> None:
        pose = message.pose.pose
        heading = rpy_from_quaternion(*(getattr(pose.orientation, axis) for axis in "xyzw"))[2]
        self._trail.append((time.monotonic(), pose.position.x, pose.position.y, heading))

    def _comes(self, condition: Callable[[], bool], patience: float) -> bool:
        with self._heard:
            return self._heard.wait_for(condition, patience)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        if not self._comes(condition, PATIENCE):
            raise EvaluationError(f"{what} within {PATIENCE:g} s")

    def cut(self, how: str, keys: str, held: float) -> Dict[str, Any]:
        """End an operator who has held keys for `held` seconds; return how long the robot moved, s of wall clock.

        That time is None if the robot was not driven any longer: a page that stutters on a busy machine is dropped.
        """
        sample = {"how": how, "keys": keys, "held_s": held}
        self._note(signs=0, driven=False)
        operator = self._make()
        try:
            self._wait(lambda: self._signs > 5, "no operator was in control")
            operator.press(keys)
            if not isinstance(operator, PageOperator):  # a page may stutter, and drop what was pressed
                self._wait(lambda: self._driven, "no cmd_vel after a key press")
            else:
                self._comes(lambda: self._driven, _ANSWER)
            time.sleep(held)
            if not self._driven:
                return {**sample, "rest_s": None}
            self._trail.clear()
            ended = time.monotonic()
            operator.end(how)
            time.sleep(WATCHED)
            heard = max(self._heard_at - ended, 0.0)  # s: what was under way
            trail = np.array(self._trail)
        finally:
            operator.close()
        if len(trail) < 50:
            raise EvaluationError(
                f"only {len(trail)} poses of the robot within {WATCHED:g} s; is the machine too busy?"
            )
        moved = settling_time(trail[:, 0], trail[:, 1:3], trail[:, 3], NEAR, ANGLE) - ended
        travelled = float(np.linalg.norm(trail[-1, 1:3] - trail[0, 1:3]))
        return {**sample, "rest_s": max(moved, 0.0), "travelled_m": travelled, "last_heard_s": heard}


@contextlib.contextmanager
def window_operators(link: ContextManager[Optional[NetworkSwitch]]) -> Iterator[Callable[[], WindowOperator]]:
    """Start a display for windows, which are on the other end of a network that `link` may cut."""
    with virtual_display() as display, link as network:
        keyboard = XKeyboard(display)
        yield lambda: WindowOperator(display, keyboard, network)


@contextlib.contextmanager
def page_operators() -> Iterator[Callable[[], PageOperator]]:
    """Start the node that serves the page."""
    from shellbot_benchmarks.browser import page_server  # selenium is a developer's

    with page_server() as (address, _):
        yield lambda: PageOperator(address)


@contextlib.contextmanager
def joystick_operators() -> Iterator[Callable[[], JoystickOperator]]:
    """Announce the topic that a joystick's driver publishes."""
    publisher = rospy.Publisher("joy", Joy, queue_size=5, tcp_nodelay=True)
    yield lambda: JoystickOperator(publisher)


OPERATORS: Dict[str, Callable[[], ContextManager[Callable[[], Any]]]] = {
    "window": lambda: window_operators(contextlib.nullcontext()),
    "page": page_operators,
    "joystick": joystick_operators,
    "netns": lambda: window_operators(contextlib.closing(NetworkSwitch())),
}
ENDS_WITH = {"joystick": (*ENDS, UNPLUGGED), "netns": (CUT_OFF,)}  # the others: all of ENDS


def main() -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(description="How long the robot moves after its operator's program or link ended.")
    parser.add_argument("--samples", type=int, default=50, help="operators that are ended by each means (default 50)")
    parser.add_argument("--operator", choices=tuple(OPERATORS), default="window", help="what they drive with")
    parser.add_argument("--output", type=Path, required=True, help="JSON file for the samples")
    arguments = parser.parse_args(rospy.myargv(sys.argv)[1:])
    init_node("operator_cut", anonymous=True, disable_rostime=True)
    draw, samples = random.Random(11), []
    try:
        bring_to_hexapod(LatencyMeter("w", 0.0))
        with OPERATORS[arguments.operator]() as make:
            cutter = Cutter(make)
            for index in range(arguments.samples):
                for how in ENDS_WITH.get(arguments.operator, tuple(ENDS)):
                    samples.append(cutter.cut(how, KEYS[index % len(KEYS)], draw.uniform(0.0, LONGEST_DRIVE)))
                    sys.stderr.write(f"{len(samples)}: {samples[-1]}\n")
                    write_json(arguments.output, {"samples": samples})
    except (EvaluationError, rospy.ROSException, rospy.ServiceException) as error:
        rospy.logerr("operator_cut: %s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
