# SPDX-License-Identifier: MIT
"""The official dynamixel-sdk as judge: its packets are ours byte for byte, and it talks to our chain unmodified."""

from __future__ import annotations

import time

import dynamixel_sdk as sdk
import pytest
from emulated_pty import emulated
from hypothesis import given, settings
from hypothesis import strategies as st

from ax_bus import StatusParser, protocol

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True)
ids = st.integers(0, 252)
addresses = st.integers(0, 49)
data = st.binary(min_size=1, max_size=20)


class Tape:
    """A port of the SDK that keeps what is sent and plays what is to be received."""

    def __init__(self, received=b""):
        self.is_using = False
        self.sent = b""
        self._received = bytearray(received)

    def clearPort(self):  # noqa: N802 - the SDK's name
        pass

    def writePort(self, packet):  # noqa: N802
        self.sent += bytes(packet)
        return len(packet)

    def readPort(self, length):  # noqa: N802
        taken = bytes(self._received[:length])
        del self._received[:length]
        return taken

    def setPacketTimeout(self, length):  # noqa: N802
        pass

    def isPacketTimeout(self):  # noqa: N802
        return not self._received


handler = sdk.Protocol1PacketHandler()


def sent(call):
    tape = Tape()
    call(tape)
    return tape.sent


@SETTINGS
@given(ids, addresses, st.integers(1, 50), data)
def test_our_packets_are_the_sdks(servo_id, address, count, values):
    assert protocol.ping(servo_id) == sent(lambda port: handler.ping(port, servo_id))
    assert protocol.read(servo_id, address, count) == sent(lambda port: handler.readTx(port, servo_id, address, count))
    for ours, theirs in (
        (protocol.write, handler.writeTxOnly),
        (protocol.reg_write, handler.regWriteTxOnly),
    ):
        assert ours(servo_id, address, values) == sent(
            lambda port, theirs=theirs: theirs(port, servo_id, address, len(values), list(values))
        )
    assert protocol.action(servo_id) == sent(lambda port: handler.action(port, servo_id))
    assert protocol.action() == sent(lambda port: handler.action(port, sdk.BROADCAST_ID))
    assert protocol.reset(servo_id) == sent(lambda port: handler.factoryReset(port, servo_id))


@SETTINGS
@given(st.lists(ids, min_size=1, max_size=26, unique=True), st.integers(0, 1023), st.integers(0, 1023))
def test_our_sync_write_is_the_sdks(servo_ids, goal, speed):
    values = goal.to_bytes(2, "little") + speed.to_bytes(2, "little")
    tape = Tape()
    group = sdk.GroupSyncWrite(tape, handler, 30, 4)
    for servo_id in servo_ids:
        group.addParam(servo_id, list(values))
    group.txPacket()
    assert protocol.sync_write(30, dict.fromkeys(servo_ids, values)) == tape.sent


@SETTINGS
@given(ids, st.integers(0, 127), data)
def test_the_sdk_and_our_parser_read_the_same(servo_id, error, values):
    packet = protocol.packet(servo_id, error, values)
    theirs, result, flags = handler.readTxRx(Tape(packet), servo_id, 0, len(values))
    assert result == sdk.COMM_SUCCESS
    parser = StatusParser()
    parser.buffer += packet
    ours = parser.next(servo_id, len(values))
    assert (ours.data, int(ours.flags)) == (bytes(theirs), flags) == (values, error)


@pytest.fixture(scope="module")
def port():
    with emulated("--ids", "0-5") as name:
        handle = sdk.PortHandler(name)
        handle.setBaudRate(1_000_000)
        yield handle
        handle.closePort()


def ok(call, *arguments):
    """Return what the SDK got. Its time-out is fixed at 34 ms: a busy machine may need more than one try.

    What comes after that is thrown away, or it would be taken for the answer to the next one.
    """
    port = arguments[0]
    for _ in range(300):
        *values, result, error = call(*arguments)
        if result == sdk.COMM_SUCCESS:
            break
        time.sleep(0.2)
        port.clearPort()
    assert (result, error) == (sdk.COMM_SUCCESS, 0), (handler.getTxRxResult(result), handler.getRxPacketError(error))
    return values[0] if values else None


def test_the_sdk_pings_reads_and_writes_our_servos(port):
    for servo_id in range(6):
        assert ok(handler.ping, port, servo_id) == 12
        assert ok(handler.read2ByteTxRx, port, servo_id, 36) == 512
    ok(handler.write1ByteTxRx, port, 3, 24, 1)
    ok(handler.write2ByteTxRx, port, 3, 30, 600)
    assert ok(handler.read2ByteTxRx, port, 3, 30) == 600
    assert bytes(ok(handler.readTxRx, port, 3, 42, 2)) == bytes((120, 25))
    assert handler.ping(port, 77)[1] == sdk.COMM_RX_TIMEOUT


def test_the_sdk_sync_writes_and_acts_on_our_servos(port):
    group = sdk.GroupSyncWrite(port, handler, 30, 2)
    for servo_id in range(6):
        assert group.addParam(servo_id, [servo_id, 2])
    assert group.txPacket() == sdk.COMM_SUCCESS
    assert [ok(handler.read2ByteTxRx, port, i, 30) for i in range(6)] == [512 + i for i in range(6)]
    for servo_id in range(2):
        ok(handler.regWriteTxRx, port, servo_id, 25, 1, [1])
    assert handler.action(port, sdk.BROADCAST_ID) == sdk.COMM_SUCCESS
    assert [ok(handler.read1ByteTxRx, port, i, 25) for i in range(3)] == [1, 1, 0]


def test_the_sdk_sees_the_refusals_of_our_servos(port):
    with pytest.raises(AssertionError, match="Out of range error"):
        ok(handler.write2ByteTxRx, port, 1, 34, 5000)
    assert ok(handler.read2ByteTxRx, port, 1, 34) == 1023


def test_the_sdk_follows_a_servo_to_another_id_and_rate(port):
    handler.write1ByteTxOnly(port, 5, 3, 50)  # deaf while it writes its EEPROM: the tries below bridge that
    assert ok(handler.read1ByteTxRx, port, 50, 3) == 50
    # Bytes on a pty do not know their rate: the order must have passed before the port changes its own.
    for _ in range(200):
        handler.write1ByteTxRx(port, 50, 4, 34)
        port.setBaudRate(57_600)
        if handler.ping(port, 50)[1] == sdk.COMM_SUCCESS:
            break
        port.setBaudRate(1_000_000)
    assert ok(handler.read1ByteTxRx, port, 50, 4) == 34
    assert handler.ping(port, 0)[1] == sdk.COMM_RX_TIMEOUT
    port.setBaudRate(1_000_000)
