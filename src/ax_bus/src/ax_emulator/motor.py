# SPDX-License-Identifier: MIT
"""The motor of an emulated servo: torque limit, horn, heat; how the output follows the goal is in `motor_laws`.

Torque follows the straight torque-speed line of the datasheet: ``tau = tau_stall i`` at the fraction of the stall
current ``i = (u V/12 - w/w_0) / r``. The winding's resistance ``r`` rises as it warms up; its heat is ``i^2 r``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ax_bus.registers import Model
from ax_emulator.control_table import ControlTable
from ax_emulator.motor_laws import STEP, effective_slope, law_of

__all__ = ["STEP", "Motor", "MotorParameters", "effective_slope", "motor_parameters"]

if TYPE_CHECKING:
    import numpy as np

_Real = TypeVar("_Real", float, "np.ndarray")
_NOMINAL_VOLTAGE = 12.0
_ROTOR_INERTIA = 0.006  # kg·m² at the horn, estimate
COASTING = 0.1  # estimate: fraction of the cold motor's damping that is left with the bridge open
_COPPER = 0.0039  # 1/K: rise of a winding's resistance
_HEAT_STEP = 500  # steps of the motor over which that is constant


@dataclass(frozen=True)
class MotorParameters:
    """Physics of one servo."""

    stall_torque: float  #: N·m at 12 V
    no_load_speed: float  #: rad/s at 12 V
    inertia: float  #: kg·m² at the horn
    friction: float = 0.03  #: Coulomb friction, N·m (estimate)
    ambient: float = 25.0  #: Degrees Celsius around it
    heating: float = 0.8  #: K/s at the stall current (estimate: from 25 to 70 degrees in about a minute of stall)
    cooling_time: float = 300.0  #: s, time constant (estimate)
    overload_time: float = 2.0  #: s at the torque limit without moving until the overload alarm (estimate)


def motor_parameters(model: Model) -> MotorParameters:
    """Return the parameters of a model: its datasheet's, and the rotor's inertia as estimated for an AX-12A."""
    return MotorParameters(model.stall_torque, model.no_load_speed, _ROTOR_INERTIA)


def winding_resistance(temperature: _Real, ambient: _Real) -> _Real:
    """Return the resistance of a winding as a multiple of that at ``ambient``; both in degrees Celsius."""
    return 1.0 + _COPPER * (temperature - ambient)


class Motor:
    """Horn and heat of one servo.

    Parameters
    ----------
    table : ControlTable
        The servo's registers: where goal, limits and compliance are read.
    parameters : MotorParameters
        Physics.
    position : float
        rad from the clockwise end of the range.
    """

    def __init__(self, table: ControlTable, parameters: MotorParameters, position: float) -> None:
        self.parameters = parameters
        self._table = table
        self.position = position
        self.velocity = 0.0
        self.load_torque = 0.0  # N·m that the robot puts on the horn, counter-clockwise positive
        self.output = 0.0  # fraction of stall torque, signed
        self.temperature = parameters.ambient
        self.is_external = False
        self.time = 0.0
        self._law = law_of(table, position)
        self._stalled = 0.0  # s

    @property
    def steps(self) -> int:
        """Present position as the sensor says it.

        A potentiometer ends at the ends of its range; an encoder begins anew after a turn, and in multi-turn mode says
        ``real / divider + offset`` (e-Manual, Resolution Divider).
        """
        table, model = self._table, self._table.model
        real = round(self.position / model.rad_per_step)
        if not model.multi_turn:
            return min(model.position_max, max(0, real))
        if not table.is_multi_turn:
            return real % (model.position_max + 1)
        turned = real // table["resolution_divider"] + table["multi_turn_offset"]
        return min(model.multi_turn, max(-model.multi_turn, turned))

    @property
    def is_overloaded(self) -> bool:
        """Whether it has pushed at its torque limit for too long."""
        return self._stalled > self.parameters.overload_time

    def set_external(self, position: float, velocity: float) -> None:
        """Let a simulator move the horn; this servo then only says its torque. rad, rad/s."""
        self.is_external = True
        self.position, self.velocity = position, velocity

    def restart(self) -> None:
        """Forget the reference, as a reboot does; the horn stays where it is."""
        self._law.restart(self.position)
        self._stalled = 0.0

    def current(self, voltage: float = _NOMINAL_VOLTAGE) -> float:
        """Return the winding's current as a fraction of the stall current, counter-clockwise positive."""
        if not self._table["torque_enable"]:
            return 0.0
        p = self.parameters
        drive = self.output * voltage / _NOMINAL_VOLTAGE - self.velocity / p.no_load_speed
        return drive / winding_resistance(self.temperature, p.ambient)

    def torque(self, voltage: float = _NOMINAL_VOLTAGE) -> float:
        """Return the torque at the horn, N·m, counter-clockwise positive."""
        p = self.parameters
        if not self._table["torque_enable"]:
            return -COASTING * p.stall_torque / p.no_load_speed * self.velocity
        return p.stall_torque * self.current(voltage)

    def advance(self, time: float, voltage: float = _NOMINAL_VOLTAGE) -> None:
        """Let the motor run until ``time``, s."""
        steps = int((time - self.time) / STEP + 1e-9)
        if steps <= 0:
            return
        if steps > _HEAT_STEP:
            self.advance(self.time + steps // 2 * STEP, voltage)
            self.advance(time, voltage)
            return
        self.time += steps * STEP
        table, p, law = self._table, self.parameters, self._law
        is_on, limit = bool(table["torque_enable"]), table["torque_limit"] / 1023.0
        loop = law.prepare() if is_on else None
        resistance, volts = winding_resistance(self.temperature, p.ambient), voltage / _NOMINAL_VOLTAGE
        damping = p.stall_torque / p.no_load_speed * (1.0 / resistance if is_on else COASTING)
        stall = p.stall_torque * volts / resistance
        shrink = 1.0 / (1.0 + STEP * damping / p.inertia)  # implicit in the damping: stable at any step
        stick = STEP * p.friction / p.inertia
        x, v, heat = self.position, self.velocity, 0.0
        u = 0.0
        left = steps
        while left:
            left -= 1
            before = law.reference
            if loop is None:
                u, law.reference = 0.0, x
            else:
                u = loop(x)
                drive = u * volts - v / p.no_load_speed
                heat += drive * drive
            if self.is_external:
                continue
            v = (v + STEP * (u * stall + self.load_torque) / p.inertia) * shrink
            v = v - stick if v > stick else v + stick if v < -stick else 0.0
            x += STEP * v
            stopped = abs(v) < 0.02 * p.no_load_speed
            self._stalled = self._stalled + STEP if is_on and limit > 0.0 and abs(u) >= limit and stopped else 0.0
            if v == 0.0 and u == 0.0 and abs(self.load_torque) <= p.friction and law.reference == before:
                break  # at rest: nothing moves for the remaining steps
        self.position, self.velocity, self.output = x, v, u
        duration = steps * STEP
        decay = math.exp(-duration / p.cooling_time)
        target = p.ambient + heat / steps / resistance * p.heating * p.cooling_time
        self.temperature = target + (self.temperature - target) * decay
