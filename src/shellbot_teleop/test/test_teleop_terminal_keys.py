# SPDX-License-Identifier: MIT
"""Bytes of terminals, and the guesses at what is held."""

from __future__ import annotations

import pytest

from shellbot_teleop.key_tracker import ReleaseGrace, RepeatTracker
from shellbot_teleop.terminal_keys import TerminalDecoder


@pytest.mark.parametrize(
    "data, keys",
    [
        (b"wW5", ["w", "w", "5"]),
        (b" +-=_", ["Space", "Plus", "Minus", "Plus", "Minus"]),
        (b"\t\r\x7f", ["Tab", "Enter", "Backspace"]),
        (b"\x12\x11", ["Ctrl+R", "Ctrl+Q"]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["Up", "Down", "Right", "Left"]),
        (b"\x1bOA\x1bOD", ["Up", "Left"]),
        (b"\x1b[5~\x1b[6~\x1b[1~\x1b[4~", ["PageUp", "PageDown", "Home", "End"]),
        (b"\x1b[H\x1b[F\x1bOH", ["Home", "End", "Home"]),
        (b"\x1b[15~\x1b[20~\x1b[24~", ["F5", "F9", "F12"]),
        (b"\x1bOP\x1b[[A", ["F1", "F1"]),
        (b"\x1b[1;5A", ["Up"]),
        (b"\x1bOx\x1bOt\x1bOk", ["8", "4", "Plus"]),
        (b"\x1b[E", ["5"]),
        (b"\x1b[?1;2c\x1b[200~\xc3\xa8w", ["w"]),
        (b"\x1b\x1b[Aw", ["Escape", "Up", "w"]),
        (b"\x1bw", ["Escape", "w"]),
        (b"\x00#", []),
    ],
)
def test_bytes_become_keys_in_one_piece_and_byte_by_byte(data, keys):
    assert TerminalDecoder().feed(data) == keys
    decoder = TerminalDecoder()
    assert [key for index in range(len(data)) for key in decoder.feed(data[index : index + 1])] == keys
    assert not decoder.waiting


def test_a_lone_escape_is_a_key_only_when_nothing_follows():
    decoder = TerminalDecoder()
    assert decoder.feed(b"\x1b") == [] and decoder.waiting
    assert decoder.flush() == ["Escape"] and not decoder.waiting
    assert decoder.feed(b"\x1b") == [] and decoder.feed(b"[") == [] and decoder.feed(b"A") == ["Up"]
    assert decoder.flush() == []


def test_a_broken_sequence_does_not_swallow_the_keys_after_it():
    decoder = TerminalDecoder()
    assert decoder.feed(b"\x1b[\x01w")[-1] == "w"
    assert decoder.feed(b"\x1b[12") == [] and decoder.flush()[0] == "Escape"


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
