# SPDX-License-Identifier: MIT
"""The window without a mouse: every control is reached and used by keys of a real X server, and the keys drive on."""

from __future__ import annotations

from pathlib import Path

import pytest

from shellbot_teleop import effects
from shellbot_teleop.action_model import ActionEntry, ActionParameter, ActionsSeen
from shellbot_teleop.effects import ZERO_TWIST, PublishBodyPose
from shellbot_teleop.gains_model import GainGroup, GainParameter
from shellbot_teleop.link_events import OperatorSeen, StoppedSeen

GAINS = (
    GainParameter("coxa_p", "p", "double", 0.0, 60.0, 18.5, "N m/rad"),
    GainParameter("hold", "hold", "bool", 0.0, 1.0, 0.0, ""),
    GainParameter("preset", "preset", "choice", 0.0, 0.0, 0.0, "", {"walk": "", "soft": ""}),
)
WAVE = ActionEntry("wave", "waves a leg", (ActionParameter("times", 2.0, 1.0, 9.0, whole=True),))


class Hands:
    """Two hands on a keyboard, and eyes on the window."""

    def __init__(self, setup, keyboard):
        from python_qt_binding.QtCore import QEvent, QObject

        class Releases(QObject):
            """Counts the keys that came up, on their arrival in the program."""

            count = 0

            def eventFilter(self, watched, event):  # noqa: N802  Qt's name
                if event.type() == QEvent.KeyRelease and watched.isWindowType() and not event.isAutoRepeat():
                    self.count += 1
                return False

        self.setup, self.keyboard, self.window = setup, keyboard, setup.window
        self._releases = Releases()
        setup.application.installEventFilter(self._releases)

    def tap(self, *keys):
        for key in keys:
            before = self._releases.count
            self.keyboard.press(key)
            self.keyboard.release(key)
            arrived = before + len(key.split("+"))
            self.until(lambda: self._releases.count >= arrived, f"{key} did not arrive")  # noqa: B023
            # a press sooner after a release were the auto-repeat of a server
            self.until(lambda: not self.setup.controller._grace.waiting)

    @property
    def focus(self):
        return self.window.focusWidget()

    def until(self, condition, words=""):
        assert self.setup.until(condition), words or f"the focus is on {self.focus}"

    def go_to(self, widget):
        """Ctrl+Tab to the part of the window that has a control, Tab to the control."""
        for _ in range(8):
            self.tap("Ctrl+Tab")
            for _ in range(40):
                if self.focus is widget:
                    return
                part = self.focus
                self.tap("Tab")
                if self.focus is part:
                    break
        raise AssertionError(f"{widget} is not reached by keys")

    def walk_through(self):
        """Return all that Tab goes to, from where Ctrl+Tab begins until the keys drive again."""
        self.tap("Ctrl+Enter", "Ctrl+Tab")
        seen = []
        while self.focus is not self.window:
            assert self.focus not in seen, f"Tab goes in a circle without the robot: {self.focus}"
            seen.append(self.focus)
            self.tap("Tab")
        return seen


@pytest.fixture
def hands(make_setup, teleop_config, teleop_keyboard):
    setup = make_setup(teleop_config.replace(gains_servers=("gains", "arm_motion")))
    page = setup.window.gains.pages["gains"]
    page.show_state(True, "there")
    page.show_groups((GainGroup("coxa", GAINS),))
    setup.window.actions.show_news(ActionsSeen((WAVE, ActionEntry("bow", "bows"))))
    setup.window.refresh()
    return Hands(setup, teleop_keyboard)


def controls(window):
    """Return everything that a mouse could use and that is seen now."""
    from python_qt_binding.QtWidgets import (
        QAbstractButton,
        QAbstractItemView,
        QAbstractSlider,
        QAbstractSpinBox,
        QComboBox,
        QHeaderView,
        QLineEdit,
        QPlainTextEdit,
        QScrollBar,
        QTabBar,
    )

    kinds = (QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QPlainTextEdit, QTabBar)
    found = [widget for kind in (*kinds, QLineEdit) for widget in window.findChildren(kind)]
    parts_of_others = (QAbstractItemView, QAbstractSpinBox, QComboBox, QTabBar)
    return [
        widget
        for widget in found
        if widget.isVisible()
        and widget.isEnabled()
        and not isinstance(widget, (QScrollBar, QHeaderView))  # those of the areas, which scroll by arrows
        and not isinstance(widget.parentWidget(), parts_of_others)
    ]


@pytest.mark.parametrize("size", [(1360, 850), (800, 600)])
def test_tab_reaches_every_control_of_every_tab_and_then_the_keys_drive(hands, size):
    window, missed, opened = hands.window, [], 0
    window.resize(*size)
    hands.setup.work(0.1)
    for tabs in (window.views, window.pages):
        for index in range(tabs.count()):
            opened += 1
            hands.tap(f"Alt+{opened % 10}")
            assert tabs.currentIndex() == index
            reached = hands.walk_through()
            missed += [(tabs.tabText(index), widget) for widget in controls(window) if widget not in reached]
            assert (
                tabs.currentWidget() in reached
                or any(tabs.currentWidget().isAncestorOf(w) for w in reached)
                or (
                    tabs.currentWidget() is window.camera  # which has nothing to operate
                )
            )
    assert not missed, [(tab, type(widget).__name__, getattr(widget, "text", str)()) for tab, widget in missed]
    assert hands.setup.out == [], "looking round commands nothing"
    hands.tap("w")
    assert hands.setup.until(lambda: hands.setup.twists)


def test_ctrl_tab_goes_through_the_parts_both_ways_and_the_robot_is_one_of_them(hands):
    window = hands.window
    parts = (window.header, window._state, window.views, window.log, window.pages)

    def where():
        found = (place for place, part in enumerate(parts) if part is hands.focus or part.isAncestorOf(hands.focus))
        return next(found, "robot" if hands.focus is window else "lost")

    places = []
    for key in ["Ctrl+Tab"] * 6 + ["Ctrl+Shift+Tab"] * 6:
        hands.tap(key)
        places.append(where())
    assert places == [0, 1, 2, 3, 4, "robot", 4, 3, 2, 1, 0, "robot"]
    hands.tap("F1", "Ctrl+Tab")
    assert window.help.isAncestorOf(hands.focus), "the overlay comes first"


def test_sliders_are_moved_while_several_keys_drive_and_the_stops_are_stops(hands):
    setup, slider = hands.setup, hands.window.body.pose[4]._slider
    hands.window.pages.setCurrentWidget(hands.window.body)
    hands.go_to(slider)
    hands.tap("Right", "Right")
    assert setup.until(lambda: setup.kinds(PublishBodyPose)) and setup.model.pose.target[4] > 0.0
    for key in ("w", "q"):
        hands.keyboard.press(key)
    hands.until(lambda: setup.twists and setup.twists[-1].x > 0.0 and setup.twists[-1].yaw > 0.0)
    hands.tap("Home")
    hands.until(lambda: setup.model.pose.target[4] < 0.0)
    assert hands.focus is slider and setup.twists[-1] != ZERO_TWIST, "it drives meanwhile"
    hands.tap("Space")
    hands.until(lambda: setup.twists[-1] == ZERO_TWIST)
    assert hands.focus is slider
    for key in ("w", "q"):
        hands.keyboard.release(key)
    hands.window.refresh()
    assert hands.window.header.focus.text() == "back: Ctrl+Enter"
    hands.tap("Escape")
    hands.until(lambda: setup.kinds(effects.EmergencyStop) and hands.focus is hands.window)


def test_a_key_that_is_held_while_the_focus_goes_into_a_field_is_not_typed_there(hands):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    setup, search = hands.setup, hands.window.log.search
    hands.keyboard.press("w")
    setup.work(0.8)  # into the auto-repeat, which another key would end
    QTest.mouseClick(search, Qt.LeftButton)
    setup.work(0.5)
    assert hands.focus is search
    assert search.text() == "" and setup.twists[-1] != ZERO_TWIST
    hands.keyboard.release("w")
    hands.until(lambda: setup.twists[-1] == ZERO_TWIST)
    hands.tap("w")
    assert search.text() == "w", "what is pressed in the field is typed"
    count = len(setup.twists)
    hands.tap("Enter", "w")
    hands.until(lambda: len(setup.twists) > count)
    assert search.text() == "w" and hands.focus is hands.window


def test_an_action_is_searched_set_and_run(hands):
    setup, actions, runs = hands.setup, hands.window.actions, []
    actions.run_requested.connect(lambda name, values: runs.append((name, values)))
    hands.window.pages.setCurrentWidget(actions)
    hands.go_to(actions.search)
    hands.tap("b", "o", "w", "BackSpace", "BackSpace", "BackSpace", "Tab", "Down")
    assert actions.list.currentItem().text() == "wave" and hands.focus is actions.list
    hands.go_to(actions.fields["times"])
    hands.tap("5", "Tab")
    hands.go_to(actions.run)
    hands.tap("Enter")
    hands.until(lambda: runs)
    assert runs == [("wave", {"times": 5.0})] and setup.twists == []


def test_gains_are_set_by_slider_number_tick_and_list(hands):
    gains, sent = hands.window.gains.pages["gains"], {}
    gains.changed.connect(sent.update)
    hands.window.pages.setCurrentWidget(hands.window.gains)
    for widget, keys, name, value in (
        (gains.rows["coxa_p"]._slider, ("End",), "coxa_p", 60.0),
        (gains.rows["coxa_p"]._field, ("7", "Enter"), "coxa_p", 7.0),
        (gains.rows["hold"]._check, ("Enter",), "hold", 1.0),
        (gains.rows["preset"]._list, ("Down",), "preset", "soft"),
        (gains.defaults, ("Enter",), "coxa_p", 18.5),
    ):
        hands.go_to(widget)
        hands.tap(*keys)
        hands.until(lambda: sent.get(name) == value, f"{name}: {sent}")  # noqa: B023
    hands.go_to(hands.window.gains.servers)
    hands.tap("Down")
    hands.until(hands.window.gains.pages["arm_motion"].isVisible)


def test_a_key_opens_the_actions_and_others_pause_and_cancel(hands):
    actions, done = hands.window.actions, []
    actions.pause_requested.connect(done.append)
    actions.cancel_requested.connect(lambda: done.append("cancel"))
    hands.tap("p", "x")
    hands.until(lambda: done == [True, "cancel"])
    hands.keyboard.press("w")
    hands.until(lambda: hands.setup.twists)
    hands.tap("F3")
    hands.until(lambda: hands.focus is actions.search and hands.setup.twists[-1] == ZERO_TWIST)
    hands.keyboard.release("w")
    hands.tap("p", "F3", "o")
    assert actions.search.text() == "po" and len(done) == 2
    hands.window.pages.removeTab(hands.window.pages.indexOf(actions))
    hands.window.setFocus()
    actions.show_news(ActionsSeen(()))
    hands.tap("F3")
    hands.until(lambda: "No actions" in hands.window.log.view.toPlainText())


def test_joints_are_ticked_the_log_filtered_and_the_view_turned(hands):
    setup, plots, log, view = hands.setup, hands.window.plots, hands.window.log, hands.window.robot
    for stamp in (1.0, 1.1):
        setup.monitor.history.add("measured", ("a", "b", "c"), stamp, (0.0, 0.1, 0.2))
    hands.window.views.setCurrentWidget(plots)
    plots.refresh()
    hands.go_to(plots.list)
    hands.tap("Home", "Down", "Down", "Enter")
    assert plots.joints == ["a", "b", "c"]
    hands.go_to(log._filter._buttons["errors"])
    hands.tap("Enter")
    assert log._levels == ("error", "fatal")
    hands.window.views.setCurrentWidget(view)
    hands.go_to(view)
    before = view.orbit
    hands.tap("Left")
    turned = view.orbit
    hands.tap("Next")
    assert before != turned != view.orbit
    hands.tap("Up")
    assert setup.kinds(PublishBodyPose) == [], "the arrows were the view's"
    hands.tap("Ctrl+Enter", "Up")
    hands.until(lambda: setup.kinds(PublishBodyPose))


def test_control_is_taken_and_a_mode_chosen_by_buttons(hands):
    setup, window = hands.setup, hands.window
    setup.controller.observe(OperatorSeen("", False))
    window.refresh()
    hands.go_to(window.header.arm)
    hands.tap("Enter")
    hands.until(lambda: setup.kinds(effects.TakeControl))
    setup.controller.observe(OperatorSeen("teleop_window", True))
    window.refresh()
    hands.go_to(window.mode.buttons["mode.stand"])
    hands.tap("Enter")
    hands.until(lambda: setup.kinds(effects.RequestMode) == [effects.RequestMode("stand")])
    hands.go_to(window.header.stop)
    hands.tap("Enter")
    hands.until(lambda: setup.kinds(effects.EmergencyStop))
    assert hands.focus is window, "after a stop the keys are the robot's"
    setup.controller.observe(StoppedSeen(True))
    window.refresh()
    hands.go_to(window.header.rearm)
    hands.tap("Enter")
    hands.until(lambda: setup.kinds(effects.Rearm))


def test_a_control_that_is_greyed_leaves_the_keys_to_the_robot_and_not_to_a_field(hands):
    setup, window = hands.setup, hands.window
    window.pages.setCurrentWidget(window.actions)
    for control in (window.actions.run, window.actions.list):
        hands.go_to(control)
        setup.controller.observe(OperatorSeen("safety_pilot", False))
        window.refresh()
        assert not control.isEnabled() and not setup.controller.editing
        setup.controller.observe(OperatorSeen("teleop_window", True))
        window.refresh()
        hands.tap("w")
        hands.until(lambda: setup.twists)
        setup.out.clear()


def test_the_dead_mans_key_is_held_while_another_enter_presses_a_button(make_setup, teleop_config, teleop_keyboard):
    setup = make_setup(teleop_config.replace(dead_man=True))
    hands = Hands(setup, teleop_keyboard)
    teleop_keyboard.press("KP_Enter")
    hands.until(lambda: setup.model.held == {"Enter"})
    hands.go_to(setup.window.mode.buttons["mode.sit"])
    hands.tap("Enter")
    hands.until(lambda: setup.kinds(effects.RequestMode) == [effects.RequestMode("sit")])
    assert setup.model.held == {"Enter"}
    teleop_keyboard.release("KP_Enter")
    hands.until(lambda: not setup.model.held)


def test_escape_is_the_emergency_stop_in_a_list_and_a_dialog_that_the_window_opened(hands):
    from python_qt_binding.QtWidgets import QApplication, QDialog, QLineEdit, QVBoxLayout

    setup, window = hands.setup, hands.window
    window.pages.setCurrentWidget(window.gains)
    box = window.gains.pages["gains"].rows["preset"]._list
    box.showPopup()
    hands.until(lambda: QApplication.activePopupWidget() is not None)
    hands.tap("Escape")
    hands.until(lambda: len(setup.kinds(effects.EmergencyStop)) == 1)
    box.hidePopup()
    dialog = QDialog(window.plots)
    field = QLineEdit()
    QVBoxLayout(dialog).addWidget(field)
    dialog.show()
    dialog.activateWindow()
    hands.until(dialog.isActiveWindow)
    hands.tap("x", "Escape", "F12")
    hands.until(lambda: len(setup.kinds(effects.EmergencyStop)) == 3)
    assert field.text() == "x" and setup.twists == [effects.ZERO_TWIST] * 3
    dialog.close()
    window.activateWindow()
    hands.until(window.isActiveWindow)


def test_the_focus_is_seen(hands):
    """Every kind of control looks different while it has the focus."""
    window, plain = hands.window, []
    for page, widget in (
        (None, window.header.stop),
        (None, window.header.arm),
        (None, window.robot.follow),
        (None, window.header.speed._slider),
        (None, window.views.tabBar()),
        (None, window.robot),
        (None, window.log.view),
        (None, window.log.search),
        (window.keys, window.keys._area),
        (window.actions, window.actions.list),
        (window.gains, window.gains.pages["gains"].rows["hold"]._check),
        (window.gains, window.gains.pages["gains"].rows["coxa_p"]._field),
        (window.gains, window.gains.pages["gains"].rows["preset"]._list),
    ):
        if page is not None:
            window.pages.setCurrentWidget(page)
        window.setFocus()
        hands.setup.work(0.05)
        before = widget.grab().toImage()
        widget.setFocus()
        hands.setup.work(0.05)
        if widget.grab().toImage() == before:
            plain.append(widget)
    assert not plain


def test_the_keys_of_the_window_are_shown_and_documented(hands):
    from python_qt_binding.QtWidgets import QLabel

    from shellbot_teleop.qt.keyboard_focus import HELP

    page = Path(__file__).resolve().parents[1] / "README.md"
    keys = [key for line in HELP for key in line.keys if "+" in key]
    text = page.read_text(encoding="utf-8")
    assert len(keys) >= 5 and all(f"{key}" in text for key in keys)
    for panel in (hands.window.keys, hands.window.help):
        texts = {label.text() for label in panel.findChildren(QLabel)}
        assert all(key in texts for line in HELP for key in line.keys)
        assert all(line.help in texts for line in HELP)
