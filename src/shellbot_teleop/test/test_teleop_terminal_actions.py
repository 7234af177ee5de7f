# SPDX-License-Identifier: MIT
"""The list of actions in a terminal: search, choice, parameters, and which keys stay the robot's."""

from __future__ import annotations

import pytest
from teleop_drawn import play

from shellbot_teleop.action_model import ActionEntry, ActionParameter, ActionsSeen
from shellbot_teleop.errors import ParameterError

WAVE = ActionEntry(
    "wave",
    "waves a leg",
    (
        ActionParameter("leg", 2.0, 1.0, 6.0, "", "which leg", whole=True),
        ActionParameter("height", 0.05, 0.01, 0.08, "m", "of the foot"),
    ),
)
BOW = ActionEntry("bow", "bows to a wave of applause", (), "never")
SIT = ActionEntry("sit", "sits down")
ENTRIES = (WAVE, BOW, SIT)
UP, DOWN, END, BACKSPACE = b"\x1b[A", b"\x1b[B", b"\x1b[F", b"\x7f"


def listing(*pieces, then=lambda typist: None, until=lambda typist: True, entries=ENTRIES):
    """Open the list, type, and return what was run, what went to the robot, and the lines of the screen."""
    rows = []

    async def session(typist):
        typist.view.list_actions(True)
        await typist.type(*pieces)
        await typist.until(lambda: until(typist))
        then(typist)
        rows.extend(typist.rows())

    typist = play(session, entries=entries)
    return typist.ran, typist.keys, "\n".join(rows)


def test_the_list_shows_all_actions_with_their_sentences_and_the_keys():
    _, _, rows = listing()
    for text in (" bow ", "waves a leg", "It cannot be cancelled", "Enter parameters, then run", "F3 back to the keys"):
        assert text in rows
    assert "w 8" not in rows.lower(), "the keys that drive are text here"


def test_without_actions_it_says_so_and_enter_runs_nothing():
    ran, _, rows = listing(b"\r", b"x\r", entries=())
    assert not ran and "No actions: no robot lists any" in rows
    ran, _, rows = listing(b"nothing\r")
    assert not ran and "None of 3 actions matches." in rows


def test_letters_search_and_an_action_without_parameters_runs_at_once():
    ran, keys, _ = listing(b"bow", b"\r", until=lambda typist: typist.ran)
    assert ran == [("bow", {})] and not keys


def test_names_come_before_sentences_arrows_choose_and_stop_at_the_ends():
    ran, _, _ = listing(b"wave", DOWN, DOWN, DOWN, b"\r", until=lambda typist: typist.ran)
    assert ran == [("bow", {})]
    ran, _, _ = listing(b"sitx", BACKSPACE, UP, UP, b"\r", until=lambda typist: typist.ran)
    assert ran == [("sit", {})]


def test_parameters_begin_with_the_defaults_beside_their_ranges():
    _, _, rows = listing(b"wave\r")
    for text in ("leg=2, height=0.05", "1 to 6", "0.01 to 0.08 m", "which leg"):
        assert text in rows
    ran, _, _ = listing(b"wave\r\r", until=lambda typist: typist.ran)
    assert ran == [("wave", {"leg": 2.0, "height": 0.05})]


def test_parameters_are_edited_and_a_wrong_one_is_refused_in_words_until_it_is_right():
    left = b"\x1b[D" * len(", height=0.05")
    ran, _, rows = listing(b"wave\r", left, BACKSPACE, b"9", END, b"\r")
    assert not ran and "leg = 9: give a whole number, 1 to 6." in rows
    ran, _, rows = listing(b"wave\r", left, BACKSPACE, b"9\r", BACKSPACE, b"3", b"\r", until=lambda typist: typist.ran)
    assert ran == [("wave", {"leg": 3.0, "height": 0.05})] and "give a whole number" not in rows


def test_of_a_long_list_in_80_by_24_the_chosen_one_all_parameters_and_the_refusal_are_seen():
    many = tuple(ActionParameter(f"number{index}", 1.0, 0.0, 2.0) for index in range(6))
    entries = tuple(ActionEntry(f"action{index:02}", f"sentence {index}", many) for index in range(40))
    down = 30 * DOWN
    _, _, rows = listing(down, b"\r", b"0\r", entries=entries)
    for text in (
        " action30 ",
        "sentence 30.",
        *(f"  number{index} " for index in range(6)),
        "number5 = 10: give a number",
    ):
        assert text in rows
    assert "F3 back to the keys" in rows and "Messages" in rows


def test_what_is_longer_than_a_line_breaks_between_words():
    text = "turns the body to both sides, one after the other, and back to the middle, as far as the feet permit"
    _, _, rows = listing(entries=(ActionEntry("look", text),))
    broken = rows.splitlines()[4:6]
    assert " ".join(row.strip() for row in broken).startswith(f"{text}. Cancel"), rows
    assert broken[1].startswith(9 * " ")


def test_an_arrow_leads_from_the_parameters_back_to_the_list():
    ran, _, rows = listing(b"wave\r", DOWN, b"\r", until=lambda typist: typist.ran)
    assert ran == [("bow", {})] and "Parameters:" not in rows


def test_stops_and_f_keys_are_the_robots_as_in_a_field_of_the_window():
    ran, keys, rows = listing(b"sw \x12\x1b[24~", b"\x1b", until=lambda typist: "Escape" in typist.keys)
    assert keys == ["Space", "Ctrl+R", "F12", "Escape"] and not ran and "search: sw" in rows


def test_closed_it_takes_no_key_and_begins_anew():
    def reopen(typist):
        typist.view.list_actions(False)
        typist.view.list_actions(True)

    _, _, rows = listing(b"sit", then=reopen)
    assert "waves a leg" in rows and "search: sit" not in rows

    async def session(typist):
        typist.view.list_actions(True)
        typist.view.list_actions(False)
        await typist.type(b"s\x1b[A\r")
        await typist.until(lambda: len(typist.keys) == 3)

    typist = play(session, entries=ENTRIES)
    assert typist.keys == ["s", "Up", "Enter"] and not typist.ran


def test_actions_that_vanish_while_one_is_chosen_run_nothing():
    async def session(typist):
        typist.view.list_actions(True)
        await typist.type(b"wave\r")
        await typist.until(lambda: typist.page.parameters.text)
        typist.model.observe(ActionsSeen(()), 0.0)
        await typist.type(b"\r", b"\x1b[23~")
        await typist.until(lambda: "F11" in typist.keys)

    assert not play(session, entries=ENTRIES).ran


@pytest.mark.parametrize(
    "line, values",
    [
        ("", {}),
        ("leg=3", {"leg": 3.0}),
        ("height=0.08,leg=6", {"height": 0.08, "leg": 6.0}),
        (" leg=1   height=1e-2 ", {"leg": 1.0, "height": 0.01}),
        (WAVE.defaults, {"leg": 2.0, "height": 0.05}),
    ],
)
def test_a_line_of_parameters_is_read(line, values):
    assert WAVE.read(line) == values


@pytest.mark.parametrize(
    "line, words",
    [
        ("leg=9", "leg = 9: give a whole number, 1 to 6."),
        ("leg=2.5", "leg = 2.5: give a whole number"),
        ("height=nan", "height = nan: give a number, 0.01 to 0.08 m."),
        ("height=inf", "height = inf"),
        ("height=", "height = : give a number"),
        ("legs=2", "legs=2: wave takes leg=..., height=..., each once."),
        ("leg=2, leg=3", "leg=3: wave takes"),
        ("2", "2: wave takes"),
    ],
)
def test_a_wrong_line_is_refused_with_value_and_range(line, words):
    with pytest.raises(ParameterError) as caught:
        WAVE.read(line)
    assert words in str(caught.value)
