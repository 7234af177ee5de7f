# SPDX-License-Identifier: MIT
"""The motor driver: joint targets in, servo goals out, feedback and a safety ladder; no threads, no sleeps."""

from __future__ import annotations

from typing import Callable, Mapping, Optional, Tuple

import numpy as np

from ax_bus.bus import Bus
from ax_bus.errors import PortError, StopRequestedError
from ax_bus.protocol import ErrorFlags
from shellbot_common import GAP, Level, Notice
from shellbot_control import JointLimits
from shellbot_motor_driver.driving.commander import Commander
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.driving.driver_state import DriverState, Supply
from shellbot_motor_driver.driving.fan_lease import FanLease
from shellbot_motor_driver.driving.goal_speeds import GoalSpeeds
from shellbot_motor_driver.driving.loop_timer import LoopTimer
from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.servo_state import Condition
from shellbot_motor_driver.driving.servo_table import Row, Snapshot, build_state
from shellbot_motor_driver.driving.servo_watch import ServoWatch
from shellbot_motor_driver.driving.start import Start
from shellbot_motor_driver.driving.start_report import Answer, StartReport
from shellbot_motor_driver.errors import MotorDriverError
from shellbot_motor_driver.map.compliance import Compliance
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.safety.ladder import Ladder, Phase, Reaction
from shellbot_motor_driver.safety.rungs import Rungs
from shellbot_motor_driver.safety.safety import Safety

Array = np.ndarray
_BLIND_START = 4.0  # s that servos of unknown position are given to reach the pose "sit"
_OFF_AGAIN = 0.5  # s between two orders to be limp, as no servo acknowledges them
_SHUTDOWN = int(ErrorFlags.OVERLOAD | ErrorFlags.OVERHEATING)  # alarms that a torque limit would end


class MotorDriver:
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

    def __init__(
        self,
        bus: Bus,
        servo_map: ServoMap,
        config: Optional[DriverConfig] = None,
        cpu_clock: Optional[Callable[[], float]] = None,
    ) -> None:
        self.bus, self.servo_map = bus, servo_map
        self.config = config = config if config is not None else DriverConfig.load()
        self.limits: JointLimits = servo_map.robot.limits
        velocity = self.limits.velocity[servo_map.joint_of_servo]
        self._link = ServoLink(bus, servo_map, config)
        self._rungs = Rungs()
        self._commander = Commander(servo_map, velocity, config.setpoint, self._rungs)
        self._speeds = GoalSpeeds(servo_map, velocity, config.setpoint)
        self._safety = Safety(self._link, self._rungs)
        motion = self._commander.motion
        self._watch = ServoWatch(self._link, self._rungs, motion, self._speeds.slow, self._needs_torque)
        self._fan = FanLease(self._link, self._rungs)
        self.timer = LoopTimer(bus.statistics, config.tick.period, len(servo_map.entries), cpu_clock)
        self._phase = Phase.CLOSED
        self._now = self._due = bus.port.now()
        self._tick = 0
        self._is_torque_requested = self._is_starting = False
        self._off_at = self._sent = -np.inf
        self._off_since = float("nan")
        self._starting_until = -np.inf

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Order of targets and joint arrays, `driven_joint_names(variant)`."""
        return self.servo_map.joint_names

    @property
    def next_tick(self) -> float:
        """Port's time at which the next tick is due, s; a missed tick is left out, not caught up."""
        period, now = self.config.tick.period, self.bus.port.now()
        behind = now - (self._due + period)
        return self._due + period * (1 + max(0, int(behind / period + 0.999) if behind > 0.5 * period else 0))

    @property
    def phase(self) -> Phase:
        """What the robot does."""
        return self._phase

    # -- start and end -----------------------------------------------------------------------------------------------

    def start(self, is_stop_requested: Optional[Callable[[], bool]] = None) -> StartReport:
        """Check everything, then bring the torque up (over the following ticks). Takes about 1 s of bus time.

        A servo whose torque is on already (the driver was restarted) goes on holding its goal.

        Parameters
        ----------
        is_stop_requested : callable, optional
            Checked before each instruction to a servo. If it is true all torque goes off at once, the checks restart,
            and the driver is then started as after `emergency_stop`.

        Raises
        ------
        StartError
            If a servo is missing, doubled, of another model, in wheel mode or unable to answer with what can be, or the
            wiring is unfit; nothing has moved.
        PortLostError
            If the port goes away meanwhile.
        """
        try:
            with self.bus.stoppable(is_stop_requested):
                return self._begin(self.config.start.torque)
        except StopRequestedError:
            self._link.all_off(self.config.fan.stop_burst)
        report = self._begin(False)
        if self.config.start.torque:
            self._rungs.clear("torque_off")  # rearming brings it
        self.emergency_stop("during the start")
        return report

    def _begin(self, torque: bool) -> StartReport:
        link, scheduler = self._link, self._watch.scheduler
        start = Start(link, self._rungs, self._commander.motion, self._speeds)
        report = start.run(torque, self._commander.sit)
        for overhead in tuple(self.bus.statistics.overheads):
            scheduler.record(overhead)
        self._fan.stop()
        self._is_torque_requested = torque or bool(start.held)
        if start.held:  # who was limp beside those stays so until rearmed
            self._safety.off.update(i for i in range(len(link.tracks)) if i not in start.held)
        elif torque and report.is_write_only:
            self._starting_until = link.now() + _BLIND_START
        for text in report.notices:
            self._rungs.say("start", Level.WARN, text)
        self._now = self.bus.port.now()
        self._due = self._now - self.config.tick.period
        self._safety.reading_begins(self._now)
        self._phase = Phase.STARTING
        self._is_starting = self._is_torque_requested
        self._update_phase(self._now)
        return report

    def shutdown(self, torque_off: bool = True) -> None:
        """Stop for good: fan's stop burst, torque off (or holding on), port left open."""
        try:
            if self._watch.port.is_open and self._phase is not Phase.CLOSED:
                self._fan.stop()
                if torque_off:
                    self._link.all_off(self.config.fan.stop_burst)
        except PortError:
            self._watch.port.is_open = False
        self._phase = Phase.CLOSED

    # -- tick --------------------------------------------------------------------------------------------------------

    def tick(self, targets: Optional[Array] = None, stamp: Optional[float] = None, due: Optional[float] = None) -> None:
        """Send the goals, read some servos, run the ladder. Never raises for what bus, servos or targets do.

        Parameters
        ----------
        targets : (n_joints,) array, optional
            rad; None if there are no new ones since the last tick.
        stamp : float, optional
            Port's time at which the targets were given, s; by default now.
        due : float, optional
            Port's time at which this tick was due, s; by default one period after the last one's.

        Raises
        ------
        MotorDriverError
            If the driver was not started, or was shut down.
        """
        if self._phase is Phase.CLOSED:
            raise MotorDriverError("the motor driver is not running; call start first")
        now, period, watch = self.bus.port.now(), self.config.tick.period, self._watch
        if due is None:
            due = self._due + period * max(1.0, (now - self._due + 1e-6) // period)
        left_out = max(0, round((due - self._due) / period) - 1) if self._tick else 0
        # on time, the grid goes on; far behind, a new one begins
        self._due = min(due, now) if now - due < period else now
        # A stall may lie between a tick's beginning and its goals: the joints have had only the time since those.
        is_late = self._sent - self._now > 0.5 * period
        dt = min(max(now - (self._sent if is_late else self._now), 0.0), GAP)
        self._now = now
        self._tick += 1
        self.timer.begin(now - due, left_out)
        if targets is not None:
            self._commander.offer(targets, now if stamp is None else stamp, now)
        try:
            self._judge(now)
            measured = self.servo_map.angles(self._link.table[Row.STEPS]) if self._link.reads else None
            self._commander.step(self._phase, dt, now, measured)
            was_open = watch.port.is_open
            if was_open or watch.port.try_reopen(now):
                if not was_open:
                    self._safety.reading_begins(now)
                self._exchange(now, due)
        except PortError as error:
            watch.port.lost(error, self._link.now())
        self.timer.end(self.bus.port.now() - now, watch.scheduler, watch.reads)

    def _judge(self, now: float) -> None:
        """Let the ladder decide."""
        loads = self._link.table[Row.LOAD].astype(np.int64) & 1023
        self._safety.update(now, float(loads.mean()) / 1023.0)
        counts = self._commander.has_targets and self._phase is not Phase.OFF
        self._safety.judge_targets(self._commander.gate, now, counts)
        if self._watch.port.is_open:
            self._safety.judge_feedback(now)
        self._update_phase(now)

    def _exchange(self, now: float, due: float) -> None:
        """Everything that this tick sends to the servos and receives."""
        link = self._link
        if self._phase is Phase.OFF:
            if link.torque.on.any() or now >= self._off_at:
                self._go_limp(1)
        else:
            if link.reads:
                self._watch.age(now)
            elif self._is_torque_requested and not link.torque.on.any():
                self._starting_until = now + _BLIND_START
                joints = [i for i in range(len(link.tracks)) if i != link.wheel]
                link.torque_up(self._commander.motion.position, self._speeds.slow, joints, now)
            link.torque_off([i for i in np.flatnonzero(link.torque.on).tolist() if self._safety.withholds(i)])
            able = tuple(t.index for t in link.tracks if t.condition.gets_goals and link.torque.on[t.index])
            link.send_goals(self._commander.motion.position, self._goal_speeds(), able)
            self._sent = link.now()
        if not link.torque.is_settled:
            calm = link.table[Row.ALARMS].astype(np.int64) & _SHUTDOWN == 0
            link.write_limits(link.torque.changes(now, calm & [t.condition.gets_goals for t in link.tracks]))
        self._fan.update(now)
        if link.reads:
            self._watch.run(now, min(due, now), max(self.bus.line_free - now, 0.0))

    def _goal_speeds(self) -> Array:
        is_slow = self._phase in (Phase.SITTING, Phase.SAT) or self._now < self._starting_until
        is_blind_ramp = not self._link.reads and bool(self._link.torque.is_ramping(self._now).any())
        return self._speeds.choose(is_slow, is_blind_ramp)

    def _needs_torque(self, index: int) -> bool:
        """Return whether a servo that is limp is to be switched on."""
        is_requested = self._is_torque_requested and self._phase is not Phase.OFF and index != self._link.wheel
        return is_requested and not self._safety.withholds(index)

    def _update_phase(self, now: float) -> None:
        torque, reaction = self._link.torque, self._rungs.reaction
        if self._is_starting and torque.on.any():
            self._is_starting = (
                bool(torque.is_ramping(now).any()) or now < self._starting_until or bool(self._watch.limp_requested())
            )
        if reaction is Reaction.OFF:
            phase = Phase.OFF
        elif self._watch.is_down:
            phase = Phase.BUS_DOWN
        elif reaction in (Reaction.SIT, Reaction.SIT_AND_OFF):
            phase = Phase.SAT if self._commander.sat_since is not None else Phase.SITTING
        elif reaction is Reaction.HOLD:
            phase = Phase.HOLDING
        elif self._is_starting:
            phase = Phase.STARTING
        else:
            phase = Phase.FOLLOWING if self._commander.has_targets else Phase.WAITING
        self._enter(phase, now)

    def _enter(self, phase: Phase, now: float) -> None:
        """Take a phase; keep since when torque is to be off."""
        self._phase = phase
        if phase is not Phase.OFF:
            self._off_since = float("nan")
        elif self._off_since != self._off_since:
            self._off_since = now

    # -- what it says ------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the numbers of the last tick."""
        link, torque = self._link, self._link.torque
        link.table[Row.TORQUE_ON] = torque.on
        link.table[Row.TORQUE_FRACTION] = torque.fractions(self._now)
        command = self._commander.motion.position
        return Snapshot(self._now, self._tick, link.table.copy(), command, not link.reads, self._off_since)

    def ladder(self) -> Ladder:
        """Return where the ladder stands; the same object until it changes."""
        return self._rungs.ladder(self._phase, float(self._link.torque.fractions(self._now).max()))

    @property
    def supply(self) -> Supply:
        """Figures of the battery."""
        return self._safety.supply.supply

    def state(self) -> DriverState:
        """Return the state at the end of the last tick."""
        stale_after = self.config.servo.stale_after
        return build_state(
            self.servo_map, self.snapshot(), stale_after, self.ladder(), self.supply, self.timer.timing()
        )

    def events(self) -> Tuple[Notice, ...]:
        """Return what happened since the last call, in words for the operator, and forget it."""
        return self._rungs.take_notices()

    # -- requests ----------------------------------------------------------------------------------------------------

    def hold(self) -> Array:
        """Hold the last command from now on, until targets come; return it, (n_joints,) rad."""
        self._commander.forget()
        return self.servo_map.expand(self._commander.motion.position)

    def expect_targets(self) -> None:
        """Let the time-outs of the targets run from now on, whether some have come or not: their sender has gone."""
        self._commander.expect(self.bus.port.now())

    def torque(self, on: bool) -> Answer:
        """Switch the torque of all servos.

        On: goal := present, then the torque limit rises over ``start.torque_ramp``; refused while a rung of the ladder
        stands against it. Off: at once and for good, the robot sags.
        """
        now = self.bus.port.now()
        if not on:
            self._rungs.set("torque_off", Reaction.OFF, "torque was switched off by the operator", False, now)
            self._off_now()
            return Answer(True, "torque is off")
        against = [rung.text for rung in self._rungs.all if rung.reaction is Reaction.OFF and rung.key != "torque_off"]
        if against:
            return Answer(False, f"torque stays off: {against[0]}; rearm first")
        if not self._watch.port.is_open:
            return Answer(False, "the port is disconnected; torque can be switched on when it is back")
        self._rungs.clear("torque_off", "torque comes on")
        self._arm()
        return Answer(True, f"torque rises over {self.config.start.torque_ramp:g} s, joints hold where they are")

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """Switch all torque off at once and keep it off until `rearm`."""
        text = f"emergency stop ({cause}): torque is off; make sure that the robot is free, then rearm"
        self._rungs.set("emergency_stop", Reaction.OFF, text, True, self.bus.port.now())
        self._off_now()

    def sit_and_off(self, text: str) -> None:
        """Sit down, then switch all torque off; latched."""
        self._rungs.set("shutdown", Reaction.SIT_AND_OFF, text, True, self.bus.port.now())

    def _off_now(self) -> None:
        self._is_torque_requested = self._is_starting = False
        if self._phase is not Phase.CLOSED:
            self._enter(Phase.OFF, self.bus.port.now())
        self._commander.forget()
        try:
            if self._watch.port.is_open:
                self._fan.stop()
                self._go_limp(self.config.fan.stop_burst)
        except PortError as error:
            self._watch.port.lost(error, self._link.now())

    def _go_limp(self, times: int) -> None:
        self._off_at = self._link.now() + _OFF_AGAIN
        self._link.all_off(times)

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
            return Answer(False, "the port is disconnected: plug it in, it is reopened without a restart, then rearm")
        roll = self._watch.roll
        lost = roll.lost if len(roll.lost) <= self.config.servo.rearm_without else []
        away = [track for track in roll.away if track not in lost]
        if away:
            names = ", ".join(track.name for track in away[:4])
            rises = all(track.condition is Condition.REJOINING for track in away)
            remedy = "torque still rises: rearm in a few seconds" if rises else "check cables and power, then rearm"
            return Answer(False, f"{names} not back yet; {remedy}")
        objection = self._safety.objection(now)
        if objection:
            return Answer(False, objection)
        names_of = ", ".join(rung.key for rung in rungs.latched)
        try:
            self._safety.forgive(now)
        except PortError as error:
            self._watch.port.lost(error, self._link.now())
            return Answer(False, str(error))
        for rung in rungs.latched:
            if rung.key != "voltage":
                rungs.clear(rung.key)
        if "torque_off" not in rungs:
            self._arm()
        roll.go_on_without(now)
        without = f" without {', '.join(track.name for track in lost)}" if lost else ""
        rungs.say("rearm", Level.INFO, f"rearmed{without} ({names_of})")
        return Answer(True, f"rearmed{without} ({names_of}); motion starts from where the joints are")

    def _arm(self) -> None:
        """Start afresh: the next targets are the first."""
        self._is_torque_requested = True
        self._is_starting = True  # until everybody who should hold does, with all its torque
        self._commander.arm()
        self._link.doubt_speeds()
        if self._phase is Phase.OFF:
            self._enter(Phase.STARTING, self.bus.port.now())

    def set_compliance(self, table: Mapping[str, Compliance]) -> Answer:
        """Set slope, margin and punch per joint class (``coxa``, ...); written to the servos over the next ticks.

        `compliance_from_gains` makes the table from a `GainTable`.
        """
        try:
            changed = self._link.set_compliance(table, self._watch.port.is_open)
        except PortError as error:
            self._watch.port.lost(error, self._link.now())
            return Answer(False, str(error))
        unknown = sorted(set(table) - set(self._link.classes))
        note = f" ({', '.join(unknown)} not on this robot)" if unknown else ""
        return Answer(True, f"compliance of {changed} servos changed{note}")

    def drive_fan(self, velocity: float) -> Answer:
        """Turn the fan's servo in wheel mode for ``fan.lease`` s, joint rad/s; refused unless it is in wheel mode."""
        if self._link.wheel >= 0 and self._phase in (Phase.OFF, Phase.BUS_DOWN, Phase.CLOSED):
            return Answer(False, f"the fan does not turn while the driver is {self._phase.name.lower()}; rearm first")
        if self._safety.withholds(self._link.wheel):
            return Answer(False, "the fan's torque is withheld (heat or overload); let it cool, then rearm")
        try:
            return self._fan.turn(velocity)
        except PortError as error:
            self._watch.port.lost(error, self._link.now())
            return Answer(False, str(error))
