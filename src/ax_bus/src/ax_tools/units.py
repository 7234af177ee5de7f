# SPDX-License-Identifier: MIT
"""Numbers of registers in the units that people at a bench use, both ways; angles are degrees from the middle."""

from __future__ import annotations

import math
import re
from typing import Mapping, Tuple

from ax_bus.bus import Bus
from ax_bus.errors import RegisterError
from ax_bus.protocol import flag_names
from ax_bus.registers import AX_12A, MODELS, Model, Register
from ax_tools.errors import ToolError

# by SI unit: the suffix, its size in SI, digits behind the point
_SUFFIXES: Mapping[str, Tuple[str, float, int]] = {
    "rad": ("deg", math.radians(1.0), 1),
    "rad/s": ("rpm", math.pi / 30.0, 1),
    "of stall": ("%", 0.01, 1),
    "V": ("V", 1.0, 1),
    "degC": ("C", 1.0, 0),
    "s": ("us", 1e-6, 0),
}
_POSITIONS = ("goal_position", "present_position", "cw_angle_limit", "ccw_angle_limit")
_VALUE = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*([A-Za-z%]+)\s*")


def model_at(bus: Bus, servo_id: int) -> Model:
    """Return the model of a servo; an unknown number is treated as an AX-12A, whose table the others extend."""
    return MODELS.get(bus.read_register(servo_id, AX_12A.register("model_number"), retries=3), AX_12A)


def degrees(model: Model, steps: float) -> float:
    """Return a position in degrees from the middle of the range, counter-clockwise positive."""
    return math.degrees((steps - _middle(model)) * model.register("goal_position").scale)


def meaning(model: Model, row: Register, number: int) -> str:
    """Return in words what a number in a register means; empty if the number says it all."""
    if row.name == "baud_rate":
        text = f"{model.baud_of(number):.0f} baud"
    elif row.name in ("alarm_led", "shutdown"):
        text = ", ".join(flag_names(number)) or "none"
    elif row.name in _POSITIONS:
        text = f"{degrees(model, number):.1f} degrees"
    elif row.unit in _SUFFIXES:
        suffix, size, digits = _SUFFIXES[row.unit]
        text = f"{row.to_si(number) / size:.{digits}f} {'degrees' if suffix == 'deg' else suffix}"
    else:
        text = f"{row.to_si(number):g} {row.unit}" if row.unit else ""
    return text


def number_of(model: Model, row: Register, text: str) -> int:
    """Return the number for a register from typed text: ``512``, ``0x24``, ``on``, ``30deg``, ``50%``.

    Raises
    ------
    ToolError
        If it is no number, has a unit that the register has not, or is out of its range.
    """
    word = text.strip().lower()
    if (row.minimum, row.maximum) == (0, 1) and word in ("on", "off"):
        return int(word == "on")
    suffix, size, _ = _SUFFIXES.get(row.unit, ("", 1.0, 0))
    match = _VALUE.fullmatch(text)
    try:
        if match is None or word.startswith("0x"):
            number = int(word, 0)
        elif match.group(2).lower() != suffix.lower():
            raise ValueError
        else:
            value = float(match.group(1)) * size
            # the middle lies between two steps: 0deg is the upper one, as in the manual, not a matter of rounding
            number = row.from_si(value + (_middle(model) + 1e-3) * row.scale if row.name in _POSITIONS else value)
        row.to_bytes(number)
    except RegisterError as error:
        raise ToolError(f"{text.strip()} is out of range; {_choices(model, row)}") from error
    except ValueError as error:
        raise ToolError(f"{text.strip()!r} is not a value of {row.name}; {_choices(model, row)}") from error
    return number


def _choices(model: Model, row: Register) -> str:
    """Say what may be written."""
    text = f"{row.name} takes {row.minimum} to {row.maximum}"
    if (row.minimum, row.maximum) == (0, 1):
        return f"{text}, off or on"
    if row.unit not in _SUFFIXES:
        return text
    suffix, size, digits = _SUFFIXES[row.unit]
    if row.name in _POSITIONS:
        low, high = degrees(model, row.minimum), degrees(model, row.maximum)
    else:
        high = (((1 << row.sign_bit) - 1) if row.sign_bit else row.maximum) * row.scale / size
        low = -high if row.sign_bit else row.minimum * row.scale / size
    least = f", at least {row.scale / size:.2g}{suffix} unless 0 (no limit)" if row.is_unlimited_at_0 else ""
    return f"{text}, or {low:.{digits}f}{suffix} to {high:.{digits}f}{suffix}{least}"


def _middle(model: Model) -> float:
    """Return the middle of the range of the joint mode, steps; a goal may go beyond it (turns)."""
    return model.centre / model.rad_per_step
