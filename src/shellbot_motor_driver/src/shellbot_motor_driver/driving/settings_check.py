# SPDX-License-Identifier: MIT
"""What a servo has in its registers beside what it should have: an order it did not hear, or a restart."""

from __future__ import annotations

import numpy as np

from shellbot_motor_driver.driving.servo_link import TORQUE_ENABLE, ServoLink
from shellbot_motor_driver.driving.servo_track import ServoTrack

_CONVINCED = 2  # looks in a row that find the same


class SettingsCheck:
    """Compare the settings that were just read of a servo; mend what a repeated order mends.

    Parameters
    ----------
    link : ServoLink
        The servos.
    """

    def __init__(self, link: ServoLink) -> None:
        self._link, self._locks = link, link.config.start.lock_eeprom

    def judge(self, track: ServoTrack, now: float) -> str:
        """Return why the servo must be brought back like one that was lost; empty if it need not."""
        link, i, found = self._link, track.index, track.settings
        if found is None:
            return ""
        if i == link.wheel:
            track.verified = True
            return ""
        wanted = link.compliance[i]
        is_on = bool(link.torque.on[i])
        # The lock is in RAM: a servo that has restarted shows it there whatever its compliance.
        differs = (found.margins, found.slopes) != ((wanted.margin,) * 2, (wanted.slope,) * 2)
        differs = differs or (self._locks and not found.lock)
        if bool(found.torque_enable) == is_on and not (differs and is_on):
            track.mismatches = 0
            track.settled = not differs
            track.verified = True
            limit = link.torque.written[i]
            is_other = is_on and found.torque_limit and limit >= 0 and found.torque_limit != limit
            if is_other and not link.torque.is_ramping(now)[i]:
                link.torque.written[i] = -1
                link.torque.touch()
            return ""
        track.mismatches += 1
        track.checked = -np.inf  # look again in its next turn
        if track.mismatches < _CONVINCED:
            return ""
        track.mismatches = 0
        if not is_on:
            if found.torque_enable:
                link.put(TORQUE_ENABLE, {i: b"\0"})
            track.verified = True
            return ""
        if found.torque_enable and not track.settled:
            link.write_compliance([i])  # a SYNC WRITE that it did not hear
            return ""
        return "restarted (its power broke in: check its supply)" if differs else "has its torque off"
