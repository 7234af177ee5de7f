# SPDX-License-Identifier: MIT
"""Set up servos as they come out of the box: what the robot needs in EEPROM, register by register, read back."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Callable, Dict, List, NamedTuple, Sequence

from ax_bus.bus import Bus
from ax_bus.errors import NoReplyError, RefusedError, RegisterError
from ax_bus.registers import MODELS
from ax_tools.errors import ToolError
from shellbot_motor_driver.map.servo_entry import ServoEntry
from shellbot_motor_driver.map.servo_map import ServoMap

_LEVEL = "status_return_level"
_STEP_NOTE = {"return_delay_time": "2 us each", "cw_angle_limit": "steps", "ccw_angle_limit": "steps"}


@dataclass(frozen=True)
class Preparation:
    """What to store."""

    return_delay: int = 0  #: Units of 2 us: 0 for adapters that turn the line in silicon, 100 for a GPIO
    status_level: int = 2  #: 2: every order is acknowledged
    lock: bool = True  #: Lock the EEPROM afterwards, until the power goes

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not 0 <= self.return_delay <= 254:
            raise ToolError(f"return delay is {self.return_delay}; give 0 to 254 units of 2 us")
        if self.status_level not in (1, 2):
            raise ToolError(
                f"status level is {self.status_level}; give 2 (all acknowledged) or 1 (reads only): 0 answers nothing"
            )


class Change(NamedTuple):
    """One register of one servo."""

    servo_id: int
    joint: str
    register: str
    found: int
    required: int

    @property
    def is_needed(self) -> bool:
        """Whether it differs."""
        return self.found != self.required


def required_registers(servo_map: ServoMap, entry: ServoEntry, how: Preparation) -> Dict[str, int]:
    """Return the registers that a servo should have, in the order in which they are written."""
    low, high = servo_map.limits_steps()[entry.servo_id]
    return {
        _LEVEL: how.status_level,  # first: at level 0 no READ is answered
        "return_delay_time": how.return_delay,
        "cw_angle_limit": low,
        "ccw_angle_limit": high,
        "lock": int(how.lock),
    }


def plan(
    bus: Bus, servo_map: ServoMap, entries: Sequence[ServoEntry], how: Preparation, done: str = "nothing was changed"
) -> List[Change]:
    """Read what the servos have now; writes nothing.

    Of a servo that answers PING but no READ it lists the status return level only, which is 0: see `mute`.

    Parameters
    ----------
    done : str
        What was written before, for the messages.

    Raises
    ------
    ToolError
        If a servo does not answer, is of another model, or is locked and would have to be written.
    """
    changes: List[Change] = []
    for entry in entries:
        rows = entry.model
        try:
            model = bus.read_register(entry.servo_id, rows.register("model_number"), retries=3)
            found = {
                name: bus.read_register(entry.servo_id, rows.register(name), retries=3)
                for name in required_registers(servo_map, entry, how)
            }
        except NoReplyError as error:
            if _is_mute(bus, entry.servo_id):
                changes.append(Change(entry.servo_id, entry.joint, _LEVEL, 0, how.status_level))
                continue
            raise ToolError(
                f"servo {entry.servo_id} ({entry.joint}) does not answer, {done}; "
                "scripts/servo scan shows which do, and at which rate"
            ) from error
        if model != entry.model.number:
            name = MODELS[model].name if model in MODELS else f"model {model}"
            raise ToolError(
                f"servo {entry.servo_id} ({entry.joint}) is {name}, the servo map has {entry.model.name}; "
                f"{done}: correct the map, or swap the servo"
            )
        mine = [
            Change(entry.servo_id, entry.joint, name, found[name], number)
            for name, number in required_registers(servo_map, entry, how).items()
        ]
        if found["lock"] and any(change.is_needed and change.register != "lock" for change in mine):
            raise ToolError(
                f"servo {entry.servo_id} ({entry.joint}) is locked; {done}: switch the servos' power off "
                "and on, then try again"
            )
        # an unlocking cannot be written: 1 stays until the power goes
        changes += [change for change in mine if not (change.register == "lock" and found["lock"])]
    return changes


def carry_out(bus: Bus, servo_map: ServoMap, changes: Sequence[Change], show: Callable[[str], None]) -> int:
    """Write what differs, read everything back; return how many registers were written.

    Raises
    ------
    ToolError
        At the first register that does not read back as written; says what has been done until then.
    """
    models = {entry.servo_id: entry.model for entry in servo_map.entries}
    # below level 2, before or after, a servo acknowledges nothing that is written
    quiet = {change.servo_id for change in changes if change.register == _LEVEL and min(change[3:]) < 2}
    written = 0
    for change in changes:
        if not change.is_needed:
            show(line(change, "is so"))
            continue
        try:
            row = models[change.servo_id].register(change.register)
            bus.write_register(change.servo_id, row, change.required, acknowledged=change.servo_id not in quiet)
        except (NoReplyError, RefusedError, RegisterError) as error:
            raise ToolError(f"{error}. {written} register(s) were written before; fix that, then repeat") from error
        written += 1
        show(line(change, "written, read back"))
    return written


def mute(changes: Sequence[Change]) -> List[int]:
    """Return the servos of a plan that could not be read: once their level is written, the rest can be planned."""
    return [change.servo_id for change in changes if change.register == _LEVEL and change.found == 0]


def _is_mute(bus: Bus, servo_id: int) -> bool:
    with contextlib.suppress(NoReplyError):
        bus.ping(servo_id, retries=3)
        return True
    return False


def line(change: Change, what: str) -> str:
    """Return one line of the report."""
    note = _STEP_NOTE.get(change.register, "")
    value = f"{change.found} -> {change.required}" if change.is_needed else f"{change.required}"
    unit = f" ({note})" if note else ""
    return f"servo {change.servo_id:>3} {change.joint:<18} {change.register:<20} {value:<13} {what}{unit}"
