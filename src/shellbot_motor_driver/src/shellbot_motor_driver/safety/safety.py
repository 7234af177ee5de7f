# SPDX-License-Identifier: MIT
"""The rules of the ladder: age of the targets, heat, overload, battery. They set steps; the driver acts."""

from __future__ import annotations

import re
from collections import deque
from typing import Deque, Dict, List, Optional, Set, Tuple

import numpy as np

from ax_bus.protocol import ErrorFlags, flag_names
from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.servo_state import Condition
from shellbot_motor_driver.driving.servo_table import Row
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.safety.ladder import Reaction
from shellbot_motor_driver.safety.rungs import Rungs
from shellbot_motor_driver.safety.setpoint import SetpointGate
from shellbot_motor_driver.safety.supply_monitor import SupplyMonitor

_FRESH_FOR = 1.0  # s for which all readings must be young and frequent before the robot goes on
_RATE_WINDOW, _RATE_INTERVAL = 1.0, 0.1  # s over which READs are counted, and between two counts
_INTERVAL = 0.05  # s between two looks at heat and overload
_COOLED = 5.0  # K below the threshold at which a hot servo counts as cool again
_RECOVERED = 0.2  # V above a threshold at which rearming is allowed

_NUMBER = re.compile(r"-?\d+\.\d+")
_VOLTAGE_TEXTS = {
    Reaction.WARN: "the battery is low ({:.1f} V): bring the robot home and charge it",
    Reaction.DERATE: "the battery is nearly empty ({:.1f} V): torque is reduced to {:.0%}; stop and charge it",
    Reaction.SIT_AND_OFF: "the battery is empty ({:.1f} V): the robot sits down and switches torque off; charge it",
    Reaction.OFF: (
        "the battery is below the safe voltage of its cells ({:.1f} V): torque is off; switch the robot off, charge it"
    ),
}


class Safety:
    """Rules.

    Parameters
    ----------
    rungs : Rungs
        The ladder.

    Attributes
    ----------
    off : set of int
        Servos that stay limp until rearmed: a hot leg, a second overload, or limp when the driver took over.
    """

    def __init__(self, link: ServoLink, rungs: Rungs) -> None:
        self._link, self._rungs = link, rungs
        self._config = link.config
        self.supply = SupplyMonitor(link.config.voltage)
        self.off: Set[int] = set()
        self._due = -np.inf
        self._hot: Dict[str, int] = {}  # limb -> 1 derated, 2 off
        self._overloaded: Dict[int, float] = {}  # waits for its recovery: since
        self._last_overload: Dict[int, float] = {}
        self._weak: Set[int] = set()  # recovered: half torque
        self._fresh_since = self._begun = -np.inf
        self._counts: Deque[Tuple[float, np.ndarray]] = deque()  # s, READs of each servo so far
        self._rates = np.full(len(link.tracks), np.inf)  # Hz over the last second

    def update(self, now: float, loads: float) -> None:
        """Look at the servos. Cheap between two looks."""
        if not self._link.reads:
            return
        reaction = self.supply.update(self._link.tracks, loads, now, now - self._config.servo.lost_after)
        if reaction is not None:
            self._judge_voltage(reaction, now)
        if now < self._due:
            return
        self._due = now + _INTERVAL
        self._judge_claims(now)
        for track in self._link.tracks:
            if track.condition is Condition.LOST:
                continue
            if track.is_warm:
                self._judge_heat(track, now)
            if track.alarms & (ErrorFlags.OVERLOAD | ErrorFlags.OVERHEATING):
                self._judge_shutdown(track, now)
        for index, since in list(self._overloaded.items()):
            if now - since >= self._config.overload.recover_after:
                del self._overloaded[index]
                self._recover(self._link.tracks[index], now)

    def withholds(self, index: int) -> bool:
        """Return whether a servo must stay limp for now."""
        return index in self.off or index in self._overloaded

    # -- age of the readings -----------------------------------------------------------------------------------------

    def reading_begins(self, now: float) -> None:
        """Note that READs begin at ``now``, s: at the start, and after the port was away."""
        self._begun = now
        self._counts.clear()
        self._rates[:] = np.inf

    def judge_feedback(self, now: float) -> None:
        """Hold while a servo that is not lost was not read for too long, or is read too seldom, whoever is to blame.

        Looks at the stamps and counts of valid replies alone, in every tick, and so does not depend on READs being
        made or planned.
        """
        if not self._link.reads:
            return
        limit, table = self._config.servo, self._link.table
        if not self._counts or now - self._counts[-1][0] >= _RATE_INTERVAL:
            self._count_reads(now)
        is_old = now - np.maximum(table[Row.STAMP], self._begun) > limit.old_after
        bad = (is_old | (self._rates < limit.least_rate)) & (table[Row.CONDITION] != Condition.LOST)
        if not bad.any():
            if now - self._fresh_since >= _FRESH_FOR:
                self._rungs.clear("feedback", "every servo is read in time again: following")
            return
        self._fresh_since = now
        if "feedback" not in self._rungs:
            is_any_old = bool((bad & is_old).any())  # an old reading says more than a low rate
            text = self._feedback_text(np.flatnonzero(bad & is_old if is_any_old else bad).tolist(), is_any_old)
            self._rungs.set("feedback", Reaction.HOLD, text, False, now)

    def _feedback_text(self, indices: List[int], is_old: bool) -> str:
        limit, found = self._config.servo, [self._link.tracks[i] for i in indices]
        silent = [track for track in found if track.state.misses]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        rate = f"read at {self._rates[indices[0]]:.1f} Hz, {limit.least_rate:g} are needed (servo.least_rate)"
        what = f"not read for {limit.old_after:g} s" if is_old else rate
        cause = (
            f"{silent[0].name} does not answer: check its cable and power"
            if silent
            else "The machine is too busy or the link too slow: end other programs, check the port's latency timer "
            "and the servos' return delay"
        )
        return f"{found[0].name}{more} {what}: holding until all are read in time again. {cause}"

    def _count_reads(self, now: float) -> None:
        counts, table = self._counts, self._link.table
        # NaN: for a second after its return a lost servo has no rate
        counts.append((now, np.where(table[Row.CONDITION] == Condition.LOST, np.nan, table[Row.READS])))
        while len(counts) > 2 and now - counts[1][0] >= _RATE_WINDOW:
            counts.popleft()
        elapsed = now - counts[0][0]
        if elapsed >= _RATE_WINDOW:
            self._rates = (counts[-1][1] - counts[0][1]) / elapsed

    # -- targets -----------------------------------------------------------------------------------------------------

    def judge_targets(self, gate: SetpointGate, now: float, counts: bool) -> None:
        """Hold, sit, switch off as the last good targets grow old.

        Parameters
        ----------
        gate : SetpointGate
            Targets.
        now : float
            s.
        counts : bool
            Whether targets are due: some have arrived since the last arming.
        """
        config, rungs = self._config.setpoint, self._rungs
        if gate.problem:
            text = f"targets refused: {gate.problem}; holding"
            # Only the numbers differ from tick to tick: the first stay.
            if _NUMBER.sub("", text) != _NUMBER.sub("", rungs.get("targets").text):
                rungs.set("targets", Reaction.HOLD, text, False, now)
        else:
            rungs.clear("targets", "targets are valid again")
        before = rungs.get("setpoint")
        if not counts:
            return
        age = now - gate.stamp
        if age <= config.hold_after:
            if before.reaction <= Reaction.HOLD:
                rungs.clear("setpoint", "targets arrive again: following them")
            return
        who = "check their publisher (rostopic info joint_targets)"
        if age > config.off_after and before.reaction < Reaction.SIT_AND_OFF:
            text = f"no valid targets for {config.off_after:g} s: torque goes off; {who}, then rearm"
            rungs.set("setpoint", Reaction.SIT_AND_OFF, text, True, now)
        elif age > config.sit_after and before.reaction < Reaction.SIT:
            text = f"no valid targets for {config.sit_after:g} s: sitting down; {who}, then rearm"
            rungs.set("setpoint", Reaction.SIT, text, True, now)
        elif before.reaction < Reaction.HOLD:
            text = f"no valid targets for {config.hold_after:g} s: holding; {who}"
            rungs.set("setpoint", Reaction.HOLD, text, False, now)

    # -- battery -----------------------------------------------------------------------------------------------------

    def _judge_voltage(self, reaction: Reaction, now: float) -> None:
        before = self._rungs.get("voltage")
        if reaction is Reaction.NONE and before.reaction is Reaction.WARN:
            self._rungs.clear("voltage", "the battery's voltage has recovered")
        if reaction <= before.reaction or reaction is Reaction.NONE:
            return
        volts = self.supply.supply.filtered
        text = _VOLTAGE_TEXTS[reaction].format(volts, self._config.voltage.derate_fraction)
        self._rungs.set("voltage", reaction, text, reaction > Reaction.WARN, now)
        if reaction >= Reaction.DERATE:
            self._link.torque.robot = self._config.voltage.derate_fraction
            self._link.torque.touch()

    # -- heat --------------------------------------------------------------------------------------------------------

    def _judge_heat(self, track: ServoTrack, now: float) -> None:
        level, before = track.heat(), self._hot.get(track.limb, 0)
        if level <= before:
            return
        self._hot[track.limb] = level
        link = self._link
        leg = [other.index for other in link.tracks if other.limb == track.limb]
        if level == 1:
            text = (
                f"{track.name} is at {track.temperature:.0f} degC, its limit is {track.temperature_limit}: "
                f"{track.limb} has half its torque, the robot sits down; let it cool, then rearm"
            )
            self._rungs.set("heat", Reaction.SIT, text, True, now)
            self._derate()
            return
        minutes = self._config.heat.cool_down / 60.0
        text = (
            f"{track.name} is at its limit ({track.temperature:.0f} degC): torque of {track.limb} is off, the robot "
            f"sits; let it cool for {minutes:.0f} min, then rearm"
        )
        self._rungs.set("heat_shutdown", Reaction.SIT, text, True, now)
        self.off.update(leg)
        link.torque_off(leg)

    def _derate(self) -> None:
        """Set the torque fractions of legs and servos."""
        part = self._link.torque.part
        part[:] = 1.0
        for track in self._link.tracks:
            if self._hot.get(track.limb):
                part[track.index] = self._config.heat.torque_fraction
            if track.index in self._weak:
                part[track.index] = min(part[track.index], self._config.overload.torque_fraction)
        self._link.torque.touch()

    # -- alarms that no register confirms ----------------------------------------------------------------------------

    def _judge_claims(self, now: float) -> None:
        """Warn about error bits that stay set in every reply: no register confirms them, so the ladder ignores them."""
        unconfirmed = []
        for track in self._link.tracks:
            for flag, since in track.claimed_since.items():
                if now - since >= self._config.alarms.report_after and not track.alarms & flag:
                    unconfirmed.append(f"{track.name} ({flag_names(flag)[0].replace('_', ' ')})")
        if unconfirmed:
            names = ", ".join(unconfirmed[:4]) + (" and others" if len(unconfirmed) > 4 else "")
            text = (
                f"alarms in every reply for {self._config.alarms.report_after:g} s that no register confirms: {names}; "
                "check by hand whether it is hot or blocked"
            )
            self._rungs.set("alarms", Reaction.WARN, text, False, now)
        else:
            self._rungs.clear("alarms", "no servo reports an alarm any more")

    # -- shutdown of a servo -----------------------------------------------------------------------------------------

    def _judge_shutdown(self, track: ServoTrack, now: float) -> None:
        """Deal with a servo that took its torque limit to 0."""
        i = track.index
        if i in self._overloaded or i in self.off or not (self._link.torque.on[i] or i == self._link.wheel):
            return
        if track.alarms & ErrorFlags.OVERHEATING:
            if track.settings is not None and track.settings.torque_limit == 0 and self._hot.get(track.limb, 0) < 2:
                track.hot.extend((2,) * (track.hot.maxlen or 1))  # it has cooled a little, but it was at its limit
                self._judge_heat(track, now)
            return
        last = self._last_overload.get(i)
        self._last_overload[i] = now
        self._link.torque_off([i])
        config = self._config.overload
        if last is not None and now - last < config.window:
            self.off.add(i)
            text = f"{track.name} is overloaded again: it stays off, the others hold; free the joint, then rearm"
            self._rungs.set("overload", Reaction.HOLD, text, True, now)
            return
        self._overloaded[i] = now
        text = (
            f"{track.name} was overloaded and switched itself off: the others hold, it tries again in "
            f"{config.recover_after:g} s with {config.torque_fraction:.0%} torque"
        )
        self._rungs.set("overload", Reaction.HOLD, text, False, now)

    def _recover(self, track: ServoTrack, now: float) -> None:
        self._weak.add(track.index)
        self._derate()
        if track.index == self._link.wheel:
            self._link.restore_wheel()
        rung = self._rungs.get("overload")
        if not self._overloaded and not rung.latched:
            fraction = self._config.overload.torque_fraction
            self._rungs.clear("overload")
            text = f"{track.name} has {fraction:.0%} torque after an overload, until rearmed"
            self._rungs.set("overload", Reaction.DERATE, text, True, now)

    # -- rearming ---------------------------------------------------------------------------------------------------

    def objection(self, now: float) -> Optional[str]:
        """Return why rearming is refused, or None."""
        config, volts = self._config, self.supply.supply.filtered
        rung = self._rungs.get("voltage")
        thresholds = {Reaction.SIT_AND_OFF: config.voltage.sit, Reaction.OFF: config.voltage.derate}
        needed = thresholds.get(rung.reaction)
        if needed is not None and not volts >= needed + _RECOVERED:
            return f"the battery has {volts:.1f} V, {needed + _RECOVERED:.1f} V are needed: charge or replace it"
        rung = self._rungs.get("heat_shutdown")
        left = rung.since + config.heat.cool_down - now
        if rung.reaction and left > 0.0:
            return f"a servo reached its temperature limit; it must cool for {left / 60.0:.1f} more minutes"
        hot = self.still_hot()
        if hot:
            track = hot[0]
            allowed = track.temperature_limit - config.heat.margin - _COOLED
            return f"{track.name} is still at {track.temperature:.0f} degC; wait until it is below {allowed:.0f}"
        return None

    def still_hot(self) -> List[ServoTrack]:
        """Return the servos of derated legs that have not cooled."""
        margin = self._config.heat.margin + _COOLED
        return [
            track
            for track in self._link.tracks
            if self._hot.get(track.limb) and track.temperature >= track.temperature_limit - margin
        ]

    def forgive(self, now: float) -> None:
        """Forget what was latched; a battery that is still low keeps its derating."""
        self.off.clear()
        self._hot.clear()
        self._overloaded.clear()
        self._weak.clear()
        filtered = self.supply.supply.filtered
        self._link.torque.robot = 1.0
        keeps = self._rungs.get("voltage").reaction >= Reaction.DERATE and not filtered >= self._config.voltage.derate
        self._rungs.clear("voltage")
        if keeps:
            self._judge_voltage(Reaction.DERATE, now)
        for key in ("heat", "heat_shutdown", "overload"):
            self._rungs.clear(key)
        self._derate()
        if self._link.wheel >= 0:
            self._link.restore_wheel()
