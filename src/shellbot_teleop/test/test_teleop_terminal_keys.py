# SPDX-License-Identifier: MIT
"""Bytes of terminals, and the guesses at what is held."""

from __future__ import annotations

import pytest
from teleop_drawn import play

from shellbot_teleop.key_tracker import ReleaseGrace, RepeatTracker

LAST = b"\x1b[23~"  # F11, which shows that all before it has been read


def keys_of(*pieces):
    async def session(typist):
        await typist.type(*pieces, LAST)
        await typist.until(lambda: "F11" in typist.keys)

    return play(session).keys[:-1]


@pytest.mark.parametrize(
    "data, keys",
    [
        (b"wW5", ["w", "w", "5"]),
        (b" +-=_", ["Space", "Plus", "Minus", "Plus", "Minus"]),
        (b"\t\r\x7f", ["Tab", "Enter", "Backspace"]),
        (b"\x12\x11\x13\x1a", ["Ctrl+R", "Ctrl+Q", "Ctrl+S"]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["Up", "Down", "Right", "Left"]),
        (b"\x1bOA\x1bOD", ["Up", "Left"]),
        (b"\x1b[5~\x1b[6~\x1b[1~\x1b[4~", ["PageUp", "PageDown", "Home", "End"]),
        (b"\x1b[H\x1b[F\x1bOH", ["Home", "End", "Home"]),
        (b"\x1b[15~\x1b[20~\x1b[24~", ["F5", "F9", "F12"]),
        (b"\x1bOP\x1b[[A", ["F1", "F1"]),
        (b"\x1b[1;5A\x1b[1;2B\x1b[24;2~\x1b[24;5~", ["Up", "Down", "F12", "F12"]),
        (b"\x1bOx\x1bOt\x1bOk\x1bOM", ["8", "4", "Plus", "Enter"]),
        (b"\x1b[E\x1bOE", ["5", "5"]),
        (b"\x1b[200~www\r\x1b[201~\xc3\xa8w", ["w"]),
        (b"\x00#", []),
    ],
)
def test_bytes_become_keys_in_one_piece_and_byte_by_byte(data, keys):
    assert keys_of(data) == keys
    assert keys_of(*(data[index : index + 1] for index in range(len(data)))) == keys


@pytest.mark.parametrize("data", [b"\x1bw", b"\x1b[1;3Aw", b"\x1b[24;3~2", b"\x1b\x1b[A", b"\x1b[\x01w"])
def test_alt_with_a_key_is_the_emergency_stop_alone_and_so_is_an_unknown_key(data):
    async def session(typist):
        await typist.type(data)
        await typist.until(lambda: typist.keys)
        await typist.type(LAST)
        await typist.until(lambda: "F11" in typist.keys)

    assert play(session).keys == ["Escape", "F11"]


def test_a_terminals_late_answer_to_another_program_is_no_key():
    async def session(typist):
        await typist.type(b"\x1b[?1;2c")
        await typist.type(LAST)
        await typist.until(lambda: "F11" in typist.keys)

    assert play(session).keys == ["F11"]


def test_a_lone_escape_is_a_key_as_soon_as_nothing_follows():
    async def session(typist):
        await typist.type(b"\x1b")
        await typist.until(lambda: typist.keys)

    assert play(session).keys == ["Escape"]


def test_ctrl_c_ends_and_ctrl_z_does_nothing():
    async def session(typist):
        await typist.type(b"\x1a\x03")
        await typist.until(lambda: typist.ends)

    assert play(session).keys == []


def test_a_key_is_held_over_the_repeat_delay_and_then_between_repeats():
    tracker = RepeatTracker(0.5, 0.2)
    assert tracker.feed("w", 0.0)
    assert tracker.expired(0.45) == []
    times = [0.45 + 0.04 * index for index in range(20)]
    assert not any(tracker.feed("w", t) for t in times)
    assert tracker.expired(times[-1] + 0.19) == []
    assert tracker.expired(times[-1] + 0.21) == ["w"]
    assert tracker.feed("w", times[-1] + 0.3)


def test_after_a_stop_a_repeating_key_stays_out_until_it_pauses():
    tracker = RepeatTracker(0.5, 0.2)
    tracker.feed("w", 0.0)
    tracker.block(0.1)
    assert tracker.expired(0.1) == []
    assert not any(tracker.feed("w", 0.15 + 0.04 * index) for index in range(10))
    assert tracker.feed("w", 1.0)


def test_an_auto_repeat_pair_is_no_release():
    grace = ReleaseGrace(0.012)
    assert grace.press("w")
    grace.release("w", 1.0)
    assert grace.due(1.005) == [] and grace.waiting
    assert not grace.press("w")
    assert grace.due(2.0) == []
    grace.release("w", 2.0)
    assert grace.due(2.012) == ["w"] and not grace.waiting
    assert grace.press("w")
    grace.clear()
    assert grace.press("w")


def test_a_release_without_a_press_is_nothing():
    grace = ReleaseGrace(0.01)
    grace.release("w", 0.0)
    assert grace.due(1.0) == []
