# SPDX-License-Identifier: MIT
"""The real window on a real X server: keys are pressed through XTEST, so focus and auto-repeat are the server's own.

What the window wants done is collected where otherwise the link to ROS carries it out.
"""

from __future__ import annotations

import re
import sys
import time
import types
from dataclasses import replace

import numpy as np
import pytest

from shellbot_common import RobotProfile, package_file
from shellbot_teleop import effects
from shellbot_teleop.effects import ZERO_TWIST, Notice, PublishBodyPose
from shellbot_teleop.gains_model import GainGroup, GainParameter
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.keys import key_label
from shellbot_teleop.link_events import OperatorSeen, StoppedSeen
from shellbot_teleop.robot_monitor import (
    BaseInfo,
    BatteryInfo,
    ContactsInfo,
    JointsInfo,
    LogLine,
    ModeInfo,
    OdomInfo,
    ServoReading,
    ServosInfo,
    StatusInfo,
)


def test_nothing_happens_by_itself(setup):
    setup.work(0.3)
    assert setup.out == []


def test_in_monitor_mode_it_commands_nothing_but_the_emergency_stop(setup, teleop_keyboard):
    setup.controller.observe(OperatorSeen("teleop_terminal", False))
    assert "teleop_terminal is in control" in setup.kinds(Notice)[-1].text
    setup.window.refresh()
    assert (
        setup.window.header.focus.text() == "teleop_terminal drives"
        and setup.window.header.arm.text() == "Take control"
    )
    panels = (
        setup.window.body,
        *setup.window.gains.pages.values(),
        setup.window.actions,
        *setup.window.mode.buttons.values(),
    )
    assert not any(panel.isEnabled() for panel in panels)
    for key in ("w", "u", "F5", "Space", "Ctrl+R", "Escape", "F2"):
        teleop_keyboard.press(key)
        teleop_keyboard.release(key)
    assert setup.until(lambda: setup.kinds(effects.TakeControl))
    sent = [effect for _, effect in setup.out if not isinstance(effect, Notice)]
    assert sent == [effects.EmergencyStop(), effects.TakeControl(True)]
    setup.controller.observe(OperatorSeen("teleop_window", True))
    setup.window.refresh()
    assert all(panel.isEnabled() for panel in panels) and setup.window.header.arm.text() == "Give up"


def test_control_that_is_lost_drops_the_keys(setup, teleop_keyboard):
    teleop_keyboard.press("w")
    assert setup.until(lambda: len(setup.twists) > 2)
    setup.controller.observe(OperatorSeen("safety_pilot", False))
    count = len(setup.twists)
    setup.work(0.3)
    teleop_keyboard.release("w")
    setup.work(0.1)
    assert len(setup.twists) == count and not setup.model.held and setup.model.twist == ZERO_TWIST
    assert "safety_pilot is in control" in setup.kinds(Notice)[-1].text


def test_signs_of_life_come_while_in_control(setup, monkeypatch):
    signs = []
    monkeypatch.setattr(setup.controller, "_execute", signs.append)
    assert setup.until(lambda: len(signs) > 5)
    assert set(signs) == {effects.Heartbeat()}
    setup.controller.observe(OperatorSeen("", False))
    signs.clear()
    setup.work(0.3)
    assert signs == []


def test_the_dead_mans_button_lets_the_keys_drive(teleop_config, teleop_keyboard, make_setup):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    setup = make_setup(teleop_config.replace(dead_man=True))
    assert setup.window.header.dead_man.isVisible()
    teleop_keyboard.press("w")
    assert setup.until(lambda: any("Hold the dead-man switch" in notice.text for notice in setup.kinds(Notice)))
    teleop_keyboard.release("w")
    setup.work(0.1)  # longer than the grace in which a press is taken for auto-repeat
    QTest.mousePress(setup.window.header.dead_man, Qt.LeftButton)
    teleop_keyboard.press("w")
    assert setup.until(lambda: len(setup.twists) > 2) and setup.twists[-1] != ZERO_TWIST
    QTest.mouseRelease(setup.window.header.dead_man, Qt.LeftButton)
    assert setup.twists[-1] == ZERO_TWIST and not setup.model.held
    setup.work(0.2)
    teleop_keyboard.release("w")
    assert sum(twist == ZERO_TWIST for twist in setup.twists) == 1


def test_press_repeat_release_silence(setup, teleop_keyboard):
    teleop_keyboard.press("w")
    assert setup.until(lambda: len(setup.twists) >= 12)
    teleop_keyboard.release("w")
    assert setup.until(lambda: setup.twists[-1] == ZERO_TWIST)
    zero_time = setup.out[-1][0]
    setup.work(0.3)
    assert setup.out[-1][0] == zero_time, "something was published after the zero"
    assert [twist == ZERO_TWIST for twist in setup.twists].count(True) == 1
    # The X server's auto-repeat began within this time (0.66 s by default) or not: in neither case a second press.
    gaps = np.diff([when for when, _ in setup.out[:-1]])
    assert np.median(gaps) > 0.03, "20 times a second; a busy machine may be late"


def test_neither_press_nor_release_waits_for_the_timer(setup, teleop_keyboard):
    setup.controller._timer.setInterval(3_600_000)
    teleop_keyboard.press("w")
    assert setup.until(lambda: setup.twists)
    teleop_keyboard.release("w")
    assert setup.until(lambda: len(setup.twists) > 1)
    assert [twist == ZERO_TWIST for twist in setup.twists] == [False, True]


def test_the_servers_auto_repeat_is_no_release(setup, teleop_keyboard):
    teleop_keyboard.press("w")
    setup.work(1.3)  # Xvfb repeats after 0.66 s, 25 times a second
    assert not any(twist == ZERO_TWIST for twist in setup.twists)
    teleop_keyboard.release("w")
    assert setup.until(lambda: setup.twists[-1] == ZERO_TWIST)
    assert sum(twist == ZERO_TWIST for twist in setup.twists) == 1


def test_a_refused_key_that_repeats_is_refused_once(setup, teleop_keyboard):
    setup.controller.observe(StoppedSeen(True))
    before = len(setup.kinds(Notice))
    teleop_keyboard.press("w")
    setup.work(1.2)  # into the auto-repeat
    teleop_keyboard.release("w")
    setup.work(0.05)
    assert len(setup.kinds(Notice)) == before + 1 and setup.twists == []


@pytest.mark.parametrize(
    "key, name",
    [
        ("KP_8", "8"),
        ("KP_Up", "8"),
        ("KP_7", "7"),
        ("6", "6"),
        ("q", "q"),
        ("Up", "Up"),
        ("u", "u"),
        ("Next", "PageDown"),
        ("Shift", "Shift"),
    ],
)
def test_keys_of_keyboard_and_keypad_arrive_under_the_key_maps_names(setup, teleop_keyboard, key, name):
    teleop_keyboard.press(key)
    assert setup.until(lambda: setup.model.held == {name})
    teleop_keyboard.release(key)
    assert setup.until(lambda: not setup.model.held)


def test_a_letter_with_shift_is_the_same_key_driven_slowly(setup, teleop_keyboard, teleop_config):
    for key in ("Shift", "w"):
        teleop_keyboard.press(key)
    assert setup.until(lambda: setup.twists and setup.twists[-1].x == pytest.approx(0.5 * 0.1 * teleop_config.fine))
    teleop_keyboard.release("Shift")
    assert setup.until(lambda: setup.twists[-1].x == pytest.approx(0.5 * 0.1))
    teleop_keyboard.release("w")
    assert setup.until(lambda: setup.twists[-1] == effects.ZERO_TWIST)


def test_losing_the_focus_sends_one_zero_and_drops_the_key(setup, teleop_keyboard, teleop_application):
    from python_qt_binding.QtWidgets import QLineEdit

    teleop_keyboard.press("w")
    assert setup.until(lambda: len(setup.twists) > 2)
    before = len(setup.kinds(Notice))
    other = QLineEdit()
    other.show()
    other.activateWindow()
    assert setup.until(lambda: setup.twists[-1] == ZERO_TWIST)
    assert [notice.text for notice in setup.kinds(Notice)[before:]] == ["Stopped, because the window lost the focus."]
    count = len(setup.out)
    setup.work(0.3)
    assert len(setup.out) == count and not setup.model.held
    teleop_keyboard.release("w")
    setup.work(0.1)
    assert len(setup.out) == count
    other.close()
    setup.window.activateWindow()
    assert setup.until(setup.window.isActiveWindow)


def test_closing_sends_one_zero(setup, teleop_keyboard):
    teleop_keyboard.press("w")
    assert setup.until(lambda: len(setup.twists) > 2)
    setup.window.close()
    assert setup.twists[-1] == ZERO_TWIST and sum(twist == ZERO_TWIST for twist in setup.twists) == 1
    count = len(setup.out)
    setup.work(0.2)
    teleop_keyboard.release("w")
    setup.work(0.1)
    assert len(setup.out) == count


def test_closing_sends_its_zero_even_if_the_focus_tells_nothing(setup, teleop_keyboard, teleop_application):
    teleop_keyboard.press("w")
    assert setup.until(lambda: len(setup.twists) > 2)
    teleop_application.removeEventFilter(setup.controller)
    setup.window.close()
    assert setup.twists[-1] == ZERO_TWIST and sum(twist == ZERO_TWIST for twist in setup.twists) == 1
    teleop_keyboard.release("w")


def test_space_stops_while_a_key_is_held_and_its_repeat_does_not_start_again(setup, teleop_keyboard):
    teleop_keyboard.press("w")
    setup.work(0.9)  # into the auto-repeat
    teleop_keyboard.press("Space")
    assert setup.until(lambda: setup.twists[-1] == ZERO_TWIST)
    teleop_keyboard.release("Space")
    count = len(setup.twists)
    setup.work(0.4)
    assert len(setup.twists) == count
    teleop_keyboard.release("w")
    setup.work(0.1)
    assert len(setup.twists) == count


def test_escape_and_the_red_button_stop_for_good(setup, teleop_keyboard):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    teleop_keyboard.press("Escape")
    assert setup.until(lambda: setup.kinds(effects.EmergencyStop))
    teleop_keyboard.release("Escape")
    QTest.mousePress(setup.window.header.stop, Qt.LeftButton)
    assert len(setup.kinds(effects.EmergencyStop)) == 2, "the button must act on the press"
    QTest.mouseRelease(setup.window.header.stop, Qt.LeftButton)
    setup.controller.observe(StoppedSeen(True))
    setup.window.refresh()
    assert setup.window.header.rearm.isEnabled()
    QTest.mouseClick(setup.window.header.rearm, Qt.LeftButton)
    assert setup.kinds(effects.Rearm)


def test_what_the_nodes_report_is_shown(setup):
    from shellbot_teleop.qt import theme

    setup.monitor.diagnostics.take([("gains", 1, "no page")], time.monotonic())
    setup.window.refresh()
    line = setup.window.pose.diagnostics
    assert line.text() == "gains: no page" and theme.palette().warn in line.styleSheet()
    setup.monitor.diagnostics.take([("gains", 0, "")], time.monotonic())
    setup.window.refresh()
    assert line.text() == "1 of 1 diagnostics good" and theme.palette().warn not in line.styleSheet()


def test_battery_and_servos_are_shown_where_there_are_some(setup):
    setup.window.refresh()
    assert not setup.window.pose.servos.isVisible()
    setup.monitor.battery = BatteryInfo(11.46, 0.47, time.monotonic())
    setup.monitor.servos = ServosInfo(19, 41.0, "lower_3_tibia", 19, (), time.monotonic())
    setup.window.refresh()
    assert setup.window.pose.servos.isVisible()
    assert setup.window.pose.servos.text() == (
        "battery 11.5 V 47%  hottest 41 °C lower_3_tibia  19 of 19 servos without torque"
    )


def test_a_modifier_that_comes_between_press_and_release_leaves_no_key_held(setup, teleop_keyboard):
    teleop_keyboard.press("w")
    assert setup.until(lambda: setup.model.held == {"w"})
    teleop_keyboard.press("Control_L")
    setup.work(0.05)
    teleop_keyboard.release("w")
    assert setup.until(lambda: not setup.model.held)
    teleop_keyboard.release("Control_L")
    assert setup.until(lambda: setup.twists[-1] == ZERO_TWIST)


def test_the_mouse_drives_with_the_sticks_over_the_robot(setup, teleop_keyboard):
    from python_qt_binding.QtCore import QEvent, QPoint, QPointF, Qt
    from python_qt_binding.QtGui import QMouseEvent
    from python_qt_binding.QtTest import QTest

    def drag(pad, to):
        held = (Qt.NoButton, Qt.LeftButton, Qt.NoModifier)
        setup.application.sendEvent(pad, QMouseEvent(QEvent.MouseMove, QPointF(to), *held))

    sticks, view = setup.window.robot.sticks, setup.window.robot.orbit
    pad = sticks.drive
    middle = pad.rect().center()
    ahead = middle - QPoint(0, pad.height())  # beyond the edge: full speed
    QTest.mousePress(pad, Qt.LeftButton, Qt.NoModifier, middle)
    drag(pad, ahead)
    assert setup.until(lambda: setup.twists and setup.twists[-1].x == pytest.approx(0.5 * 0.1, rel=1e-3))
    drag(pad, middle + QPoint(round(0.5 * pad.reach), 0))
    assert setup.until(lambda: setup.twists[-1].y == pytest.approx(-0.25 * 0.1, rel=0.1)), "half to the right"
    count = len(setup.twists)
    assert setup.until(lambda: len(setup.twists) > count + 2), "it is repeated while it is held"
    QTest.mouseRelease(pad, Qt.LeftButton, Qt.NoModifier, middle)
    assert setup.twists[-1] == effects.ZERO_TWIST and setup.twists[-2] != effects.ZERO_TWIST
    QTest.mousePress(sticks.turn, Qt.LeftButton, Qt.NoModifier, QPoint(1, 20))
    assert setup.twists[-1].yaw == pytest.approx(0.5 * 0.4, rel=1e-3) and setup.twists[-1].x == 0.0
    assert not sticks.turn.is_centred and setup.window.robot.orbit == view, "the picture does not turn"
    teleop_keyboard.press("Space")
    assert setup.until(lambda: setup.twists[-1] == effects.ZERO_TWIST)
    teleop_keyboard.release("Space")
    drag(sticks.turn, sticks.turn.rect().center() - QPoint(10, 0))
    setup.work(0.1)
    assert setup.twists[-1] == effects.ZERO_TWIST and sticks.turn.is_centred, "it must be let go first"
    QTest.mouseRelease(sticks.turn, Qt.LeftButton)


def test_buttons_do_not_take_the_keys(setup, teleop_keyboard):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    QTest.mouseClick(setup.window.mode.buttons["mode.stand"], Qt.LeftButton)
    assert setup.kinds(effects.RequestMode) == [effects.RequestMode("stand")]
    teleop_keyboard.press("Space")
    assert setup.until(lambda: setup.twists)
    teleop_keyboard.release("Space")
    setup.work(0.1)
    assert len(setup.kinds(effects.RequestMode)) == 1, "Space pressed the button"


PARAMETERS = (
    GainParameter("coxa_p", "p", "double", 0.0, 60.0, 18.5, "N m/rad"),
    GainParameter("hold", "hold", "bool", 0.0, 1.0, 0.0, ""),
)


def test_the_gains_page_is_built_from_the_description_and_sends_what_is_moved(setup):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    gains = setup.window.gains.pages["gains"]
    sent = []
    gains.changed.connect(sent.append)
    setup.window.pages.setCurrentWidget(setup.window.gains)
    gains.show_state(True, "Connected to gains.")
    gains.show_groups((GainGroup("coxa", PARAMETERS),))
    gains.show_values({"coxa_p": 20.0, "hold": 1.0, "unknown": 3.0})
    row = gains.rows["coxa_p"]
    assert row._field.value() == 20.0 and gains.rows["hold"]._check.isChecked()
    assert sent == []
    row._slider.setValue(250)
    row._slider.setValue(251)
    assert setup.until(lambda: sent)
    assert sent == [{"coxa_p": pytest.approx(60.0 * 251 / 500)}]
    gains.show_groups((GainGroup("coxa", PARAMETERS),))
    assert gains.rows["coxa_p"] is row, "the same description must not rebuild the page"
    # A number typed into the field goes to the field, not to the robot.
    setup.until(row._field.isVisible)
    QTest.mouseClick(row._field.lineEdit(), Qt.LeftButton)
    assert setup.until(lambda: setup.controller.editing)
    row._field.selectAll()
    QTest.keyClicks(row._field, "8")
    QTest.keyClick(row._field, Qt.Key_Return)
    assert setup.until(lambda: len(sent) == 2) and sent[1] == {"coxa_p": 8.0}
    assert setup.twists == [] and not setup.controller.editing
    gains.defaults.click()
    assert sent[2] == {"coxa_p": 18.5, "hold": 0.0}
    gains.show_state(False, "Waiting for the node gains.")
    gains.defaults.click()
    assert len(sent) == 3, "without a server no defaults are sent"
    assert not gains._area.isEnabled() and "Waiting" in gains.state.text()


def test_a_preset_is_chosen_from_a_list_which_follows_the_server(setup):
    from python_qt_binding.QtCore import Qt

    gains, sent = setup.window.gains.pages["gains"], []
    gains.changed.connect(sent.append)
    setup.window.pages.setCurrentWidget(setup.window.gains)
    options = {"walk": "", "soft": "half of it", "custom": ""}
    preset = GainParameter("preset", "preset", "choice", 0.0, 0.0, 0.0, "", options)
    gains.show_groups((GainGroup("Overall", (preset,)),))
    gains.show_values({"preset": "custom"})
    box = gains.rows["preset"]._list
    assert [box.itemText(i) for i in range(box.count())] == list(options) and box.currentText() == "custom"
    assert sent == [] and box.itemData(1, Qt.ToolTipRole) == "half of it"
    box.setCurrentIndex(1)
    assert not setup.until(lambda: sent, 0.2), "only what the operator chooses is sent"
    box.activated.emit(1)  # as a click in the open list does
    assert setup.until(lambda: sent) and sent == [{"preset": "soft"}]


def test_each_server_has_a_page_of_its_own_and_one_of_them_is_seen(make_setup, teleop_config):
    setup = make_setup(teleop_config.replace(gains_servers=("gains", "arm_motion")))
    gains, sent = setup.window.gains, []
    gains.changed.connect(lambda server, values: sent.append((server, values)))
    setup.window.pages.setCurrentWidget(gains)
    motors, motion = gains.pages["gains"], gains.pages["arm_motion"]
    assert "arm_motion" in motion.state.text() and motors.isVisible() and not motion.isVisible()
    motors.show_groups((GainGroup("coxa", PARAMETERS),))
    law = GainParameter("law", "law", "choice", 0.0, 0.0, 0.0, "", {"servo": "", "open_loop": ""})
    motion.show_groups((GainGroup("Overall", (law, *PARAMETERS)),))
    motion.show_values({"law": "servo", "coxa_p": 7.0})
    assert motors.rows["coxa_p"]._field.value() == 0.0, "values of another server"
    setup.controller.observe(OperatorSeen("teleop_terminal", False))
    setup.window.refresh()
    assert gains.servers.isEnabled() and not motion.isEnabled(), "who monitors may look at each"
    setup.controller.observe(OperatorSeen("teleop_window", True))
    setup.window.refresh()
    gains.servers.setCurrentText("arm_motion")
    assert motion.isVisible() and not motors.isVisible()
    motion.rows["law"]._list.activated.emit(0)
    assert setup.until(lambda: sent) and sent == [("arm_motion", {"law": "servo"})]


def test_the_wheel_scrolls_the_gains_page_and_changes_nothing_on_it(setup, teleop_display):
    from Xlib import X
    from Xlib.display import Display
    from Xlib.ext import xtest

    gains, sent = setup.window.gains.pages["gains"], []
    gains.changed.connect(sent.append)
    setup.window.pages.setCurrentWidget(setup.window.gains)
    preset = GainParameter("preset", "preset", "choice", 0.0, 0.0, 0.0, "", {"walk": "", "soft": ""})
    many = tuple(replace(PARAMETERS[0], name=f"p_{k}") for k in range(40))
    gains.show_groups((GainGroup("coxa", (preset, *many)),))
    bar, row, mouse = gains._area.verticalScrollBar(), gains.rows["p_20"], Display(teleop_display)
    shown = row._slider.value(), row._field.value()
    assert setup.until(lambda: bar.maximum() > 0)
    for widget in (gains.rows["preset"]._list, row._slider, row._field):
        gains._area.ensureWidgetVisible(widget)
        setup.work(0.1)
        place, before = widget.mapToGlobal(widget.rect().center()), bar.value()
        xtest.fake_input(mouse, X.MotionNotify, x=place.x(), y=place.y())
        for kind in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(mouse, kind, 5)
        mouse.sync()
        assert setup.until(lambda: bar.value() > before), widget  # noqa: B023
    setup.work(0.2)
    mouse.close()
    assert sent == [] and gains.rows["preset"]._list.currentText() == "walk"
    assert (row._slider.value(), row._field.value()) == shown


def test_a_single_server_is_not_offered_as_a_choice(setup):
    setup.window.pages.setCurrentWidget(setup.window.gains)
    assert setup.window.gains.pages["gains"].isVisible() and not setup.window.gains.servers.isVisible()


def test_space_and_escape_stop_even_while_a_number_is_typed(setup, teleop_keyboard):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    gains = setup.window.gains.pages["gains"]
    setup.window.pages.setCurrentWidget(setup.window.gains)
    gains.show_groups((GainGroup("coxa", PARAMETERS),))
    field = gains.rows["coxa_p"]._field
    setup.until(field.isVisible)
    QTest.mouseClick(field.lineEdit(), Qt.LeftButton)
    assert setup.until(lambda: setup.controller.editing)
    for key in ("Space", "Escape"):
        teleop_keyboard.press(key)
        teleop_keyboard.release(key)
    assert setup.until(lambda: setup.twists and setup.kinds(effects.EmergencyStop))


def test_sliders_move_the_body_and_follow_the_keys(setup, teleop_keyboard):
    body = setup.window.body
    setup.window.pages.setCurrentWidget(body)
    slider = body.pose[4]
    slider._slider.setValue(slider.STEPS)
    assert setup.until(lambda: not setup.model.active)
    poses = setup.kinds(PublishBodyPose)
    assert poses[-1].pose[4] == pytest.approx(setup.model.limits.tilt[1])
    body.neutral_requested.emit()
    assert setup.until(lambda: not setup.model.active) and setup.model.pose.value == (0.0,) * 6
    teleop_keyboard.press("u")
    setup.until(lambda: setup.model.pose.value[2] > 0.005)
    teleop_keyboard.release("u")
    assert setup.until(lambda: not setup.model.held)
    assert body.pose[2].value == pytest.approx(setup.model.pose.value[2], abs=2e-4)


def test_the_layout_is_switched_live_and_the_help_with_it(setup, teleop_keyboard):
    teleop_keyboard.press("Tab")
    teleop_keyboard.release("Tab")
    assert setup.until(lambda: setup.model.layout == "tilt")
    assert setup.window.keys.layout_name == "tilt"
    teleop_keyboard.press("w")
    assert setup.until(lambda: setup.kinds(PublishBodyPose))
    teleop_keyboard.release("w")
    setup.until(lambda: not setup.model.held)
    assert setup.twists == []


def test_the_log_shows_its_newest_line_until_the_user_scrolls_up(setup):
    log, bar = setup.window.log, setup.window.log.view.verticalScrollBar()
    setup.window.hide()

    def add(count, first=0):
        for index in range(first, first + count):
            log.add(LogLine("info", "node", f"line {index}", 0.0))

    add(100)  # as at the start, when a robot that runs already sends its last messages
    setup.window.show()
    assert setup.until(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    setup.window.resize(setup.window.width(), setup.window.minimumHeight())
    add(100, 100)
    assert setup.until(lambda: bar.value() == bar.maximum())
    bar.setValue(20)
    before = bar.maximum()
    add(100, 200)
    assert setup.until(lambda: bar.maximum() > before) and bar.value() == 20, "who reads is not disturbed"
    bar.setValue(bar.maximum())
    add(1, 300)
    assert setup.until(lambda: bar.value() == bar.maximum())


def test_the_progress_bar_moves_steadily_and_begins_anew_with_a_transition(setup):
    from shellbot_teleop.qt.status_panels import ModePanel

    panel = ModePanel(setup.model.keymap, {})  # not the window's, which shows the mode of its monitor
    bar = panel._progress

    def show(name, target, progress):
        panel.show_mode(ModeInfo(name, target, "close_ball", progress, ""), False)

    show("stand", "shell", 0.40)
    assert bar.value() == 400
    for _ in range(3):  # shown again with every refresh
        show("stand", "shell", 0.60)
    assert bar.value() < 600, "a step of the report is no jump of the bar"
    assert setup.until(lambda: bar.value() == 600)
    show("shell", "stand", 0.05)
    assert bar.value() == 50, "another transition does not run back through the one before"


def test_the_column_on_the_left_fits_while_the_robot_changes_its_mode(setup):
    window, text = setup.window, "closing, step 4 of 16: turning the gores"
    setup.monitor.mode = ModeInfo("hexapod", "shell", "stop_walking", 1.0, text)
    window.refresh()
    setup.work(0.1)
    column = window.mode.parentWidget()
    assert column.width() <= column.parentWidget().width()


def test_a_ball_has_no_feet(setup):
    window, monitor, now = setup.window, setup.monitor, time.monotonic()
    monitor.odom = OdomInfo((1.5, 0.0, 0.0), (0.0, 0.0, 0.5), (0.5, 0.0, 0.0), now)
    touching = (True,) + (False,) * 11
    monitor.contacts = ContactsInfo(
        touching, (float("nan"),) * 12, np.zeros((12, 3)), now, "rolling", np.array([0.16, 0, 0])
    )
    window.refresh()
    assert window.feet.diagram.samples[-1][1] is None
    assert window.pose._values["height"].text() == "160 mm" and window.pose._values["roll"].text() == "–"
    monitor.contacts = None
    window.refresh()
    assert window.pose._values["height"].text() == "–", "odometry itself has no height"


def test_live_data_bad_data_and_old_data_are_shown(setup):
    window, monitor = setup.window, setup.monitor
    now = time.monotonic()
    monitor.mode = ModeInfo("hexapod", "shell", "closing_fan", 0.4, "Closing.")
    monitor.odom = OdomInfo((1.5, 0.0, 0.162), (0.0, 0.0, 0.5), (0.1, 0.0, 0.0), now)
    monitor.contacts = ContactsInfo((True,) * 6, (float("nan"),) * 6, np.full((6, 3), 0.1), now)
    monitor.status = StatusInfo(True, 0.01, "lower_1_coxa", False, "", now)
    monitor.picture, monitor.picture_count = np.full((12, 16, 3), 90, np.uint8), 1
    monitor.add_log(LogLine("error", "node", "<b>bad</b>", 0.0))
    window.refresh()
    assert window.mode._name.text() == "hexapod → shell" and "closing fan  40%" in window.mode._step.text()
    assert window.pose._values["x"].text() == "+1.500 m"
    assert "<b>bad</b>" in window.log.view.toPlainText()
    window.views.setCurrentWidget(window.camera)
    setup.work(0.1)
    window.refresh()
    assert window.camera._image is not None and not window.grab().isNull()
    window.views.setCurrentWidget(window.robot)
    nan = float("nan")
    monitor.odom = OdomInfo((nan, 0.0, 0.0), (nan,) * 3, (nan,) * 3, now)
    monitor.contacts = ContactsInfo((True,) * 6, (nan,) * 6, np.full((6, 3), nan), now)
    monitor.mode = ModeInfo("stand", "hexapod", "", nan, "")
    window.refresh()
    assert not window.grab().isNull() and window.pose._values["x"].text() == "–"
    monitor.odom = OdomInfo((1.5, 0.0, 0.162), (0.0, 0.0, 0.5), (0.1, 0.0, 0.0), now - 60.0)
    window.refresh()
    assert window.pose._values["x"].text() == "–", "a value of a minute ago is no value"


def show_shellbot(monitor, up_m=0.162, pose="stand"):
    """Let the monitor know a robot that stands in a pose of its profile, as the ROS link would."""
    from shellbot_description import expand, robot_profile

    now = time.monotonic()
    monitor.description, monitor.profile = expand("simulation"), robot_profile("simulation")
    angles = monitor.profile.pose(pose)
    monitor.joints = JointsInfo(tuple(angles), tuple(angles.values()), (), now)
    monitor.base = BaseInfo(np.array([0.0, 0.0, up_m]), np.array([0.0, 0.0, 0.0, 1.0]), now)


def pixels_of(image):
    """A picture in the format of the screen as (height, width, 3) numbers: red, green, blue."""
    numbers = np.frombuffer(image.constBits().asstring(image.byteCount()), np.uint8)
    return numbers.reshape(image.height(), image.width(), 4)[:, :, 2::-1].astype(int)


def orange(pixels):
    """Where a picture shows the plates of the legs, which nothing else has the colour of."""
    red, green, blue = np.moveaxis(pixels, -1, 0)
    return (red > 150) & (green > 60) & (green < 170) & (blue < 90)


def test_the_middle_of_the_window_shows_the_robot_as_it_looks_and_as_it_stands(setup):
    view, monitor = setup.window.robot, setup.monitor
    setup.until(view.isVisible)
    show_shellbot(monitor)
    assert setup.until(lambda: view._image is not None or view.failure), "no picture and no reason"
    assert not view.failure, view.failure
    standing = pixels_of(view._image)
    assert orange(standing).mean() > 0.005, "the plates of the legs are seen"

    def becomes_another(picture):
        def differs():
            now = time.monotonic()  # what arrived stays fresh, however slow the machine is
            monitor.joints, monitor.base = replace(monitor.joints, arrived=now), replace(monitor.base, arrived=now)
            present = pixels_of(view._image)
            return present.shape == picture.shape and np.abs(present - picture).mean() > 1.0

        return setup.until(differs)

    show_shellbot(monitor, 0.10, "sit")
    assert becomes_another(standing), "another posture, another picture"
    sitting = pixels_of(view._image)
    view.orbit = view.orbit.turned(200, 0)
    assert becomes_another(sitting), "the mouse turns the view"


def test_where_nothing_can_be_drawn_the_window_says_why_and_drives(setup, teleop_keyboard):
    show_shellbot(setup.monitor)
    setup.monitor.description = "<robot name='broken'>"
    assert setup.until(lambda: setup.window.robot.failure)
    assert "XML" in setup.window.robot.failure and not setup.window.grab().isNull()
    teleop_keyboard.press("w")
    assert setup.until(lambda: setup.twists)
    teleop_keyboard.release("w")


def test_the_camera_is_wanted_only_while_it_is_seen(setup):
    wanted = []
    setup.window.camera.visible_changed.connect(wanted.append)
    setup.window.views.setCurrentWidget(setup.window.camera)
    setup.window.views.setCurrentWidget(setup.window.robot)
    assert wanted == [True, False]


def test_the_log_filters_and_shows_our_own_notices(setup):
    log = setup.window.log
    setup.controller.carry_out([Notice("info", "hello"), Notice("warn", "careful")])
    assert "hello" in log.view.toPlainText() and "careful" in log.view.toPlainText()
    log._set_filter("warnings")
    assert "hello" not in log.view.toPlainText() and "careful" in log.view.toPlainText()


def test_the_key_help_lights_up(setup, teleop_keyboard):
    cap = setup.window.keys._caps["w"]
    before = cap.styleSheet()
    teleop_keyboard.press("w")
    assert setup.until(lambda: cap.styleSheet() != before)
    teleop_keyboard.release("w")
    assert setup.until(lambda: cap.styleSheet() == before)


def test_the_gait_diagram_joins_samples_to_spans(teleop_application):
    from shellbot_teleop.qt.feet_panel import standing_spans

    down, up = (True,) * 6, (False,) * 6
    samples = [(0.0, up), (1.0, down), (2.0, down), (3.0, None), (4.0, down), (5.0, down)]
    assert list(standing_spans(samples, 2)) == [(1.0, 3.0), (4.0, 5.0)]
    assert list(standing_spans([], 0)) == [] and list(standing_spans([(0.0, up)], 0)) == []
    assert list(standing_spans([(0.0, (True,) * 4), (1.0, (True,) * 4)], 5)) == [], "a robot of four feet"


def test_it_opens_within_the_screen(make_setup, teleop_config, monkeypatch):
    from python_qt_binding.QtCore import QSize

    from shellbot_teleop.qt import main_window

    screen = types.SimpleNamespace(availableSize=lambda: QSize(1280, 720))
    monkeypatch.setattr(main_window.QApplication, "primaryScreen", lambda: screen)
    assert make_setup(teleop_config).window.size() == QSize(1280, 720)


@pytest.mark.parametrize("size", [(800, 600), (1080, 600), (1360, 850), (1500, 1000), (3840, 2160)])
def test_it_can_be_resized(setup, size):
    from python_qt_binding.QtCore import QPoint, QRect

    setup.window.resize(*size)
    setup.work(0.05)
    assert (setup.window.width(), setup.window.height()) == size
    assert setup.window.header.stop.geometry().right() <= setup.window.width()
    mode, view = (
        QRect(widget.mapTo(setup.window, QPoint(0, 0)), widget.size())
        for widget in (setup.window.mode, setup.window.robot)
    )
    assert setup.window.mode.isVisible() and setup.window.robot.isVisible()
    assert not mode.intersects(view) and setup.window.rect().contains(view)
    for button in setup.window.mode.buttons.values():
        right = button.mapTo(setup.window, QPoint(button.width(), 0)).x()
        assert right <= setup.window.width() and button.width() >= button.sizeHint().width()


def test_a_narrow_window_that_grows_shows_the_state_beside_the_robot_again(setup):
    window = setup.window
    for size, pages in (((800, 600), 4), ((1360, 850), 3), ((900, 700), 4), ((1360, 850), 3)):
        window.resize(*size)
        assert setup.until(lambda: window.pages.count() == pages)  # noqa: B023
        assert setup.until(window.mode.isVisible)


def test_f1_lays_all_keys_of_the_map_over_the_window_and_takes_them_away(setup, teleop_keyboard, teleop_keymap):
    from python_qt_binding.QtWidgets import QLabel

    shown = setup.window.help
    assert not shown.isVisible()
    for visible in (True, False, True):
        teleop_keyboard.press("F1")
        teleop_keyboard.release("F1")
        assert setup.until(lambda: shown.isVisible() == visible)  # noqa: B023
        setup.work(0.05)  # a press sooner after a release were the auto-repeat of a server
    texts = {label.text() for label in shown.findChildren(QLabel)}
    for binding in teleop_keymap.in_layout(setup.model.layout):
        assert key_label(binding.key) in texts and binding.help in texts
    teleop_keyboard.press("w")
    assert setup.until(lambda: setup.twists), "the robot is driven while the keys are shown"
    teleop_keyboard.release("w")


def test_joints_are_a_table_in_the_order_of_the_profile(setup):
    from shellbot_teleop.qt import theme

    table, now = setup.window.joints, time.monotonic()
    setup.window.views.setCurrentWidget(table)
    assert table.rowCount() == 0
    setup.monitor.profile = RobotProfile(
        name="arm",
        base={"kind": "fixed", "spawn_pose": "zero"},
        joints={"shoulder": "large", "elbow": "small"},
        classes={"large": {"stiffness": 60.0}, "small": {"stiffness": 25.0}},
        controller="arm_controller",
        gain_limits={"p": 200, "i": 100, "d": 5},
        poses={"zero": {"large_deg": 0, "small_deg": 0}},
    )
    setup.monitor.joints = JointsInfo(("elbow", "shoulder"), (np.pi / 6, -np.pi / 4), (0.125, -2.0), now)
    setup.monitor.targets = JointsInfo(("shoulder",), (-np.pi / 2.5,), (), now)
    setup.window.refresh()

    def cells():
        shown = [column for column in range(table.columnCount()) if not table.isColumnHidden(column)]
        return [[table.item(row, column).text() for column in shown] for row in range(2)]

    assert cells() == [["shoulder", "-45.0", "-72.0", "-2.00", "behind"], ["elbow", "30.0", "–", "0.12", "ok"]]
    limit = '<limit effort="0.25" velocity="1"/>'
    setup.monitor.description = f'<robot name="arm"><joint name="elbow" type="revolute">{limit}</joint></robot>'
    setup.window.refresh()
    assert cells()[1] == ["elbow", "30.0", "–", "0.12", "50", "ok"]
    readings = {"elbow": ServoReading(-0.5, 11.1, 65.0, trouble="overload"), "shoulder": ServoReading(0.1, 11.2, 40.0)}
    setup.monitor.servos = ServosInfo(2, 65.0, "elbow", 0, (), now, readings)
    setup.window.refresh()
    assert cells()[1] == ["elbow", "30.0", "–", "0.12", "-50", "11.1", "65", "overload, hot"]
    colours = [table.item(row, table.columnCount() - 1).foreground().color().name() for row in range(2)]
    assert colours == [theme.palette().bad, theme.palette().bad]
    setup.monitor.forget_robot()
    setup.window.refresh()
    assert table.rowCount() == 0


def test_the_log_is_searched_in_words_and_nodes_together_with_its_levels(setup, teleop_keyboard):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest

    log = setup.window.log
    for level, node, text in (("info", "gait", "Walks on"), ("warn", "gait", "slow walk"), ("warn", "bus", "slow")):
        log.add(LogLine(level, node, text, 0.0))
    QTest.mouseClick(log.search, Qt.LeftButton)
    for key in "walk":
        teleop_keyboard.press(key)
        teleop_keyboard.release(key)
        setup.work(0.05)
    assert setup.until(lambda: log.search.text() == "walk")
    assert "Walks on" in log.view.toPlainText() and "bus" not in log.view.toPlainText()
    assert setup.twists == [], "the keys went to the field"
    log._set_filter("warnings")
    log.add(LogLine("warn", "gait", "no more", 0.0))
    assert [line.split(" ", 1)[1] for line in log.view.toPlainText().splitlines() if "gait" in line] == [
        "gait slow walk"
    ]
    log.search.setText("GAIT more")
    assert "no more" in log.view.toPlainText() and "slow walk" not in log.view.toPlainText()
    teleop_keyboard.press("Enter")
    teleop_keyboard.release("Enter")
    assert setup.until(lambda: not setup.controller.editing)
    teleop_keyboard.press("w")
    assert setup.until(lambda: setup.twists), "the keys drive again"
    teleop_keyboard.release("w")


def test_a_robot_without_modes_and_shells_has_no_words_for_them(make_setup, teleop_config):
    keymap = Keymap.load(package_file("shellbot_teleop", "config/keymap_joints.yaml"))
    setup = make_setup(teleop_config, keymap)
    window = setup.window
    setup.work(0.2)
    pages = [window.pages.tabText(index) for index in range(window.pages.count())]
    assert pages == ["Keys", "Gains"], "no body; no actions until the robot tells of some"
    assert not any(panel.isVisible() for panel in (window.mode, window.velocity, window.feet, window.header.layouts))
    assert window.pose.isVisible() and window.header.arm.isVisible()


def test_modes_and_gaits_are_those_of_the_robots_key_map(make_setup, teleop_config):
    snake = Keymap.load(package_file("snake_bringup", "config/keymap.yaml"))
    setup = make_setup(teleop_config, snake)
    assert [push.text() for push in setup.window.mode.buttons.values()] == ["Relax", "Go", "Straighten"]
    lines = snake.lines("drive", "gait")
    assert len(lines) == 10 and lines[1].keys == ("2",) and lines[1].help == "turning", "a line for each gait"


def test_the_header_names_the_robot(setup):
    setup.monitor.profile = RobotProfile.load(package_file("arm_description", "config/profile.yaml"))
    setup.window.refresh()
    assert (setup.window.header._title.text(), setup.window.windowTitle()) == ("Arm", "Arm")


def test_the_gaits_of_the_robot_are_offered(setup):
    setup.model.observe_limits(replace(setup.model.limits, gaits=("tripod", "moonwalk"), gait="moonwalk"))
    for _ in range(2):
        setup.window.show_command()
    choices = setup.window.body.gaits._buttons
    assert [(name, choice.isChecked()) for name, choice in choices.items()] == [("tripod", False), ("moonwalk", True)]


def test_no_gait_is_cut(setup):
    setup.window.pages.setCurrentWidget(setup.window.body)
    setup.work(0.1)
    gaits = setup.window.body.gaits
    for name, choice in gaits._buttons.items():
        assert choice.width() >= choice.sizeHint().width() and choice.geometry().right() < gaits.width(), name


def test_no_key_cap_is_cut(setup):
    setup.work(0.2)
    for cap in setup.window.keys._caps.values():
        assert cap.width() >= cap.sizeHint().width(), cap.text()


def test_the_theme_changes_live_everywhere_and_the_other_way_back(setup):
    from python_qt_binding.QtCore import Qt
    from python_qt_binding.QtTest import QTest
    from python_qt_binding.QtWidgets import QLabel

    from shellbot_teleop.qt import theme

    window = setup.window
    window.log.add(LogLine("error", "bus", "torn", 0.0))
    window.gains.pages["gains"].show_state(True, "there")
    dark, light = theme.PALETTES["dark"], theme.PALETTES["light"]

    def shades():
        """Ground of the window, colours in the log, and what the button offers."""
        picture = window.grab().toImage()
        ground = picture.pixelColor(4, picture.height() // 2).name()
        html = window.log.view.document().toHtml()
        return ground, [colour for colour in (dark.bad, light.bad) if colour in html], window.keys.theme.text()

    assert shades() == (dark.background, [dark.bad], "Light theme")
    QTest.mouseClick(window.keys.theme, Qt.LeftButton)
    assert shades() == (light.background, [light.bad], "Dark theme")
    styled = [w.styleSheet() for w in window.findChildren(QLabel) if w.styleSheet()]
    assert len(styled) > 30
    old = {getattr(dark, name) for name in ("text", "warn", "bad", "good", "accent", "raised", "cap")}
    assert not [style for style in styled if any(colour in style for colour in old)]
    assert window.isActiveWindow() and not setup.controller.editing, "the keys drive as before"
    QTest.mouseClick(window.keys.theme, Qt.LeftButton)
    assert shades() == (dark.background, [dark.bad], "Light theme")


def test_a_theme_of_the_settings_holds_from_the_start(make_setup, teleop_config):
    from shellbot_teleop.qt import theme

    make_setup(teleop_config.replace(theme="light"))
    assert theme.palette() is theme.PALETTES["light"]
    make_setup(teleop_config)
    assert theme.palette() is theme.PALETTES["dark"]


@pytest.mark.parametrize("name", ["dark", "light"])
def test_words_can_be_read_in_every_theme(name):
    """Contrast of WCAG 2 AA: 4.5 for words, on every ground that they stand on."""
    from python_qt_binding.QtGui import QColor

    from shellbot_teleop.palette import PALETTES

    def luminance(colour):
        parts = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in QColor(colour).getRgbF()[:3])
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts))

    def contrast(one, two):
        low, high = sorted((luminance(one), luminance(two)))
        return (high + 0.05) / (low + 0.05)

    p = PALETTES[name]
    grounds = (p.background, p.surface, p.raised)
    poor = [
        (ink, ground, round(contrast(ink, ground), 1))
        for ink in (p.text, p.muted, p.accent, p.good, p.warn, p.bad)
        for ground in grounds
        if contrast(ink, ground) < 4.5
    ]
    assert not poor and contrast(p.on_accent, p.accent) >= 4.5
    assert all(contrast(curve, p.background) >= 3.0 for curve in p.curves)


def test_the_command_line_runs_calls_of_the_client_and_has_keys_of_its_own(setup, teleop_keyboard):
    from shellbot_teleop.qt.command_panel import CommandPanel

    panel = CommandPanel([sys.executable, "-u", "-m", "shellbot_client.command_line", "--simulated"])
    setup.window.views.addTab(panel, "Python")
    setup.window.views.setCurrentWidget(panel)
    panel.field.setFocus()

    def type_keys(*keys):
        for key in keys:
            teleop_keyboard.press(key)
            teleop_keyboard.release(key)

    type_keys("r", "o", "b", "o", "t", "period", "p", "l", "a", "c", "Tab")
    assert setup.until(lambda: panel.field.text() == "robot.place"), "Tab completes"
    type_keys("period", "x", "Space", "Plus", "Space", "1", "Enter")
    assert setup.until(lambda: re.search(r">>> robot.place.x \+ 1\n[01]\.\d+\n", panel.output.toPlainText()))
    assert panel.field.hasFocus() and setup.twists == [], "neither Space nor Enter went to the robot"
    panel.field.setText("print('begins'); walk(x=50.0)")
    type_keys("Enter")
    assert setup.until(lambda: "\nbegins" in panel.output.toPlainText())
    panel.stop.click()
    assert setup.until(lambda: "interrupted" in panel.output.toPlainText())
    type_keys("Up")
    assert setup.until(lambda: "walk(x=50.0)" in panel.field.text())
    panel.field.clear()
    type_keys("Enter")
    assert setup.until(lambda: not panel.field.hasFocus()), "Enter on an empty line gives the keys back"
    panel.field.setFocus()
    panel.field.setText("import sys; print('[INFO] past the pipe', file=sys.__stdout__)")
    type_keys("Enter")
    assert setup.until(lambda: "\n[INFO] past the pipe\n" in panel.output.toPlainText())
    panel.field.setText("walk(")
    type_keys("Escape")
    assert setup.until(lambda: setup.kinds(effects.EmergencyStop)), "Escape stops wherever the focus is"
    panel.close_process()


def test_a_command_line_that_does_not_start_says_so(setup):
    from shellbot_teleop.qt.command_panel import CommandPanel

    panel = CommandPanel(["/nowhere/python"])
    panel.field.setText("walk(x=1.0)")
    panel.field.returnPressed.emit()
    assert setup.until(lambda: "/nowhere/python does not start" in panel.output.toPlainText())
    panel.close_process()
