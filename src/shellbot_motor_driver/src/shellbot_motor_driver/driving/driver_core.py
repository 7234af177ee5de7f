# SPDX-License-Identifier: MIT
"""One tick of the motor driver: targets, ladder, motion, what is sent and what is read."""

from __future__ import annotations

from typing import Callable, Optional, Tuple

import numpy as np

from ax_bus.bus import Bus
from ax_bus.errors import PortError
from ax_bus.protocol import ErrorFlags
from shellbot_control import GAP, JointLimits, Level, Notice
from shellbot_description import named_pose_array
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.driving.driver_state import Condition, DriverState
from shellbot_motor_driver.driving.goal_speeds import GoalSpeeds
from shellbot_motor_driver.driving.loop_timer import LoopTimer
from shellbot_motor_driver.driving.motion import Motion
from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.servo_table import Row, Snapshot, build_state
from shellbot_motor_driver.driving.servo_watch import ServoWatch
from shellbot_motor_driver.errors import MotorDriverError
from shellbot_motor_driver.map.joint_limits import joint_limits
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.safety.ladder import Ladder, Phase, Reaction
from shellbot_motor_driver.safety.rungs import Rungs
from shellbot_motor_driver.safety.safety import Safety
from shellbot_motor_driver.safety.setpoint import SetpointGate

Array = np.ndarray
BLIND_START = 4.0  # s that servos of unknown position are given to reach the pose "sit"
_OFF_AGAIN = 0.5  # s between two orders to be limp, as nobody acknowledges them
_SAT_BEFORE_OFF = 0.5  # s
_SHUTDOWN = int(ErrorFlags.OVERLOAD | ErrorFlags.OVERHEATING)  # alarms that a torque limit would end


class DriverCore:
    """What `MotorDriver` does at every tick; its parameters are explained there."""

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
        self._limits = joint_limits(servo_map)
        speed = self._limits.velocity[servo_map.joint_of_servo]
        setpoint = self.config.setpoint
        self._motion = Motion(servo_map.lower, servo_map.upper, speed, setpoint)
        self._sit = named_pose_array("sit", servo_map.variant)[servo_map.joint_of_servo]
        self._speeds = GoalSpeeds(servo_map, speed, setpoint)
        self._rungs = Rungs()
        self._gate = SetpointGate(servo_map, setpoint)
        self._watch = ServoWatch(
            self._link, self._rungs, self._motion.place, lambda i: int(self._speeds.slow[i]), self._wants_torque
        )
        self._safety = Safety(self._link, self._rungs, self._watch.bring_back)
        self._timer = LoopTimer(bus.statistics, self.config.tick.period, len(servo_map.entries), cpu_clock)
        self._phase = Phase.CLOSED
        self._now = self._due = bus.port.now()
        self._tick = 0
        self._has_targets = self._wishes_torque = self._is_starting = False
        self._sat_since: Optional[float] = None
        self._off_at = -np.inf
        self._off_since = float("nan")
        self._fan_until = -np.inf
        self._starting_until = -np.inf
        self._everyone: Tuple[int, ...] = ()

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
            if self._watch.port.is_open or self._watch.port.try_reopen(now):
                self._exchange(now, due)
        except PortError as error:
            self._watch.port.lost(error, self._link.now())
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
        self._watch.roll.settle(now)
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
        link = self._link
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
            link.send_goals(self._motion.position, self._goal_speeds(), chosen)
        if not link.torque.is_settled:
            calm = link.table[Row.ALARMS].astype(np.int64) & _SHUTDOWN == 0
            link.write_limits(link.torque.changes(now, calm & np.array([track.verified for track in link.tracks])))
        if now >= self._fan_until > -np.inf:
            self._fan_until = -np.inf
            link.stop_wheel(self.config.fan.stop_burst)
            self._rungs.say("fan", Level.WARN, "the fan's lease is over: it is stopped; call drive_fan again in time")
        if link.reads:
            self._watch.run(now, min(due, now), max(self.bus.line_free - now, 0.0))

    def _goal_speeds(self) -> Array:
        is_slow = self._phase in (Phase.SITTING, Phase.SAT) or self._now < self._starting_until
        is_blind_ramp = not self._link.reads and bool(self._link.torque.is_ramping(self._now).any())
        return self._speeds.choose(is_slow, is_blind_ramp)

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
            oldest = now - 2.0 * self.config.servo.stale_after
            for track in (link.tracks[i] for i in able):
                # On a slow link a round of READs takes longer than readings are fresh. No goal waits for these here.
                if track.stamp < oldest and link.ask(track, False, np.inf, 1) is None:
                    return  # the next tick asks again
            self._motion.reset(self.servo_map.angles(link.table[Row.STEPS]))
        else:
            self._starting_until = now + BLIND_START
        link.torque_up(self._motion.position, self._speeds.slow, able, now)

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
        self._note_off(now)

    def _note_off(self, now: float) -> None:
        """Keep when torque off was requested for everybody."""
        if self._phase is not Phase.OFF:
            self._off_since = float("nan")
        elif self._off_since != self._off_since:
            self._off_since = now

    def _current_ladder(self) -> Ladder:
        return self._rungs.ladder(self._phase, float(self._link.torque.shares(self._now).max()))

    # -- what it says ------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the numbers of the last tick."""
        link, torque = self._link, self._link.torque
        link.table[Row.TORQUE_ON] = torque.on
        link.table[Row.TORQUE_SHARE] = torque.shares(self._now)
        return Snapshot(
            self._now, self._tick, link.table.copy(), self._motion.position, not link.reads, self._off_since
        )

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
