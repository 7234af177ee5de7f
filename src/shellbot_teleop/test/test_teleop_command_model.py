# SPDX-License-Identifier: MIT
"""The command model: keys to commands, one zero, silence, stop, limits. Time is passed in; nothing waits."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from shellbot_teleop import effects
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.controls import mode_buttons
from shellbot_teleop.effects import ZERO_TWIST, Notice, PublishBodyPose, PublishTwist, PublishUpperShells
from shellbot_teleop.errors import LimitsError
from shellbot_teleop.limits import Limits
from shellbot_teleop.slewed_vector import SlewedVector

LIMITS = Limits((0.4, 0.3, 1.2), (-0.04, -0.05, -0.06), (0.04, 0.05, 0.03), (0.2, 0.25, 0.3), "tripod", measured=True)
PERIOD = 0.05


@pytest.fixture
def model(teleop_config, teleop_keymap):
    model = CommandModel(teleop_config, teleop_keymap)
    model.observe_operator("teleop_window", True)
    model.observe_limits(LIMITS)
    model.set_scale(1.0, 0.0)
    return model


def twists(out):
    return [effect for effect in out if isinstance(effect, PublishTwist)]


def hold(model, key, seconds, start=0.0):
    """Press a key, tick as the programs do, release; return all effects."""
    out = model.press(key, start)
    for index in range(1, round(seconds / PERIOD) + 1):
        out += model.tick(start + index * PERIOD)
    return out + model.release(key, start + seconds + 0.001)


def test_a_stick_names_the_axis_that_it_pushes_most_when_that_one_may_not_move(model):
    model.observe_limits(replace(LIMITS, velocity=(0.4, 0.3, 0.0)))
    assert not [each for each in model.push_stick((1.0, 0.0, 0.1), 0.0) if isinstance(each, Notice)]
    model.push_stick((0.0, 0.0, 0.0), 0.1)
    (notice,) = [each for each in model.push_stick((0.1, 0.0, -1.0), 0.2) if isinstance(each, Notice)]
    assert "allow no motion this way" in notice.text


def test_a_key_beside_a_stick_moves_the_body_for_the_time_that_it_was_down(model, teleop_config):
    model.push_stick((1.0, 0.0, 0.0), 100.0)
    model.press("u", 100.01)
    before = model.pose.value[2]
    model.tick(100.03)
    assert model.pose.value[2] - before == pytest.approx(0.03 * teleop_config.shift_rate)


def test_a_stop_holds_body_and_shells_where_they_are(model):
    model.set_pose_target({2: 0.03}, 0.0)
    model.set_shells_target(1, model.shells.upper[1], 0.0)
    model.tick(0.05)
    model.stop(0.1)
    assert not model.active and not [each for each in model.tick(0.2) if not isinstance(each, Notice)]


def test_a_vector_goes_at_its_rate_to_the_end_and_takes_none_of_another_size():
    vector = SlewedVector((1.0,), (-1.0,), (1.0,), (0.0,))
    vector.set_target(0, 0.15)
    assert vector.step(0.1) and vector.value == pytest.approx((0.1,))
    assert vector.step(0.1) and vector.value == (0.15,) and vector.at_rest and not vector.step(0.1)
    vector.jump((0.5, 0.5))
    assert vector.value == (0.15,)


DRIVE = {"w": (0.4, 0, 0), "s": (-0.4, 0, 0), "a": (0, 0.3, 0), "d": (0, -0.3, 0), "q": (0, 0, 1.2), "e": (0, 0, -1.2)}
KEYPAD = {"8": (0.4, 0, 0), "2": (-0.4, 0, 0), "4": (0, 0.3, 0), "6": (0, -0.3, 0), "7": (0, 0, 1.2), "9": (0, 0, -1.2)}
# axis of (x, y, z, roll, pitch, yaw), sign
POSE_BOTH = {
    "u": (2, 1),
    "l": (2, -1),
    "Right": (3, 1),
    "Left": (3, -1),
    "Up": (4, 1),
    "Down": (4, -1),
    "t": (0, 1),
    "g": (0, -1),
    "f": (1, 1),
    "h": (1, -1),
}
POSE_SHELL = {"z": (5, 1), "c": (5, -1)}
POSE_ESAPODE = {"q": (5, -1), "w": (4, 1), "e": (5, 1), "a": (3, -1), "s": (4, -1), "d": (3, 1)}


@pytest.mark.parametrize(
    "layout, key, expected",
    [("walk", key, value) for key, value in {**DRIVE, **KEYPAD}.items()]
    + [("tilt", key, value) for key, value in KEYPAD.items()],
)
def test_every_drive_key_sends_its_full_speed_at_once_and_one_zero_on_release(model, layout, key, expected):
    model.set_layout(layout, 0.0)
    pressed = model.press(key, 1.0)
    assert [(twist.x, twist.y, twist.yaw) for twist in pressed] == [pytest.approx(expected)]
    released = model.release(key, 1.01)
    assert released == [effects.ZERO_TWIST]


@pytest.mark.parametrize(
    "layout, key, axis, sign",
    [
        (layout, key, *value)
        for layout, table in (("walk", {**POSE_BOTH, **POSE_SHELL}), ("tilt", {**POSE_BOTH, **POSE_ESAPODE}))
        for key, value in table.items()
    ],
)
def test_every_pose_key_moves_its_axis_its_way_and_the_pose_stays(model, layout, key, axis, sign):
    model.set_layout(layout, 0.0)
    out = hold(model, key, 0.2)
    poses = [effect.pose for effect in out if isinstance(effect, PublishBodyPose)]
    assert len(poses) == len(out) and len(poses) >= 4
    values = [pose[axis] * sign for pose in poses]
    assert values == sorted(values) and values[0] > 0.0
    assert all(value == 0.0 for pose in poses for index, value in enumerate(pose) if index != axis)
    assert not model.active and model.tick(9.0) == []
    rate = 0.05 if axis < 3 else 0.35
    assert values[-1] == pytest.approx(5 * PERIOD * rate, rel=1e-6)


@pytest.mark.parametrize("key, index, sign", [("PageDown", 0, -1), ("Home", 1, 1)])
def test_shell_keys_move_the_upper_shells(model, key, index, sign):
    before = model.shells.value
    out = [effect for effect in hold(model, key, 0.2) if isinstance(effect, PublishUpperShells)]
    assert ((out[-1].height, out[-1].angle)[index] - before[index]) * sign > 0.005


@pytest.mark.parametrize(
    "key, expected",
    [
        ("F5", effects.RequestMode("stand")),
        ("F6", effects.RequestMode("sit")),
        ("F7", effects.RequestMode("hexapod")),
        ("F8", effects.RequestMode("shell")),
        ("F9", effects.RequestMode("relax")),
        ("r", effects.RequestMode("recover")),
        ("0", effects.RequestMode("shell")),
        ("1", effects.RequestMode("hexapod")),
        ("3", effects.RequestMode("stand")),
        ("Ctrl+R", effects.Rearm()),
        ("Ctrl+Q", effects.Quit()),
        ("n", effects.PublishGait("tripod")),
    ],
)
def test_command_keys(model, key, expected):
    model.observe_limits(replace(LIMITS, gait=""))
    assert model.press(key, 0.0)[0] == expected


def test_nothing_is_sent_before_the_operator_does_something(model):
    assert not model.active
    assert model.tick(0.0) == [] and model.tick(100.0) == []
    assert model.release_all(101.0) == []
    model.observe_limits(replace(LIMITS, min_shift=(0.0, 0.0, 0.0), max_shift=(0.0, 0.0, 0.0), tilt=(0.0, 0.0, 0.0)))
    assert not model.active and model.tick(102.0) == []


def test_a_held_key_repeats_at_the_rate_and_one_zero_ends_it_then_silence(model):
    out = hold(model, "w", 1.0)
    sent = twists(out)
    assert len(sent) == 1 + 20 + 1
    assert [twist == ZERO_TWIST for twist in sent] == [False] * 21 + [True]
    assert not model.active
    assert all(model.tick(2.0 + index) == [] for index in range(5))
    assert model.release("w", 8.0) == [] and model.release_all(9.0) == []


def test_a_mix_has_the_keys_direction_and_is_not_faster_than_one_axis(model):
    model.press("w", 0.0)
    (twist,) = model.press("q", 0.01)
    assert (twist.x, twist.yaw) == pytest.approx((0.4 / math.sqrt(2), 1.2 / math.sqrt(2)))
    assert model.release("q", 0.02) == [PublishTwist(0.4, 0.0, 0.0)]
    assert model.release("w", 0.03) == [effects.ZERO_TWIST]


def test_two_keys_of_one_action_count_once_and_the_zero_waits_for_the_last(model):
    model.press("w", 0.0)
    assert model.press("8", 0.01) == [PublishTwist(0.4, 0.0, 0.0)]
    (mixed,) = model.press("q", 0.015)
    assert (mixed.x, mixed.yaw) == pytest.approx((0.4 / math.sqrt(2), 1.2 / math.sqrt(2)))
    model.release("q", 0.018)
    assert model.release("w", 0.02) == [PublishTwist(0.4, 0.0, 0.0)]
    assert model.release("8", 0.03) == [effects.ZERO_TWIST]


def test_opposite_keys_cancel(model):
    model.press("w", 0.0)
    assert model.press("s", 0.01) == [effects.ZERO_TWIST]
    assert model.release("s", 0.02) == [PublishTwist(0.4, 0.0, 0.0)]


def test_auto_repeat_presses_are_ignored(model):
    model.press("w", 0.0)
    assert model.press("w", 0.03) == []


@pytest.mark.parametrize("key", ["Space", "5"])
def test_stop_sends_zero_at_once_drops_all_keys_and_freezes_the_body(model, key):
    model.press("w", 0.0)
    model.press("u", 0.0)
    model.set_pose_target({4: 0.2}, 0.0)
    model.tick(0.05)
    frozen = model.pose.value
    out = model.press(key, 0.06)
    assert twists(out) == [effects.ZERO_TWIST]
    assert model.held == frozenset() and not model.active and model.pose.value == frozen
    assert model.tick(0.2) == []
    assert model.release("w", 0.3) == [] and model.release("u", 0.3) == []


def test_stop_sends_a_zero_even_when_nothing_was_sent_before(model):
    assert twists(model.press("Space", 0.0)) == [effects.ZERO_TWIST]


@pytest.mark.parametrize("key", ["Escape", "F12"])
def test_emergency_stop_comes_first_and_then_the_zero(model, key):
    model.press("w", 0.0)
    out = model.press(key, 0.01)
    assert out[0] == effects.EmergencyStop() and twists(out) == [effects.ZERO_TWIST]
    assert not model.active


def test_a_latched_stop_drops_keys_refuses_motion_and_says_how_to_rearm(model):
    model.press("w", 0.0)
    out = model.observe_stopped(True, 0.01)
    assert twists(out) == [effects.ZERO_TWIST] and "Ctrl+R" in out[-1].text
    assert model.observe_stopped(True, 0.02) == []
    for key in ("w", "u", "Home"):
        (refused,) = model.press(key, 0.1)
        assert isinstance(refused, Notice) and "rearm" in refused.text
    assert isinstance(model.set_pose_target({0: 0.01}, 0.2)[0], Notice) and not model.active
    model.observe_stopped(False, 0.3)
    assert twists(model.press("w", 0.4))


def test_focus_loss_and_quit_send_one_zero_only_if_something_moved(model):
    model.press("w", 0.0)
    assert model.release_all(0.1) == [effects.ZERO_TWIST]
    assert model.release_all(0.2) == []
    model.press("w", 0.3)
    assert model.press("Ctrl+Q", 0.4) == [effects.ZERO_TWIST, effects.Quit()]


def test_layout_change_drops_held_keys(model):
    model.press("w", 0.0)
    out = model.press("Tab", 0.1)
    assert out[0] == effects.ZERO_TWIST and effects.LayoutChanged("tilt") in out
    assert model.layout == "tilt"
    model.press("Tab", 0.2)
    assert model.layout == "walk"
    assert "choose one of" in model.set_layout("dvorak", 0.3)[0].text and model.layout == "walk"


def test_speed_scale_acts_on_a_held_key_and_stays_in_its_range(model):
    model.press("w", 0.0)
    assert model.press("Minus", 0.1) == [PublishTwist(pytest.approx(0.36), 0.0, 0.0)]
    for index in range(20):
        model.press("Minus", 0.2 + index)
    assert model.scale == pytest.approx(0.1)
    for index in range(20):
        model.press("Plus", 30.0 + index)
    assert model.scale == pytest.approx(1.0)
    model.release("w", 60.0)
    assert model.press("Minus", 61.0) == []


def test_shift_beside_others_makes_them_fine_at_once_and_outlasts_a_stop(model):
    fine = model._config.fine
    assert model.press("Shift", 0.0) == [] and model.release("Shift", 0.1) == [], "alone it commands nothing"
    model.press("w", 1.0)
    assert twists(model.press("Shift", 1.1)) == [PublishTwist(pytest.approx(0.4 * fine), 0.0, 0.0)]
    assert twists(model.stop(1.2)) == [effects.ZERO_TWIST]
    assert twists(model.press("w", 1.3)) == [PublishTwist(pytest.approx(0.4 * fine), 0.0, 0.0)]
    assert twists(model.release("Shift", 1.4)) == [PublishTwist(0.4, 0.0, 0.0)]
    model.release("w", 1.5)
    model.press("Shift", 2.0)
    assert model.release_all(2.1) == [] and not model.held, "it alone is no motion"
    hold(model, "u", 0.2, 3.0)
    fast = model.pose.value[2]
    model.press("Shift", 4.0)
    hold(model, "u", 0.2, 4.0)
    assert model.pose.value[2] - fast == pytest.approx(fine * fast)


def test_the_walkspace_scales_the_full_speed(model):
    model.observe_limits(replace(LIMITS, velocity=(0.2, 0.1, 0.5)))
    assert model.press("w", 0.0) == [PublishTwist(0.2, 0.0, 0.0)]
    model.observe_limits(LIMITS)
    assert model.tick(0.05) == [PublishTwist(0.4, 0.0, 0.0)]


def test_body_pose_ends_at_the_walkspace_and_says_so_once(model):
    out = hold(model, "u", 3.0)
    assert model.pose.value[2] == pytest.approx(0.03)
    assert max(effect.pose[2] for effect in out if isinstance(effect, PublishBodyPose)) <= 0.03
    refused = model.press("u", 4.0)
    assert [type(effect) for effect in refused] == [Notice] and "height is at its limit" in refused[0].text
    assert model.tick(4.05) == []


def test_limits_that_shrink_start_no_motion_but_bound_the_next_one(model):
    hold(model, "u", 0.5)
    height = model.pose.value[2]
    assert height > 0.02
    model.observe_limits(replace(LIMITS, max_shift=(0.04, 0.05, 0.01)))
    assert not model.active and model.tick(5.0) == [] and model.pose.value[2] == height
    hold(model, "Up", 0.1, start=6.0)
    assert model.pose.value[2] == height
    model.set_pose_target({2: 0.03}, 7.0)
    for index in range(1, 20):
        model.tick(7.0 + index * PERIOD)
    assert model.pose.value[2] == pytest.approx(0.01)


def test_a_slider_goes_to_its_target_at_the_rate_and_neutral_goes_back(model):
    assert model.set_pose_target({4: 0.14}, 10.0) == []
    poses = []
    for index in range(1, 20):
        poses += [effect.pose[4] for effect in model.tick(10.0 + index * PERIOD)]
    assert poses[-1] == pytest.approx(0.14) and len(poses) == 8
    assert max(b - a for a, b in zip([0.0] + poses, poses)) <= 0.35 * PERIOD + 1e-12
    model.press("i", 20.0)
    for index in range(1, 20):
        model.tick(20.0 + index * PERIOD)
    assert model.pose.value == (0.0,) * 6 and not model.active


def test_a_stall_of_the_program_does_not_make_the_body_jump(model):
    model.set_pose_target({4: 0.25}, 0.0)
    model.tick(0.05)
    before = model.pose.value[4]
    model.tick(30.0)
    assert model.pose.value[4] - before <= 0.35 * 0.1 + 1e-12
    after = model.pose.value[4]
    model.tick(1.0)  # a clock that jumps back
    assert model.pose.value[4] == after


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_change_nothing(model, value):
    model.set_pose_target({0: value, 4: value}, 0.0)
    model.set_shells_target(0, value, 0.0)
    model.observe_body_pose((value,) * 6)
    assert not model.active and model.pose.value == (0.0,) * 6


@pytest.mark.parametrize(
    "change, word",
    [
        ({"velocity": (math.nan, 0.1, 0.1)}, "finite"),
        ({"tilt": (0.1, math.inf, 0.1)}, "finite"),
        ({"velocity": (-0.1, 0.1, 0.1)}, "negative"),
        ({"min_shift": (0.01, 0.0, 0.0)}, "contain zero"),
        ({"velocity": (0.1, 0.1)}, "three"),
    ],
)
def test_unusable_limits_are_refused_in_words(change, word):
    with pytest.raises(LimitsError, match=word):
        replace(LIMITS, **change)


def test_zero_limits_are_obeyed_and_reported(model):
    model.observe_limits(replace(LIMITS, velocity=(0.0, 0.0, 0.0)))
    out = model.press("w", 0.0)
    assert out[0] == effects.ZERO_TWIST and "allow no motion" in out[1].text


def test_driving_in_a_mode_that_does_not_walk_is_reported(model):
    model.observe_mode("stand")
    assert "F7 or 1" in model.press("w", 0.0)[1].text
    model.release("w", 0.1)
    model.observe_mode("hexapod")
    assert len(model.press("w", 0.2)) == 1


def test_a_robot_without_the_mode_hexapod_is_not_sent_there(model, teleop_config, teleop_keymap):
    model.observe_mode("stand")
    assert len(model.press("w", 0.0)) == 2
    bindings = tuple(binding for binding in teleop_keymap.bindings if binding.action != "mode.hexapod")
    model.keymap = replace(teleop_keymap, bindings=bindings)
    model.release("w", 0.1)
    assert len(model.press("w", 0.2)) == 1


def test_another_operators_pose_is_taken_over_without_publishing(model):
    model.observe_body_pose((0.01, 0.0, 0.0, 0.0, 0.1, 0.0))
    model.observe_upper_shells((0.02, 0.3))
    assert not model.active and model.tick(1.0) == []
    first = model.press("Up", 2.0)[0]
    assert first.pose[4] == pytest.approx(0.1 + 0.35 * PERIOD) and first.pose[0] == 0.01


def test_the_next_gait_follows_the_one_in_use(model):
    for k, name in enumerate(("ripple", "tetrapod", "wave", "rough", "sprint", "tripod")):
        assert model.press("n", 0.1 * k)[0] == effects.PublishGait(name)


def test_gaits_are_those_of_the_robot_as_soon_as_it_names_them(model, teleop_config):
    assert model.gaits == teleop_config.gaits
    model.observe_limits(replace(LIMITS, gaits=("tripod", "moonwalk")))
    assert model.press("n", 0.0)[0] == effects.PublishGait("moonwalk")
    assert model.press("n", 0.1)[0] == effects.PublishGait("tripod")


def test_a_key_without_a_binding_does_nothing_and_perform_refuses_held_actions(model):
    assert model.press("k", 0.0) == [] and model.release("k", 0.1) == []
    with pytest.raises(ValueError, match="held"):
        model.perform("drive.forward", 0.0)


def test_a_key_may_request_a_mode_that_only_the_robot_knows(teleop_config, teleop_keymap):
    others = [b for b in teleop_keymap.to_mapping()["bindings"] if b["key"] != "k"]
    binding = {"key": "k", "action": "mode.kneel", "help": "kneel", "group": "mode"}
    model = CommandModel(teleop_config, teleop_keymap.replace(bindings=[*others, binding]))
    model.observe_operator("teleop_window", True)
    assert effects.RequestMode("kneel") in model.press("k", 0.0)
    assert ("Kneel", "mode.kneel") in mode_buttons(model.keymap), "it has a button, too"
    model.observe_mode("kneel")
    assert not any(isinstance(effect, effects.Notice) for effect in model.press("w", 0.1)), "it may obey velocities"


def test_a_key_may_request_a_gait_of_its_own(teleop_config, teleop_keymap):
    binding = {"key": "1", "action": "gait.request", "argument": "straight toggle", "help": "straight", "group": "walk"}
    others = [b for b in teleop_keymap.to_mapping()["bindings"] if b["key"] != "1"]
    model = CommandModel(teleop_config, teleop_keymap.replace(bindings=[*others, binding]))
    model.observe_operator("teleop_window", True)
    for _ in range(2):
        assert effects.PublishGait("straight toggle") in model.press("1", 0.0)
