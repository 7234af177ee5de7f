# SPDX-License-Identifier: MIT
"""Node `teleop_terminal`: the operator side in a terminal, for ssh."""

from __future__ import annotations

import asyncio
import errno
import os
import queue
import signal
import sys
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterable, List, Mapping, Optional

import rospy
from prompt_toolkit.utils import is_dumb_terminal

from shellbot_common import SettingsError
from shellbot_teleop.action_client_node import ActionClient
from shellbot_teleop.action_model import ActionModel
from shellbot_teleop.actions import HeldAction, find_action
from shellbot_teleop.body_estimate import with_body
from shellbot_teleop.command_line import argument_parser, load_settings
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import (
    Effect,
    EmergencyStop,
    LayoutChanged,
    Notice,
    OfActions,
    PublishTwist,
    Quit,
    ShowActions,
    ToggleHelp,
    TogglePause,
)
from shellbot_teleop.errors import ConfigError, TeleopError
from shellbot_teleop.key_tracker import RepeatTracker
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.keys import key_label
from shellbot_teleop.link_events import LinkEvent, LinkState, OperatorSeen, StoppedSeen
from shellbot_teleop.observe import observe
from shellbot_teleop.robot_monitor import LogLine, RobotMonitor, fresh, fresh_battery
from shellbot_teleop.ros_link_node import RosLink
from shellbot_teleop.terminal_actions import ActionsPage
from shellbot_teleop.terminal_screen import RobotView, screen
from shellbot_teleop.terminal_view import TerminalView
from shellbot_teleop.texts import tr

_DRAW_PERIOD = 0.1  # s
# These act on every character; the others only on the first of an auto-repeat.
_REPEATABLE = frozenset(("drive.stop", "safety.emergency_stop", "speed.faster", "speed.slower"))
_ENDS_HOLDING = (EmergencyStop, LayoutChanged, ShowActions)


class TerminalProgram:
    """Command model, link, actions and screen, put together. Everything but the callbacks of ROS runs in one thread."""

    def __init__(self, config: TeleopConfig, keymap: Keymap) -> None:
        self._config = config
        self._calls: queue.Queue[Callable[[], None]] = queue.Queue()  # from threads of ROS
        self._monitor = RobotMonitor()
        self._link = RosLink("teleop_terminal", config, self._monitor, self._from_ros, console=False)
        self.model = CommandModel(config, keymap)
        self._action_model = ActionModel()
        self._actions = ActionClient(
            lambda news: self._calls.put(lambda: self._action_model.observe(news, time.monotonic())),
            self._from_ros,
            config.service_timeout,
        )
        self._tracker = RepeatTracker(config.first_hold, config.repeat_hold)
        self._commands = RepeatTracker(config.first_hold, config.repeat_hold)
        back = " ".join(map(key_label, keymap.keys_of(keymap.default_layout, "actions.show")))
        self._view = TerminalView(ActionsPage(self._action_model, self._run_action, back), self._key, self._end)
        self._messages: Deque[LogLine] = deque(maxlen=200)
        self._link_text = tr("connecting")
        self._ending = False
        self._failure: Optional[BaseException] = None

    def run(self) -> None:
        """Read keys and show the robot until the operator quits or the terminal goes."""
        # not the loop's, which go with it: a terminal that closes may send several signals, while the zero is written
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)
        self._link.start()
        try:
            asyncio.run(self._work())
        except Exception as error:  # raised again below, once the robot is at rest
            self._failure = self._failure or error
        finally:
            self._carry_out(self.model.release_all(time.monotonic()))
            self._link.close()
        if self._failure is not None and not _is_terminal_gone(self._failure):
            raise self._failure

    async def _work(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._fail)
        application = self._view.application
        await asyncio.gather(application.run_async(set_exception_handler=False, handle_sigint=False), self._tick())

    def _end(self, *_: object) -> None:
        self._ending = True

    def _fail(self, _loop: asyncio.AbstractEventLoop, context: Dict[str, Any]) -> None:
        """End the program on an error in a callback: it must not drive on without keys or screen."""
        self._failure = self._failure or context.get("exception") or TeleopError(context["message"])
        self._ending = True

    async def _tick(self) -> None:
        next_tick = next_draw = next_sign = 0.0
        while not self._ending:
            now = time.monotonic()
            for key in self._tracker.expired(now):
                self._carry_out(self.model.release(key, now))
            self._commands.expired(now)
            while not self._calls.empty():
                self._calls.get_nowait()()
            if self.model.active and now >= next_tick:
                next_tick = now + self._config.period
                self._carry_out(self.model.tick(now))
            if now >= next_sign:
                next_sign = now + 1.0 / self._config.alive_rate
                self._carry_out(self.model.heartbeat())
            if now >= next_draw:
                next_draw = now + _DRAW_PERIOD
                self._draw()
            await asyncio.sleep(0.02 if self.model.active or self.model.control.armed else _DRAW_PERIOD)
        application = self._view.application
        if application.is_running and not application.is_done:  # its input may have ended, too
            application.exit()

    def _key(self, key: str) -> None:
        now = time.monotonic()
        binding = self.model.keymap.find(self.model.layout, key)
        if binding is None:
            return
        if isinstance(find_action(binding.action), HeldAction):
            if not self._tracker.feed(key, now):
                return
            self._carry_out(self.model.press(key, now))
            if key not in self.model.held:
                self._tracker.block(now)  # refused: its repeats need not be refused, too
        elif binding.action in _REPEATABLE or self._commands.feed(key, now):
            effects = self.model.press(key, now)
            if any(isinstance(each, _ENDS_HOLDING) for each in effects) or binding.action == "drive.stop":
                self._tracker.block(now)  # a key that still repeats must not start again
            self._carry_out(effects)
        self._draw()

    def _carry_out(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Quit):
                self._end()
            elif isinstance(effect, OfActions):
                self._use_actions(effect)
            elif not isinstance(effect, (LayoutChanged, ToggleHelp)):
                self._link.execute(effect)
                if isinstance(effect, Notice):
                    self._show_notice(effect)
                elif isinstance(effect, EmergencyStop):
                    self._view.list_actions(False)

    def _use_actions(self, effect: OfActions) -> None:
        if isinstance(effect, ShowActions):
            self._view.list_actions(not self._view.lists_actions)
        elif isinstance(effect, TogglePause):
            self._actions.pause(self._action_model.state(time.monotonic()).phase != "paused")
        else:
            self._actions.cancel()

    def _run_action(self, name: str, values: Mapping[str, float]) -> None:
        refused = self.model.refused()
        self._carry_out(refused)
        if not refused:
            self._actions.run(name, values)
            self._view.list_actions(False)
        self._draw()

    def _show_notice(self, notice: Notice) -> None:
        self._messages.append(LogLine(notice.level, "teleop", notice.text, time.time()))

    # ------------------------------------------------------------------ from ROS

    def _from_ros(self, event: LinkEvent) -> None:
        self._calls.put(lambda: self._observe(event, time.monotonic()))

    def _observe(self, event: LinkEvent, now: float) -> None:
        if isinstance(event, LinkState):
            self._link_text = event.text
            self._show_notice(Notice("info" if event.connected else "warn", event.text))
            if event.connected:
                self._actions.join()
            self._ending = self._ending or event.ended
        elif isinstance(event, Notice):
            self._show_notice(event)
        else:
            effects = observe(self.model, event, now)
            is_stopped = isinstance(event, StoppedSeen) and bool(effects)
            if is_stopped or (isinstance(event, OperatorSeen) and not event.is_us):
                self._tracker.block(now)  # a key that still repeats must not start again
            self._carry_out(effects)

    def _draw(self) -> None:
        now, limit, monitor = time.monotonic(), self._config.stale_after, self._monitor
        self._messages.extend(monitor.take_log())
        robot = RobotView(
            self._link_text,
            self._link.connected,
            monitor.mode,
            with_body(fresh(monitor.odom, now, limit), fresh(monitor.contacts, now, limit)),
            fresh(monitor.status, now, limit),
            fresh_battery(monitor.battery, now),
            fresh(monitor.servos, now, limit),
            monitor.diagnostics.line(now),
            monitor.profile.name.capitalize() if monitor.profile is not None else "",
        )
        size = self._view.application.output.get_size()
        action = self._action_model.state(now)
        self._view.show(screen(self.model, robot, self._messages, (size.columns, size.rows), action))


def _is_terminal_gone(error: BaseException) -> bool:
    return isinstance(error, EOFError) or (isinstance(error, OSError) and error.errno == errno.EIO)


def main() -> int:
    """Run the node; returns the exit status."""
    arguments = argument_parser("The operator side in a terminal.").parse_args(rospy.myargv(sys.argv)[1:])
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write(
            "teleop_terminal: it reads single keys and needs a terminal, but standard input or output is none.\n"
            "Run it by scripts/teleop --terminal in a terminal or by ssh -t, not from a pipe or a launch file.\n"
        )
        return 3
    if is_dumb_terminal():
        kind = os.environ.get("TERM") or "empty"
        sys.stderr.write(
            f"teleop_terminal: the terminal says that it can only write line by line: TERM is {kind}.\n"
            "Set TERM to what it is, such as TERM=xterm, linux or screen, and start this again.\n"
        )
        return 3
    try:
        config, keymap = load_settings(arguments)
        if config.dead_man:
            raise ConfigError(
                "a terminal reports no key releases, so it has no dead-man switch: a key drives until 0.2 s after its "
                "last repeat. Leave --dead-man (dead_man in the settings) out, or use the window"
            )
        program = TerminalProgram(config, keymap)
        if arguments.layout:
            notices: List[Effect] = program.model.set_layout(arguments.layout, time.monotonic())
            program._carry_out(effect for effect in notices if not isinstance(effect, PublishTwist))
    except (SettingsError, TeleopError) as error:
        sys.stderr.write(f"teleop_terminal: {error}\n")
        return 2
    program.run()
    return 0
