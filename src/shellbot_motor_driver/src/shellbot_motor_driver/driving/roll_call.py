# SPDX-License-Identifier: MIT
"""Who of the servos is away, and what the ladder says about it."""

from __future__ import annotations

from typing import List

from shellbot_motor_driver.driving.driver_state import Condition
from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.safety.ladder import Reaction
from shellbot_motor_driver.safety.rungs import Rungs

_NAMED = 4  # servos by name; the others are counted


class RollCall:
    """Count the absent.

    Parameters
    ----------
    link : ServoLink
        The servos.
    rungs : Rungs
        The ladder: rungs ``servo_lost`` and ``bus_down``.
    """

    def __init__(self, link: ServoLink, rungs: Rungs) -> None:
        self._link, self._rungs, self._config = link, rungs, link.config

    @property
    def lost(self) -> List[ServoTrack]:
        """Those who do not answer."""
        return [track for track in self._link.tracks if track.condition is Condition.LOST]

    @property
    def away(self) -> List[ServoTrack]:
        """Those who do not answer, or do not yet hold with full torque."""
        return [t for t in self._link.tracks if t.condition in (Condition.LOST, Condition.REJOINING)]

    @property
    def is_bus_down(self) -> bool:
        """Whether so many do not answer that it is the bus."""
        return len(self.lost) > self._config.bus.down_share * len(self._link.tracks)

    def report(self, now: float) -> None:
        """Set the ladder's rungs."""
        lost, count = self.lost, len(self._link.tracks)
        if not lost:
            self.settle(now)
            return
        names = ", ".join(track.name for track in lost[:_NAMED])
        names += f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        if self.is_bus_down:
            text = f"bus down: {len(lost)} of {count} servos do not answer ({names}); check power and cable"
            self._rungs.set("bus_down", Reaction.HOLD, text, True, now)
        text = f"{names} lost: the others hold; check its cable and power, it comes back by itself"
        self._rungs.set("servo_lost", Reaction.HOLD, text, self._config.servo.rearm_after_lost, now)

    def settle(self, now: float) -> None:
        """Say that everyone is back, once that is so; the step stays until re-armed if it is latched."""
        rung = self._rungs.get("servo_lost")
        if rung.reaction and not self.away:
            if rung.latched:
                self._rungs.set("servo_lost", Reaction.HOLD, "all servos are back; re-arm to go on", True, now)
            else:
                self._rungs.clear("servo_lost", "all servos are back")
