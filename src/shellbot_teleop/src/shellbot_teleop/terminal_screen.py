# SPDX-License-Identifier: MIT
"""What the terminal version shows, as lines of text; prompt_toolkit draws them."""

from __future__ import annotations

import math
import textwrap
import time
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from prompt_toolkit.formatted_text import StyleAndTextTuples

from shellbot_teleop.action_model import ActionState
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

_HELD_ALONE = ("control.dead_man", "speed.fine")  # keys beside others, which a terminal does not report
_BAR = 20  # characters of a bar, an even number
_ROOM = 2  # lines beside state and key help: a heading, and at least one message


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
    name: str = ""  #: Of the robot; empty until its profile is known


@dataclass(frozen=True)
class Screen:
    """What the terminal shows, part by part."""

    head: List[Line]
    velocities: List[Line]
    condition: List[Line]
    key_help: List[Line]
    messages: List[Line]


def screen(
    model: CommandModel, robot: RobotView, messages: Sequence[LogLine], size: Tuple[int, int], action: ActionState
) -> Screen:
    """Compose the screen.

    Parameters
    ----------
    model : CommandModel
        The operator's command.
    robot : RobotView
        What is known of the robot.
    messages : sequence of LogLine
        The newest last.
    size : (int, int)
        Width and height of the terminal in characters; a small one gets a denser key help.
    action : ActionState
        What is being performed.
    """
    width, height = size
    head, condition = wrapped(_head(model, robot), width), wrapped(_pose(robot) + _action(action), width)
    velocities = _velocities(model, robot.odom)
    columns, dense = (help_(model.keymap, model.layout, model.held, width) for help_ in (key_help, compact_key_help))
    for keys in ([[], *columns], [[], *dense], dense):
        if sum(map(len, (head, velocities, condition, keys))) + _ROOM <= height:
            break
    newest = [_message(line) for line in list(messages)[-height:]]
    return Screen(head, velocities, condition, keys, wrapped(newest, width))


def _message(line: LogLine) -> Line:
    when = time.strftime("%H:%M:%S ", time.localtime(line.time))
    return [("muted", f"{when}{line.source} "), (line.level, " ".join(line.text.split()))]


def formatted(lines: Sequence[Line]) -> StyleAndTextTuples:
    """Return lines as prompt_toolkit takes them; it shows control characters as ^[ and the like."""
    return [(f"class:{style}" if style else "", text) for line in lines for style, text in (*line, ("", "\n"))][:-1]


def _head(model: CommandModel, robot: RobotView) -> List[Line]:
    link = ("measured", tr("ROS connected")) if robot.connected else ("warn", robot.link)
    control = model.control
    who = ("held", f" {tr('in control')} ") if control.armed else ("warn", who_drives(control.operator))
    layout, speed = tr("layout {name}", name=model.layout), tr("speed {scale:.0%}", scale=model.scale)
    first: Line = [("title", robot.name or tr("Operator")), ("", "   "), who, ("", f"   {layout}   {speed}")]
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


def _action(action: ActionState) -> List[Line]:
    lines: List[Line] = []
    if action.busy:
        bar = "#" * round(_BAR * action.fraction)
        lines.append([("", f"{tr('action'):9}"), ("command", f"[{bar:-<{_BAR}}]"), ("", f" {action.line}")])
    if action.text:
        lines.append([("", f"{'' if action.busy else tr('action'):9}"), (action.level, action.text)])
    return lines


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


def wrapped(lines: Sequence[Line], width: int) -> List[Line]:
    """Break the lines that are wider than so many characters."""
    return [piece for line in lines for piece in wrap(line, width)]


def wrap(line: Line, width: int) -> List[Line]:
    """Break the last segment between words (prompt_toolkit breaks inside them) and set what follows in by nine."""
    *first, (style, text) = line or [("", "")]
    used = sum(len(part) for _, part in first)
    if used + len(text) <= width or used + 9 > width or not text.strip():  # or nothing to gain, so narrow is it
        return [line]
    pieces = textwrap.wrap(text, width, initial_indent=" " * used, subsequent_indent=" " * 9)
    return [[*first, (style, pieces[0][used:])], *([(style, piece)] for piece in pieces[1:])]
