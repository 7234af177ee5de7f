# SPDX-License-Identifier: MIT
"""The actions page: its model, and the page in the real window with keys and clicks."""

from __future__ import annotations

import math

import pytest

from shellbot_teleop.action_model import (
    ActionEntry,
    ActionModel,
    ActionParameter,
    ActionsSeen,
    FeedbackSeen,
    GoalSeen,
    ResultSeen,
)
from shellbot_teleop.link_events import StoppedSeen

WAVE = ActionEntry("wave", "lifts a leg and waves", (ActionParameter("leg", 1, 1, 6, whole=True),))
NOD = ActionEntry("nod", "bows, then waves its shells", (ActionParameter("height", 0.04, 0.02, 0.06, "m"),), "never")
BOW = ActionEntry("bow", "leans forward", (), "step")


def model_of(*news):
    model = ActionModel()
    for one in (ActionsSeen((WAVE, NOD, BOW)), *news):
        model.observe(one, 0.0)
    return model


@pytest.mark.parametrize(
    "search, names",
    [
        ("", ["bow", "nod", "wave"]),
        ("WAVE", ["wave", "nod"]),  # a name before a sentence
        ("waves bows", ["nod"]),
        ("dance", []),
    ],
)
def test_search_finds_words_in_names_and_sentences(search, names):
    assert [entry.name for entry in model_of().found(search)] == names


def test_an_action_is_followed_from_goal_to_result():
    model = model_of(GoalSeen("wave", "a"))
    assert (model.state(0.0).phase, model.state(0.0).name) == ("requested", "wave")
    model.observe(FeedbackSeen("a", "1 of 2: lift", 0.25, False), 1.0)
    state = model.state(1.0)
    assert (state.phase, state.name, state.step, state.fraction) == ("running", "wave", "1 of 2: lift", 0.25)
    model.observe(FeedbackSeen("a", "1 of 2: lift", 0.25, True), 2.0)
    assert model.state(2.0).phase == "paused"
    model.observe(ResultSeen("a", "info", "wave done"), 3.0)
    assert not model.state(3.0).busy and "wave done" in model.state(3.0).text


def test_a_refused_second_action_leaves_the_first_running():
    model = model_of(GoalSeen("wave", "a"), FeedbackSeen("a", "lift", 0.5, False), GoalSeen("bow", "b"))
    model.observe(ResultSeen("b", "warn", "refused: wave is being performed"), 0.0)
    state = model.state(0.0)
    assert (state.phase, state.name, state.level) == ("running", "wave", "warn") and "bow: refused" in state.text
    model.observe(ResultSeen("a", "info", "done"), 0.0)
    assert not model.state(0.0).busy


def test_what_another_program_started_is_shown_even_without_its_name():
    state = model_of(FeedbackSeen("x", "lift", 0.1, False)).state(0.0)
    assert (state.phase, state.name) == ("running", "an action")
    assert not model_of(GoalSeen("wave", "")).state(0.0).busy  # the server names it anew


def test_silence_and_bad_numbers_are_reported():
    model = model_of(FeedbackSeen("a", "lift", math.nan, False))
    assert model.state(0.0).fraction == 0.0
    assert model.state(1.0).level == "info"
    assert model.state(10.0).level == "warn" and "no feedback" in model.state(10.0).text
    model.observe(FeedbackSeen("a", "lift", 7.0, False), 11.0)
    assert model.state(11.0).fraction == 1.0 and model.state(11.0).level == "info"


@pytest.mark.parametrize("news", [GoalSeen("wave", "a"), FeedbackSeen("a", "lift", 0.3, True)])
def test_silence_is_reported_of_an_action_that_was_only_requested_and_of_one_that_pauses(news):
    model = model_of(news)
    assert model.state(1.0).level == "info"
    assert model.state(10.0).level == "warn" and "no feedback" in model.state(10.0).text
    model.observe(ResultSeen("a", "info", "done"), 11.0)
    assert model.state(99.0).level == "info"


def test_a_new_action_manager_begins_idle():
    model = model_of(FeedbackSeen("a", "lift", 0.3, False))
    model.observe(ActionsSeen((BOW,)), 1.0)
    assert not model.state(1.0).busy and model.entries == (BOW,)


# ------------------------------------------------------------------- the page


@pytest.fixture
def page(setup):
    setup.window.pages.addTab(setup.window.actions, "Actions")  # which comes by itself when a robot tells of actions
    setup.window.pages.setCurrentWidget(setup.window.actions)
    return setup


def test_the_page_comes_with_the_first_actions(setup):
    window = setup.window
    assert window.pages.indexOf(window.actions) < 0
    window.actions.show_news(ActionsSeen((WAVE,)))
    window.refresh()
    assert window.pages.tabText(window.pages.indexOf(window.actions)) == "Actions"


def names(panel):
    return [panel.list.item(row).text() for row in range(panel.list.count())]


def test_without_actions_the_page_tells_why_and_runs_nothing(page):
    panel = page.window.actions
    assert "No actions" in panel.text.text()
    for button in (panel.run, panel.pause, panel.cancel):
        assert not button.isEnabled()


def test_search_by_keyboard_parameters_run_pause_cancel(page, teleop_keyboard):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    panel, asked = page.window.actions, []
    panel.run_requested.connect(lambda name, values: asked.append((name, values)))
    panel.pause_requested.connect(lambda paused: asked.append(paused))
    panel.cancel_requested.connect(lambda: asked.append("cancel"))
    panel.show_news(ActionsSeen((WAVE, NOD, BOW)))
    assert names(panel) == ["bow", "nod", "wave"]
    QTest.mouseClick(panel.search, Qt.LeftButton)
    for key in "nod":
        teleop_keyboard.press(key)
        teleop_keyboard.release(key)
        page.work(0.05)
    assert page.until(lambda: names(panel) == ["nod"]), "the keys went to the field"
    assert page.twists == [] and "cannot be cancelled" in panel.text.text()
    panel.search.setText("wave")
    assert names(panel) == ["wave", "nod"] and panel.list.currentItem().text() == "nod", "what was chosen stays chosen"
    panel.list.setCurrentRow(0)
    panel.fields["leg"].setValue(9)  # the field itself holds the range
    page.window.refresh()
    QTest.mouseClick(panel.run, Qt.LeftButton)
    assert asked == [("wave", {"leg": 6.0})]
    panel.show_news(GoalSeen("wave", "a"))
    panel.show_news(FeedbackSeen("a", "1 of 3: lift", 0.4, False))
    page.window.refresh()
    assert panel.bar.value() == 400 and "1 of 3: lift" in panel.state.text() and not panel.run.isEnabled()
    QTest.mouseClick(panel.pause, Qt.LeftButton)
    panel.show_news(FeedbackSeen("a", "1 of 3: lift", 0.4, True))
    page.window.refresh()
    assert panel.pause.text() == "Resume"
    QTest.mouseClick(panel.pause, Qt.LeftButton)
    QTest.mouseClick(panel.cancel, Qt.LeftButton)
    assert asked[1:] == [True, False, "cancel"]


def test_a_latched_emergency_stop_lets_no_action_begin(page):
    panel = page.window.actions
    panel.show_news(ActionsSeen((BOW,)))
    page.window.refresh()
    assert panel.run.isEnabled()
    page.controller.observe(StoppedSeen(True))
    page.window.refresh()
    assert not panel.run.isEnabled() and "rearm" in panel.run.toolTip()
