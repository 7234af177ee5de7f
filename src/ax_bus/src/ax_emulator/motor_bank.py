# SPDX-License-Identifier: MIT
"""The motors of many servos at once, for a simulator that moves the horns: the law of `Motor` on arrays.

`Motor` integrates its own horn. Here another simulation does: each step takes the true angles and speeds of all horns
and returns the torques that follow from the registers. On arrays, because Python takes a millisecond for 19 servos.
"""

from __future__ import annotations

from typing import Sequence, Union

import numpy as np

from ax_bus.registers import POSITION_MAX, RAD_PER_S_PER_STEP, RAD_PER_STEP, TABLE_SIZE
from ax_emulator.errors import EmulationError
from ax_emulator.motor import COASTING, MotorParameters, effective_slope, winding_resistance
from ax_emulator.servo import EmulatedServo

Array = np.ndarray  # (n servos,) of float64 unless noted otherwise

NOMINAL_VOLTAGE = 12.0
_STOPPED = 0.02  # fraction of the no-load speed below which a motor at its torque limit counts as stalled
_SLOPES = np.array([effective_slope(register) for register in range(256)]) * RAD_PER_STEP
IDLE_CURRENT = 0.05  # A of a servo's electronics (datasheet: 50 mA standby)


class BankMotor:
    """One servo's part of a `MotorBank`; takes the place of `Motor` in an `EmulatedServo`."""

    def __init__(self, bank: MotorBank, index: int, parameters: MotorParameters) -> None:
        self.parameters = parameters
        self._bank = bank
        self._index = index

    @property
    def position(self) -> float:
        """Horn angle from the clockwise end, rad."""
        return float(self._bank.position[self._index])

    @property
    def velocity(self) -> float:
        """Horn speed, rad/s."""
        return float(self._bank.velocity[self._index])

    @property
    def output(self) -> float:
        """Fraction of the stall torque, signed."""
        return float(self._bank.output[self._index])

    @property
    def temperature(self) -> float:
        """Degrees Celsius."""
        return float(self._bank.temperature[self._index])

    @temperature.setter
    def temperature(self, value: float) -> None:
        self._bank.temperature[self._index] = value

    @property
    def steps(self) -> int:
        """Present position as the potentiometer says it, 0 to 1023."""
        return min(POSITION_MAX, max(0, round(self.position / RAD_PER_STEP)))

    @property
    def is_overloaded(self) -> bool:
        """Whether it has pushed at its torque limit for too long."""
        return bool(self._bank.stalled[self._index] > self.parameters.overload_time)

    def restart(self) -> None:
        """Forget the reference and the stall, as a reboot does."""
        self._bank.reference[self._index] = self._bank.position[self._index]
        self._bank.stalled[self._index] = 0.0

    def advance(self, time: float, voltage: float = NOMINAL_VOLTAGE) -> None:
        """Nothing: the bank steps all motors together."""


class MotorBank:
    """The motors of ``servos``, taken over from them.

    Parameters
    ----------
    servos : sequence of EmulatedServo
        Their registers are read in each step; their ``motor`` becomes a `BankMotor`.

    Attributes
    ----------
    position, velocity : (n,) array
        Horns, rad from the clockwise end and rad/s, counter-clockwise positive.
    output : (n,) array
        Fraction of the stall torque, signed.
    temperature : (n,) array
        Degrees Celsius.
    is_on : (n,) bool array
        Whether torque is enabled.
    braking : (n,) array
        Fraction of the damping ``tau_stall / w_0`` that acts: less of a warm motor, a tenth without torque.
    """

    def __init__(self, servos: Sequence[EmulatedServo]) -> None:
        if not servos:
            raise EmulationError("a bank of motors needs at least one servo")
        others = [servo.table.model.name for servo in servos if not servo.table.model.has("cw_compliance_slope")]
        if others:
            raise EmulationError(f"a bank moves AX servos, not {', '.join(others)}; simulate these outside the bank")
        self._servos = tuple(servos)
        self._tables = [servo.table for servo in servos]
        p = [servo.motor.parameters for servo in servos]
        self.position = np.array([servo.motor.position for servo in servos])
        self.velocity = np.zeros(len(servos))
        self.reference = self.position.copy()
        self.output = np.zeros(len(servos))
        self.stalled = np.zeros(len(servos))
        self.temperature = np.array([servo.motor.temperature for servo in servos])
        self.is_on = np.zeros(len(servos), dtype=bool)
        self.braking = np.full(len(servos), COASTING)
        self._stall = np.array([each.stall_torque for each in p])
        self._no_load = np.array([each.no_load_speed for each in p])
        self._ambient = np.array([each.ambient for each in p])
        self._heating = np.array([each.heating * each.cooling_time for each in p])
        self._cooling = np.array([each.cooling_time for each in p])
        self._stall_current = np.array([table.model.stall_current for table in self._tables])
        self._voltage = np.full(len(servos), NOMINAL_VOLTAGE)
        self._resistance = np.ones(len(servos))
        for i, servo in enumerate(servos):
            servo.motor = BankMotor(self, i, p[i])  # type: ignore[assignment]  # same face, other inside

    def step(self, position: Array, velocity: Array, duration: float) -> Array:
        """Take where the horns are, and return what the motors do until the next step.

        Parameters
        ----------
        position, velocity : (n,) array
            Horns, rad and rad/s.
        duration : float
            s until the next step; the servos' own loop runs at 1 kHz, so steps of a few of its periods are right.

        Returns
        -------
        (n,) array
            Torques of the windings, N·m, without the damping, which the simulator must have: `braking` of
            ``tau_stall / w_0``.
        """
        # an array of 25 words a servo; words start at even addresses only
        words = np.frombuffer(b"".join([table.image for table in self._tables]), dtype="<u2")
        words = words.reshape(len(self._tables), TABLE_SIZE // 2).astype(np.int64)
        self.is_on = (words[:, 12] & 255) != 0
        is_wheel = (words[:, 3] == 0) & (words[:, 4] == 0)
        margins, slopes, speed = words[:, 13], words[:, 14], words[:, 16]
        limit, punch = words[:, 17] / 1023.0, words[:, 24] / 1023.0
        goal = words[:, 15] * RAD_PER_STEP
        self.position, self.velocity = position.copy(), velocity.copy()
        magnitude = speed & 1023
        stride = np.where(magnitude > 0, magnitude * (RAD_PER_S_PER_STEP * duration), np.inf)
        reference = self.reference + np.clip(goal - self.reference, -stride, stride)
        self.reference = np.where(self.is_on, reference, position)
        error = self.reference - position
        is_ccw = error > 0.0  # the low byte of a word is the clockwise side's, the high byte the other's
        margin = np.where(is_ccw, margins >> 8, margins & 255) * RAD_PER_STEP
        slope = _SLOPES[np.where(is_ccw, slopes >> 8, slopes & 255)]
        excess = np.abs(error) - margin
        u = np.where(excess > 0.0, np.minimum(limit, np.maximum(punch, excess / slope)), 0.0)
        u = np.where(is_ccw, u, -u)
        if is_wheel.any():
            fraction = np.where(speed & 1024, -1.0, 1.0) * magnitude / 1023.0
            u = np.where(is_wheel, np.clip(fraction, -limit, limit), u)
        u = np.where(self.is_on, u, 0.0)
        self.output = u
        pushes = self.is_on & (limit > 0.0) & (np.abs(u) >= limit) & (np.abs(velocity) < _STOPPED * self._no_load)
        self.stalled = np.where(pushes, self.stalled + duration, 0.0)
        self._voltage = np.array([servo.voltage for servo in self._servos])
        self._resistance = winding_resistance(self.temperature, self._ambient)
        self.braking = np.where(self.is_on, 1.0 / self._resistance, COASTING)
        drive = u * (self._voltage / NOMINAL_VOLTAGE)
        current = (drive - velocity / self._no_load) * self.is_on  # squared, by resistance: i^2 r
        aim = self._ambient + current**2 / self._resistance * self._heating
        self.temperature += (aim - self.temperature) * (duration / self._cooling)
        return u * self.strength * self._stall

    @property
    def strength(self) -> Array:
        """Greatest torque of each servo by supply and heat of its winding, as a fraction of the stall torque."""
        return (self._voltage / NOMINAL_VOLTAGE) / self._resistance

    def current(self) -> float:
        """Return what all servos draw together, A: the fraction of time that the bridge is on, times the motor's."""
        speed, voltage = self.velocity / self._no_load, self._voltage / NOMINAL_VOLTAGE
        draw = motor_current(self.output, speed, self._stall_current, voltage, self._resistance)
        return float(draw.sum()) + IDLE_CURRENT * len(self._tables)


def motor_current(
    output: Array,
    speed: Array,
    stall_current: Array,
    voltage: Union[Array, float] = 1.0,
    resistance: Union[Array, float] = 1.0,
) -> Array:
    """Return what motors draw from the supply, A: the fraction of time that the bridge is on, times the motor's.

    Parameters
    ----------
    output : array
        Fraction of the stall torque, signed.
    speed : array
        Fraction of the no-load speed, signed.
    stall_current : array
        At the nominal voltage, A.
    voltage : array or float
        Of the supply, as a fraction of the nominal one.
    resistance : array or float
        Of the windings, as a multiple of the cold ones'.
    """
    return np.maximum(output * (output * voltage - speed), 0.0) * stall_current / resistance
