# SPDX-License-Identifier: MIT
"""
A second, independent model of AX-12A, AX-18A, MX-28 and MX-64 servos on Dynamixel protocol 1.0, byte for byte.

An oracle for differential tests, written from the public register manual alone. No time, no physics: read-only
registers show what `ManualServo.set_feedback` says. What the manual leaves open is done the simplest way and listed in
`UNSPECIFIED`: a disagreement there proves nothing.

Pages used, with the short names the comments cite:

* [P1] ROBOTIS e-Manual (emanual.robotis.com), "DYNAMIXEL Protocol 1.0";
* [AX] e-Manual "AX-12+, AX-12A" and "AX-18F, AX-18A", control table and its descriptions;
* [MX] e-Manual "MX-28" and "MX-64T/R/AT/AR" (protocol 1.0), control table and its descriptions;
* [UM] "User's Manual Dynamixel AX-12", 2006-06-14 (the printed manual; page numbers are those at the page's foot);
* [RX] "RX-64" text on protocol 1.0: the receive buffer, as quoted in the project's note on the register manual; and
  "User's Manual RX-64", p. 35, PING.
"""

from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

# [P1] Instruction
PING, READ, WRITE, REG_WRITE, ACTION, RESET, REBOOT, SYNC_WRITE, BULK_READ = 1, 2, 3, 4, 5, 6, 8, 0x83, 0x92
BROADCAST = 254  # [P1] Packet ID
VOLTAGE_BIT, ANGLE_BIT, HEAT_BIT, RANGE_BIT, CHECKSUM_BIT, INSTRUCTION_BIT = 1, 2, 4, 8, 16, 64  # [P1] Error
RECEIVE_BUFFER = 143  # bytes [RX]
MULTI_TURN = 28672  # [MX] Goal Position: -28672..28672 in multi-turn mode

# addresses, the same in every table here
ID, CW_LIMIT, CCW_LIMIT, TEMPERATURE_LIMIT, MIN_VOLTAGE, MAX_VOLTAGE, MAX_TORQUE = 3, 6, 8, 11, 12, 13, 14
RETURN_LEVEL, SHUTDOWN, TORQUE_ENABLE, GOAL, SPEED, TORQUE_LIMIT, POSITION = 16, 18, 24, 30, 32, 34, 36
VOLTAGE, TEMPERATURE, REGISTERED, MOVING, LOCK = 42, 43, 44, 46, 47


class Row(NamedTuple):
    """One row of a control table; `limits` is None where the access is read only."""

    address: int
    size: int
    initial: int
    limits: Optional[Tuple[int, int]] = None


def _common(
    number: int,
    baud: int,
    turn: int,
    hottest: Tuple[int, int],
    volts: Tuple[int, int],
    torque: int,
    punch: Tuple[int, int],
) -> Tuple[Row, ...]:
    """Rows that all four tables have; the pairs are (initial, end of the range)."""
    return (  # ranges: [AX] and [MX] descriptions; where they give none, [UM] p. 18 "Data Range and Length for Writing"
        Row(0, 2, number),
        Row(2, 1, 0),
        Row(ID, 1, 1, (0, 253)),
        Row(4, 1, baud, (0, 254)),
        Row(5, 1, 250, (0, 254)),
        Row(CW_LIMIT, 2, 0, (0, turn)),
        Row(CCW_LIMIT, 2, turn, (0, turn)),
        Row(TEMPERATURE_LIMIT, 1, hottest[0], (0, hottest[1])),
        Row(MIN_VOLTAGE, 1, 60, (50, volts[1])),
        Row(MAX_VOLTAGE, 1, volts[0], (50, volts[1])),
        Row(MAX_TORQUE, 2, torque, (0, 1023)),
        Row(RETURN_LEVEL, 1, 2, (0, 2)),
        Row(17, 1, 36, (0, 127)),
        Row(SHUTDOWN, 1, 36, (0, 127)),
        Row(TORQUE_ENABLE, 1, 0, (0, 1)),
        Row(25, 1, 0, (0, 1)),
        Row(GOAL, 2, 0, (0, turn)),
        Row(SPEED, 2, 0, (0, 1023)),
        Row(TORQUE_LIMIT, 2, torque, (0, 1023)),
        Row(POSITION, 2, 0),
        Row(38, 2, 0),
        Row(40, 2, 0),
        Row(VOLTAGE, 1, 0),
        Row(TEMPERATURE, 1, 0),
        Row(REGISTERED, 1, 0),
        Row(MOVING, 1, 0),
        Row(LOCK, 1, 0, (0, 1)),
        Row(48, 2, punch[0], (punch[1], 1023)),
    )


# [AX] Compliance Margin 0..255, Compliance Slope steps up to 254
_AX = (Row(26, 1, 1, (0, 255)), Row(27, 1, 1, (0, 255)), Row(28, 1, 32, (0, 254)), Row(29, 1, 32, (0, 254)))
# [MX] Multi Turn Offset, Resolution Divider, gains D I P, Goal Acceleration
_MX = (
    Row(20, 2, 0, (-24576, 24576)),
    Row(22, 1, 1, (1, 4)),
    Row(26, 1, 0, (0, 254)),
    Row(27, 1, 0, (0, 254)),
    Row(28, 1, 32, (0, 254)),
    Row(73, 1, 0, (0, 254)),
)
# [MX] MX-64: Realtime Tick, Current, Torque Ctrl Mode Enable, Goal Torque
_MX64 = (Row(50, 2, 0), Row(68, 2, 0, (0, 65535)), Row(70, 1, 0, (0, 1)), Row(71, 2, 0, (0, 2047)))

TABLES: Dict[str, Tuple[Row, ...]] = {
    "AX-12A": _common(12, 1, 1023, (70, 100), (140, 250), 1023, (32, 32)) + _AX,
    "AX-18A": _common(18, 1, 1023, (75, 99), (140, 160), 983, (32, 32)) + _AX,
    "MX-28": _common(29, 34, 4095, (80, 100), (160, 160), 1023, (0, 0)) + _MX,
    "MX-64": _common(310, 34, 4095, (80, 100), (240, 250), 1023, (0, 0)) + _MX + _MX64,
}

# (short name, what the manual leaves open, what this model does)
UNSPECIFIED: Tuple[Tuple[str, str, str], ...] = (
    ("broadcast ping", "[UM] p. 22: answered; [UM] p. 10: no broadcast is; [P1]: no word", "answered by all"),
    (
        "checksum error",
        "whether return level 0 or 1 answers it, or a broadcast one",
        "a READ's level by the instruction byte as it came; a broadcast one is silent, PING too; nothing is executed",
    ),
    ("short packet, LEN below 2, ID 255", "only the 100 ms gap is described", "silent"),
    ("long packet", "bytes after the length that LEN gives", "LEN rules, the rest is dropped"),
    ("LEN wrong for the instruction", "too many or too few parameters", "instruction error, nothing executed"),
    ("receive buffer", "143 bytes, said of RX-64 only", "AX do not hear longer packets; MX: no limit"),
    ("read outside the table", "past the last register, or length 0", "range error, no data; ends: AX 49, MX 73"),
    ("reserved addresses", "and [UM] lets 19 be written", "read as 0; a write that touches one is a range error"),
    ("write to read-only", "'cannot be changed', which answer?", "range error"),
    ("partly bad write", "whether its good registers are written", "nothing is written"),
    ("half a register", "[UM] p. 18: both bytes in one packet; else?", "range error"),
    ("registered (44)", "R in [AX] and [MX], writable 0..1 in [UM]", "read only"),
    ("goal outside the limits", "written, clamped or dropped", "angle limit error, nothing of the packet is written"),
    ("goal outside the register", "one error bit or two", "range error alone"),
    ("one limit zero", "joint mode is 'neither are 0', yet the default CW is 0", "wheel mode only where both are 0"),
    ("crossed limits", "CW above CCW, lowest above highest voltage, torque limit above max torque", "accepted"),
    ("limits moved later", "goal or speed in place that a new limit or mode excludes", "stays, no error"),
    ("speed range", "[AX]: 1023 joint, 2047 wheel; [UM]: 1023", "[AX], by the mode at that moment"),
    ("temperature range", "to 99, 100 or 150", "AX-18A 99, else 100, as their pages say"),
    ("voltage range", "to 160 or 250; MX-64 defaults to 240", "AX-12A and MX-64 250, AX-18A and MX-28 160"),
    ("baud range", "list of rates in [AX], 0..254 in [UM]", "0..254; the wire has no baud here"),
    ("margin, slope range", "[AX] 0..255, 0..254; [UM] 0..254, 1..254", "[AX]; a slope reads back as written, no step"),
    ("punch range", "from 32 [AX] or 0 [UM]; MX default 0", "AX from 32, MX from 0"),
    ("ranges of MX", "what [MX] does not say", "as AX"),
    ("current (68) of MX-64", "RW, initial 0 in the table; 2048 at rest in the text", "the table, any value"),
    ("multi-turn", "range with another divider", "always -28672..28672"),
    ("lock range", "[UM] p. 18 only 1, [AX] 0 and 1", "0 and 1 while unlocked"),
    (
        "what lock covers",
        "[AX], [MX]: EEPROM; [UM] p. 17 and example 20: all but 0x18..0x23, punch refused",
        "AX as [UM], MX as [MX]; range error as in example 20",
    ),
    ("lock written while locked", "which answer", "0: range error, stays 1; 1: range error on AX, accepted on MX"),
    ("EEPROM and torque enable", "older e-Manual: only with torque off; newer: AX and MX exempt", "writable"),
    ("goal write, torque off", "whether it enables torque", "torque enable stays"),
    ("torque on", "whether the goal becomes the present position", "the goal stays"),
    ("reg write checks", "REG WRITE or ACTION reports a bad address or value", "ACTION does"),
    ("second reg write", "before an ACTION", "replaces the first"),
    (
        "factory reset",
        "RAM, a pending REG WRITE, Lock = 1",
        "all to power-on values and ID 1; while locked a range error; a broadcast is ignored",
    ),
    ("broadcast reboot", "MX; not mentioned", "executed, silent"),
    ("sync write or bulk read to one ID", "'should be transmitted as Broadcast ID'", "instruction error"),
    ("ID twice in sync write", "which one counts", "both are written, in order"),
    ("bulk read", "return level 0, N = 1 ('cannot read a single module'), first parameter not 0", "silent"),
    ("bulk read predecessor", "that is missing, silent or in error", "no answer silences the rest; an error is one"),
    ("error bits", "how long they stay", "voltage and heat as long as their cause, the others in that one answer"),
    ("voltage or temperature at its limit", "error or not", "no error"),
    (
        "alarm shutdown",
        "[AX] torque limit := 0; [UM] torque off until torque enable := 1",
        "torque limit := 0, torque enable stays; again after each packet while the cause lasts",
    ),
    ("overload, moving", "need physics", "bit 5 is never set; moving is what set_feedback says, 0 at power-on"),
    ("firmware, speed at power-on", "'-' in [AX]", "firmware 0, moving speed 0 ([UM] p. 12)"),
)


def _checksum(body: bytes) -> int:
    return ~sum(body) & 0xFF  # [P1] Checksum: ones' complement of the low byte of the sum from ID on


def _split(packet: bytes) -> Optional[Tuple[int, int, bytes, bool]]:
    """ID, instruction, parameters and whether the checksum is right; None where no packet is heard."""
    # [P1] Header, Length = parameters + 2, Byte to Byte Time
    if packet[:2] != b"\xff\xff" or len(packet) < 6 or packet[3] < 2 or len(packet) < packet[3] + 4:
        return None
    end = packet[3] + 3
    return packet[2], packet[4], bytes(packet[5:end]), packet[end] == _checksum(packet[2:end])


def _bulk_order(packet: bytes) -> List[Tuple[int, int, int]]:
    """(length, ID, address) of a well formed BULK READ, in the order of the answers; else empty."""
    parts = _split(packet)
    if parts is None or parts[:2] != (BROADCAST, BULK_READ) or not parts[3]:
        return []
    blocks = parts[2]
    if len(blocks) % 3 != 1 or blocks[0] or len(blocks) < 7:  # [P1] Bulk Read: LEN = 3N + 3, parameter 1 is 0, N > 1
        return []
    order: Dict[int, Tuple[int, int, int]] = {}
    for length, servo_id, address in zip(blocks[1::3], blocks[2::3], blocks[3::3]):
        order.setdefault(servo_id, (length, servo_id, address))  # [P1] Bulk Read: of an identical ID only the first
    return list(order.values())


class ManualServo:
    """
    One servo as the manual describes it.

    Parameters
    ----------
    servo_id, model, present_position : int, str, int
        ID 0 to 253; a key of `TABLES`; the present position at power-on, where the goal starts too.
    """

    def __init__(self, servo_id: int, model: str = "AX-12A", present_position: int = 512):
        if model not in TABLES or not 0 <= servo_id <= 253:
            raise ValueError(f"no such model or ID: {model}, {servo_id}")
        self._mx = model.startswith("MX")
        self._rows = {row.address: row for row in TABLES[model]}
        self._table = bytearray(max(row.address + row.size for row in TABLES[model]))
        self._pending: Optional[bytes] = None  # parameters of a REG WRITE
        self._factory()
        self._table[ID] = servo_id
        # 11.1 V is AX's recommended voltage, 12 V MX's; 32 degrees is the manual's example of a temperature
        self.set_feedback(position=present_position, voltage=120 if self._mx else 111, temperature=32)
        self.power_cycle()

    def register(self, address: int, size: int = 1) -> int:
        """Peek at `size` bytes of the control table as an unsigned little endian number, without side effect."""
        if not 0 <= address <= address + size <= len(self._table):
            raise IndexError(f"outside the control table: {address}, {size}")
        return int.from_bytes(self._table[address : address + size], "little")

    def set_feedback(
        self,
        *,
        position: Optional[int] = None,
        speed: Optional[int] = None,
        load: Optional[int] = None,
        voltage: Optional[int] = None,
        temperature: Optional[int] = None,
        moving: Optional[int] = None,
    ) -> None:
        """Set what the read-only registers show, raw register values; None leaves one as it is."""
        values = (position, speed, load, voltage, temperature, moving)
        for address, value in zip((POSITION, 38, 40, VOLTAGE, TEMPERATURE, MOVING), values):
            if value is not None:
                self._put(address, int(value))
        self._alarm(0)

    def power_cycle(self) -> None:
        """Switch off and on: RAM gets its power-on values, EEPROM and the measured registers stay."""
        self._pending = None
        for row in self._rows.values():
            if row.address >= TORQUE_ENABLE and not POSITION <= row.address <= TEMPERATURE:  # [AX] Initial Value
                self._put(row.address, row.initial)
        self._put(GOAL, self.register(POSITION, 2))  # [UM] p. 12: goal position starts as [Addr36] value
        self._put(TORQUE_LIMIT, self.register(MAX_TORQUE, 2))  # [AX] Torque Limit is reset to Max Torque
        self._alarm(0)

    def hear(self, packet: bytes) -> bytes:
        """
        Take one whole instruction packet from the wire.

        Returns
        -------
        bytes
            The status packet; empty where the servo stays silent.
        """
        parts = _split(packet)
        own, level = self._table[ID], self._table[RETURN_LEVEL]
        if parts is None or parts[0] not in (own, BROADCAST) or (packet[3] + 4 > RECEIVE_BUFFER and not self._mx):
            return b""  # [P1] Packet ID; [RX]
        target, instruction, parameters, sound = parts
        if instruction == BULK_READ and self._mx and target == BROADCAST and sound:
            order = _bulk_order(packet)
            return self._bulk_answer(order[0]) if order and order[0][1] == own else b""
        broken = (CHECKSUM_BIT, b"")  # [P1] Error, bit 4
        errors, data = self._execute(instruction, parameters, target == BROADCAST) if sound else broken
        self._alarm(errors)
        # [P1] no status packet to the broadcast ID; [UM] p. 22: but always one to PING
        if target == BROADCAST and (instruction != PING or not sound):
            return b""
        # [AX] Status Return Level: 0 PING, 1 and READ, 2 all. [UM] example 14: a new level counts from the next packet,
        # and example 7: so does a new ID; example 4: so does the ID after RESET
        # [RX] p. 35: whatever the level, a PING is answered, but not below level 2 if its checksum is wrong
        if level < {PING: 0 if sound else 2, READ: 1}.get(instruction, 2):
            return b""
        return self._status(own, errors, data)

    def _execute(self, instruction: int, parameters: bytes, broadcast: bool) -> Tuple[int, bytes]:
        """Error bits and data of one instruction whose checksum is right."""
        count = len(parameters)
        if instruction in (PING, ACTION, RESET) and count:  # [P1] Instruction Details: LEN is 2
            return INSTRUCTION_BIT, b""
        if instruction == PING:
            return 0, b""
        if instruction == READ and count == 2:  # [P1] Read: LEN is 4
            return self._read(parameters[0], parameters[1])
        if instruction == WRITE and count >= 2:  # [P1] Write: LEN is N + 3
            return self._write(parameters), b""
        if instruction == REG_WRITE and count >= 2:  # [P1] Reg Write: standby, Registered := 1
            self._pending = parameters
            self._put(REGISTERED, 1)
            return 0, b""
        if instruction == ACTION and self._pending is not None:  # [P1] Action: executed, Registered := 0
            parameters, self._pending = self._pending, None
            self._put(REGISTERED, 0)
            return self._write(parameters), b""
        if instruction == RESET and (broadcast or self._table[LOCK]):
            # [P1] Factory Reset: the broadcast ID cannot be used; [AX] Lock: EEPROM cannot be modified
            return (0 if broadcast else RANGE_BIT), b""
        if instruction == RESET or (instruction == REBOOT and self._mx and not count):
            if instruction == RESET:
                self._factory()  # [UM] p. 22: the ID is 1 after it
            self.power_cycle()  # [P1] Reboot: MX-28/64 from firmware 40
            return 0, b""
        step, own, errors = parameters[1] + 1 if count >= 4 else 1, self._table[ID], 0
        if instruction == SYNC_WRITE and broadcast and step > 1 and (count - 2) % step == 0:
            for start in range(2, count, step):  # [P1] Sync Write: LEN is (L + 1) * N + 4
                if parameters[start] == own:
                    errors |= self._write(parameters[:1] + parameters[start + 1 : start + step])
            return errors, b""
        return INSTRUCTION_BIT, b""  # [P1] Error, bit 6: undefined instruction, or ACTION without REG WRITE

    def _read(self, address: int, count: int) -> Tuple[int, bytes]:
        if not count or address + count > len(self._table):
            return RANGE_BIT, b""
        return 0, bytes(self._table[address : address + count])

    def _write(self, parameters: bytes) -> int:
        """Write all of it, or nothing; the error bits."""
        address, data = parameters[0], parameters[1:]
        errors, at = 0, address
        wheel = not self.register(CW_LIMIT, 2) and not self.register(CCW_LIMIT, 2)  # [AX] CW/CCW Angle Limit
        multi = self._mx and self.register(CW_LIMIT, 2) == self.register(CCW_LIMIT, 2) == 4095  # [MX] the same
        while at < address + len(data):
            row = self._rows.get(at)
            if row is None or row.limits is None or at + row.size > address + len(data):  # [AX] Access; [UM] p. 18
                return RANGE_BIT
            low, high = row.limits
            if at == GOAL and multi:
                low, high = -MULTI_TURN, MULTI_TURN
            elif at == SPEED and wheel:  # [AX] and [MX] Moving Speed
                high = 2047
            elif at == LOCK:
                low = self._table[LOCK]  # [AX] Lock: only power off and on changes it back into 0
            value = int.from_bytes(data[at - address : at - address + row.size], "little", signed=low < 0)
            if not low <= value <= high:  # [UM] p. 18: writes outside of the valid range return an error
                return RANGE_BIT
            # [UM] p. 17, example 20: locked, only 0x18..0x23 can be written, else range error; [MX] Lock: EEPROM
            if self._table[LOCK] and (at < TORQUE_ENABLE or (at > 0x23 and not self._mx)):
                return RANGE_BIT
            inside = self.register(CW_LIMIT, 2) <= value <= self.register(CCW_LIMIT, 2)
            if at == GOAL and not inside and not wheel and not multi:  # [AX] Goal Position: not used in wheel mode
                errors = ANGLE_BIT  # [P1] Error, bit 1
            at += row.size
        if not errors:
            self._table[address:at] = data
        return errors

    def _bulk_answer(self, block: Tuple[int, int, int]) -> bytes:
        if not self._mx or self._table[RETURN_LEVEL] < 1:  # [P1] Bulk Read: not AX
            return b""
        errors, data = self._read(block[2], block[0])
        self._alarm(errors)  # [MX] Shutdown: bit 3, a range error, whatever the instruction
        return self._status(self._table[ID], errors, data)

    def _lasting(self) -> int:
        """Error bits that last as long as their cause."""
        volts = self._table[MIN_VOLTAGE] <= self._table[VOLTAGE] <= self._table[MAX_VOLTAGE]  # [AX] Voltage Limit
        hot = self._table[TEMPERATURE] > self._table[TEMPERATURE_LIMIT]  # [AX] Temperature Limit: over the limit
        return (0 if volts else VOLTAGE_BIT) | (HEAT_BIT if hot else 0)

    def _alarm(self, errors: int) -> None:
        if (errors | self._lasting()) & self._table[SHUTDOWN]:  # [AX] Shutdown, Torque Limit: becomes 0
            self._put(TORQUE_LIMIT, 0)

    def _status(self, own: int, errors: int, data: bytes) -> bytes:
        body = bytes((own, len(data) + 2, errors | self._lasting())) + data  # [P1] Status packet
        return b"\xff\xff" + body + bytes((_checksum(body),))

    def _factory(self) -> None:
        for row in self._rows.values():
            if row.address < TORQUE_ENABLE:
                self._put(row.address, row.initial)

    def _put(self, address: int, value: int) -> None:
        size = self._rows[address].size
        self._table[address : address + size] = value.to_bytes(size, "little")


class ManualChain:
    """Servos on one wire; simultaneous answers, which collide there, are listed in the servos' order."""

    def __init__(self, servos: Iterable[ManualServo]):
        self._servos = tuple(servos)

    def hear(self, packet: bytes) -> List[bytes]:
        """Let every servo hear one instruction packet; the status packets in the order they come on the wire."""
        heard, order = [servo.hear(packet) for servo in self._servos], _bulk_order(packet)
        if not order:
            return [answer for answer in heard if answer]
        answers: List[bytes] = []
        for block in order:  # [P1] Bulk Read: each waits until the preceding ID's status packet is complete
            turn = [servo._bulk_answer(block) for servo in self._servos if servo.register(ID) == block[1]]
            if not any(turn):
                break
            answers.extend(answer for answer in turn if answer)
        return answers
