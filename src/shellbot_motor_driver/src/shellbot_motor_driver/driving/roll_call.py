# SPDX-License-Identifier: MIT
"""Who of the servos is away, and what the ladder says about it."""

from __future__ import annotations

from typing import Callable, FrozenSet, List, Tuple

from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.servo_state import Condition
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.safety.ladder import Reaction
from shellbot_motor_driver.safety.rungs import Rungs

_NAMED = 4  # servos by name; the others are counted
_INTERVAL = 0.25  # s between two sentences while one servo after the other is lost
_CALL = 2.0  # s that the servos are given to answer when the port was opened again


class RollCall:
    """Count the absent.

    Parameters
    ----------
    rungs : Rungs
        The ladder: rungs ``servo_lost``, ``without`` and ``bus_down``.
    needs_torque : callable
        ``needs_torque(index)``: whether a limp servo should hold.
    """

    def __init__(self, link: ServoLink, rungs: Rungs, needs_torque: Callable[[int], bool]) -> None:
        self._link, self._rungs, self._config = link, rungs, link.config
        self._needs_torque = needs_torque
        self._reported: Tuple[int, ...] = ()
        self._without: FrozenSet[int] = frozenset()
        self._due = 0.0

    @property
    def lost(self) -> List[ServoTrack]:
        """Those who do not answer."""
        return [track for track in self._link.tracks if track.condition is Condition.LOST]

    @property
    def away(self) -> List[ServoTrack]:
        """Those who do not answer, or do not yet hold with full torque although they should."""
        return [
            track
            for track in self._link.tracks
            if track.condition in (Condition.LOST, Condition.REJOINING)
            or (track.condition is Condition.LIMP and self._needs_torque(track.index))
            or (track.condition is Condition.SUSPECT and not track.state.is_settled)
        ]

    @property
    def is_bus_down(self) -> bool:
        """Whether so many do not answer that it is the bus."""
        return len(self.lost) > self._config.bus.down_fraction * len(self._link.tracks)

    def call_again(self, now: float) -> None:
        """Let everybody who is lost answer before they are named again: the port was opened at ``now``, s."""
        self._reported, self._due = (), now + _CALL

    def go_on_without(self, now: float) -> None:
        """Accept that those who are lost now stay away: the robot was rearmed without them."""
        lost = self.lost
        self._without = frozenset(track.index for track in lost)
        if lost:
            names = ", ".join(track.name for track in lost)
            self._rungs.set("without", Reaction.WARN, f"going on without {names}", False, now)

    def report(self, now: float) -> None:
        """Set the ladder's rungs; the first loss at once, further ones a few times a second."""
        lost = self.lost
        back = self._without - {track.index for track in lost}
        if back:  # it stands where it fell, not where the others were commanded to meanwhile
            self._without = frozenset()
            self._rungs.clear("without")
            names = ", ".join(self._link.tracks[index].name for index in sorted(back))
            text = f"{names} is back: holding; rearm to resume with it"
            self._rungs.set("servo_lost", Reaction.HOLD, text, True, now)
        if not lost:
            self._reported, self._due = (), now
            self.settle(now)
            return
        indices = tuple(track.index for track in lost)
        if indices == self._reported or now < self._due:
            return
        self._reported, self._due = indices, now + _INTERVAL
        names = ", ".join(track.name for track in lost[:_NAMED])
        names += f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        if self.is_bus_down:
            text = f"bus down: {len(lost)} of {len(self._link.tracks)} servos do not answer ({names}); "
            self._rungs.set("bus_down", Reaction.HOLD, f"{text}check power and cable", True, now)
        garbled = [track.name for track in lost if 2 * track.garbled > track.state.misses]
        advice = "check its cable and power"
        if garbled:
            who = ", ".join(garbled[:_NAMED])
            advice = f"{who} sends garbled replies: two servos with one ID (scripts/servo scan), or a bad contact"
        text = f"{names} lost: the others hold; {advice}. It comes back without a restart"
        self._rungs.set("servo_lost", Reaction.HOLD, text, self._config.servo.rearm_after_lost, now)

    def settle(self, now: float) -> None:
        """Say that everyone is back, once that is so; the step stays until rearmed if it is latched."""
        rung = self._rungs.get("servo_lost")
        if rung.reaction and not self.away:
            if rung.latched:
                self._rungs.set("servo_lost", Reaction.HOLD, "all servos are back; rearm to resume", True, now)
            else:
                self._rungs.clear("servo_lost", "all servos are back")
