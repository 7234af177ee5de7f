# SPDX-License-Identifier: MIT
"""N servos on one half-duplex line, driven by events: every byte has its time, whoever keeps the clock."""

from __future__ import annotations

from collections import deque
from typing import Any, Deque, Dict, Iterable, List, Optional, Sequence, Tuple

from ax_bus.protocol import BROADCAST_ID, ErrorFlags, Instruction
from ax_bus.registers import AX_12A, Model
from ax_bus.wire_time import bytes_time
from ax_emulator.bulk_read import Block, BulkRead, blocks
from ax_emulator.errors import EmulationError
from ax_emulator.faults import STATES, Fault, FaultInjector
from ax_emulator.instruction_parser import InstructionPacket, InstructionParser
from ax_emulator.line import HOST, Burst, Line
from ax_emulator.servo import EmulatedServo


class EmulatedChain:
    """Servos, their supply, and the wire to the host.

    Parameters
    ----------
    servos : iterable of EmulatedServo
        Their IDs may repeat: that is one of the faults.
    baud : int
        Rate of the host.
    faults : FaultInjector, optional
        What goes wrong when.
    echoes : bool
        Whether the wiring gives the host's bytes back.
    host_hold : float
        s that the host's transmitter keeps the line after its last bit: a late direction switch.
    """

    def __init__(
        self,
        servos: Iterable[EmulatedServo],
        baud: int = 1_000_000,
        faults: Optional[FaultInjector] = None,
        echoes: bool = False,
        host_hold: float = 0.0,
    ) -> None:
        self.servos = list(servos)
        if not self.servos:
            raise EmulationError("the chain has no servos; give at least one")
        self.baud = baud
        self.faults = faults if faults is not None else FaultInjector()
        self.echoes = echoes
        self.host_hold = host_hold
        self.line = Line()
        self.time = 0.0
        self._parser = InstructionParser()
        self._inbox: Deque[Tuple[float, bytes]] = deque()  # what the host may read, and from when
        self._host_free = 0.0
        self._hold_until = -1.0
        self._victims: Dict[Fault, List[EmulatedServo]] = {}  # of states; their IDs may change before the end
        self._bulk: Optional[BulkRead] = None
        self._bulk_servos: List[EmulatedServo] = []  # those that received it

    @property
    def oversize_packets(self) -> int:
        """Packets that did not fit the servos' receive buffer."""
        return self._parser.oversize

    def servo(self, servo_id: int) -> EmulatedServo:
        """Return the first servo with an ID.

        Raises
        ------
        EmulationError
            If there is none.
        """
        for servo in self.servos:
            if servo.servo_id == servo_id:
                return servo
        ids = ", ".join(str(servo.servo_id) for servo in self.servos)
        raise EmulationError(f"no servo has ID {servo_id}; there are {ids}")

    def set_supply(self, voltage: float) -> None:
        """Set the voltage at every servo, V."""
        for servo in self.servos:
            servo.voltage = voltage

    def transmit(self, time: float, data: bytes) -> None:
        """Let the host send, beginning at ``time`` or when its earlier bytes are out."""
        start = max(time, self._host_free)
        byte_time = bytes_time(1, self.baud)
        fault = self.faults.strike("garbled_instruction", time)
        if fault is not None:
            data = _flip(data, 1, self.faults)
        burst = self.line.send(start, data, HOST, byte_time)
        self._host_free = burst.end
        self._hold_until = burst.end + self.host_hold

    def advance(self, time: float) -> None:
        """Let everything happen that happens until ``time``, s."""
        self._servo_faults(time)
        while True:
            landed = self.line.land(time)
            if landed is None:
                break
            self._land(*landed)
        self.time = max(self.time, time)

    def take(self, time: float) -> bytes:
        """Return what the host has received by ``time``, and forget it."""
        data = b""
        while self._inbox and self._inbox[0][0] <= time:
            data += self._inbox.popleft()[1]
        return data

    def next_time(self) -> Optional[float]:
        """Return when something happens next, or None."""
        times = [t for t in (self.line.next_end(), self._inbox[0][0] if self._inbox else None) if t is not None]
        return min(times) if times else None

    def drop_input(self) -> None:
        """Forget what the host has not read: the port was closed."""
        self._inbox.clear()

    def _land(self, burst: Burst, received: bytes) -> None:
        """End of a burst: servos receive what the host sent, the host what servos sent."""
        stuck, on_wire = self.faults.strike("stuck_line", burst.end) is not None, received
        if burst.sender == HOST:
            if self.echoes or self.faults.strike("echo", burst.end) is not None:
                self._deliver(burst.end, received)
            else:
                partial = self.faults.strike("partial_echo", burst.end)
                if partial is not None:
                    self._deliver(burst.end, received[-int(partial.amount) :])
            if not stuck:
                for packet in self._parser.feed(received, burst.start, burst.end):
                    self._dispatch(packet, burst.end)
        elif not stuck:
            if burst.start < self._hold_until and not self.echoes:
                # The host's receiver is off while its transmitter is on: the head is lost, mid-byte included.
                byte_time = (burst.end - burst.start) / len(burst.data)
                lost = int((self._hold_until - burst.start) / byte_time + 0.999)
                received = received[lost:]
            self._deliver(burst.end, received)
            if self._bulk is not None:
                for block in self._bulk.hear(on_wire):
                    self._bulk_turn(block, burst.end, is_first=False)

    def _deliver(self, time: float, data: bytes) -> None:
        if not data:
            return
        late = self.faults.strike("link_latency", time)
        # Bytes keep their order, whatever holds them up.
        ready = max(time + (late.amount if late is not None else 0.0), self._inbox[-1][0] if self._inbox else 0.0)
        self._inbox.append((ready, data))

    def _dispatch(self, packet: InstructionPacket, time: float) -> None:
        is_broadcast, self._bulk = packet.servo_id == BROADCAST_ID, None
        hearing = []
        for servo in self.servos:
            servo_id = servo.servo_id
            if not (is_broadcast or servo_id == packet.servo_id) or not servo.can_receive(self.baud, packet.start):
                continue
            hearing.append(servo)
            if packet.is_valid:
                answer = servo.handle(packet.instruction, packet.parameters, is_broadcast, time)
            else:
                answer = servo.complain(is_broadcast, time)
            if answer is not None:
                self._reply(servo, servo_id, time + answer.delay, answer.packet)
        if packet.is_valid and is_broadcast and packet.instruction == Instruction.BULK_READ:
            order = blocks(packet.parameters)
            if order:
                self._bulk, self._bulk_servos = BulkRead(order), hearing
                self._bulk_turn(order[0], time, is_first=True)

    def _bulk_turn(self, block: Block, time: float, is_first: bool) -> None:
        """Let the servo answer whose turn it is in a BULK READ; if none can, those behind it wait in vain."""
        for servo in self._bulk_servos:
            if servo.servo_id != block.servo_id or Instruction.BULK_READ not in servo.table.model.instructions:
                continue
            answer = servo.bulk_answer(block, time, is_first)
            if answer is not None:
                self._reply(servo, servo.servo_id, time + answer.delay, answer.packet)

    def _reply(self, servo: EmulatedServo, servo_id: int, start: float, packet: bytes) -> None:
        """Put a servo's answer on the wire, with the faults of replies."""
        faults = self.faults
        if faults.strike("lost_reply", start, servo_id) is not None:
            return
        late = faults.strike("late_reply", start, servo_id)
        if late is not None:
            start += late.amount
        fault = faults.strike("error_bit", start, servo_id)
        if fault is not None:
            packet = _rewrite(packet, 4, packet[4] | int(fault.amount))
        fault = faults.strike("wrong_id", start, servo_id)
        if fault is not None:
            packet = _rewrite(packet, 2, int(fault.amount))
        fault = faults.strike("bit_flip", start, servo_id)
        if fault is not None:
            packet = _flip(packet, int(fault.amount), faults)
        fault = faults.strike("head_cut", start, servo_id)
        if fault is not None:
            packet = packet[int(fault.amount) :]
        fault = faults.strike("tail_cut", start, servo_id)
        if fault is not None:
            packet = packet[: -int(fault.amount)]
        fault = faults.strike("noise", start, servo_id)
        if fault is not None:
            packet = bytes(faults.random.randrange(256) for _ in range(int(fault.amount))) + packet
        byte_time = bytes_time(1, self.baud)
        # One answer after the other: a host that was stalled hands over many instructions at once.
        for begin, data in servo.bursts(max(start, servo.sends_until), packet, byte_time):
            if data:
                servo.sends_until = self.line.send(begin, data, servo_id, byte_time).end

    def _servo_faults(self, time: float) -> None:
        beginning, ending = self.faults.due(time)
        for fault, begins in [(f, False) for f in ending] + [(f, True) for f in beginning]:
            victims = [servo for servo in self.servos if fault.servo is None or servo.servo_id == fault.servo]
            if fault.kind in STATES:
                known = self._victims
                victims = known.setdefault(fault, victims) if begins else known.pop(fault, victims)
            for servo in victims:
                _apply(servo, fault, begins, time)


def _apply(servo: EmulatedServo, fault: Fault, begins: bool, time: float) -> None:
    """Put a servo into, or out of, the state of a fault."""
    if fault.kind == "dead":
        servo.is_dead = begins
    elif fault.kind == "voltage":
        servo.sag = fault.amount if begins else None
    elif not begins:
        return
    elif fault.kind == "reboot":
        servo.reboot(time)
    elif fault.kind == "overload":
        servo.raise_alarm(ErrorFlags.OVERLOAD)
    elif fault.kind == "overheat":
        servo.motor.temperature = fault.amount
    elif fault.kind == "change_id":
        servo.table["id"] = int(fault.amount)
    elif fault.kind == "change_baud":
        servo.table["baud_rate"] = int(fault.amount)
    elif fault.kind == "status_level":
        servo.table["status_return_level"] = int(fault.amount)
    elif fault.kind == "torque_jump":
        top = servo.table.model.position_max
        servo.table["goal_position"] = min(top, max(0, servo.motor.steps + int(fault.amount)))


def _rewrite(packet: bytes, index: int, value: int) -> bytes:
    """Return a packet with one byte changed and a checksum that agrees."""
    changed = bytearray(packet)
    changed[index] = value
    changed[-1] = ~sum(changed[2:-1]) & 0xFF
    return bytes(changed)


def _flip(packet: bytes, bits: int, faults: FaultInjector) -> bytes:
    """Return a packet with random bits flipped."""
    changed = bytearray(packet)
    for position in faults.random.sample(range(8 * len(packet)), min(bits, 8 * len(packet))):
        changed[position // 8] ^= 1 << position % 8
    return bytes(changed)


def equal_servos(ids: Sequence[int], model: Model = AX_12A, **options: Any) -> List[EmulatedServo]:
    """Return servos with the IDs ``ids``; ``options`` are those of `EmulatedServo`."""
    return [EmulatedServo(servo_id, model, **options) for servo_id in ids]
