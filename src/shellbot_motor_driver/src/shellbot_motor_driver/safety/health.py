# SPDX-License-Identifier: MIT
"""The driver's state as lines of diagnostics, in words, without ROS."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import List, Tuple

from ax_bus.protocol import flag_names
from shellbot_control.joint_order import shorten
from shellbot_motor_driver.driving.driver_state import Condition, DriverState, ServoReading
from shellbot_motor_driver.safety.battery_estimate import charge_estimate
from shellbot_motor_driver.safety.ladder import Phase, Reaction

# Hz: below it odometry and joint_states lag behind a walking robot (a stance foot moves 4 cm in 0.1 s at full speed)
SLOW_FEEDBACK_HZ = 10.0


class Health(IntEnum):
    """Levels of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True)
class HealthLine:
    """One status."""

    name: str  #: What it is about, without the node's name
    level: Health  #: How bad
    message: str  #: One sentence
    values: Tuple[Tuple[str, str], ...] = ()  #: Details


def is_stopped(state: DriverState) -> bool:
    """Return whether walking must be stopped: motion waits for a person, or there is no torque."""
    ladder = state.ladder
    return ladder.needs_rearm or ladder.phase in (Phase.OFF, Phase.BUS_DOWN, Phase.CLOSED)


def health(state: DriverState, restarts: int, cells: int = 3) -> Tuple[HealthLine, ...]:
    """Return the lines about ladder, bus, servos and battery.

    Parameters
    ----------
    state : DriverState
        Of the last tick.
    restarts : int
        How often the bus process had to be started again.
    cells : int
        Of the battery, in series.
    """
    return (_ladder(state), _bus(state, restarts), _servos(state), _battery(state, cells))


def _ladder(state: DriverState) -> HealthLine:
    ladder = state.ladder
    level = Health.OK
    if ladder.reaction >= Reaction.SIT or is_stopped(state):
        level = Health.ERROR
    elif ladder.reaction > Reaction.NONE:
        level = Health.WARN
    values = [
        ("phase", ladder.phase.name.lower()),
        ("reaction", ladder.reaction.name.lower()),
        ("torque limit", f"{100.0 * ladder.torque_fraction:.0f} %"),
        ("waits for rearm", str(ladder.needs_rearm)),
    ]
    values += [(f"rung {rung.key}", rung.text) for rung in ladder.rungs]
    return HealthLine("safety ladder", level, ladder.text or f"{ladder.phase.name.lower()}", tuple(values))


def _bus(state: DriverState, restarts: int) -> HealthLine:
    timing = state.timing
    values = [(name, _number(value)) for name, value in timing.figures().items()]
    values.append(("bus process restarts", str(restarts)))
    late = timing.late_ticks / timing.ticks if timing.ticks else 0.0
    if state.ladder.phase is Phase.BUS_DOWN:
        return HealthLine("bus", Health.ERROR, "bus down: no servo can be reached", tuple(values))
    if state.is_write_only:
        text = "write-only: goals are sent, nothing is read; see docs/hardware.md for a wiring that can be read"
        return HealthLine("bus", Health.WARN, text, tuple(values))
    text = f"every servo at {timing.feedback_hz:.0f} Hz or more, {100.0 * timing.used_fraction:.0f} % of the tick used"
    if late > 0.05:
        text = f"{100.0 * late:.0f} % of the ticks begin late: give the bus process a core and real-time priority"
        return HealthLine("bus", Health.WARN, text, tuple(values))
    if is_feedback_slow(state):
        return HealthLine("bus", Health.WARN, slow_feedback_words(timing.feedback_hz), tuple(values))
    return HealthLine("bus", Health.OK, text, tuple(values))


def is_feedback_slow(state: DriverState) -> bool:
    """Return whether a robot that moves is read too seldom; not in the first seconds, while the rate is found out."""
    timing = state.timing
    moves = state.ladder.phase in (Phase.FOLLOWING, Phase.HOLDING, Phase.SITTING)
    return moves and not state.is_write_only and timing.ticks > 500 and timing.feedback_hz < SLOW_FEEDBACK_HZ


def slow_feedback_words(feedback_hz: float) -> str:
    """Return what feedback below `SLOW_FEEDBACK_HZ` means and what to do, in one sentence."""
    return (
        f"every servo is read at only {feedback_hz:.1f} Hz: joint_states are old and odometry is wrong; look at the "
        "port's latency timer, the servos' return delay and the machine's load (docs/hardware.md)"
    )


def _servos(state: DriverState) -> HealthLine:
    values, bad = [], []
    for servo in state.servos:
        words = _servo_words(servo)
        values.append((f"{servo.servo_id} {servo.joint}", words))
        trouble = _trouble(servo, state.ladder.phase)
        if trouble:
            bad.append(f"{servo.servo_id} {servo.joint} ({trouble})")
    lost = any(servo.condition is Condition.LOST for servo in state.servos)
    level = Health.ERROR if lost else Health.WARN if bad else Health.OK
    text = f"{len(bad)} of {len(state.servos)} servos: {shorten(bad)}" if bad else f"all {len(state.servos)} servos OK"
    return HealthLine("servos", level, text, tuple(values))


def _trouble(servo: ServoReading, phase: Phase) -> str:
    """Return what is wrong with a servo; one that missed a single reply is suspect for a tick, which is nothing."""
    parts: List[str] = []
    is_suspect = servo.condition is Condition.SUSPECT and servo.is_stale
    is_limp = servo.condition is Condition.LIMP and phase is not Phase.OFF
    if servo.condition is Condition.LOST or is_suspect or is_limp:
        parts.append(servo.condition.name.lower())
    if servo.alarms:
        parts.append(_alarm_words(servo))
    return ", ".join(parts)


def _alarm_words(servo: ServoReading) -> str:
    return " and ".join(name.replace("_", " ") for name in flag_names(servo.alarms))


def _servo_words(servo: ServoReading) -> str:
    words = (
        f"{servo.condition.name.lower()}, {servo.temperature:.0f} degC, {servo.voltage:.1f} V, "
        f"age {1e3 * servo.age:.0f} ms, torque {'on' if servo.torque_on else 'off'} "
        f"{100.0 * servo.torque_fraction:.0f} %, "
        f"{servo.missed} of {servo.reads + servo.missed} reads missed"
    )
    return f"{words}, {_alarm_words(servo)}" if servo.alarms else words


def _battery(state: DriverState, cells: int) -> HealthLine:
    supply = state.supply
    rung = state.ladder.rung("voltage")
    values = (
        ("median", f"{supply.voltage:.2f} V"),
        ("median over time", f"{supply.filtered:.2f} V"),
        ("lowest", f"{supply.lowest:.2f} V at servo {supply.lowest_id}"),
        ("hottest", f"{supply.hottest:.0f} degC at servo {supply.hottest_id}"),
    )
    charge = charge_estimate(supply.filtered, cells)
    if charge != charge:
        return HealthLine("battery", Health.STALE, "voltage not known", values)
    text = f"{supply.filtered:.1f} V, about {100.0 * charge:.0f} %"
    if rung is not None:
        level = Health.WARN if rung.reaction <= Reaction.DERATE else Health.ERROR
        return HealthLine("battery", level, f"{text}: {rung.text}", values)
    return HealthLine("battery", Health.OK, text, values)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"
