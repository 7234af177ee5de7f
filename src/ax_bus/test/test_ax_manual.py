# SPDX-License-Identifier: MIT
"""The worked packets that the register manual prints, and the rules that its text states, on `manual_servo`."""

from __future__ import annotations

import pytest
from manual_servo import TABLES, UNSPECIFIED, ManualChain, ManualServo

OK0, OK1 = "FF FF 00 02 00 FD", "FF FF 01 02 00 FC"


def h(text):
    return bytes.fromhex(text)


def packet(servo_id, instruction, *parameters):
    body = bytes((servo_id, len(parameters) + 2, instruction) + parameters)
    return b"\xff\xff" + body + bytes((~sum(body) & 0xFF,))


def error(answer):
    return answer[4]


# --- printed packets: name, ID, sent, answered, (address, size, value) afterwards
PRINTED = [
    ("P1 checksum example", 1, "FF FF 01 05 03 0C 64 AA DC", OK1, (12, 2, 0xAA64)),
    ("ping, UM example 3", 1, "FF FF 01 02 01 FB", OK1, None),
    ("read temperature, UM example 2", 1, "FF FF 01 04 02 2B 01 CC", "FF FF 01 03 00 20 DB", None),
    ("broadcast write of ID, UM example 1", 7, "FF FF FE 04 03 03 01 F6", "", (3, 1, 1)),
    ("reg write, P1", 1, "FF FF 01 05 04 1E F4 01 E2", OK1, (44, 1, 1)),
    ("broadcast action, none registered", 1, "FF FF FE 02 05 FA", "", (44, 1, 0)),
    ("factory reset, UM example 4", 0, "FF FF 00 02 06 F7", OK0, (3, 1, 1)),
    ("UM example 7, ID to 0", 1, "FF FF 01 04 03 03 00 F4", OK1, (3, 1, 0)),
    ("UM example 8, baud", 0, "FF FF 00 04 03 04 01 F3", OK0, (4, 1, 1)),
    ("UM example 9, return delay", 0, "FF FF 00 04 03 05 02 F1", OK0, (5, 1, 2)),
    ("UM example 10, angle", 0, "FF FF 00 05 03 08 FF 01 EF", OK0, (8, 2, 0x1FF)),
    ("UM example 11, temperature", 0, "FF FF 00 04 03 0B 50 9D", OK0, (11, 1, 80)),
    ("UM example 12, voltage", 0, "FF FF 00 05 03 0C 64 AA DD", OK0, (13, 1, 170)),
    ("UM example 13, max torque", 0, "FF FF 00 05 03 0E FF 01 E9", OK0, (34, 2, 1023)),
    ("UM example 14, return level", 0, "FF FF 00 04 03 10 00 E8", OK0, (16, 1, 0)),
    ("UM example 15, alarms", 0, "FF FF 00 05 03 11 04 04 DE", OK0, (17, 2, 0x0404)),
    ("UM example 16, torque and LED", 0, "FF FF 00 05 03 18 01 01 DD", OK0, (24, 2, 0x0101)),
    ("UM example 17, compliance", 0, "FF FF 00 07 03 1A 01 01 40 40 59", OK0, (26, 4, 0x40400101)),
    ("UM example 18, goal and speed", 0, "FF FF 00 07 03 1E 00 02 00 02 D3", OK0, (30, 4, 0x02000200)),
    ("UM example 20, lock", 0, "FF FF 00 04 03 2F 01 C8", OK0, (47, 1, 1)),
    ("UM example 21, punch", 0, "FF FF 00 05 03 30 40 00 87", OK0, (48, 2, 0x40)),
]


@pytest.mark.parametrize("row", PRINTED, ids=[row[0] for row in PRINTED])
def test_printed_packet(row):
    _, servo_id, sent, answered, after = row
    servo = ManualServo(servo_id)
    assert servo.hear(h(sent)) == h(answered)
    if after is not None:
        assert servo.register(after[0], after[1]) == after[2]


def test_printed_read_of_model_and_firmware():
    answer = ManualServo(1).hear(h("FF FF 01 04 02 00 03 F5"))  # UM example 6; the printed answer is a DX-116's
    assert answer[:7] == h("FF FF 01 05 00 0C 00")


def test_printed_reg_write_and_action_of_two():
    chain = ManualChain([ManualServo(0), ManualServo(1)])  # UM example 19
    assert chain.hear(h("FF FF 00 05 04 1E 00 00 D8")) == [h(OK0)]
    assert chain.hear(h("FF FF 01 05 04 1E FF 03 D5")) == [h(OK1)]
    assert [servo.register(30, 2) for servo in chain._servos] == [512, 512]
    assert chain.hear(h("FF FF FE 02 05 FA")) == []
    assert [servo.register(30, 2) for servo in chain._servos] == [0, 1023]
    assert [servo.register(44) for servo in chain._servos] == [0, 0]


def test_printed_punch_while_locked_is_a_range_error():
    servo = ManualServo(0)  # UM example 20
    servo.hear(h("FF FF 00 04 03 2F 01 C8"))
    assert servo.hear(h("FF FF 00 05 03 30 40 00 87")) == h("FF FF 00 02 08 F5")
    assert servo.register(48, 2) == 32


def test_printed_sync_write_of_four():
    chain = ManualChain([ManualServo(number) for number in range(4)])  # UM example 5
    assert chain.hear(h("FF FF FE 18 83 1E 04 00 10 00 50 01 01 20 02 60 03 02 30 00 70 01 03 20 02 80 03 12")) == []
    got = [(servo.register(30, 2), servo.register(32, 2)) for servo in chain._servos]
    assert got == [(0x010, 0x150), (0x220, 0x360), (0x030, 0x170), (0x220, 0x380)]


def test_printed_sync_write_of_two_mx():
    chain = ManualChain([ManualServo(0, "MX-64"), ManualServo(1, "MX-64")])  # P1
    assert chain.hear(h("FF FF FE 0E 83 1E 04 00 10 00 50 01 01 20 02 60 03 67")) == []
    assert [servo.register(30, 2) for servo in chain._servos] == [0x010, 0x220]


def test_printed_bulk_read():
    chain = ManualChain([ManualServo(2, "MX-28", 0x8000), ManualServo(1, "MX-28", 0x8000)])  # P1, values as printed
    answers = chain.hear(h("FF FF FE 09 92 00 02 01 1E 02 02 24 1D"))
    assert answers == [h("FF FF 01 04 00 00 80 7A"), h("FF FF 02 04 00 00 80 79")]


def test_printed_reboot_is_for_mx():
    assert ManualServo(1, "MX-28").hear(h("FF FF 01 02 08 F4")) == h(OK1)
    assert error(ManualServo(1).hear(h("FF FF 01 02 08 F4"))) == 0x40


# --- rules
@pytest.mark.parametrize("model", sorted(TABLES))
def test_rows_do_not_overlap_and_start_inside_their_limits(model):
    seen = set()
    for row in TABLES[model]:
        cells = set(range(row.address, row.address + row.size))
        assert not cells & seen
        seen |= cells
        assert row.limits is None or row.limits[0] <= row.initial <= row.limits[1]


def test_checksum_error_executes_nothing():
    servo = ManualServo(1)
    assert error(servo.hear(packet(1, 3, 25, 1)[:-1] + b"\0")) == 0x10
    assert servo.register(25) == 0


@pytest.mark.parametrize(
    "bad", [b"", h("FF FF 01 02 01"), h("FF FE 01 02 01 FB"), h("FF FF 01 01 01 FB"), h("FF FF 02 02 01 FA")]
)
def test_silent(bad):
    assert ManualServo(1).hear(bad) == b""


@pytest.mark.parametrize("sent", [(1, 0x55), (1, 5), (1, 0x92, 0), (1, 1, 0), (1, 2, 3), (1, 3, 25)])
def test_instruction_error(sent):
    assert error(ManualServo(1).hear(packet(*sent))) == 0x40


@pytest.mark.parametrize(
    "parameters",
    [
        (3, 254),
        (16, 3),
        (30, 0, 4),
        (32, 0, 4),
        (0, 1, 0),
        (36, 0, 0),
        (44, 1),
        (10, 0),
        (50, 0),
        (30, 1),
        (31, 1),
        (24, 1, 2),
        (48, 31, 0),
        (5, 255),
    ],
)
def test_range_error_writes_nothing(parameters):
    servo = ManualServo(1)
    before = bytes(servo._table)
    assert servo.hear(packet(1, 3, *parameters)) == h("FF FF 01 02 08 F4")
    assert bytes(servo._table) == before


def test_read_outside_the_table():
    servo = ManualServo(1)
    assert [error(servo.hear(packet(1, 2, *rest))) for rest in ((49, 1), (49, 2), (50, 1), (0, 0))] == [0, 8, 8, 8]


def test_angle_limits_and_wheel_mode():
    servo = ManualServo(1)
    servo.hear(packet(1, 3, 6, 100, 0, 200, 0))
    assert error(servo.hear(packet(1, 3, 30, 99, 0))) == 2 and servo.register(30, 2) == 512
    assert error(servo.hear(packet(1, 3, 30, 200, 0))) == 0 and servo.register(30, 2) == 200
    assert error(servo.hear(packet(1, 3, 32, 0, 7))) == 8
    servo.hear(packet(1, 3, 6, 0, 0, 0, 0))
    assert error(servo.hear(packet(1, 3, 30, 0xFF, 3))) == 0
    assert error(servo.hear(packet(1, 3, 32, 0, 7))) == 0


def test_multi_turn():
    servo = ManualServo(1, "MX-28")
    assert error(servo.hear(packet(1, 3, 30, 0x00, 0xF0))) == 8
    servo.hear(packet(1, 3, 6, 0xFF, 0x0F, 0xFF, 0x0F))
    assert error(servo.hear(packet(1, 3, 30, 0x00, 0xF0))) == 0
    assert error(servo.hear(packet(1, 3, 30, 0x01, 0x70))) == 8


def test_status_return_levels():
    for level, answers in ((0, (1, 0, 0)), (1, (1, 1, 0)), (2, (1, 1, 1))):
        servo = ManualServo(1)
        servo.hear(packet(1, 3, 16, level))
        sent = (packet(1, 1), packet(1, 2, 0, 1), packet(1, 3, 25, 1))
        assert tuple(int(bool(servo.hear(one))) for one in sent) == answers
        assert servo.register(25) == 1


def test_lock_lasts_until_power_cycle():
    for model in ("AX-12A", "MX-28"):
        servo = ManualServo(1, model)
        servo.hear(packet(1, 3, 47, 1))
        assert error(servo.hear(packet(1, 3, 47, 0))) == 8 and servo.register(47) == 1
        assert error(servo.hear(packet(1, 3, 3, 9))) == 8 and servo.register(3) == 1
        assert error(servo.hear(packet(1, 3, 30, 9, 0))) == 0
        servo.power_cycle()
        assert error(servo.hear(packet(1, 3, 3, 9))) == 0 and servo.register(3) == 9


def test_max_torque_counts_after_power_cycle_and_goal_starts_at_present():
    servo = ManualServo(1, "AX-18A")
    assert servo.register(34, 2) == 983
    servo.hear(packet(1, 3, 14, 0xFF, 1))
    servo.hear(packet(1, 3, 24, 1))
    servo.set_feedback(position=300)
    assert servo.register(34, 2) == 983
    servo.power_cycle()
    assert (servo.register(34, 2), servo.register(30, 2), servo.register(24)) == (511, 300, 0)


def test_overheating_shuts_down_until_the_cause_is_gone():
    servo = ManualServo(1)
    servo.set_feedback(temperature=71)
    assert error(servo.hear(packet(1, 1))) == 4 and servo.register(34, 2) == 0
    servo.hear(packet(1, 3, 34, 0xFF, 3))
    assert servo.register(34, 2) == 0
    servo.set_feedback(temperature=50)
    assert error(servo.hear(packet(1, 3, 34, 0xFF, 3))) == 0 and servo.register(34, 2) == 1023


def test_voltage_bit_comes_with_data_and_without_shutdown():
    servo = ManualServo(1)
    servo.set_feedback(voltage=59)
    assert servo.hear(packet(1, 2, 42, 1))[4:6] == bytes((1, 59)) and servo.register(34, 2) == 1023


def test_reg_write_is_judged_at_action():
    servo = ManualServo(1)
    assert error(servo.hear(packet(1, 4, 30, 0, 4))) == 0
    assert error(servo.hear(packet(1, 5))) == 8 and servo.register(44) == 0
    assert error(servo.hear(packet(1, 5))) == 0x40


def test_broadcast_reads_and_reset_are_not_answered_ping_is():
    chain = ManualChain([ManualServo(3), ManualServo(4)])
    assert chain.hear(packet(254, 2, 3, 1)) == [] and chain.hear(packet(254, 6)) == []
    assert [answer[2] for answer in chain.hear(packet(254, 1))] == [3, 4]


def test_bulk_read_chain_breaks_at_a_missing_servo():
    chain = ManualChain([ManualServo(1, "MX-28"), ManualServo(2), ManualServo(3, "MX-64")])
    ask = packet(254, 0x92, 0, 1, 1, 3, 1, 3, 3, 1, 2, 3, 1, 1, 3)
    assert [answer[2] for answer in chain.hear(ask)] == [1, 3]
    assert [answer[2] for answer in chain.hear(packet(254, 0x92, 0, 1, 1, 3, 1, 2, 3, 1, 3, 3))] == [1]
    assert chain.hear(packet(254, 0x92, 0, 1, 1, 3)) == []


def test_receive_buffer():
    def goals(count):
        return packet(254, 0x83, 30, 4, *sum(((number, 1, 0, 1, 0) for number in range(1, count + 1)), ()))

    servo = ManualServo(1)
    assert len(goals(28)) > 143 and servo.hear(goals(28)) == b"" and servo.register(30, 2) == 512
    servo.hear(goals(27))
    assert len(goals(27)) <= 143 and servo.register(30, 2) == 1


def test_unspecified_is_listed():
    assert len({row[0] for row in UNSPECIFIED}) == len(UNSPECIFIED) and all(len(row) == 3 for row in UNSPECIFIED)
