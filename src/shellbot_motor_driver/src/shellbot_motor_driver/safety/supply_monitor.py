# SPDX-License-Identifier: MIT
"""The battery as the servos see it: median over servos and time, and the step of its ladder."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Deque, List, Optional, Tuple

from shellbot_motor_driver.driving.driver_config import Voltage
from shellbot_motor_driver.driving.driver_state import Supply
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.safety.ladder import Reaction

_INTERVAL = 0.1  # s
_HYSTERESIS = 0.2  # V


class SupplyMonitor:
    """Judge the voltage.

    Parameters
    ----------
    config : Voltage
        Thresholds.

    Attributes
    ----------
    supply : Supply
        Present figures.
    """

    def __init__(self, config: Voltage) -> None:
        self._config = config
        self._samples: Deque[Tuple[float, float]] = deque()
        self._due = -1.0
        self._is_low = False
        self.supply = Supply()

    def update(self, tracks: List[ServoTrack], loads: float, now: float, fresh_after: float) -> Optional[Reaction]:
        """Note the voltages; return the reaction that they demand, None between two looks.

        Parameters
        ----------
        loads : float
            Sum of the servos' load as a fraction of their stall torques.
        now, fresh_after : float
            Present time; readings older than this are left out. s.
        """
        if now < self._due:
            return None
        self._due = now + _INTERVAL
        fresh = [track for track in tracks if track.stamp >= fresh_after]
        if not fresh:
            return None
        now_median = median(track.voltage for track in fresh)
        samples = self._samples
        samples.append((now, now_median))
        while samples and samples[0][0] < now - self._config.window:
            samples.popleft()
        filtered = median(voltage for _, voltage in samples)
        lowest = min(fresh, key=lambda track: track.voltage)
        hottest = max(fresh, key=lambda track: track.temperature)
        self.supply = Supply(
            now_median, filtered, lowest.voltage, lowest.servo_id, hottest.temperature, hottest.servo_id, loads
        )
        # A sag of a moment is not a flat battery: no judgement before the window is nearly full.
        if now - samples[0][0] < 0.9 * self._config.window - _INTERVAL:
            return Reaction.NONE
        return self._reaction(filtered)

    def _reaction(self, volts: float) -> Reaction:
        config = self._config
        if volts < config.cut:
            return Reaction.OFF
        if volts < config.sit:
            return Reaction.SIT_AND_OFF
        if volts < config.derate:
            return Reaction.DERATE
        self._is_low = volts < config.warn + (_HYSTERESIS if self._is_low else 0.0)
        return Reaction.WARN if self._is_low else Reaction.NONE
