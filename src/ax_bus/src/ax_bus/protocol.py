# SPDX-License-Identifier: MIT
"""Dynamixel protocol 1.0: instruction packets out, status packets in.

Instruction: ``FF FF ID LEN INST params CK``; status: ``FF FF ID LEN ERR params CK``; LEN = number of params + 2,
CK = ``~(ID + LEN + INST or ERR + params) & 0xFF``. There is no byte stuffing: ``FF FF`` may stand inside a packet.
Reference: https://emanual.robotis.com/docs/en/dxl/protocol1/
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Iterable, List, Mapping, NamedTuple, Sequence, Tuple

from ax_bus.errors import PacketError

BROADCAST_ID = 0xFE
MAX_ID = 0xFD
HEADER = b"\xff\xff"
OVERHEAD = 6  # bytes of a status packet without parameters; also of an instruction packet
READ_BYTES = 8
# The servos' receive buffer holds 143 bytes; the manual's limit of 26 servos at 4 bytes means a packet must be shorter.
SERVO_BUFFER = 143
MAX_PACKET = SERVO_BUFFER - 1


class Instruction(IntEnum):
    """All instructions of protocol 1.0."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    RESET = 0x06
    REBOOT = 0x08  # MX only
    SYNC_WRITE = 0x83
    BULK_READ = 0x92  # MX only; AX servos do not know it


class ErrorFlags(IntFlag):
    """The error byte of a status packet: a set of flags, several may be up at once."""

    NONE = 0
    INPUT_VOLTAGE = 1
    ANGLE_LIMIT = 2
    OVERHEATING = 4
    RANGE = 8
    CHECKSUM = 16
    OVERLOAD = 32
    INSTRUCTION = 64


ALARMS = ErrorFlags.INPUT_VOLTAGE | ErrorFlags.OVERHEATING | ErrorFlags.OVERLOAD  # state of the servo
REFUSALS = ErrorFlags.ANGLE_LIMIT | ErrorFlags.RANGE | ErrorFlags.INSTRUCTION  # answer to this instruction


def flag_names(flags: int) -> Tuple[str, ...]:
    """Return the names of the flags that are up, lowest bit first."""
    return tuple(flag.name.lower() for flag in _FLAGS if flags & flag and flag.name)


_FLAGS = tuple(ErrorFlags(1 << bit) for bit in range(7))


def checksum(body: Iterable[int]) -> int:
    """Return the checksum of everything between header and checksum."""
    return ~sum(body) & 0xFF


def packet(servo_id: int, code: int, parameters: Sequence[int] = b"") -> bytes:
    """Return a packet; ``code`` is the instruction, or the error byte of a status packet.

    Raises
    ------
    PacketError
        If ID, code, a parameter or the length does not fit its byte.
    """
    if not 0 <= servo_id <= BROADCAST_ID:
        raise PacketError(f"ID is {servo_id}; give 0 to {MAX_ID}, or {BROADCAST_ID} for all")
    length = len(parameters) + 2
    if length > 255:
        raise PacketError(f"{len(parameters)} parameters do not fit a packet; give at most 253")
    try:
        body = bytes((servo_id, length, code, *parameters))
    except ValueError as error:
        raise PacketError(f"instruction {code} or a parameter is not a byte; give whole numbers 0 to 255") from error
    return b"\xff\xff" + body + bytes((~sum(body) & 0xFF,))


def ping(servo_id: int) -> bytes:
    """Return a PING."""
    return packet(servo_id, Instruction.PING)


def read(servo_id: int, address: int, count: int) -> bytes:
    """Return a READ of ``count`` bytes from ``address``."""
    return packet(servo_id, Instruction.READ, (address, count))


def write(servo_id: int, address: int, data: bytes) -> bytes:
    """Return a WRITE of ``data`` to ``address``."""
    return packet(servo_id, Instruction.WRITE, (address, *data))


def reg_write(servo_id: int, address: int, data: bytes) -> bytes:
    """Return a REG WRITE: like WRITE, but carried out at the next ACTION."""
    return packet(servo_id, Instruction.REG_WRITE, (address, *data))


def action(servo_id: int = BROADCAST_ID) -> bytes:
    """Return an ACTION; by default for all servos."""
    return packet(servo_id, Instruction.ACTION)


def reset(servo_id: int) -> bytes:
    """Return a RESET to factory settings (many AX-12A refuse it; no tool uses it)."""
    return packet(servo_id, Instruction.RESET)


def sync_write(address: int, data: Mapping[int, bytes]) -> bytes:
    """Return one SYNC WRITE of the same registers of several servos; see ``split_sync_write`` for its length limit.

    Raises
    ------
    PacketError
        If there is no servo or the lengths differ.
    """
    lengths = {len(values) for values in data.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise PacketError(f"SYNC WRITE needs equally many bytes for each servo, at least 1; got {sorted(lengths)}")
    for servo_id in data:
        if not 0 <= servo_id <= MAX_ID:
            raise PacketError(f"ID is {servo_id}; SYNC WRITE takes 0 to {MAX_ID}")
    parameters = [address, lengths.pop()]
    for servo_id, values in data.items():
        parameters.append(servo_id)
        parameters.extend(values)
    return packet(BROADCAST_ID, Instruction.SYNC_WRITE, parameters)


def split_sync_write(servo_ids: Sequence[int], count: int) -> List[Tuple[int, ...]]:
    """Return the servos of each SYNC WRITE such that every packet fits the servos' receive buffer.

    Parameters
    ----------
    servo_ids : sequence of int
        All servos, in order.
    count : int
        Bytes per servo.

    Returns
    -------
    list of tuple of int
        As few packets as possible, of nearly equal length.
    """
    room = (MAX_PACKET - OVERHEAD - 2) // (count + 1)
    if room < 1:
        raise PacketError(f"{count} bytes per servo do not fit a packet of {MAX_PACKET}; write fewer registers at once")
    packets = -(-len(servo_ids) // room)
    groups = []
    for i in range(packets):
        groups.append(tuple(servo_ids[i * len(servo_ids) // packets : (i + 1) * len(servo_ids) // packets]))
    return groups


def bulk_read(blocks: Mapping[int, Tuple[int, int]]) -> bytes:
    """Return a BULK READ: each servo answers after the one before it, in the order of ``blocks``.

    Parameters
    ----------
    blocks : mapping of int to (int, int)
        Address and number of bytes of each servo, by ID.

    Raises
    ------
    PacketError
        If there are fewer than two servos (the manual: not for a single one) or more than a packet holds, or if an ID
        is out of range.
    """
    most = (MAX_PACKET - OVERHEAD - 1) // 3
    if not 2 <= len(blocks) <= most:
        raise PacketError(f"BULK READ of {len(blocks)} servo(s); give 2 to {most}, and use READ for one")
    parameters = [0]
    for servo_id, (address, count) in blocks.items():
        if not 0 <= servo_id <= MAX_ID:
            raise PacketError(f"ID is {servo_id}; BULK READ takes 0 to {MAX_ID}")
        parameters += (count, servo_id, address)
    return packet(BROADCAST_ID, Instruction.BULK_READ, parameters)


class Status(NamedTuple):
    """A status packet whose checksum is right."""

    servo_id: int  #: Who sent it
    flags: ErrorFlags  #: Its error byte
    data: bytes  #: Its parameters


# IntFlag's own constructor costs microseconds on Python before 3.11; the bus reads two thousand a second.
FLAGS = tuple(ErrorFlags(value) for value in range(128))
