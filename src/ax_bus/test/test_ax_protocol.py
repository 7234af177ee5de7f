# SPDX-License-Identifier: MIT
"""Codec and parser: the manual's packets, and properties over anything a line may deliver."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ax_bus import ErrorFlags, PacketError, StatusParser, protocol

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True)
ids = st.integers(0, protocol.MAX_ID)
payloads = st.binary(max_size=20)
flags = st.integers(0, 127)
FALSE_HEADERS = st.lists(st.sampled_from([b"\xff", b"\xff\xff", b"\x05", b"\x30", b"\xff\xff\x05\x30"]), max_size=6)


# https://emanual.robotis.com/docs/en/dxl/protocol1/, the examples of each instruction
@pytest.mark.parametrize(
    "packet,expected",
    [
        (protocol.ping(1), "ff ff 01 02 01 fb"),
        (protocol.read(1, 0x2B, 1), "ff ff 01 04 02 2b 01 cc"),
        (protocol.write(0xFE, 3, b"\x01"), "ff ff fe 04 03 03 01 f6"),
        (protocol.reg_write(1, 30, b"\xf4\x01"), "ff ff 01 05 04 1e f4 01 e2"),
        (protocol.action(), "ff ff fe 02 05 fa"),
        (protocol.reset(0), "ff ff 00 02 06 f7"),
        (
            protocol.sync_write(30, {0: b"\x10\x00\x50\x01", 1: b"\x20\x02\x60\x03", 2: b"\x30\x00\x70\x01",
                                     3: b"\x20\x02\x80\x03"}),
            "ff ff fe 18 83 1e 04 00 10 00 50 01 01 20 02 60 03 02 30 00 70 01 03 20 02 80 03 12",
        ),
    ],
)  # fmt: skip
def test_packets_of_the_manual(packet, expected):
    assert packet.hex(" ") == expected


@SETTINGS
@given(ids, flags, payloads, st.binary(max_size=30), st.integers(1, 7))
def test_a_reply_is_found_behind_noise(servo_id, error, data, noise, piece):
    """Noise without a header before it, in whatever pieces: exactly the reply comes out."""
    noise = noise.replace(b"\xff", b"\x7f")
    found = _in_pieces(noise + protocol.packet(servo_id, error, data), piece, servo_id, len(data))
    assert [(s.servo_id, s.flags, s.data) for s in found] == [(servo_id, error, data)]


@SETTINGS
@given(ids, flags, payloads, FALSE_HEADERS, st.integers(1, 7))
def test_false_headers_cannot_keep_replies_away(servo_id, error, data, noise, piece):
    """Behind noise made of headers and lengths the reply itself, or at the latest one of its repetitions, is found."""
    packet = protocol.packet(servo_id, error, data)
    found = _in_pieces(b"".join(noise) + packet * 10, piece, servo_id, len(data))
    assert (error, data) in [(s.flags, s.data) for s in found]


def _in_pieces(stream, piece, servo_id, count):
    parser, found = StatusParser(), []
    for i in range(0, len(stream), piece):
        parser.buffer += stream[i : i + piece]
        status = parser.next(servo_id, count)
        while status is not None:
            found.append(status)
            status = parser.next(servo_id, count)
    return found


@SETTINGS
@given(ids, flags, st.binary(min_size=1, max_size=20), st.data())
def test_no_cut_reply_is_believed(servo_id, error, data, draw):
    """A reply that lacks bytes at its head or tail never yields a value: the fault that made data errors."""
    packet = protocol.packet(servo_id, error, data)
    cut = draw.draw(st.integers(1, len(packet) - 1))
    for rest in (packet[cut:], packet[:-cut]):
        parser = StatusParser()
        parser.buffer += rest
        status = parser.next(servo_id, len(data))
        assert status is None


@SETTINGS
@given(ids, flags, payloads, st.data())
def test_every_single_bit_flip_is_noticed(servo_id, error, data, draw):
    packet = bytearray(protocol.packet(servo_id, error, data))
    bit = draw.draw(st.integers(0, 8 * len(packet) - 1))
    packet[bit // 8] ^= 1 << bit % 8
    parser = StatusParser()
    parser.buffer += bytes(packet)
    assert parser.next(servo_id, len(data)) is None


@SETTINGS
@given(st.lists(st.tuples(ids, flags, payloads), max_size=8))
def test_a_clean_stream_comes_out_as_it_went_in(packets):
    parser = StatusParser()
    parser.buffer += b"".join(protocol.packet(*packet) for packet in packets)
    assert [(s.servo_id, int(s.flags), s.data) for s in parser.packets()] == packets
    assert parser.skipped == 0 and len(parser.buffer) == 0


@SETTINGS
@given(st.binary(max_size=300))
def test_garbage_never_raises_nor_grows(garbage):
    parser = StatusParser()
    parser.buffer += garbage
    list(parser.packets())
    assert len(parser.buffer) < 60


@SETTINGS
@given(st.lists(ids, min_size=1, max_size=100, unique=True), st.integers(1, 20))
def test_split_packets_fit_the_buffer_and_keep_every_servo(servo_ids, count):
    groups = protocol.split_sync_write(servo_ids, count)
    assert [i for group in groups for i in group] == servo_ids
    for group in groups:
        assert len(protocol.sync_write(30, {i: bytes(count) for i in group})) < protocol.SERVO_BUFFER
    assert max(map(len, groups)) - min(map(len, groups)) <= 1


def test_the_manuals_limit_of_26_servos():
    assert len(protocol.split_sync_write(range(26), 4)) == 1
    assert len(protocol.split_sync_write(range(27), 4)) == 2
    assert [len(g) for g in protocol.split_sync_write(range(31), 4)] == [15, 16]


def test_error_bits_are_the_manuals():
    names = ("input_voltage", "angle_limit", "overheating", "range", "checksum", "overload", "instruction")
    assert [protocol.flag_names(1 << bit) for bit in range(7)] == [(name,) for name in names]


def test_error_byte_is_a_set_of_flags():
    parser = StatusParser()
    parser.buffer += protocol.packet(7, 0x25)
    status = parser.next(7, 0)
    assert status.flags == ErrorFlags.INPUT_VOLTAGE | ErrorFlags.OVERHEATING | ErrorFlags.OVERLOAD
    assert protocol.flag_names(status.flags) == ("input_voltage", "overheating", "overload")


def test_wrong_candidates_are_counted_by_reason():
    parser = StatusParser()
    bad = bytearray(protocol.packet(5, 0, b"\x01\x02"))
    bad[-1] ^= 1
    parser.buffer += protocol.packet(4, 0, b"\x01\x02") + protocol.packet(5, 0, b"\x01") + bytes(bad)
    assert parser.next(5, 2) is None
    assert (parser.foreign, parser.bad_lengths, parser.bad_checksums) == (1, 1, 1)


def test_a_false_header_does_not_delay_the_reply():
    """FF FF 09 30 00 promises 52 bytes that never come; the reply behind it is complete now."""
    parser = StatusParser()
    parser.buffer += b"\xff\xff\x09\x30\x00" + protocol.packet(5, 0, b"\x01\x02")
    assert parser.next(5, 2).data == b"\x01\x02"


@pytest.mark.parametrize(
    "torn",
    [b"\xff", b"\xff\xff\xff", b"\xff\xff\x05", b"\xff\xff\x05\x04", b"\xff\xff\x05\x02\x00"],
)
def test_a_reply_right_behind_a_torn_one_is_found(torn):
    """Sliding goes byte by byte: the true header begins inside what the false one promises."""
    parser = StatusParser()
    parser.buffer += torn + protocol.packet(5, 0, b"\x01\x02")
    assert parser.next(5, 2).data == b"\x01\x02"


@pytest.mark.parametrize(
    "call",
    [
        lambda: protocol.ping(255),
        lambda: protocol.packet(1, 300),
        lambda: protocol.write(1, 30, bytes(300)),
        lambda: protocol.read(1, -1, 2),
        lambda: protocol.sync_write(30, {}),
        lambda: protocol.sync_write(30, {1: b"a", 2: b"ab"}),
        lambda: protocol.sync_write(30, {254: b"a"}),
        lambda: protocol.split_sync_write([1], 200),
    ],
)
def test_impossible_packets_are_refused(call):
    with pytest.raises(PacketError, match="give|needs|takes|write fewer"):
        call()
