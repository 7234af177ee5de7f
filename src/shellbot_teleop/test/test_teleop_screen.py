# SPDX-License-Identifier: MIT
"""What the terminal version shows."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from prompt_toolkit.input import DummyInput
from prompt_toolkit.output.vt100 import Vt100_Output
from teleop_drawn import Paper, Typist

from shellbot_teleop.action_model import ActionModel, ActionState, FeedbackSeen, GoalSeen, ResultSeen
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.robot_monitor import (
    BatteryInfo,
    LogLine,
    ModeInfo,
    OdomInfo,
    ServosInfo,
    StatusInfo,
    fresh_battery,
    servo_line,
)
from shellbot_teleop.terminal_screen import RobotView, screen


@pytest.fixture
def model(teleop_config, teleop_keymap):
    model = CommandModel(teleop_config, teleop_keymap)
    model.observe_operator("teleop_terminal", True)
    return model


IDLE = ActionState()


def parts(model, robot, messages, width, height, action=IDLE):
    """Return all that is shown, as lines; what is too much for the terminal is drawn in part."""
    whole = screen(model, robot, messages, (width, height), action)
    return whole.head + whole.velocities + whole.condition + whole.key_help + whole.messages


def drawn(model, robot, messages, width, height, action=IDLE):
    """Return the lines of a terminal of this size."""
    typist = Typist(DummyInput(), (width, height))
    typist.view.show(screen(model, robot, messages, (width, height), action))
    return typist.rows()


def text(lines):
    return "\n".join("".join(part for _, part in line) for line in lines)


NOTHING = RobotView("Waiting for the ROS master at http://localhost:11311", False, None, None, None)
WALKING = RobotView(
    "",
    True,
    ModeInfo("hexapod", "shell", "closing_fan", 0.4, "Closing."),
    OdomInfo((1.0, -0.5, 0.162), (0.0, 0.1, math.pi), (0.1, 0.0, 0.0), 0.0),
    StatusInfo(False, 0.2, "lower_1_coxa", True, "target is 0.6 s old", 0.0),
)


def test_without_a_robot_it_says_what_is_waited_for(model):
    shown = text(parts(model, NOTHING, [], 100, 40))
    assert "Waiting for the ROS master" in shown and "No mode yet" in shown and "no odometry" in shown


def test_it_shows_who_is_in_control(model):
    assert " in control " in text(parts(model, WALKING, [], 80, 24))
    model.observe_operator("teleop_window", False)
    assert "teleop_window drives" in text(parts(model, WALKING, [], 80, 24))
    model.observe_operator("", False)
    assert "monitor " in text(parts(model, WALKING, [], 80, 24))


def test_it_shows_mode_velocities_pose_hold_and_messages(model):
    model.press("w", 0.0)
    lines = parts(model, WALKING, [LogLine("warn", "node", "watch out\nhere", 0.0)], 100, 45)
    shown = text(lines)
    for part in (
        "hexapod -> shell",
        "closing_fan 40%",
        "Closing.",
        "+0.05",
        "+0.10",
        "yaw +180.0 deg",
        "height 162 mm",
        "joints hold: target is 0.6 s old",
        "watch out here",
    ):
        assert part in shown
    assert ("held", "W 8") in [segment for line in lines for segment in line]
    assert ("warn", "watch out here") in [segment for line in lines for segment in line]


def test_what_is_rounded_to_nothing_has_no_minus(model):
    pose = {"position": (-0.0004, -0.0, 0.1), "rpy": (-1e-4, 1e-4, -1e-9), "has_tilt": True}
    still = replace(WALKING.odom, velocity=(-0.004, -0.006, 0.0), **pose)
    shown = text(parts(model, replace(WALKING, odom=still), [], 100, 45))
    assert "x +0.000 m  y +0.000 m  yaw +0.0 deg" in shown and "roll +0.0, pitch +0.0 deg" in shown
    assert "-0.01" in shown and "-0.00 " not in shown


def test_of_the_nodes_it_shows_what_is_not_good(model):
    good, bad = (replace(WALKING, diagnostics=line) for line in (("2 of 2 good", False), ("gains: no page", True)))
    assert "2 of 2" not in text(parts(model, good, [], 100, 45))
    assert ("warn", "nodes    gains: no page") in [part for line in parts(model, bad, [], 100, 45) for part in line]


def test_the_emergency_stop_is_shown_with_the_key_that_takes_it_back(model):
    model.observe_stopped(True, 0.0)
    assert "EMERGENCY STOP" in text(parts(model, WALKING, [], 80, 24)) and "Ctrl+R" in text(
        parts(model, WALKING, [], 80, 24)
    )


def test_a_message_of_blanks_alone_is_shown_as_one_line(model):
    shown = drawn(model, WALKING, [LogLine("info", "node", "\n" * 100, 0.0)], 80, 60)
    assert shown[shown.index("Messages") + 1].endswith(" node") and not any(shown[shown.index("Messages") + 2 :])


def test_at_80_characters_nothing_that_is_said_is_cut(model):
    words = "closing to a ball is not available yet; the modes are hexapod, stand, sit, relax"
    stopped = (
        "emergency stop (topic emergency_stop from /teleop_terminal): holding the last command until rearm is called"
    )
    robot = replace(
        WALKING,
        mode=replace(WALKING.mode, text=f"shell refused: {words}"),
        status=replace(WALKING.status, text=stopped),
        odom=replace(WALKING.odom, rpy=(0.0, -0.1, -3.0), has_tilt=True),
    )
    messages = [
        LogLine("info", "action_manager", "older", 0.0),
        LogLine("warn", "teleop", f"shell: refused. {words}", 0.0),
    ]
    whole = " ".join(line.strip() for line in drawn(model, robot, messages, 80, 60))
    assert f"shell refused: {words}" in whole
    assert f"joints hold: {stopped}" in whole
    assert f"shell: refused. {words}" in whole
    assert "roll +0.0, pitch -5.7 deg" in whole
    assert whole.index("older") < whole.index("shell: refused.")
    assert "Ctrl+Q quit" in " ".join(drawn(model, robot, messages, 80, 24)), "the keys come first"


@pytest.mark.parametrize("width, height", [(1, 1), (20, 5), (80, 24), (100, 30), (200, 60)])
def test_every_terminal_is_filled_and_the_newest_message_is_the_last(model, width, height):
    messages = [LogLine("info", "n", f"{number} " + "x" * 300, 0.0) for number in range(300)] + [
        LogLine("info", "n", "newest", 0.0)
    ]
    shown = drawn(model, WALKING, messages, width, height)
    assert width == 1 or shown[0].startswith("Operator")
    shown = drawn(model, replace(WALKING, name="Arm"), messages, width, height)
    assert width == 1 or shown[0].startswith("Arm ")
    assert shown[-1].endswith(" n newest") or height < 30


@pytest.mark.parametrize("layout", ["walk", "tilt"])
def test_80_by_24_still_shows_every_key_and_what_is_performed(model, layout):
    model.set_layout(layout, 0.0)
    shown = "\n".join(drawn(model, WALKING, [], 80, 24, ActionState("running", "wave", "lift", 0.4)))
    assert "wave running, 40 %  lift" in shown and "Messages" in shown
    for binding in model.keymap.in_layout(layout):
        assert binding.help in shown or binding.action in ("control.dead_man", "speed.fine"), "which a terminal lacks"


def test_it_shows_what_is_performed_how_far_it_is_and_why_it_ended(model):
    actions = ActionModel()

    def shown():
        return parts(model, WALKING, [], 100, 45, actions.state(1.0))

    assert "action   " not in text(shown()[:10])
    actions.observe(GoalSeen("wave", "1"), 1.0)
    assert [("", "action   "), ("command", "[" + "-" * 20 + "]"), ("", " wave requested, 0 %  ")] in shown()
    actions.observe(FeedbackSeen("1", "lift", 0.5, True), 1.0)
    assert [
        ("", "action   "),
        ("command", "[" + "#" * 10 + "-" * 10 + "]"),
        ("", " wave paused, 50 %  lift"),
    ] in shown()
    actions.observe(ResultSeen("2", "warn", "refused"), 1.0)
    assert [("", "         "), ("warn", ": refused")] in shown(), "of another one, while this one goes on"
    actions.observe(ResultSeen("1", "warn", "cancelled"), 1.0)
    assert [("", "action   "), ("warn", "wave: cancelled")] in shown()


def test_control_characters_of_a_message_do_not_reach_the_terminal(model):
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    paper = Paper(80, 24)
    typist = Typist(DummyInput(), output=Vt100_Output(written, paper.get_size, term="xterm"))
    bad = "a\x1b[2Jb\x07c\x9b1md\x7f"
    robot = replace(WALKING, mode=replace(WALKING.mode, text=bad, step=bad))
    typist.view.show(screen(model, robot, [LogLine("warn", bad, bad, 0.0)], (80, 24), ActionState("running", bad, bad)))
    rows = "\n".join(typist.rows())
    assert rows.count("a^[[2Jb^Gc<9b>1md^?") >= 3
    raw = written.buffer.getvalue().decode()
    assert not any(sign in raw for sign in ("\x1b[2Jb", "\x07", "\x9b", "\x7f"))


BATTERY = BatteryInfo(11.46, 0.47, 10.0)
SERVOS = ServosInfo(19, 41.0, "lower_3_tibia", 0, (), 10.0)


def test_battery_and_servos_have_a_line_where_there_are_some(model):
    assert "servos" not in text(parts(model, WALKING, [], 100, 45))
    lines = parts(model, replace(WALKING, battery=BATTERY, servos=SERVOS), [], 100, 45)
    assert [("", "servos   battery 11.5 V 47%  hottest 41 °C lower_3_tibia")] in lines
    limp = replace(SERVOS, limp=19, trouble=("lower_1_coxa: overload", "lower_2_coxa: silent", "lower_3_coxa: silent"))
    lines = parts(model, replace(WALKING, servos=limp), [], 140, 45)
    (found,) = [line for line in lines if line and line[0][1].startswith("servos")]
    assert found[0][0] == "warn"
    assert "19 of 19 servos without torque  lower_1_coxa: overload, lower_2_coxa: silent and 1 more" in found[0][1]


def test_an_empty_battery_is_bad_news_and_an_unknown_one_is_none():
    assert servo_line(BatteryInfo(10.2, 0.04, 0.0), None) == ("battery 10.2 V 4%", True)
    assert servo_line(BatteryInfo(math.nan, math.nan, 0.0), None) == ("", False)
    assert servo_line(BatteryInfo(11.0, math.nan, 0.0), SERVOS)[0].startswith("battery 11.0 V  hottest")
    assert servo_line(None, replace(SERVOS, hottest=math.nan)) == ("", False)


def test_an_old_battery_is_not_shown():
    assert fresh_battery(BATTERY, 12.0) is BATTERY
    assert fresh_battery(BATTERY, 20.0) is None
    assert fresh_battery(None, 20.0) is None
