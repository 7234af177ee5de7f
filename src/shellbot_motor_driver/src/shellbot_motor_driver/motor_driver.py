# SPDX-License-Identifier: MIT
"""The motor driver: joint targets in, servo goals out, feedback and a safety ladder; no threads, no sleeps."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Callable, Mapping, Optional, Tuple

import numpy as np

from shellbot_control import GAP, JointLimits, Level, Notice
from shellbot_description import joint_class, load_variables, named_pose_array
from shellbot_motor_driver.bus import Bus
from shellbot_motor_driver.compliance import Compliance
from shellbot_motor_driver.driver_config import DriverConfig
from shellbot_motor_driver.driver_state import Answer, Condition, DriverState, Ladder, Phase, Reaction, StartReport
from shellbot_motor_driver.errors import MotorDriverError, NoReplyError, PortError, StartError
from shellbot_motor_driver.loop_timer import LoopTimer
from shellbot_motor_driver.motion import Motion
from shellbot_motor_driver.protocol import ErrorFlags
from shellbot_motor_driver.registers import RAD_PER_S_PER_STEP
from shellbot_motor_driver.rungs import Rungs
from shellbot_motor_driver.safety import Safety
from shellbot_motor_driver.servo_link import ServoLink
from shellbot_motor_driver.servo_map import ServoMap
from shellbot_motor_driver.servo_setup import check_servos
from shellbot_motor_driver.servo_table import Row, Snapshot, build_state
from shellbot_motor_driver.servo_track import ServoTrack
from shellbot_motor_driver.servo_watch import ServoWatch
from shellbot_motor_driver.setpoint import SetpointGate
from shellbot_motor_driver.wire_time import sync_write_time

Array = np.ndarray
_OFF_AGAIN = 0.5  # s between two orders to be limp, as nobody acknowledges them
_SAT_BEFORE_OFF = 0.5  # s
_HELD_NEAR = 0.2  # rad; a servo whose goal is farther from where it stands is not simply left to it
_SHUTDOWN = int(ErrorFlags.OVERLOAD | ErrorFlags.OVERHEATING)  # alarms that a torque limit would end
_BREATH = 0.02  # s between two tries at start
_BLIND_START = 4.0  # s that servos of unknown position are given to reach the pose "sit"


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
        self.config = config if config is not None else DriverConfig.load()
        self._link = ServoLink(bus, servo_map, self.config)
        n = len(servo_map.entries)
        self._limits = joint_limits(servo_map)
        speed = self._limits.velocity[servo_map.joint_of_servo]
        setpoint = self.config.setpoint
        self._motion = Motion(servo_map.lower, servo_map.upper, speed, setpoint)
        self._sit = named_pose_array("sit", servo_map.variant)[servo_map.joint_of_servo]
        self._fast = servo_map.to_speeds(speed * setpoint.speed_headroom)
        self._slow = servo_map.to_speeds(np.full(n, setpoint.sit_speed) * setpoint.speed_headroom)
        self._crawl = servo_map.to_speeds(np.full(n, 0.25 * setpoint.sit_speed))
        self._rungs = Rungs()
        self._gate = SetpointGate(servo_map, setpoint)
        self._watch = ServoWatch(
            self._link, self._rungs, self._motion.place, lambda i: int(self._slow[i]), self._wants_torque
        )
        self._safety = Safety(self._link, self._rungs, self._watch.bring_back)
        self._timer = LoopTimer(bus.statistics, self.config.tick.period, n, cpu_clock)
        self._phase = Phase.CLOSED
        self._now = self._due = bus.port.now()
        self._tick = 0
        self._has_targets = self._wishes_torque = self._is_starting = False
        self._sat_since: Optional[float] = None
        self._off_at = -np.inf
        self._fan_until = -np.inf
        self._starting_until = -np.inf
        self._everyone: Tuple[int, ...] = ()
        self._ladder = Ladder()
        self._ladder_key: Tuple[int, Phase, float] = (-1, Phase.CLOSED, 0.0)

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Order of targets and joint arrays, `driven_joint_names(variant)`."""
        return self.servo_map.joint_names

    @property
    def limits(self) -> JointLimits:
        """Limits that every command keeps."""
        return self._limits

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

    # -- start -------------------------------------------------------------------------------------------------------

    def start(self) -> StartReport:
        """Check everything, then bring the torque up (over the following ticks). Takes about 0.2 s of bus time.

        A servo whose torque is on already (the driver was restarted) goes on holding its goal.

        Raises
        ------
        StartError
            If a servo is missing, doubled, of another model, in wheel mode or unable to answer, or the wiring is unfit;
            nothing has moved.
        PortLostError
            If the port goes away meanwhile.
        """
        link = self._link
        report = check_servos(link)
        if report.is_write_only:
            self._start_blind()
        else:
            report = self._start_seeing(report)
            self._watch.scheduler.seed(tuple(self.bus.statistics.round_trips))
        link.stop_wheel(self.config.fan.stop_burst)
        self._everyone = tuple(i for i in range(len(link.tracks)) if i != link.wheel)
        for text in report.notices:
            self._rungs.say("start", Level.WARN, text)
        self._now = self.bus.port.now()
        self._due = self._now - self.config.tick.period
        self._phase = Phase.STARTING
        self._is_starting = self._wishes_torque
        self._update_phase(self._now)
        return report

    def _start_blind(self) -> None:
        """Write-only: nobody knows where the joints are, so the servos go to "sit" slowly and with rising torque."""
        link, now = self._link, self._link.now()
        for track in link.tracks:
            track.set_condition(Condition.UNREAD)
            track.verified = True
        self._motion.reset(self._sit)
        if self.config.start.torque:
            link.torque_up(self._sit, self._crawl, range(len(link.tracks)), now)
            self._starting_until = now + _BLIND_START
            self._wishes_torque = True

    def _start_seeing(self, report: StartReport) -> StartReport:
        link, holding, steps = self._link, [], []
        for track in link.tracks:
            settings = track.settings
            if settings is not None and settings.torque_enable:
                with contextlib.suppress(NoReplyError):  # asked twice: it decides about torque
                    settings = link.check(track, self.config.start.ping_tries)
            is_on = settings is not None and bool(settings.torque_enable) and track.index != link.wheel
            goal = settings.goal if is_on and settings is not None else track.steps
            holding.append(is_on)
            steps.append(goal)
        angles = self.servo_map.angles(np.array(steps))
        measured = self.servo_map.angles(np.array([track.steps for track in link.tracks]))
        self._motion.reset(np.where(np.abs(angles - measured) <= _HELD_NEAR, angles, measured))
        now = link.now()
        for track in link.tracks:
            if holding[track.index]:
                limit = track.settings.torque_limit if track.settings is not None else 0
                link.torque.switch_on([track.index], now, link.torque.share_of(track.index, limit))
                track.verified = True
                link.table[Row.GOAL, track.index] = steps[track.index]
        if any(holding):
            text = "the driver was started anew while servos held: they hold on; re-arm to go on"
            self._rungs.set("restarted", Reaction.HOLD, text, True, now)
            self._wishes_torque = True
            return replace(report, resumed=True)
        if self.config.start.torque:
            problems = [text for text in map(self._bring_up, link.tracks) if text]
            if problems:
                link.torque_off(range(len(link.tracks)), 3)
                raise StartError("torque is off again:\n  " + "\n  ".join(problems))
            self._wishes_torque = True
        else:
            self._rungs.set("torque_off", Reaction.OFF, "torque is off until it is switched on", False, now)
        return report

    def _bring_up(self, track: ServoTrack) -> str:
        """Switch the torque of one servo on at start; return why not, or nothing."""
        error, tries = "", self.config.start.ping_tries
        for _ in range(tries if track.index != self._link.wheel else 0):
            try:
                angle = self._link.rejoin(track, int(self._slow[track.index]), True, tries - 1)
                self._motion.place(track.index, angle)
                return ""
            except NoReplyError as reason:  # a host that stalled, not a servo: it answered before
                error = str(reason)
                self.bus.port.sleep(_BREATH)
        return error

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
        now = self.bus.port.now()
        period = self.config.tick.period
        if due is None:
            due = self._due + period * max(1.0, (now - self._due + 1e-6) // period)
        left_out = max(0, round((due - self._due) / period) - 1) if self._tick else 0
        # on time, the grid goes on; far behind, a new one begins
        self._due = min(due, now) if now - due < period else now
        dt = min(max(now - self._now, 0.0), GAP)
        self._now = now
        self._tick += 1
        self._timer.begin(now - due, left_out)
        if targets is not None:
            self._offer(targets, now if stamp is None else stamp, now)
        try:
            self._move(dt, now)
            if self._watch.port_open or self._watch.try_reopen(now):
                self._exchange(now, due)
        except PortError as error:
            self._watch.port_lost(error, self._link.now())
        self._timer.end(self.bus.port.now() - now, self._watch.scheduler, self._watch.reads)

    def _offer(self, targets: Array, stamp: float, now: float) -> None:
        gate = self._gate
        if gate.offer(targets, stamp, now):
            self._has_targets = True
            if gate.clamped:
                self._rungs.say("clamped", Level.WARN, gate.clamped)

    def _move(self, dt: float, now: float) -> None:
        """Let the ladder decide, and move the command accordingly."""
        link, motion = self._link, self._motion
        loads = link.table[Row.LOAD].astype(np.int64) & 1023
        self._safety.update(now, float(loads.mean()) / 1023.0)
        may_expect = self._has_targets and self._phase is not Phase.OFF
        self._safety.judge_targets(self._gate, now, may_expect)
        self._watch.settle(now)
        self._update_phase(now)
        phase = self._phase
        if phase is Phase.FOLLOWING and self._gate.targets is not None:
            way = motion.follow(self._gate.targets, dt)
            if way:
                self._rungs.say("catch_up", Level.INFO, f"approaching the targets slowly: {way:.2f} rad away")
        elif phase in (Phase.SITTING, Phase.SAT):
            self._sit_down(dt, now)
        elif phase is Phase.OFF:
            if link.reads:
                motion.reset(self.servo_map.angles(link.table[Row.STEPS]))
        else:
            motion.hold(dt)
        if phase not in (Phase.SITTING, Phase.SAT):
            self._sat_since = None

    def _sit_down(self, dt: float, now: float) -> None:
        if not self._motion.go(self._sit, self.config.setpoint.sit_speed, dt):
            return
        self._sat_since = now if self._sat_since is None else self._sat_since
        if now - self._sat_since < _SAT_BEFORE_OFF:
            return
        for rung in self._rungs.all:
            if rung.reaction is Reaction.SIT_AND_OFF:
                self._rungs.set(rung.key, Reaction.OFF, f"{rung.text} (sits, torque is off)", True, now)

    def _exchange(self, now: float, due: float) -> None:
        """Everything that this tick says to the servos, and hears."""
        link, sent = self._link, 0
        if self._phase is Phase.OFF:
            if link.torque.on.any() or now >= self._off_at:
                self._go_limp(1)
        else:
            if self._wishes_torque and not link.torque.on.any():
                self._torque_up(now)
            chosen = self._everyone
            tracks = link.tracks
            if not all(link.torque.on[i] and tracks[i].verified for i in chosen):
                chosen = tuple(i for i in chosen if link.torque.on[i] and tracks[i].verified)
            link.send_goals(self._motion.position, self._speeds(), chosen)
            sent = len(chosen)
        if not link.torque.is_settled:
            calm = link.table[Row.ALARMS].astype(np.int64) & _SHUTDOWN == 0
            link.write_limits(link.torque.changes(now, calm & np.array([track.verified for track in link.tracks])))
        if now >= self._fan_until > -np.inf:
            self._fan_until = -np.inf
            link.stop_wheel(self.config.fan.stop_burst)
            self._rungs.say("fan", Level.WARN, "the fan's lease is over: it is stopped; call drive_fan again in time")
        if link.reads:
            sending = max(sync_write_time(sent, 4, self.bus.port.baud) if sent else 0.0, self.bus.line_free - now)
            self._watch.run(now, min(due, now), sending)

    def _speeds(self) -> Array:
        if not self._link.reads and self._link.torque.is_ramping(self._now).any():
            return self._crawl  # what little torque lags behind now, it would make up at full speed later
        is_slow = self._phase in (Phase.SITTING, Phase.SAT) or self._now < self._starting_until
        return self._slow if is_slow else self._fast

    def _go_limp(self, times: int) -> None:
        self._off_at = self._link.now() + _OFF_AGAIN
        self._link.torque_off(range(len(self._link.tracks)), times)

    def _torque_up(self, now: float) -> None:
        """Switch torque on after it was off: from where the joints are now."""
        link = self._link
        able = [
            i for i in self._everyone if i not in self._safety.off and link.tracks[i].condition is not Condition.LOST
        ]
        if link.reads:
            unknown = [
                t for t in link.tracks if t.index in able and now - t.stamp > 2.0 * self.config.servo.stale_after
            ]
            if unknown:
                return  # a tick later they have been read
            self._motion.reset(self.servo_map.angles(link.table[Row.STEPS]))
        else:
            self._starting_until = now + _BLIND_START
        link.torque_up(self._motion.position, self._slow, able, now)

    def _wants_torque(self, index: int) -> bool:
        return self._wishes_torque and self._phase is not Phase.OFF and index not in self._safety.off

    # -- phase -------------------------------------------------------------------------------------------------------

    def _update_phase(self, now: float) -> None:
        torque, reaction = self._link.torque, self._rungs.reaction
        if self._is_starting and torque.on.any():
            self._is_starting = bool(torque.is_ramping(now).any()) or now < self._starting_until
        if reaction is Reaction.OFF:
            phase = Phase.OFF
        elif self._watch.is_down:
            phase = Phase.BUS_DOWN
        elif reaction in (Reaction.SIT, Reaction.SIT_AND_OFF):
            phase = Phase.SAT if self._sat_since is not None else Phase.SITTING
        elif reaction is Reaction.HOLD:
            phase = Phase.HOLDING
        elif self._is_starting:
            phase = Phase.STARTING
        elif not self._has_targets:
            phase = Phase.WAITING
        else:
            phase = Phase.FOLLOWING
        self._phase = phase

    def _current_ladder(self) -> Ladder:
        rungs = self._rungs
        ramp = self._link.torque.shares(self._now)
        share = float(ramp.max()) if len(ramp) else 0.0
        key = (rungs.version, self._phase, round(share, 2))
        if key != self._ladder_key:
            self._ladder_key = key
            steps = rungs.all
            self._ladder = Ladder(
                self._phase,
                rungs.reaction,
                steps,
                round(share, 2),
                any(rung.latched and rung.reaction >= Reaction.HOLD for rung in steps),
                steps[0].text if steps else "",
            )
        return self._ladder

    # -- what it says ------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the numbers of the last tick."""
        link, torque = self._link, self._link.torque
        link.table[Row.TORQUE_ON] = torque.on
        link.table[Row.TORQUE_SHARE] = torque.shares(self._now)
        return Snapshot(self._now, self._tick, link.table.copy(), self._motion.position, not link.reads)

    def ladder(self) -> Ladder:
        """Return where the ladder stands; the same object until it changes."""
        return self._current_ladder()

    @property
    def timer(self) -> LoopTimer:
        """Figures of the loop."""
        return self._timer

    @property
    def supply(self) -> object:
        """Figures of the battery."""
        return self._safety.supply.supply

    def state(self) -> DriverState:
        """Return the state at the end of the last tick."""
        return build_state(
            self.servo_map,
            self.snapshot(),
            self.config.servo.stale_after,
            self._current_ladder(),
            self._safety.supply.supply,
            self._timer.timing(),
        )

    def events(self) -> Tuple[Notice, ...]:
        """Return what happened since the last call, in words for the operator, and forget it."""
        return self._rungs.take_notices()

    # -- requests ----------------------------------------------------------------------------------------------------

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
        if not self._watch.port_open:
            return Answer(False, "the port is away; torque can be switched on when it is back")
        self._rungs.clear("torque_off", "torque comes on")
        self._arm()
        return Answer(True, f"torque rises over {self.config.start.torque_ramp:g} s, joints hold where they are")

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """Switch all torque off at once and keep it off until `rearm`."""
        text = f"emergency stop ({cause}): torque is off; make sure that the robot is free, then re-arm"
        self._rungs.set("emergency_stop", Reaction.OFF, text, True, self.bus.port.now())
        self._off_now(self.config.fan.stop_burst)

    def _off_now(self, times: int) -> None:
        self._wishes_torque = self._is_starting = False
        self._phase = Phase.OFF if self._phase is not Phase.CLOSED else self._phase
        self._gate.reset()
        self._has_targets = False
        try:
            if self._watch.port_open:
                self._link.stop_wheel(self.config.fan.stop_burst)
                self._go_limp(times)
        except PortError as error:
            self._watch.port_lost(error, self._link.now())

    def rearm(self) -> Answer:
        """End what is latched, if its causes are gone; motion starts from where the joints are."""
        now, rungs = self.bus.port.now(), self._rungs
        if self._phase is Phase.CLOSED:
            return Answer(False, "the motor driver is not running; start it")
        if not rungs.latched:
            return Answer(True, "nothing was latched")
        if not self._watch.port_open:
            return Answer(False, "the port is away: plug it in, it is opened by itself, then re-arm")
        away = self._watch.away
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
        if self._phase is Phase.OFF:
            self._phase = Phase.STARTING

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
            if changed and self._watch.port_open:
                link.write_compliance(changed)
        except PortError as error:
            self._watch.port_lost(error, link.now())
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
            self._watch.port_lost(error, link.now())
            return Answer(False, str(error))
        self._fan_until = self.bus.port.now() + self.config.fan.lease
        return Answer(True, f"the fan turns for {self.config.fan.lease:g} s")

    def shutdown(self, torque_off: bool = True) -> None:
        """Stop for good: fan's stop burst, torque off (or holding on), port left open."""
        try:
            if self._watch.port_open and self._phase is not Phase.CLOSED:
                self._link.stop_wheel(self.config.fan.stop_burst)
                if torque_off:
                    self._link.torque_off(range(len(self._link.tracks)), self.config.fan.stop_burst)
        except PortError:
            self._watch.port_open = False
        self._phase = Phase.CLOSED


def joint_limits(servo_map: ServoMap) -> JointLimits:
    """Return the limits of the driven joints: the description's, which the URDF has, too."""
    variables = load_variables()
    kinds = [joint_class(name) for name in servo_map.joint_names]
    limits = [variables.limits(kind) for kind in kinds]
    return JointLimits(
        servo_map.joint_names,
        np.array([limit.lower for limit in limits]),
        np.array([limit.upper for limit in limits]),
        np.array([variables.velocity(kind) for kind in kinds]),
        np.array([variables.effort(kind) for kind in kinds]),
    )
