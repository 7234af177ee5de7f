# SPDX-License-Identifier: MIT
"""What a servo has in its registers beside what it should have: an order it did not hear, or a restart."""

from __future__ import annotations

from shellbot_motor_driver.driving.servo_link import TORQUE_ENABLE, ServoLink
from shellbot_motor_driver.driving.servo_state import NEVER, Condition, Event
from shellbot_motor_driver.driving.servo_track import ServoTrack, Settings

_CONVINCED = 2  # looks in a row that find the same
_REST = 2.0  # s without torque for a servo that does not take it
_RAISE_TRIES = 3  # orders to switch torque on that a servo may miss before it counts as lost


class SettingsCheck:
    """Compare the settings that were just read of a servo with what was written; repeat orders that it did not hear."""

    def __init__(self, link: ServoLink) -> None:
        self._link, self._locks = link, link.config.start.lock_eeprom

    def judge(self, track: ServoTrack, now: float) -> Event:
        """Return what the settings of a servo, read at ``now``, mean for its state."""
        found, i = track.settings, track.index
        assert found is not None
        if i == self._link.wheel:
            return Event.STEADY
        if not self._link.torque.on[i]:
            return self._judge_off(track, found)
        if track.condition is Condition.LOST:
            return self._judge_lost(track, found, now)
        state, is_same = track.state, self._is_as_written(track, found)
        if found.torque_enable and (is_same or (self._is_locked(found) and not state.is_settled)):
            if not is_same:  # a SYNC WRITE of compliance that it did not hear; its torque was never off
                self._link.write_compliance([i])
            state.is_settled, state.differs = is_same, 0
            self._mend_limit(i, found, now)
            return Event.RAMPING if self._link.torque.is_ramping(now)[i] else Event.STEADY
        state.differs += 1
        state.checked = NEVER  # look again in its next turn
        if not state.is_settled:  # torque on was sent and it has it off: it did not hear it, so it is limp still
            self._link.torque.switch_off([i])
            if state.differs <= _RAISE_TRIES:
                return Event.RELEASED
            state.differs, track.raise_at = 0, now + _REST  # a supply that breaks down under load is not kicked on
            return Event.RESTARTED
        return Event.RESTARTED if state.differs >= _CONVINCED else Event.DIFFERS

    def _judge_off(self, track: ServoTrack, found: Settings) -> Event:
        if not found.torque_enable:
            return Event.FOUND_LIMP
        self._link.put(TORQUE_ENABLE, {track.index: b"\0"})
        track.state.checked = NEVER
        return Event.DIFFERS

    def _judge_lost(self, track: ServoTrack, found: Settings, now: float) -> Event:
        """Tell silence from a restart: who has torque, lock and compliance as written never lost its power.

        A torque limit or compliance that was changed while it was silent it cannot have received.
        """
        i, link = track.index, self._link
        is_same = self._is_as_written(track, found) or (self._is_locked(found) and not track.state.is_settled)
        if found.torque_enable and is_same and found.torque_limit:
            track.state.differs = 0
            link.torque.written[i] = found.torque_limit
            link.torque.touch()
            return Event.RAMPING if link.torque.is_ramping(now)[i] else Event.STEADY
        link.torque.switch_off([i])  # from now on it is to be limp, and read so, before anything else
        return self._judge_off(track, found)

    def _is_as_written(self, track: ServoTrack, found: Settings) -> bool:
        compliance = self._link.compliance[track.index]
        return self._is_locked(found) and (found.margins, found.slopes) == (
            (compliance.margin,) * 2,
            (compliance.slope,) * 2,
        )

    def _is_locked(self, found: Settings) -> bool:
        # The lock is in RAM: a servo that has restarted shows it there whatever its compliance.
        return bool(found.lock) or not self._locks

    def _mend_limit(self, i: int, found: Settings, now: float) -> None:
        """Write a torque limit again that the servo did not hear; 0 is an alarm's, which is not ours to end here."""
        torque = self._link.torque
        limit = torque.written[i]
        if found.torque_limit and limit >= 0 and found.torque_limit != limit and not torque.is_ramping(now)[i]:
            torque.written[i] = -1
            torque.touch()
