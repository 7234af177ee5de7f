# SPDX-License-Identifier: MIT
"""Node `teleop_terminal`: the operator side in a terminal, for ssh."""

from __future__ import annotations

import os
import queue
import select
import signal
import sys
import termios
import time
from collections import deque
from typing import Any, Deque, Iterable, List

import rospy

from shellbot_common import SettingsError
from shellbot_teleop.actions import ACTIONS, HeldAction
from shellbot_teleop.body_estimate import with_body
from shellbot_teleop.command_line import load_settings, parse_arguments
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Effect, EmergencyStop, LayoutChanged, Notice, PublishTwist, Quit
from shellbot_teleop.errors import ConfigError, TeleopError
from shellbot_teleop.key_tracker import RepeatTracker
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.link_events import LinkEvent, LinkState, OperatorSeen, StoppedSeen
from shellbot_teleop.observe import observe
from shellbot_teleop.robot_monitor import LogLine, RobotMonitor, fresh, fresh_battery
from shellbot_teleop.ros_link_node import RosLink
from shellbot_teleop.terminal_keys import TerminalDecoder
from shellbot_teleop.terminal_screen import RobotView, ansi, screen
from shellbot_teleop.texts import tr

_ESCAPE_WAIT = 0.1  # s that an Escape waits for the rest of an arrow's sequence
_DRAW_PERIOD = 0.1  # s
_ENTER_SCREEN, _LEAVE_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
# These act on every character; the others only on the first of an auto-repeat.
_REPEATABLE = frozenset(("drive.stop", "safety.emergency_stop", "speed.faster", "speed.slower"))


class RawTerminal:
    """The terminal without echo and line editing, on its alternate screen; restores everything on exit."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._saved: List[Any] = []

    def __enter__(self) -> RawTerminal:
        self._saved = termios.tcgetattr(self._descriptor)
        mode = termios.tcgetattr(self._descriptor)
        mode[0] &= ~(termios.IXON | termios.ICRNL)  # Ctrl+Q and Ctrl+S are keys here
        mode[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)  # ISIG stays: Ctrl-C ends the program
        mode[6][termios.VSUSP] = b"\x00"  # a suspended operator could not stop
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 0, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, mode)
        self.write(_ENTER_SCREEN)
        return self

    def __exit__(self, *_: object) -> None:
        self.write(_LEAVE_SCREEN)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._saved)

    @staticmethod
    def write(text: str) -> None:
        """Write to the screen; a terminal that is gone is noticed when reading."""
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except (OSError, UnicodeEncodeError):
            pass


class TerminalProgram:
    """Command model, link and terminal, put together."""

    def __init__(self, config: TeleopConfig, keymap: Keymap) -> None:
        self._config = config
        self._events: queue.Queue[LinkEvent] = queue.Queue()
        self._monitor = RobotMonitor()
        self._link = RosLink("teleop_terminal", config, self._monitor, self._events.put, console=False)
        self.model = CommandModel(config, keymap)
        self._tracker = RepeatTracker(config.first_hold, config.repeat_hold)
        self._commands = RepeatTracker(config.first_hold, config.repeat_hold)
        self._decoder = TerminalDecoder()
        self._messages: Deque[LogLine] = deque(maxlen=200)
        self._link_text = tr("connecting")
        self._ending = False

    def run(self, descriptor: int) -> None:
        """Read keys and show the robot until the operator quits or the terminal goes."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)
        self._link.start()
        try:
            with RawTerminal(descriptor) as terminal:
                self._loop(descriptor, terminal)
        finally:
            self._carry_out(self.model.release_all(time.monotonic()))
            self._link.close()

    def _end(self, *_: object) -> None:
        self._ending = True

    def _loop(self, descriptor: int, terminal: RawTerminal) -> None:
        next_tick = next_draw = next_sign = escape_deadline = 0.0
        while not self._ending:
            wait = 0.02 if self.model.active or self._decoder.waiting or self.model.control.armed else _DRAW_PERIOD
            readable, _, _ = select.select([descriptor], [], [], wait)
            now = time.monotonic()
            if readable:
                data = self._read(descriptor)
                if not data:
                    return  # the terminal is gone
                escape_deadline = now + _ESCAPE_WAIT
                self._keys(self._decoder.feed(data), now)
            if self._decoder.waiting and now >= escape_deadline:
                self._keys(self._decoder.flush(), now)
            for key in self._tracker.expired(now):
                self._carry_out(self.model.release(key, now))
            self._commands.expired(now)
            self._take_events(now)
            if self.model.active and now >= next_tick:
                next_tick = now + self._config.period
                self._carry_out(self.model.tick(now))
            if now >= next_sign:
                next_sign = now + 1.0 / self._config.alive_rate
                self._carry_out(self.model.show_life())
            if now >= next_draw:
                next_draw = now + _DRAW_PERIOD
                self._draw(terminal)

    @staticmethod
    def _read(descriptor: int) -> bytes:
        try:
            return os.read(descriptor, 1024)
        except OSError:
            return b""

    def _keys(self, keys: Iterable[str], now: float) -> None:
        for key in keys:
            binding = self.model.keymap.find(self.model.layout, key)
            if binding is None:
                continue
            if isinstance(ACTIONS[binding.action], HeldAction):
                if self._tracker.feed(key, now):
                    self._carry_out(self.model.press(key, now))
                    if key not in self.model.held:
                        self._tracker.block(now)  # refused: its repeats need not be refused, too
            elif binding.action in _REPEATABLE or self._commands.feed(key, now):
                effects = self.model.press(key, now)
                if (
                    any(isinstance(effect, (EmergencyStop, LayoutChanged)) for effect in effects)
                    or binding.action == "drive.stop"
                ):
                    self._tracker.block(now)  # a key that still repeats must not start again
                self._carry_out(effects)

    def _carry_out(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Quit):
                self._ending = True
            elif not isinstance(effect, LayoutChanged):
                self._link.execute(effect)
                if isinstance(effect, Notice):
                    self._show_notice(effect)

    def _show_notice(self, notice: Notice) -> None:
        self._messages.append(LogLine(notice.level, "teleop", notice.text, time.time()))

    def _take_events(self, now: float) -> None:
        while not self._events.empty():
            event = self._events.get_nowait()
            if isinstance(event, LinkState):
                self._link_text = event.text
                self._show_notice(Notice("info" if event.connected else "warn", event.text))
                self._ending = self._ending or event.ended
            elif isinstance(event, Notice):
                self._show_notice(event)
            else:
                effects = observe(self.model, event, now)
                is_stopped = isinstance(event, StoppedSeen) and bool(effects)
                if is_stopped or (isinstance(event, OperatorSeen) and not event.is_us):
                    self._tracker.block(now)  # a key that still repeats must not start again
                self._carry_out(effects)

    def _draw(self, terminal: RawTerminal) -> None:
        now, limit, monitor = time.monotonic(), self._config.stale_after, self._monitor
        self._messages.extend(monitor.take_log())
        view = RobotView(
            self._link_text,
            self._link.connected,
            monitor.mode,
            with_body(fresh(monitor.odom, now, limit), fresh(monitor.contacts, now, limit)),
            fresh(monitor.status, now, limit),
            fresh_battery(monitor.battery, now),
            fresh(monitor.servos, now, limit),
            monitor.diagnostics.line(now),
        )
        try:
            width, height = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            width, height = 80, 24
        terminal.write(ansi(screen(self.model, view, list(self._messages), max(width, 20), max(height, 5))))


def main() -> int:
    """Run the node; returns the exit status."""
    arguments = parse_arguments(rospy.myargv(sys.argv)[1:], "The operator side in a terminal.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write(
            "teleop_terminal: it reads single keys and needs a terminal, but standard input or output is none.\n"
            "Run it by scripts/teleop --terminal in a terminal or by ssh -t, not from a pipe or a launch file.\n"
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
    program.run(sys.stdin.fileno())
    return 0
