# SPDX-License-Identifier: MIT
"""What a start found: who answered, as what, what is to be mended; and what became of a request. All frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional, Tuple


@dataclass(frozen=True)
class ServoIdentity:
    """What a servo says about itself at start."""

    #: servo_id, model_number, firmware: Registers 3, 0 and 2
    servo_id: int
    joint: str  #: Its joint
    model_number: int
    firmware: int
    return_delay: int  #: Register 5, units of 2 us
    angle_limits: Tuple[int, int]  #: Registers 6 and 8, steps
    temperature_limit: int  #: Register 11, degrees Celsius
    status_return_level: int  #: Register 16
    steps: int  #: Where it stood


@dataclass(frozen=True)
class StartReport:
    """What the start found."""

    port: str  #: Its name
    answered: Tuple[int, ...] = ()  #: IDs of the map
    missing: Tuple[int, ...] = ()  #: IDs of the map
    identities: Tuple[ServoIdentity, ...] = ()  #: Of those who answered
    is_write_only: bool = False  #: Whether the driver goes on without reading
    wiring: str = ""  #: The check of the wiring, in words
    latency_timer_ms: Optional[int] = None  #: Of an FTDI adapter
    resumed: bool = False  #: Whether servos held already and hold on, without a change of torque
    notices: Tuple[str, ...] = ()  #: What is not as it should be, each with the command that mends it

    @property
    def text(self) -> str:
        """The report in a few lines."""
        lines = [f"{self.port}: {len(self.answered)} of {len(self.answered) + len(self.missing)} servos answered"]
        lines += [self.wiring] if self.wiring else []
        if self.is_write_only:
            lines.append("driving WITHOUT FEEDBACK: nothing is read, the safety ladder covers targets and stops only")
        if self.resumed:
            lines.append("servos were holding: they keep holding")
        return "\n".join((*lines, *self.notices))


@dataclass(frozen=True)
class Answer:
    """What became of a request: truthy if it was accepted; also unpacks as ``accepted, reason``."""

    accepted: bool  #: Whether it is done
    reason: str = field(default="")  #: What was done, or why not and what to do

    def __bool__(self) -> bool:
        return self.accepted

    def __iter__(self) -> Any:
        return iter((self.accepted, self.reason))
