# SPDX-License-Identifier: MIT
"""One emulated servo: what it does with an instruction, when it answers, and its alarms."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import List, NamedTuple, Optional, Tuple

from ax_bus import protocol
from ax_bus.protocol import ErrorFlags, Instruction
from ax_bus.registers import AX_12A, RAD_PER_S_PER_STEP, RAD_PER_STEP, Model, baud_of
from ax_bus.wire_time import INTERRUPT, PING_LATENCY, READ_LATENCY, WRITE_LATENCY, WRITE_LATENCY_PER_BYTE
from ax_emulator.control_table import ControlTable
from ax_emulator.motor import Motor, MotorParameters, motor_parameters

_INTERRUPT_PERIOD = 1e-3  # s
_LATCHED = ErrorFlags.OVERLOAD | ErrorFlags.OVERHEATING
_COOL_DOWN = 5.0  # K below the limit at which the overheating alarm ends (estimate)


@dataclass(frozen=True)
class ServoBehaviour:
    """Where servos of one model differ, and what is not documented.

    Parameters
    ----------
    eeprom_time : float
        s of deafness per EEPROM byte written (6 to 9 ms were measured by others).
    boot_time : float
        s of deafness after power-on (estimate).
    interrupts : bool
        Whether the motor interrupt delays and splits replies.
    goal_enables_torque : bool
        Whether writing a goal position switches the torque on, as some firmwares do.
    accepts_reset : bool
        Whether RESET works; on many AX-12A it does not.
    """

    eeprom_time: float = 7.5e-3
    boot_time: float = 0.2
    interrupts: bool = True
    goal_enables_torque: bool = False
    accepts_reset: bool = False


DEFAULT_BEHAVIOUR = ServoBehaviour()


class Answer(NamedTuple):
    """A status packet and how long after the instruction's last bit it starts, s."""

    delay: float
    packet: bytes


class EmulatedServo:
    """A servo with memory, motor and alarms.

    Parameters
    ----------
    servo_id : int
        Its ID.
    model : Model
        AX-12A or AX-18A.
    baud : int
        Register value 1 is 1 Mbaud; give it as the register.
    return_delay : int
        Register value, units of 2 us.
    position : int
        Where the horn stands, steps.
    behaviour : ServoBehaviour
        Peculiarities.
    parameters : MotorParameters, optional
        Physics; by default of the model.
    seed : int
        Of the interrupt's phase.
    """

    def __init__(
        self,
        servo_id: int,
        model: Model = AX_12A,
        baud: int = 1,
        return_delay: int = 250,
        position: int = 512,
        behaviour: ServoBehaviour = DEFAULT_BEHAVIOUR,
        parameters: Optional[MotorParameters] = None,
        seed: int = 0,
    ) -> None:
        self.table = ControlTable(model)
        self.motor = Motor(self.table, parameters or motor_parameters(model), position * RAD_PER_STEP)
        self.behaviour = behaviour
        self.sag: Optional[float] = None  # V that a fault puts in the supply's place
        self._supply = 12.0
        self.deaf_until = -1.0
        self.is_dead = False
        self.alarms = ErrorFlags.NONE
        self._registered: Optional[bytes] = None
        self._phase = random.Random(f"{seed}/{servo_id}").uniform(0.0, _INTERRUPT_PERIOD)
        self.table["id"], self.table["baud_rate"], self.table["return_delay_time"] = servo_id, baud, return_delay
        self.table.power_on(self.motor.steps)

    @property
    def servo_id(self) -> int:
        """Its present ID."""
        return self.table["id"]

    @property
    def voltage(self) -> float:
        """Voltage at this servo, V; setting it sets the supply, in whose place a fault may put another."""
        return self._supply if self.sag is None else self.sag

    @voltage.setter
    def voltage(self, volts: float) -> None:
        self._supply = volts

    def hears(self, baud: float, time: float) -> bool:
        """Return whether a packet that started at ``time`` is understood."""
        rate = baud_of(self.table["baud_rate"])
        # A UART samples a byte's last bit 9.5 bits after its edge: 3 % off is the practical limit.
        return not self.is_dead and time >= self.deaf_until and abs(baud / rate - 1.0) < 0.03

    def reboot(self, time: float) -> None:
        """Brown-out: RAM starts anew, torque is off, nothing is heard for a while."""
        self.motor.advance(time, self.voltage)
        self.motor.restart()
        self.alarms = ErrorFlags.NONE
        self._registered = None
        self.table.power_on(self.motor.steps)
        self.deaf_until = time + self.behaviour.boot_time

    def handle(self, instruction: int, parameters: bytes, is_broadcast: bool, time: float) -> Optional[Answer]:
        """Carry out an instruction whose last bit passed at ``time``; return the answer, if there is one.

        Parameters
        ----------
        instruction : int
            Its code.
        parameters : bytes
            Its parameters; for SYNC WRITE those of all servos.
        is_broadcast : bool
            Whether it was sent to all: never answered.
        time : float
            s.
        """
        self._update(time)
        level, delay = self.table["status_return_level"], self.table["return_delay_time"] * 2e-6
        flags, data, latency, answers = ErrorFlags.NONE, b"", READ_LATENCY, level >= 2
        if instruction == Instruction.PING:
            latency, answers = PING_LATENCY, True
        elif instruction == Instruction.READ:
            answers = level >= 1
            data = self.table.read(parameters[0], parameters[1]) if len(parameters) == 2 else b""
            flags = ErrorFlags.NONE if data else ErrorFlags.RANGE
        elif instruction == Instruction.WRITE and len(parameters) >= 2:
            latency = WRITE_LATENCY + WRITE_LATENCY_PER_BYTE * (len(parameters) - 1)
            servo_id = self.servo_id
            flags = self._write(parameters, time)
            if servo_id != self.servo_id:  # the answer to a change of ID carries the old one
                packet = protocol.packet(servo_id, int(self.error | flags))
                return None if is_broadcast or not answers else Answer(delay + latency, packet)
        elif instruction == Instruction.REG_WRITE and len(parameters) >= 2:
            flags = self.table.check(parameters[0], parameters[1:])
            if not flags:
                self._registered, self.table["registered"] = parameters, 1
        elif instruction == Instruction.ACTION and self._registered is not None:
            flags = self._write(self._registered, time)
            self._registered, self.table["registered"] = None, 0
        elif instruction == Instruction.SYNC_WRITE and is_broadcast:
            self._sync_write(parameters, time)
        elif instruction == Instruction.RESET and self.behaviour.accepts_reset:
            self.table.factory_reset()
            self.reboot(time)
        else:
            flags = ErrorFlags.INSTRUCTION
        if is_broadcast or not answers:
            return None
        return Answer(delay + latency, protocol.packet(self.servo_id, int(self.error | flags), data))

    def complain(self, time: float) -> Optional[Answer]:
        """Answer an instruction whose checksum was wrong."""
        self._update(time)
        if self.table["status_return_level"] < 2:
            return None
        packet = protocol.packet(self.servo_id, int(self.error | ErrorFlags.CHECKSUM))
        return Answer(self.table["return_delay_time"] * 2e-6 + READ_LATENCY, packet)

    @property
    def error(self) -> ErrorFlags:
        """State flags that every answer carries."""
        volts = round(self.voltage * 10.0)
        is_low = not self.table["min_voltage_limit"] <= volts <= self.table["max_voltage_limit"]
        return self.alarms | (ErrorFlags.INPUT_VOLTAGE if is_low else ErrorFlags.NONE)

    def bursts(self, start: float, packet: bytes, byte_time: float) -> List[Tuple[float, bytes]]:
        """Return when which bytes of a packet leave: the motor interrupt delays them, or tears a packet in two.

        Parameters
        ----------
        start : float
            When it would leave without the interrupt, s.
        packet : bytes
            Its bytes.
        byte_time : float
            s per byte.
        """
        if not self.behaviour.interrupts:
            return [(start, packet)]
        since = (start - self._phase) % _INTERRUPT_PERIOD
        if since < INTERRUPT:
            start, since = start + INTERRUPT - since, INTERRUPT
        before = math.ceil((_INTERRUPT_PERIOD - since) / byte_time)
        if before >= len(packet):
            return [(start, packet)]
        return [(start, packet[:before]), (start + before * byte_time + INTERRUPT, packet[before:])]

    def advance(self, time: float) -> None:
        """Let motor and alarms run until ``time``, s."""
        self._update(time)

    def _write(self, parameters: bytes, time: float) -> ErrorFlags:
        address, data = parameters[0], parameters[1:]
        flags = self.table.check(address, data)
        if flags:
            return flags
        was_on = self.table["torque_enable"]
        eeprom = self.table.write(address, data)
        if eeprom:
            self.deaf_until = time + eeprom * self.behaviour.eeprom_time
        covered = range(address, address + len(data))
        if 30 in covered and self.behaviour.goal_enables_torque:
            self.table["torque_enable"] = 1
        if self.table["torque_enable"] and not was_on:
            self.motor.restart()
        if 34 in covered and self.table["torque_limit"]:
            self._clear_alarms()
        return ErrorFlags.NONE

    def _sync_write(self, parameters: bytes, time: float) -> None:
        if len(parameters) < 2:
            return
        address, count = parameters[0], parameters[1]
        for start in range(2, len(parameters) - count, count + 1):
            if parameters[start] == self.servo_id:
                self._write(bytes((address,)) + parameters[start + 1 : start + 1 + count], time)
                return

    def _clear_alarms(self) -> None:
        """End an alarm shutdown, as writing a torque limit does once the cause is gone."""
        if not self.motor.is_overloaded:
            self.alarms &= ~ErrorFlags.OVERLOAD
        if self.motor.temperature < self.table["temperature_limit"] - _COOL_DOWN:
            self.alarms &= ~ErrorFlags.OVERHEATING

    def _update(self, time: float) -> None:
        """Run the motor, refresh the registers that show it, raise alarms."""
        motor, table = self.motor, self.table
        motor.advance(time, self.voltage)
        if motor.is_overloaded:
            self.raise_alarm(ErrorFlags.OVERLOAD)
        if motor.temperature >= table["temperature_limit"]:
            self.raise_alarm(ErrorFlags.OVERHEATING)
        table["present_position"] = motor.steps
        table["present_speed"] = _magnitude(motor.velocity / RAD_PER_S_PER_STEP)
        table["present_load"] = _magnitude(motor.output * 1023.0)
        table["present_voltage"] = min(255, max(0, round(self.voltage * 10.0)))
        table["present_temperature"] = min(255, max(0, int(motor.temperature)))
        table["moving"] = int(abs(motor.velocity) > 0.01)

    def raise_alarm(self, alarms: ErrorFlags) -> None:
        """Latch alarms; those in the shutdown mask take the torque limit to 0."""
        self.alarms |= alarms & _LATCHED
        if self.alarms & self.table["shutdown"] and self.table["torque_limit"]:
            self.table["torque_limit"] = 0
            self.motor.restart()


def _magnitude(steps: float) -> int:
    """Return magnitude with bit 10 for clockwise."""
    number = min(1023, round(abs(steps)))
    return number | 1024 if steps < 0.0 and number else number
