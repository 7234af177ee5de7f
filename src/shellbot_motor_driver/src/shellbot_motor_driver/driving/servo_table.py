# SPDX-License-Identifier: MIT
"""The numbers of all servos in one array, which another process can copy; and the state that is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Tuple

import numpy as np

from ax_bus.protocol import FLAGS
from shellbot_motor_driver.driving.driver_state import DriverState, ServoReading, Supply, TorqueOff
from shellbot_motor_driver.driving.servo_state import Condition
from shellbot_motor_driver.driving.timing import BusTiming
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.safety.ladder import Ladder

Array = np.ndarray


class Row(IntEnum):
    """Rows of the table, (rows, n_servos) of float64."""

    CONDITION = 0
    STAMP = 1  # s; -inf before the first valid reply
    STEPS = 2
    SPEED = 3  # register, bit 10 is clockwise
    LOAD = 4  # register, bit 10 is clockwise
    VOLTAGE = 5  # V
    TEMPERATURE = 6
    ALARMS = 7
    TORQUE_ON = 8
    TORQUE_FRACTION = 9
    MISSES = 10
    READS = 11
    MISSED = 12
    IMPLAUSIBLE = 13
    GOAL = 14  # steps, -1 before the first
    TORQUE_ENABLED = 15  # as read back from the servo; NaN before the first
    SETTINGS_STAMP = 16  # s, when that was read


def new_table(servos: int) -> Array:
    """Return the table before anything was read."""
    table = np.zeros((len(Row), servos))
    table[Row.STAMP] = table[Row.SETTINGS_STAMP] = -np.inf
    table[Row.STEPS] = 512.0
    table[Row.VOLTAGE] = table[Row.TEMPERATURE] = table[Row.TORQUE_ENABLED] = np.nan
    table[Row.GOAL] = -1.0
    return table


@dataclass(frozen=True)
class Snapshot:
    """What the state of one tick is made of."""

    stamp: float  #: Of the tick
    tick: int  #: Of the tick
    table: Array  #: (rows, n_servos) See `Row`; a copy
    command: Array  #: (n_servos,) Joint angles commanded, rad
    is_write_only: bool  #: Whether nothing is read
    off_since: float = float("nan")  #: When torque off was requested for the robot, s; NaN while torque is requested


def build_state(
    servo_map: ServoMap, now: Snapshot, stale_after: float, ladder: Ladder, supply: Supply, timing: BusTiming
) -> DriverState:
    """Return the state in SI units and joint order."""
    table, n = now.table, len(servo_map.joint_names)
    fresh = now.stamp - table[Row.STAMP] <= stale_after
    command = servo_map.expand(now.command)
    if now.is_write_only:
        position, velocity, effort = command.copy(), np.zeros(n), np.zeros(n)
    else:
        position = servo_map.to_joints(table[Row.STEPS])
        velocity = servo_map.to_velocities(table[Row.SPEED].astype(np.int64))
        effort = servo_map.to_efforts(table[Row.LOAD].astype(np.int64))
        unknown = servo_map.expand(np.isinf(table[Row.STAMP]))
        position[unknown] = command[unknown]
    is_measured = servo_map.expand(fresh)
    for array in (position, velocity, effort, is_measured, command):
        array.flags.writeable = False
    return DriverState(
        now.stamp, now.tick, servo_map.joint_names, position, velocity, effort, is_measured, command,
        _readings(servo_map, now, fresh, (position, velocity, effort)), ladder, supply, timing, now.is_write_only,
        _torque_off(servo_map, now),
    )  # fmt: skip


def _torque_off(servo_map: ServoMap, now: Snapshot) -> TorqueOff:
    table = now.table
    if now.off_since != now.off_since:
        return TorqueOff()
    is_off = (table[Row.TORQUE_ENABLED] == 0.0) & (table[Row.SETTINGS_STAMP] > now.off_since)
    return TorqueOff(now.off_since, tuple(i for i, off in zip(servo_map.servo_ids, is_off.tolist()) if not off))


def _readings(
    servo_map: ServoMap, now: Snapshot, fresh: Array, joints: Tuple[Array, Array, Array]
) -> Tuple[ServoReading, ...]:
    q, v, tau = (values[servo_map.joint_of_servo].tolist() for values in joints)
    rows = now.table.tolist()
    readings = []
    for i, entry in enumerate(servo_map.entries):
        load = int(rows[Row.LOAD][i])
        stamp = rows[Row.STAMP][i]
        readings.append(
            ServoReading(
                servo_id=entry.servo_id,
                joint=entry.joint,
                condition=Condition(int(rows[Row.CONDITION][i])),
                stamp=stamp,
                age=now.stamp - stamp,
                is_stale=not fresh[i],
                steps=int(rows[Row.STEPS][i]),
                position=q[i],
                velocity=v[i],
                effort=tau[i],
                load=(load & 1023) / (-1023.0 if load & 1024 else 1023.0),
                voltage=rows[Row.VOLTAGE][i],
                temperature=rows[Row.TEMPERATURE][i],
                alarms=FLAGS[int(rows[Row.ALARMS][i])],
                torque_on=bool(rows[Row.TORQUE_ON][i]),
                torque_fraction=rows[Row.TORQUE_FRACTION][i],
                misses=int(rows[Row.MISSES][i]),
                reads=int(rows[Row.READS][i]),
                missed=int(rows[Row.MISSED][i]),
                implausible=int(rows[Row.IMPLAUSIBLE][i]),
                goal=int(rows[Row.GOAL][i]),
                torque_enabled=rows[Row.TORQUE_ENABLED][i],
            )
        )
    return tuple(readings)
