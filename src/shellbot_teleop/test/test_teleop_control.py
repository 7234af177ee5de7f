# SPDX-License-Identifier: MIT
"""Monitor mode, control and the dead-man switch in the command model."""

from __future__ import annotations

import pytest

from shellbot_teleop import effects
from shellbot_teleop.actions import ACTIONS, HeldAction, Quantity
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.effects import ZERO_TWIST, Notice, PublishTwist, TakeControl

ROBOT = (
    effects.PublishTwist,
    effects.PublishBodyPose,
    effects.PublishUpperShells,
    effects.PublishGait,
    effects.RequestMode,
    effects.Rearm,
)


@pytest.fixture
def monitor(teleop_config, teleop_keymap):
    return CommandModel(teleop_config, teleop_keymap)


@pytest.fixture
def guarded(teleop_config, teleop_keymap):
    model = CommandModel(teleop_config.replace(dead_man=True), teleop_keymap)
    model.observe_operator("teleop_window", True)
    return model


def commands(out):
    return [effect for effect in out if isinstance(effect, ROBOT)]


def texts(out):
    return " ".join(effect.text for effect in out if isinstance(effect, Notice))


@pytest.mark.parametrize("layout", ["walk", "tilt"])
def test_no_key_commands_anything_before_control_is_taken(monitor, layout):
    monitor.set_layout(layout, 0.0)
    for binding in monitor.keymap.in_layout(layout):
        if binding.action == "layout.next":
            continue
        out = monitor.press(binding.key, 1.0) + monitor.tick(1.1) + monitor.release(binding.key, 1.2)
        assert not commands(out), binding
    for out in (
        monitor.set_gait("wave"),
        monitor.set_pose_target({2: 0.02}, 2.0),
        monitor.set_shells_target(0, 0.05, 2.0),
    ):
        assert not commands(out) and "Monitor mode" in texts(out)
    assert not monitor.active and monitor.heartbeat() == []
    assert effects.EmergencyStop() in monitor.press("Escape", 3.0), "this always works"


def test_a_refused_key_says_who_is_in_control_and_what_takes_it(monitor):
    assert "no operator is in control. F2 takes control" in texts(monitor.press("w", 0.0))
    monitor.observe_operator("teleop_terminal", False)
    assert "teleop_terminal is in control. F2 takes control" in texts(monitor.press("w", 1.0))
    assert "emergency stop, Escape or F12" in texts(monitor.press("Space", 1.0))


def test_control_is_what_the_robot_says_and_not_what_was_asked_for(monitor):
    assert monitor.press("F2", 0.0) == [TakeControl(True)]
    assert not commands(monitor.press("w", 0.1))
    monitor.release("w", 0.1)
    assert "You are in control" in texts(monitor.observe_operator("teleop_window", True))
    assert monitor.observe_operator("teleop_window", True) == [], "it is said once"
    assert monitor.heartbeat() == [effects.Heartbeat()]
    assert commands(monitor.press("w", 0.4))
    out = monitor.press("F4", 0.5)
    assert out == [effects.ZERO_TWIST, TakeControl(False)] and not monitor.held


def test_the_keys_of_actions_drop_what_is_held_and_command_nothing_in_monitor_mode(monitor):
    for key in ("p", "x"):
        assert "Monitor mode, nothing was sent" in texts(monitor.press(key, 0.0))
    assert monitor.press("F3", 0.0) == [effects.ShowActions()], "to be read by everybody"
    monitor.observe_operator("teleop_window", True)
    monitor.press("w", 1.1)
    assert monitor.press("F3", 1.2) == [effects.ZERO_TWIST, effects.ShowActions()] and not monitor.held
    monitor.observe_stopped(True, 1.3)
    assert monitor.press("p", 1.4) == [effects.TogglePause()] and monitor.press("x", 1.4) == [effects.CancelAction()]


def test_the_dead_man_switch_lets_drive_and_stops(guarded):
    assert "Hold the dead-man switch (Enter)" in texts(guarded.press("w", 0.0)) and not guarded.held
    assert "Hold the dead-man switch" in texts(guarded.press("F5", 0.0))
    assert guarded.press("Enter", 1.0) == []
    assert commands(guarded.press("w", 1.1)) and commands(guarded.tick(1.2))
    out = guarded.release("Enter", 1.3)
    assert commands(out) == [effects.ZERO_TWIST] and "released" in texts(out)
    assert not guarded.active and guarded.release("w", 1.4) == []


def test_of_two_dead_man_switches_one_is_enough(guarded):
    guarded.press("Enter", 1.0)
    guarded.hold_dead_man("button")
    guarded.press("w", 1.1)
    assert guarded.release("Enter", 1.2) == []
    assert [twist == ZERO_TWIST for twist in guarded.tick(1.3) if isinstance(twist, PublishTwist)] == [False]
    assert commands(guarded.release("button", 1.4)) == [effects.ZERO_TWIST]


def test_without_the_option_the_dead_man_switch_is_no_command(monitor):
    monitor.observe_operator("teleop_window", True)
    assert "no need" in texts(monitor.press("Enter", 0.0)) and not monitor.held
    action = ACTIONS["control.dead_man"]
    assert isinstance(action, HeldAction) and action.quantity is Quantity.DEAD_MAN
