# SPDX-License-Identifier: MIT
"""Move servos to the middle, slowly and with little torque, for mounting horns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, Sequence

from ax_bus.bus import Bus
from ax_bus.registers import AX_12A, POSITION_MAX, RAD_PER_S_PER_STEP, RAD_PER_STEP
from ax_tools.errors import ToolError

_ARRIVED = 6  # steps: friction and little torque leave a servo this far off
_POLL = 0.05  # s


@dataclass(frozen=True)
class Centring:
    """How to go to the middle.

    Parameters
    ----------
    position : int
        Where to, steps.
    speed_rpm : float
        How fast.
    torque : float
        Share of the stall torque, 0 to 1.
    time_limit : float
        s after which a servo that has not arrived is reported.
    """

    position: int = 512
    speed_rpm: float = 10.0
    torque: float = 0.3
    time_limit: float = 15.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, low, high in (("position", 0, POSITION_MAX), ("speed_rpm", 0.2, 60.0), ("torque", 0.05, 1.0)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ToolError(f"{name} is {value}; give {low} to {high}")


def plan(bus: Bus, servo_ids: Sequence[int], how: Centring) -> str:
    """Return in words what `centre` would do; moves nothing."""
    lines = []
    for servo_id in servo_ids:
        steps = bus.read_register(servo_id, AX_12A.register("present_position"))
        way = math.degrees((how.position - steps) * RAD_PER_STEP)
        lines.append(f"servo {servo_id}: from {steps} to {how.position} steps ({way:+.0f} degrees)")
    lines.append(f"at {how.speed_rpm:g} rpm and {how.torque:.0%} torque; nothing has moved, add --go to do it")
    return "\n".join(lines)


def centre(bus: Bus, servo_ids: Sequence[int], how: Centring) -> Dict[int, int]:
    """Go to the middle and stay there with little torque.

    The goal is set to where the horn is before the torque comes on, so that nothing jumps.

    Parameters
    ----------
    bus : Bus
        The bus.
    servo_ids : sequence of int
        Who moves.
    how : Centring
        Where to and how fast.

    Returns
    -------
    dict of int to int
        Where each servo is in the end, steps.
    """
    row = AX_12A.register
    speed = max(1, round(how.speed_rpm * math.pi / 30.0 / RAD_PER_S_PER_STEP))
    for servo_id in servo_ids:
        if not bus.read_register(servo_id, row("cw_angle_limit")) and not bus.read_register(
            servo_id, row("ccw_angle_limit")
        ):
            raise ToolError(f"servo {servo_id} is in wheel mode and would turn for ever; set its angle limits first")
    for servo_id in servo_ids:
        present = bus.read_register(servo_id, row("present_position"))
        bus.write_register(servo_id, row("torque_limit"), round(how.torque * 1023))
        bus.write_register(servo_id, row("moving_speed"), speed)
        bus.write_register(servo_id, row("goal_position"), present)
        bus.write_register(servo_id, row("torque_enable"), 1)
        bus.write_register(servo_id, row("goal_position"), how.position)
    deadline = bus.port.now() + how.time_limit
    positions: Dict[int, int] = {}
    try:
        while bus.port.now() < deadline:
            for servo_id in servo_ids:
                positions[servo_id] = bus.read_register(servo_id, row("present_position"))
            if all(abs(steps - how.position) <= _ARRIVED for steps in positions.values()):
                break
            bus.port.sleep(_POLL)
    except KeyboardInterrupt:
        for servo_id in servo_ids:  # stay where they are
            present = bus.read_register(servo_id, row("present_position"))
            bus.write_register(servo_id, row("goal_position"), present)
        raise
    return positions


def arrival(positions: Dict[int, int], how: Centring) -> str:
    """Return in words who arrived.

    Raises
    ------
    ToolError
        If a servo did not.
    """
    away = {servo_id: steps for servo_id, steps in positions.items() if abs(steps - how.position) > _ARRIVED}
    if away:
        who = ", ".join(f"{servo_id} is at {steps}" for servo_id, steps in away.items())
        raise ToolError(f"not arrived: {who}; something blocks it, or it needs more --torque")
    return f"{len(positions)} servo(s) at {how.position}; they hold, switch torque off with power or centre --release"


def release(bus: Bus, servo_ids: Sequence[int]) -> None:
    """Switch the torque off."""
    for servo_id in servo_ids:
        bus.write_register(servo_id, AX_12A.register("torque_enable"), 0)
