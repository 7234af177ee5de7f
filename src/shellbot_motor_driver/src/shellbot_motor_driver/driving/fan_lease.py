# SPDX-License-Identifier: MIT
"""The fan's servo in wheel mode, in which it turns without end: it turns while its lease is renewed."""

from __future__ import annotations

import math

from ax_bus.registers import RAD_PER_S_PER_STEP
from shellbot_common import Level
from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.start_report import Answer
from shellbot_motor_driver.safety.rungs import Rungs

_AGAIN = 0.5  # s between two orders to stop, so that its speed was read in between


class FanLease:
    """Turn the fan for ``fan.lease`` s at a time.

    Parameters
    ----------
    link : ServoLink
        The servos; ``link.wheel`` is the fan's if it is in wheel mode.
    rungs : Rungs
        Where the end of a lease is reported.
    """

    def __init__(self, link: ServoLink, rungs: Rungs) -> None:
        self._link, self._rungs, self._config = link, rungs, link.config.fan
        self._until = self._again = -math.inf

    def turn(self, velocity: float) -> Answer:
        """Turn at ``velocity``, joint rad/s, until the lease ends.

        Raises
        ------
        PortError
            If the port is gone.
        """
        link = self._link
        if link.wheel < 0:
            return Answer(False, "the fan is in joint mode and follows the targets; there is nothing to lease")
        if not math.isfinite(velocity):
            return Answer(False, f"the fan's speed is {velocity}; give a finite number of rad/s")
        entry = link.map.entries[link.wheel]
        speed = velocity * entry.gear * entry.sign
        register = min(1023, int(round(abs(speed) / RAD_PER_S_PER_STEP)))
        link.turn_wheel(register | (1024 if speed < 0.0 and register else 0))
        self._until = link.now() + self._config.lease
        return Answer(True, f"the fan turns for {self._config.lease:g} s")

    def update(self, now: float) -> None:
        """Stop the fan if its lease is over at ``now``, s."""
        wheel = self._link.wheel
        found = self._link.tracks[wheel].settings if wheel >= 0 else None
        if self._until == -math.inf and found is not None and found.speed & 1023 and now >= self._again:
            self._again = now + _AGAIN  # it did not hear that it is to stop
            self.stop()
        if now >= self._until > -math.inf:
            self.stop()
            self._until, self._again = -math.inf, now + _AGAIN
            self._rungs.say("fan", Level.WARN, "the fan's lease has expired: it stops; call drive_fan again in time")

    def stop(self) -> None:
        """Stop it, several times in a row because a SYNC WRITE is not acknowledged."""
        self._link.stop_wheel(self._config.stop_burst)
