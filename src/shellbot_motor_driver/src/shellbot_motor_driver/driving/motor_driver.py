# SPDX-License-Identifier: MIT
"""The motor driver: joint targets in, servo goals out, feedback and a safety ladder; no threads, no sleeps."""

from __future__ import annotations

from typing import Callable, Mapping, Optional

import numpy as np

from ax_bus.errors import PortError, StopAskedError
from ax_bus.registers import RAD_PER_S_PER_STEP
from shellbot_control import Level
from shellbot_motor_driver.driving.driver_start import StartingDriver
from shellbot_motor_driver.driving.start_report import Answer, StartReport
from shellbot_motor_driver.map.compliance import Compliance
from shellbot_motor_driver.map.joint_limits import joint_limits
from shellbot_motor_driver.safety.ladder import Phase, Reaction

Array = np.ndarray


class MotorDriver(StartingDriver):
    """Drive the servos of a map. One owner, one thread; the time is that of the bus's port.

    Parameters
    ----------
    bus : Bus
        An open bus; the driver sets its time-outs.
    servo_map : ServoMap
        The robot's servos.
    config : DriverConfig, optional
        Parameters; by default the package's ``config/driver.yaml``.
    cpu_clock : callable, optional
        Returns CPU time in s, for the figures (``time.process_time`` in a process of its own).

    Examples
    --------
    >>> driver = MotorDriver(Bus(port), ServoMap.load("walker"))
    >>> driver.start()
    >>> while True:
    ...     driver.tick(targets)  # (24,) rad, or None if there are no new ones
    ...     port.sleep(driver.next_tick - port.now())
    """

    def start(self, is_stop_asked: Optional[Callable[[], bool]] = None) -> StartReport:
        """Check everything, then bring the torque up (over the following ticks). Takes about 0.2 s of bus time.

        A servo whose torque is on already (the driver was restarted) goes on holding its goal.

        Parameters
        ----------
        is_stop_asked : callable, optional
            Looked at before each question to a servo. If it is true all torque goes off at once, the checks begin anew,
            and the driver is then started as after `emergency_stop`.

        Raises
        ------
        StartError
            If a servo is missing, doubled, of another model, in wheel mode or unable to answer, or the wiring is unfit;
            nothing has moved.
        PortLostError
            If the port goes away meanwhile.
        """
        try:
            with self.bus.stoppable(is_stop_asked):
                return self._begin(self.config.start.torque)
        except StopAskedError:
            self._link.torque_off(range(len(self._link.tracks)), self.config.fan.stop_burst)
        report = self._begin(False)
        if self.config.start.torque:
            self._rungs.clear("torque_off")  # re-arming brings it
        self.emergency_stop("during the start")
        return report

    def hold(self) -> Array:
        """Hold the last command from now on, until targets come; return it, (n_joints,) rad."""
        self._gate.reset()
        self._has_targets = False
        return self.servo_map.expand(self._motion.position)

    def expect_targets(self) -> None:
        """Let the time-outs of the targets run from now on, whether some have come or not: who gave them is gone."""
        if not self._has_targets:
            self._has_targets = True
            self._gate.stamp = self.bus.port.now()

    def torque(self, on: bool) -> Answer:
        """Switch the torque of all servos.

        On: goal := present, then the torque limit rises over ``start.torque_ramp``; refused while a rung of the ladder
        stands against it. Off: at once and for good, the robot sags.
        """
        now = self.bus.port.now()
        if not on:
            self._rungs.set("torque_off", Reaction.OFF, "torque was switched off by the operator", False, now)
            self._off_now(1)
            return Answer(True, "torque is off")
        against = [rung.text for rung in self._rungs.all if rung.reaction is Reaction.OFF and rung.key != "torque_off"]
        if against:
            return Answer(False, f"torque stays off: {against[0]}; re-arm first")
        if not self._watch.port.is_open:
            return Answer(False, "the port is away; torque can be switched on when it is back")
        self._rungs.clear("torque_off", "torque comes on")
        self._arm()
        return Answer(True, f"torque rises over {self.config.start.torque_ramp:g} s, joints hold where they are")

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """Switch all torque off at once and keep it off until `rearm`."""
        text = f"emergency stop ({cause}): torque is off; make sure that the robot is free, then re-arm"
        self._rungs.set("emergency_stop", Reaction.OFF, text, True, self.bus.port.now())
        self._off_now(self.config.fan.stop_burst)

    def sit_and_off(self, text: str) -> None:
        """Sit down, then switch all torque off; latched."""
        self._rungs.set("shutdown", Reaction.SIT_AND_OFF, text, True, self.bus.port.now())

    def _off_now(self, times: int) -> None:
        self._wishes_torque = self._is_starting = False
        self._phase = Phase.OFF if self._phase is not Phase.CLOSED else self._phase
        self._note_off(self.bus.port.now())
        self._gate.reset()
        self._has_targets = False
        try:
            if self._watch.port.is_open:
                self._link.stop_wheel(self.config.fan.stop_burst)
                self._go_limp(times)
        except PortError as error:
            self._watch.port.lost(error, self._link.now())

    def rearm(self) -> Answer:
        """End what is latched, if its causes are gone; motion starts from where the joints are."""
        now, rungs = self.bus.port.now(), self._rungs
        if self._phase is Phase.CLOSED:
            return Answer(False, "the motor driver is not running; start it")
        if not rungs.latched and "torque_off" in rungs:
            return Answer(False, "nothing is latched, but torque was switched off: call torque with true")
        if not rungs.latched:
            return Answer(True, "nothing was latched")
        if not self._watch.port.is_open:
            return Answer(False, "the port is away: plug it in, it is opened by itself, then re-arm")
        away = self._watch.roll.away
        if away:
            names = ", ".join(track.name for track in away[:4])
            return Answer(False, f"{names} not back yet; check cables and power, then re-arm")
        objection = self._safety.objection(now)
        if objection:
            return Answer(False, objection)
        limp = [i for i in self._everyone if not self._link.torque.on[i]]
        names_of = ", ".join(rung.key for rung in rungs.latched)
        self._safety.forgive(now)
        for rung in rungs.latched:
            if rung.key != "voltage":
                rungs.clear(rung.key)
        if "torque_off" not in rungs:
            self._arm()
            if self._link.torque.on.any():
                for index in limp:
                    self._watch.bring_back(self._link.tracks[index])
        rungs.say("rearm", Level.INFO, f"re-armed ({names_of})")
        return Answer(True, f"re-armed ({names_of}); motion starts from where the joints are")

    def _arm(self) -> None:
        """Start anew: the next targets are the first."""
        self._wishes_torque = True
        self._is_starting = not self._link.torque.on.any()
        self._gate.reset()
        self._has_targets = False
        self._sat_since = None
        self._motion.resume()
        self._link.doubt_speeds()
        if self._phase is Phase.OFF:
            self._phase = Phase.STARTING
        self._note_off(self.bus.port.now())

    def set_compliance(self, table: Mapping[str, Compliance]) -> Answer:
        """Set slope, margin and punch per joint class (``coxa``, ...); written to the servos over the next ticks.

        `compliance_from_gains` makes the table from a `GainTable`.
        """
        link, changed = self._link, []  # type: ignore[var-annotated]
        unknown = sorted(set(table) - set(link.classes))
        for i, kind in enumerate(link.classes):
            wanted = table.get(kind)
            if wanted is not None and wanted != link.compliance[i]:
                link.compliance[i] = wanted
                link.torque.wish[i] = wanted.torque_share
                changed.append(i)
        link.torque.touch()
        try:
            if changed and self._watch.port.is_open:
                link.write_compliance(changed)
        except PortError as error:
            self._watch.port.lost(error, link.now())
        note = f" ({', '.join(unknown)} not on this robot)" if unknown else ""
        return Answer(True, f"compliance of {len(changed)} servos changed{note}")

    def drive_fan(self, velocity: float) -> Answer:
        """Turn the fan's servo in wheel mode for ``fan.lease`` s, joint rad/s; refused unless it is in wheel mode."""
        link = self._link
        if link.wheel < 0:
            return Answer(False, "the fan is in joint mode and follows the targets; there is nothing to lease")
        if self._phase in (Phase.OFF, Phase.BUS_DOWN, Phase.CLOSED):
            return Answer(False, f"the fan does not turn while the driver is {self._phase.name.lower()}; re-arm first")
        if not np.isfinite(velocity):
            return Answer(False, f"the fan's speed is {velocity}; give a finite number of rad/s")
        entry = self.servo_map.entries[link.wheel]
        speed = velocity * entry.gear * entry.sign
        register = min(1023, int(round(abs(speed) / RAD_PER_S_PER_STEP)))
        try:
            link.turn_wheel(register | (1024 if speed < 0.0 and register else 0))
        except PortError as error:
            self._watch.port.lost(error, link.now())
            return Answer(False, str(error))
        self._fan_until = self.bus.port.now() + self.config.fan.lease
        return Answer(True, f"the fan turns for {self.config.fan.lease:g} s")

    def shutdown(self, torque_off: bool = True) -> None:
        """Stop for good: fan's stop burst, torque off (or holding on), port left open."""
        try:
            if self._watch.port.is_open and self._phase is not Phase.CLOSED:
                self._link.stop_wheel(self.config.fan.stop_burst)
                if torque_off:
                    self._link.torque_off(range(len(self._link.tracks)), self.config.fan.stop_burst)
        except PortError:
            self._watch.port.is_open = False
        self._phase = Phase.CLOSED


__all__ = ["MotorDriver", "joint_limits"]
