# SPDX-License-Identifier: MIT
"""What the terminal version shows, as lines of text; no terminal is touched here."""

from __future__ import annotations

import math
import textwrap
import time
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.control_state import who_drives
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.keys import key_label
from shellbot_teleop.robot_monitor import (
    BatteryInfo,
    LogLine,
    ModeInfo,
    OdomInfo,
    ServosInfo,
    StatusInfo,
    servo_line,
    signed,
)
from shellbot_teleop.texts import tr

Segment = Tuple[str, str]  # style, text
Line = List[Segment]

STYLES = {
    "": "",
    "title": "\x1b[1m",
    "muted": "\x1b[90m",
    "command": "\x1b[36m",
    "measured": "\x1b[32m",
    "held": "\x1b[30;46m",
    "debug": "\x1b[90m",
    "info": "",
    "warn": "\x1b[33m",
    "error": "\x1b[31m",
    "fatal": "\x1b[31m",
    "stop": "\x1b[1;37;41m",
}
_RESET = "\x1b[0m"
_HELD_ALONE = ("control.dead_man", "speed.fine")  # keys beside others, which a terminal does not report
_BAR = 20  # characters of a velocity bar, an even number


@dataclass(frozen=True)
class RobotView:
    """What of the robot is shown; None for unknown or old."""

    link: str
    connected: bool
    mode: Optional[ModeInfo]
    odom: Optional[OdomInfo]
    status: Optional[StatusInfo]
    battery: Optional[BatteryInfo] = None
    servos: Optional[ServosInfo] = None
    diagnostics: Tuple[str, bool] = ("", False)  #: A line, and whether it is bad news


def screen(model: CommandModel, robot: RobotView, messages: Sequence[LogLine], width: int, height: int) -> List[Line]:
    """Compose the screen.

    Parameters
    ----------
    model : CommandModel
        The operator's command.
    robot : RobotView
        What is known of the robot.
    messages : sequence of LogLine
        The newest last.
    width, height : int
        Size of the terminal in characters.

    Returns
    -------
    list of Line
        At most `height` lines of at most `width` characters; a small terminal gets a denser key help.
    """
    head: List[Line] = []
    for line in _head(model, robot) + _velocities(model, robot.odom) + _pose(robot):
        head += wrap(line, width)
    help_lines = key_help(model.keymap, model.layout, model.held, width)
    room = height - len(head) - 3
    if len(help_lines) > room:
        help_lines = compact_key_help(model.keymap, model.layout, model.held, width)[: max(room, 0)]
    lines = head + [[]] + help_lines
    room = max(height - len(lines) - 1, 0)
    lines.append([("title", tr("Messages"))])
    shown: List[Line] = []
    for message in messages[-room:] if room else ():
        when = time.strftime("%H:%M:%S ", time.localtime(message.time))
        shown += wrap([("muted", f"{when}{message.source} "), (message.level, message.text.replace("\n", " "))], width)
    lines += shown[-room:] if room else []
    return [cut(line, width) for line in lines[:height]]


def _head(model: CommandModel, robot: RobotView) -> List[Line]:
    link = ("measured", tr("ROS connected")) if robot.connected else ("warn", robot.link)
    control = model.control
    who = ("held", f" {tr('in control')} ") if control.armed else ("warn", who_drives(control.operator))
    layout, speed = tr("layout {name}", name=model.layout), tr("speed {scale:.0%}", scale=model.scale)
    first: Line = [("title", "Shellbot"), ("", "   "), who, ("", f"   {layout}   {speed}")]
    if model.gait or model.limits.gait:
        first.append(("", f"   {tr('gait {name}', name=model.limits.gait or model.gait)}"))
    first += [("", "   "), link]
    mode = robot.mode
    if model.stopped:
        keys = f" {tr('or')} ".join(model.keymap.keys_of(model.layout, "safety.rearm"))
        state: Line = [("stop", f" {tr('EMERGENCY STOP')} "), ("", f" {tr('rearm with {keys}', keys=keys)}")]
    elif mode is None:
        text = tr("No mode yet: waiting for the action manager (scripts/sim or scripts/onboard starts it).")
        state = [("warn", text)]
    elif mode.target and mode.target != mode.name:
        progress = mode.progress if math.isfinite(mode.progress) else 0.0
        state = [("title", f"{mode.name} -> {mode.target} "), ("", f"{mode.step} {progress:.0%}")]
    else:
        state = [("title", mode.name)]
    return [first, state, [("muted", mode.text if mode is not None else "")]]


def _bar(value: float, limit: float) -> str:
    half = _BAR // 2
    if not math.isfinite(value) or limit <= 0.0:
        return " " * half + "|" + " " * half
    filled = min(round(half * abs(value) / limit), half)
    if value < 0.0:
        return " " * (half - filled) + "#" * filled + "|" + " " * half
    return " " * half + "|" + "#" * filled + " " * (half - filled)


def _velocities(model: CommandModel, odom: Optional[OdomInfo]) -> List[Line]:
    measured = odom.velocity if odom is not None else (math.nan,) * 3
    twist = (model.twist.x, model.twist.y, model.twist.yaw)
    lines: List[Line] = [[("muted", f"{'':9}{tr('commanded'):>{_BAR + 9}} {tr('measured'):>9} {tr('limit'):>7}")]]
    for name, unit, command, value, limit in zip(
        (tr("forward"), tr("sideways"), tr("turn")), ("m/s", "m/s", "rad/s"), twist, measured, model.limits.velocity
    ):
        shown = f"{signed(value, 2):>9}" if math.isfinite(value) else f"{'-':>9}"
        lines.append(
            [
                ("", f"{name:9}"),
                ("command", f"{_bar(command, limit)} {signed(command, 2):>7}"),
                ("measured", f" {shown}"),
                ("muted", f" {limit:7.2f} {unit}"),
            ]
        )
    return lines


def _pose(robot: RobotView) -> List[Line]:
    odom = robot.odom
    if odom is None or not odom.finite:
        lines: List[Line] = [[("muted", f"{tr('pose'):9}{tr('no odometry')}")]]
    else:
        roll, pitch, yaw = (math.degrees(angle) for angle in odom.rpy)
        x, y, z = odom.position
        text = f"{tr('pose'):9}x {signed(x, 3)} m  y {signed(y, 3)} m  {tr('yaw')} {signed(yaw, 1)} deg"
        # odometry itself has neither height nor tilt
        text += f"  {tr('height')} {1000 * z:.0f} mm" if z > 0.0 else ""
        text += f"  {tr('roll')} {signed(roll, 1)}, {tr('pitch')} {signed(pitch, 1)} deg" if odom.has_tilt else ""
        lines = [[("", text)]]
    text, bad = servo_line(robot.battery, robot.servos)
    if text:
        lines.append([("warn" if bad else "", f"{tr('servos'):9}{text}")])
    if robot.diagnostics[1]:
        lines.append([("warn", f"{tr('nodes'):9}{robot.diagnostics[0]}")])
    if robot.status is not None and robot.status.holding:
        lines.append([("warn", tr("joints hold: {reason}", reason=robot.status.text))])
    return lines


def _entries(keymap: Keymap, layout: str, group: str) -> List[Tuple[Sequence[str], str]]:
    """Keys and help text of each action of a group."""
    lines = keymap.lines(layout, group)
    return [(line.keys, line.help) for line in lines if line.action not in _HELD_ALONE]


def compact_key_help(keymap: Keymap, layout: str, held: frozenset, width: int) -> List[Line]:
    """Key help without headings, entry after entry: for a terminal of 80 x 24."""
    lines: List[Line] = [[]]
    used = 0
    for group in keymap.groups:
        for keys, text in _entries(keymap, layout, group):
            caps = " ".join(key_label(key) for key in keys)
            length = len(caps) + len(text) + 3
            if used + length > width and used:
                lines.append([])
                used = 0
            lines[-1] += [("held" if any(key in held for key in keys) else "command", caps), ("", f" {text}  ")]
            used += length
    return lines


def key_help(keymap: Keymap, layout: str, held: frozenset, width: int) -> List[Line]:
    """Key help in columns that fill the width, one block a group; held keys are marked."""
    lines: List[Line] = []
    column = 27
    per_line = max(width // column, 1)
    for group, title in keymap.groups.items():
        entries = _entries(keymap, layout, group)
        if not entries:
            continue
        lines.append([("title", tr(title))])
        for start in range(0, len(entries), per_line):
            line: Line = []
            for keys, text in entries[start : start + per_line]:
                caps = " ".join(key_label(key) for key in keys)
                marked = any(key in held for key in keys)
                line += [
                    ("held" if marked else "command", caps),
                    ("", f" {text}".ljust(max(column - len(caps), len(text) + 2))),
                ]
            lines.append(line)
    return lines


def wrap(line: Line, width: int) -> List[Line]:
    """Break the last segment of a line that is too long, at blanks; what follows is set in by nine, as values are."""
    if not line or sum(len(text) for _, text in line) <= width:
        return [line]
    *first, (style, text) = line
    used = sum(len(part) for _, part in first)
    if used + 9 > width or not text.strip():  # nothing to gain on so narrow a terminal, or by breaking blanks
        return [line]
    pieces = textwrap.wrap(text, width, initial_indent=" " * used, subsequent_indent=" " * 9)
    return [[*first, (style, pieces[0][used:])], *([(style, piece)] for piece in pieces[1:])]


def cut(line: Line, width: int) -> Line:
    """Cut a line to a width, styles not counted."""
    result: Line = []
    left = width
    for style, text in line:
        printable = "".join(character if character.isprintable() else " " for character in text[:left])
        if printable:
            result.append((style, printable))
        left -= len(printable)
        if left <= 0:
            break
    return result


def ansi(lines: Sequence[Line]) -> str:
    """Text that draws the lines from the top left corner; lines are overwritten, not erased, so nothing flickers."""
    drawn = [
        "".join(f"{STYLES[style]}{text}{_RESET if STYLES[style] else ''}" for style, text in line) + "\x1b[K"
        for line in lines
    ]
    return "\x1b[H" + "\r\n".join(drawn) + "\x1b[J"
