# SPDX-License-Identifier: MIT
"""One emulated servo: what it does with an instruction, when it answers, and its alarms."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import List, Mapping, NamedTuple, Optional, Tuple

from ax_bus import protocol
from ax_bus.protocol import FLAGS, ErrorFlags, Instruction
from ax_bus.registers import AX_12A, Model
from ax_bus.wire_time import INTERRUPT, PING_LATENCY, READ_LATENCY, WRITE_LATENCY, WRITE_LATENCY_PER_BYTE
from ax_emulator.alarms import Alarms
from ax_emulator.bulk_read import Block
from ax_emulator.control_table import ControlTable
from ax_emulator.errors import EmulationError
from ax_emulator.motor import Motor, MotorParameters, motor_parameters

_INTERRUPT_PERIOD = 1e-3  # s
_LEVEL: Mapping[int, int] = {
    Instruction.PING: 0,
    Instruction.READ: 1,
}  # status return level from which a reply comes; of all others 2


@dataclass(frozen=True)
class ServoBehaviour:
    """Where servos of one model differ, and what is not documented."""

    eeprom_time: float = 7.5e-3  #: s without reception per EEPROM byte written (6 to 9 ms were measured by others)
    boot_time: float = 0.2  #: s without reception after power-on (estimate)
    interrupts: bool = True  #: Whether the motor interrupt delays and splits replies
    goal_enables_torque: bool = False  #: Whether writing a goal position switches the torque on, as some firmwares do
    accepts_reset: bool = False  #: Whether RESET works; on many AX-12A it does not


DEFAULT_BEHAVIOUR = ServoBehaviour()


class Answer(NamedTuple):
    """A status packet and how long after the instruction's last bit it starts, s."""

    delay: float
    packet: bytes


class EmulatedServo:
    """A servo with memory, motor and alarms.

    Parameters
    ----------
    baud : int
        Register value 1 is 1 Mbaud; give it as the register.
    return_delay : int
        Register value, units of 2 us.
    position : int, optional
        Where the horn stands, steps; by default as the manual's table says, in the middle.
    behaviour : ServoBehaviour
        Peculiarities.
    parameters : MotorParameters, optional
        Physics; by default of the model.
    seed : int
        Of the interrupt's phase.

    Raises
    ------
    EmulationError
        If the register cannot hold the return delay.
    """

    def __init__(
        self,
        servo_id: int,
        model: Model = AX_12A,
        baud: int = 1,
        return_delay: int = 250,
        position: Optional[int] = None,
        behaviour: ServoBehaviour = DEFAULT_BEHAVIOUR,
        parameters: Optional[MotorParameters] = None,
        seed: int = 0,
    ) -> None:
        self.table = ControlTable(model)
        steps = self.table["present_position"] if position is None else position
        self.motor = Motor(self.table, parameters or motor_parameters(model), steps * model.rad_per_step)
        self.behaviour = behaviour
        self.sag: Optional[float] = None  # V that a fault puts in the supply's place
        self._supply = 12.0
        self.deaf_until = -1.0
        self.sends_until = 0.0  # end of its latest answer, s
        self.is_dead = False
        self._alarms = Alarms(self.table)
        self._registered: Optional[bytes] = None
        self._booted = 0.0
        self._has_tick, self._has_current = model.has("realtime_tick"), model.has("current")
        self._phase = random.Random(f"{seed}/{servo_id}").uniform(0.0, _INTERRUPT_PERIOD)
        if not 0 <= return_delay <= 254:
            raise EmulationError(f"return delay is {return_delay}; give 0 to 254 units of 2 us")
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

    def can_receive(self, baud: float, time: float) -> bool:
        """Return whether a packet that started at ``time`` is understood."""
        rate = self.table.model.baud_of(self.table["baud_rate"])
        # A UART samples a byte's last bit 9.5 bits after its edge: 3 % off is the practical limit.
        return not self.is_dead and time >= self.deaf_until and abs(baud / rate - 1.0) < 0.03

    def reboot(self, time: float) -> None:
        """Brown-out: RAM is reset, torque is off, and the servo receives nothing until it has booted."""
        self.motor.advance(time, self.voltage)
        self.motor.restart()
        self._alarms.latched = ErrorFlags.NONE
        self._registered = None
        self.table.power_on(self.motor.steps)
        self._booted = time
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
        self.advance(time)
        own, level, delay = self.servo_id, self.table["status_return_level"], self.table["return_delay_time"] * 2e-6
        flags, data, latency = self._execute(instruction, parameters, is_broadcast, time)
        if flags or instruction not in _LEVEL:  # PING and READ change nothing
            self._watch(flags)
        # AX-12 manual, p. 22: PING is answered even if it was sent to all
        if level < _LEVEL.get(instruction, 2) or (is_broadcast and instruction != Instruction.PING):
            return None
        # the answer to a change of ID, or to a reset, carries the old one (the same page, example 4)
        return Answer(delay + latency, protocol.packet(own, self._error() | int(flags), data))

    def bulk_answer(self, block: Block, time: float, is_first: bool) -> Optional[Answer]:
        """Return this servo's part of a BULK READ, when its turn has come at ``time``, s."""
        self.advance(time)
        if self.table["status_return_level"] < 1:
            return None
        data = self.table.read(block.address, block.size)
        flags = ErrorFlags.NONE if data else ErrorFlags.RANGE
        self._watch(flags)
        # the manual: the idle time between the replies is shortened; only the first waits its return delay
        delay = self.table["return_delay_time"] * 2e-6 if is_first else 0.0
        return Answer(delay + READ_LATENCY, protocol.packet(self.servo_id, self._error() | int(flags), data))

    def complain(self, is_broadcast: bool, time: float) -> Optional[Answer]:
        """Answer an instruction whose checksum was wrong."""
        self.advance(time)
        self._watch(ErrorFlags.CHECKSUM)
        # RX-64 manual, p. 35: below level 2 not even a PING with a wrong checksum is answered
        if is_broadcast or self.table["status_return_level"] < 2:
            return None
        packet = protocol.packet(self.servo_id, int(self.error | ErrorFlags.CHECKSUM))
        return Answer(self.table["return_delay_time"] * 2e-6 + READ_LATENCY, packet)

    def _execute(
        self, instruction: int, parameters: bytes, is_broadcast: bool, time: float
    ) -> Tuple[ErrorFlags, bytes, float]:
        """Carry out an instruction; return error flags, data and the latency of the reply."""
        count, done = len(parameters), ErrorFlags.NONE
        if instruction == Instruction.PING and not count:
            return done, b"", PING_LATENCY
        if instruction == Instruction.READ and count == 2:
            data = self.table.read(parameters[0], parameters[1])
            return done if data else ErrorFlags.RANGE, data, READ_LATENCY
        if instruction == Instruction.WRITE and count >= 2:
            return self._write(parameters, time), b"", WRITE_LATENCY + WRITE_LATENCY_PER_BYTE * (count - 1)
        if instruction == Instruction.REG_WRITE and count >= 2:  # judged when ACTION carries it out
            self._registered, self.table["registered"] = parameters, 1
            return done, b"", READ_LATENCY
        if instruction == Instruction.ACTION and not count and self._registered is not None:
            registered, self._registered, self.table["registered"] = self._registered, None, 0
            return self._write(registered, time), b"", READ_LATENCY
        if instruction == Instruction.SYNC_WRITE and is_broadcast:
            return self._sync_write(parameters, time), b"", READ_LATENCY
        if instruction == Instruction.RESET and self.behaviour.accepts_reset and not count:
            return self._reset(is_broadcast, time), b"", READ_LATENCY
        if instruction in self.table.model.instructions:
            if instruction == Instruction.BULK_READ and is_broadcast:
                return done, b"", READ_LATENCY  # `bulk_answer`, when the turn has come
            if instruction == Instruction.REBOOT and not count:
                self.reboot(time)
                return done, b"", READ_LATENCY
        return ErrorFlags.INSTRUCTION, b"", READ_LATENCY

    @property
    def error(self) -> ErrorFlags:
        """State flags that every answer carries."""
        return FLAGS[self._error()]

    @property
    def alarms(self) -> ErrorFlags:
        """Overload and overheating."""
        return self._alarms.latched

    def _error(self) -> int:
        return self._alarms.error(self.voltage)

    def _watch(self, flags: ErrorFlags = ErrorFlags.NONE) -> None:
        self._alarms.watch(self.motor, self.voltage, flags)

    def bursts(self, start: float, packet: bytes, byte_time: float) -> List[Tuple[float, bytes]]:
        """Return when which bytes of a packet leave: the motor interrupt delays them, or tears a packet in two.

        Parameters
        ----------
        start : float
            When it would leave without the interrupt, s.
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
            self._alarms.recover(self.motor)
        return ErrorFlags.NONE

    def _sync_write(self, parameters: bytes, time: float) -> ErrorFlags:
        """Take this servo's part of a SYNC WRITE whose length is right (protocol 1.0: ``(L + 1) N + 4``)."""
        count = parameters[1] if len(parameters) >= 4 else 0
        if not count or (len(parameters) - 2) % (count + 1):
            return ErrorFlags.INSTRUCTION
        flags, own = ErrorFlags.NONE, self.servo_id  # a new ID counts from the next packet
        for start in range(2, len(parameters), count + 1):
            if parameters[start] == own:
                flags |= self._write(parameters[:1] + parameters[start + 1 : start + 1 + count], time)
        return flags

    def _reset(self, is_broadcast: bool, time: float) -> ErrorFlags:
        """Restore factory settings; not by the broadcast ID, and not while locked."""
        if is_broadcast:
            return ErrorFlags.NONE
        if self.table["lock"]:
            return ErrorFlags.RANGE
        self.table.factory_reset()
        self.reboot(time)
        return ErrorFlags.NONE

    def advance(self, time: float) -> None:
        """Let motor and alarms run until ``time``, s, and refresh the registers that show them."""
        motor, table, model = self.motor, self.table, self.table.model
        motor.advance(time, self.voltage)
        self._watch()
        table["present_position"] = motor.steps
        table["present_speed"] = _magnitude(motor.velocity / model.rad_per_s_per_step)
        table["present_load"] = _magnitude(motor.output * 1023.0)
        table["present_voltage"] = min(255, max(0, round(self.voltage * 10.0)))
        table["present_temperature"] = min(255, max(0, int(motor.temperature)))
        table["moving"] = int(abs(motor.velocity) > 0.01)
        if self._has_tick:
            table["realtime_tick"] = int((time - self._booted) * 1e3 + 1e-6) % 32768
        if self._has_current:
            row = model.register("current")
            table["current"] = row.from_si(motor.current(self.voltage) * model.stall_current)

    def raise_alarm(self, alarms: ErrorFlags) -> None:
        """Raise overload or overheating without a cause; those in the shutdown mask take the torque limit to 0."""
        self._alarms.strike(self.motor, int(alarms))


def _magnitude(steps: float) -> int:
    """Return magnitude with bit 10 for clockwise."""
    number = min(1023, round(abs(steps)))
    return number | 1024 if steps < 0.0 and number else number
