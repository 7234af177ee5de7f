# SPDX-License-Identifier: MIT
"""A bus process's state as others may use it: an old one is no measurement, unconfirmed torque is reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shellbot_motor_driver.driving.driver_state import Condition, DriverState, ServoReading
from shellbot_motor_driver.process.torque_off import TorqueOffStatus
from shellbot_motor_driver.safety.health import Health, HealthLine
from shellbot_motor_driver.safety.ladder import Phase, Reaction, Rung

READING_OLD_S = 0.5  # s
STATE_OLD_S = 0.35  # s; a fresh reading is at most 0.1 s older than its state, and none older than 0.5 s is good


def checked_state(state: DriverState, now: float, is_up: bool, status: TorqueOffStatus) -> DriverState:
    """Return the state with what its own driver cannot know.

    Parameters
    ----------
    state : DriverState
        The last one of the bus process.
    now : float
        CLOCK_MONOTONIC, s.
    is_up : bool
        Whether the bus process runs.
    status : TorqueOffStatus
        How it stands with torque that was requested to be off.

    Returns
    -------
    DriverState
        Rung ``torque_off_unconfirmed``: servos that were to be limp have not confirmed it in time. Rung
        ``bus_process``, phase ``BUS_DOWN``, nothing fresh: the process does not run, or its state is older than
        `STATE_OLD_S`.
    """
    state = replace(state, servos=tuple(_aged(servo, now) for servo in state.servos))
    if status.is_overdue:
        rung = Rung("torque_off_unconfirmed", Reaction.OFF, status.requested_at, True, status.text)
        state = _with_rung(state, rung, state.ladder.phase)
    age = now - state.stamp
    if is_up and age <= STATE_OLD_S:
        return state
    what = f"gives no state for {age:.1f} s" if is_up else "is not running"
    left = status.text if status.is_requested else "the servos hold their last goals"
    rung = Rung("bus_process", Reaction.HOLD, state.stamp, True, f"the bus process {what}; {left}")
    servos = tuple(servo._replace(age=now - servo.stamp, is_stale=True) for servo in state.servos)
    state = replace(state, servos=servos, is_measured=np.zeros_like(state.is_measured))
    return _with_rung(state, rung, Phase.BUS_DOWN)


def _aged(servo: ServoReading, now: float) -> ServoReading:
    """Return a reading as it is at ``now``: what was young in the bus process may be old when it is looked at."""
    age = now - servo.stamp
    if age <= READING_OLD_S:
        return servo
    condition = Condition.SUSPECT if servo.condition in (Condition.GOOD, Condition.REJOINING) else servo.condition
    return servo._replace(age=age, is_stale=True, condition=condition)


def _with_rung(state: DriverState, rung: Rung, phase: Phase) -> DriverState:
    """Return the state with one more step of the ladder, the gravest."""
    old = state.ladder
    reaction = max(rung.reaction, old.reaction)
    ladder = replace(old, phase=phase, reaction=reaction, rungs=(rung, *old.rungs), needs_rearm=True, text=rung.text)
    return replace(state, ladder=ladder)


def process_line(state: DriverState, now: float, restarts: int, status: TorqueOffStatus) -> HealthLine:
    """Return the line of diagnostics about the bus process: the age of its state, and torque that is to be off."""
    age = now - state.stamp
    is_old = age > STATE_OLD_S
    text = f"its last state is {age:.1f} s old" if is_old else "runs"
    if status.is_requested:
        text = status.text
    level = Health.ERROR if is_old or status.is_overdue else Health.OK
    values = (("state age", f"{1e3 * age:.0f} ms"), ("restarts", str(restarts)), ("torque off", status.text))
    return HealthLine("bus process", level, text, values)
