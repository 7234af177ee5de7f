# SPDX-License-Identifier: MIT
"""Node `teleop_joystick`: a joystick (sensor_msgs/Joy) that drives the robot."""

from __future__ import annotations

import argparse
import contextlib
import queue
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterable, List, Optional, Tuple, Union

import rospy
from roslib.packages import find_node
from rospkg import ResourceNotFound
from sensor_msgs.msg import Joy

from shellbot_common import SettingsError, package_file
from shellbot_teleop.command_line import load_config, settings_parser
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Effect, Notice, Quit
from shellbot_teleop.errors import ConfigError, TeleopError
from shellbot_teleop.joystick import Joystick
from shellbot_teleop.joystick_mapping import JoystickMapping
from shellbot_teleop.link_events import LinkEvent, LinkState
from shellbot_teleop.observe import observe
from shellbot_teleop.robot_monitor import RobotMonitor
from shellbot_teleop.ros_link_node import RosLink
from shellbot_teleop.texts import tr

_REPEAT_HZ = 50  # of joy_node: its sign of life
_WATCH_PERIOD = 0.02  # s; the robot drives on until a silence is noticed
_PATIENCE = 2.0  # s for joy_node to end
NO_JOY = tr(
    "joy_node, which reads the controller, is not installed; this program listens to the topic joy. Install the "
    "package joy (sudo apt install ros-noetic-joy on Ubuntu 20.04; Debian has no such package: build "
    "github.com/ros-drivers/joystick_drivers in a workspace), or let another machine publish joy."
)


class JoyDriver:
    """joy_node of the package joy, as a process of its own.

    Parameters
    ----------
    device : str
        Such as /dev/input/js0; empty: joy_node's own choice.
    tell : callable
        Called with a Notice.
    """

    def __init__(self, device: str, tell: Callable[[Notice], None]) -> None:
        self._tell = tell
        self._process: Optional[subprocess.Popen] = None
        remappings = [argument for argument in sys.argv[1:] if ":=" in argument and not argument.startswith("__name")]
        self._arguments = [f"_autorepeat_rate:={_REPEAT_HZ}", "_deadzone:=0.0", *remappings]
        if device:
            self._arguments.append(f"_dev:={device}")

    def start(self) -> None:
        """Start it, anew if it runs: a master that was restarted does not know it."""
        self.close()
        try:
            programs = find_node("joy", "joy_node")
        except ResourceNotFound:
            programs = []
        if not programs:
            self._tell(Notice("warn", NO_JOY))
            return
        self._process = subprocess.Popen([programs[0], *self._arguments], stdin=subprocess.DEVNULL)

    def watch(self) -> None:
        """Tell, once, that it has ended."""
        if self._process is not None and self._process.poll() is not None:
            text = tr("joy_node ended with status {status}: start this program again.", status=self._process.returncode)
            self._process = None
            self._tell(Notice("error", text))

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class JoystickProgram:
    """Joystick, command model and link, put together; everything but the callbacks of ROS runs in one loop.

    Parameters
    ----------
    config : TeleopConfig
        Settings.
    mapping : JoystickMapping
        What axes and buttons do.
    device : str or None
        Controller that joy_node opens, "" for its own choice; None: another program publishes `joy`.
    """

    def __init__(self, config: TeleopConfig, mapping: JoystickMapping, device: Optional[str]) -> None:
        self._config = config
        self._inbox: queue.Queue[Union[LinkEvent, Joy]] = queue.Queue()
        # the controller takes control, and not the program, to which none may be connected
        self._link = RosLink("teleop_joystick", config.replace(armed=False), RobotMonitor(), self._inbox.put)
        self._model = CommandModel(config.replace(dead_man=mapping.has_dead_man), mapping.keymap())
        self._joystick = Joystick(self._model, mapping, config.armed)
        self._driver = JoyDriver(device, self._link.execute) if device is not None else None
        self._subscriber: Optional[rospy.Subscriber] = None
        self._ending = False

    def run(self) -> None:
        """Drive until the operator quits or a signal ends it."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)
        self._link.start()
        try:
            self._loop()
        finally:
            self._carry_out(self._model.halt(time.monotonic()))
            if self._driver is not None:
                self._driver.close()
            self._link.close()

    def _end(self, *_: object) -> None:
        self._ending = True

    def _loop(self) -> None:
        step = min(self._config.period, 1.0 / self._config.alive_rate)
        next_step = time.monotonic()
        while not self._ending:
            for message in self._received(min(max(next_step - time.monotonic(), 0.0), _WATCH_PERIOD)):
                self._take(message, time.monotonic())
            now = time.monotonic()
            self._carry_out(self._joystick.watch(now))
            if now < next_step:
                continue
            next_step = now + step
            if not self._joystick.is_lost:
                self._carry_out(self._model.heartbeat())
            if self._model.active:
                self._carry_out(self._model.tick(now))
            if self._driver is not None:
                self._driver.watch()

    def _received(self, wait: float) -> List[Union[LinkEvent, Joy]]:
        """Return all that has arrived, in order; waits for the first, s."""
        messages: List[Union[LinkEvent, Joy]] = []
        with contextlib.suppress(queue.Empty):
            messages.append(self._inbox.get(timeout=wait) if wait > 0.0 else self._inbox.get_nowait())
            while True:
                messages.append(self._inbox.get_nowait())
        return messages

    def _take(self, message: Union[LinkEvent, Joy], now: float) -> None:
        if isinstance(message, Joy):
            self._carry_out(self._joystick.receive(message.axes, message.buttons, now))
        elif isinstance(message, LinkState):
            sys.stdout.write(f"teleop_joystick: {message.text}\n")
            sys.stdout.flush()
            self._ending = self._ending or message.ended
            if message.connected:
                self._listen()
        elif isinstance(message, Notice):
            self._link.execute(message)
        else:
            self._carry_out(observe(self._model, message, now))

    def _listen(self) -> None:
        """Hear the joystick, at a restarted master anew."""
        if self._subscriber is not None:
            self._subscriber.unregister()
        self._subscriber = rospy.Subscriber("joy", Joy, self._inbox.put, queue_size=20, tcp_nodelay=True)
        if self._driver is not None:
            self._driver.start()

    def _carry_out(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Quit):
                self._ending = True
            else:
                self._link.execute(effect)


def _settings(arguments: argparse.Namespace) -> Tuple[TeleopConfig, JoystickMapping]:
    config = load_config(arguments)
    mapping = JoystickMapping.load(arguments.mapping or package_file("shellbot_teleop", "config/joystick.yaml"))
    if config.dead_man and not mapping.has_dead_man:
        raise ConfigError(
            "--dead-man: the mapping has no button for control.dead_man; add one, or leave the option out"
        )
    return config, mapping


def main() -> int:
    """Run the node; returns the exit status."""
    parser = settings_parser("A joystick that drives the robot.")
    parser.add_argument("--mapping", type=Path, help="mapping YAML (default: the one of the package)")
    parser.add_argument("--device", default="", help="controller that joy_node opens, such as /dev/input/js0")
    parser.add_argument("--no-joy-node", action="store_true", help="start no joy_node: another program publishes joy")
    arguments = parser.parse_args(rospy.myargv(sys.argv)[1:])
    try:
        config, mapping = _settings(arguments)
        program = JoystickProgram(config, mapping, None if arguments.no_joy_node else arguments.device)
    except (SettingsError, TeleopError) as error:
        sys.stderr.write(f"teleop_joystick: {error}\n")
        return 2
    # A stick must not wait 5 ms until a ROS thread gives the interpreter away.
    sys.setswitchinterval(0.0005)
    program.run()
    return 0
