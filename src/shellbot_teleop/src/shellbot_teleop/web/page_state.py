# SPDX-License-Identifier: MIT
"""What a page shows, as data for JSON (a number that is not finite is null), and the camera's picture."""

from __future__ import annotations

import io
import math
from collections import deque
from dataclasses import asdict
from typing import Any, Deque, Dict, List, Mapping, Optional, Tuple

import numpy as np
from PIL import Image

from shellbot_teleop.action_model import ActionModel
from shellbot_teleop.body_estimate import with_body
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.controls import POSE_SLIDERS, SHELL_SLIDERS, mode_buttons
from shellbot_teleop.joint_table import joint_rows
from shellbot_teleop.keymap import KeyLine
from shellbot_teleop.keys import key_label
from shellbot_teleop.robot_monitor import LogLine, OdomInfo, RobotMonitor, fresh, fresh_battery, servo_line
from shellbot_teleop.slewed_vector import SlewedVector
from shellbot_teleop.texts import tr
from shellbot_teleop.web.pages import Pages
from shellbot_teleop.web.station import Station

LOG_LINES = 300  # that a page which opens gets
_DIGITS = 4  # of what is shown; further ones would only be another message


def offered(model: CommandModel) -> Dict[str, Any]:
    """Return what the page offers in the present key layout: keys, buttons, sliders, gaits."""
    keymap = model.keymap
    groups = [
        {"title": tr(title), "lines": [_key_line(line) for line in keymap.lines(model.layout, group)]}
        for group, title in keymap.groups.items()
    ]
    return {
        "layout": model.layout,
        "layouts": {name: tr(text) for name, text in keymap.layouts.items()},
        "groups": groups,
        "modes": mode_buttons(keymap),
        "gaits": model.gaits if any(binding.action == "gait.next" for binding in keymap.bindings) else (),
        "drives": keymap.has("drive"),
        "pose": [slider._asdict() for slider in POSE_SLIDERS] if keymap.has("pose") else [],
        "shells": [slider._asdict() for slider in SHELL_SLIDERS] if keymap.has("shells") else [],
        "dead_man": model.keymap.keys_of(model.layout, "control.dead_man")[:1] if model.control.needs_dead_man else (),
    }


def robot_state(
    station: Station, monitor: RobotMonitor, actions: ActionModel, stale_after: float, t: float
) -> Dict[str, Any]:
    """Return what all pages show of robot and command, as JSON can hold it.

    Parameters
    ----------
    station : Station
        Link and commands.
    monitor : RobotMonitor
        What the robot reports.
    actions : ActionModel
        The action under way.
    stale_after : float
        Age beyond which a value is null, s.
    t : float
        Now, on the clock of what was received, s.
    """
    model = station.model
    odom = with_body(fresh(monitor.odom, t, stale_after), fresh(monitor.contacts, t, stale_after))
    status = fresh(monitor.status, t, stale_after)
    mode, action = monitor.mode, actions.state(t)
    servos, bad = servo_line(fresh_battery(monitor.battery, t), fresh(monitor.servos, t, stale_after))
    nodes, trouble = monitor.diagnostics.line(t)
    state = {
        "robot": monitor.profile.name if monitor.profile is not None else "",
        "link": {"connected": station.link.connected, "text": station.link.text},
        "mode": asdict(mode) if mode is not None else None,
        "stopped": model.stopped,
        "scale": model.scale,
        "gait": model.limits.gait or model.gait,
        "held": sorted(model.held),
        "twist": (model.twist.x, model.twist.y, model.twist.yaw),
        "limits": model.limits.velocity,
        "measured": odom.velocity if odom is not None else None,
        "odom": _odom(odom),
        "pose": _sliders(model.pose),
        "shells": _sliders(model.shells),
        "joints": _joints_line(monitor, stale_after, t),
        "holding": status.text if status is not None and status.holding else "",
        "servos": {"text": servos, "bad": bad},
        "nodes": {"text": nodes, "bad": trouble},
        "action": {**asdict(action), "busy": action.busy, "line": action.line},
    }
    return _clean(state)


def _key_line(line: KeyLine) -> Dict[str, Any]:
    return {"action": line.action, "keys": line.keys, "caps": [key_label(key) for key in line.keys], "help": line.help}


def control_state(page: int, pages: Pages, model: CommandModel) -> Dict[str, Any]:
    """Return who is in control as one page sees it."""
    is_ours = model.control.armed and page == pages.driver
    who = model.control.who if is_ours or not model.control.armed else pages.who
    return {"ours": is_ours, "who": who[:1].upper() + who[1:]}


def action_list(actions: ActionModel) -> List[Dict[str, Any]]:
    """Return what the robot can perform."""
    return _clean([{**asdict(entry), "cancels": entry.cancels} for entry in actions.entries])


def log_line(line: LogLine) -> Dict[str, Any]:
    """Return a line of the log."""
    return {"level": line.level, "source": line.source, "text": line.text, "time": line.time}


class PageLog:
    """The log of the pages: lines that open pages have, and those that the next state brings them."""

    def __init__(self) -> None:
        self._sent: Deque[Dict[str, Any]] = deque(maxlen=LOG_LINES)
        self._fresh: List[Dict[str, Any]] = []

    @property
    def sent(self) -> List[Dict[str, Any]]:
        """What a page that opens lacks."""
        return list(self._sent)

    def add(self, line: LogLine) -> None:
        """Add a line."""
        self._fresh.append(log_line(line))

    def take(self) -> List[Dict[str, Any]]:
        """Return what is new since the last call."""
        fresh, self._fresh = self._fresh, []
        self._sent.extend(fresh)
        return fresh


def jpeg(picture: np.ndarray) -> bytes:
    """Return a picture of the camera, (height, width, 3) uint8, as a browser takes it: no larger than it is shown."""
    data = io.BytesIO()
    image = Image.fromarray(picture)
    image.thumbnail((640, 480))
    image.save(data, "JPEG", quality=75)
    return data.getvalue()


def joint_list(monitor: RobotMonitor, stale_after: float, t: float) -> List[Dict[str, Any]]:
    """Return the table of joints, a mapping each.

    It has joint (name), position and target (rad), effort (N m), temperature (degrees
    Celsius), level (ok, warn, bad or empty) and text (why); what is not known is null.

    Parameters
    ----------
    monitor : RobotMonitor
        What the robot reports.
    stale_after : float
        Age beyond which a value is not known, s.
    t : float
        Now, on the clock of what was received, s.
    """
    return _clean(
        [
            {
                "joint": row.joint,
                "position": row.position,
                "target": row.target,
                "effort": row.effort,
                "temperature": row.servo.temperature,
                "level": row.level,
                "text": row.text,
            }
            for row in _rows(monitor, stale_after, t)
        ]
    )


def _rows(monitor: RobotMonitor, stale_after: float, t: float) -> Tuple[Any, ...]:
    joints, targets = fresh(monitor.joints, t, stale_after), fresh(monitor.targets, t, stale_after)
    servos = fresh(monitor.servos, t, stale_after)
    return joint_rows(monitor.profile, joints, targets, servos, monitor.description)


def _joints_line(monitor: RobotMonitor, stale_after: float, t: float) -> Dict[str, Any]:
    """Return the joints in one line: the worst of them first."""
    rows = _rows(monitor, stale_after, t)
    troubled = [row for row in rows if row.level in ("warn", "bad")]
    if not rows or all(row.level == "" for row in rows):
        return {"level": "", "text": tr("no joints") if not rows else tr("no joint states")}
    if not troubled:
        return {"level": "ok", "text": tr("{count} joints ok", count=len(rows))}
    worst = max(troubled, key=lambda row: row.level == "bad")
    more = f" {tr('and {count} more', count=len(troubled) - 1)}" if len(troubled) > 1 else ""
    return {"level": "bad" if worst.level == "bad" else "warn", "text": f"{worst.joint}: {worst.text}{more}"}


def _odom(odom: Optional[OdomInfo]) -> Optional[Dict[str, Any]]:
    if odom is None:
        return None
    return {"position": odom.position, "rpy": odom.rpy, "has_tilt": odom.has_tilt}


def _sliders(vector: SlewedVector) -> Dict[str, Any]:
    return {"target": vector.target, "lower": vector.lower, "upper": vector.upper}


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the entries of a state that are new or differ from those before."""
    return {name: value for name, value in new.items() if name not in old or old[name] != value}


def _clean(value: Any) -> Any:
    """Return a value as JSON can hold it: null for what is not finite, few digits."""
    if isinstance(value, float):
        return round(value, _DIGITS) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _clean(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in value]
    return value
