# SPDX-License-Identifier: MIT
"""The joystick: its mapping file, and what its messages make the command model do."""

from __future__ import annotations

import copy
import math

import pytest

from shellbot_common import package_file
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.effects import (
    EmergencyStop,
    Notice,
    PublishBodyPose,
    PublishGait,
    PublishTwist,
    RequestMode,
    TakeControl,
)
from shellbot_teleop.errors import MappingError
from shellbot_teleop.joystick import Joystick
from shellbot_teleop.joystick_mapping import Axis, Button, JoystickMapping
from shellbot_teleop.limits import Limits

SAFE = [
    {"button": 0, "name": "A", "action": "drive.stop"},
    {"button": 1, "name": "B", "action": "safety.emergency_stop"},
    {"button": 2, "name": "X", "action": "safety.rearm"},
    {"button": 3, "name": "Y", "action": "control.take"},
]
AXES = [
    {"axis": 0, "action": "drive.forward", "dead_zone": 0.2},
    {"axis": 1, "action": "drive.turn_right"},
    {"axis": 2, "action": "pose.pitch_forward", "scale": -0.5},
]
DEAD_MAN = {"button": 4, "name": "LB", "action": "control.dead_man"}
PERIOD = 0.02  # s between two messages


def document(axes=(), buttons=(), changes=None):
    return {"axes": copy.deepcopy(AXES) + list(axes), "buttons": copy.deepcopy(SAFE) + list(buttons), **(changes or {})}


class Rig:
    """A joystick whose messages repeat, as joy_node's do, and a robot that gave us control."""

    def __init__(self, config, mapping, armed=True, **options):
        self.mapping = mapping
        self.model = CommandModel(config.replace(dead_man=mapping.has_dead_man), mapping.keymap())
        self.model.observe_limits(Limits((1.0, 1.0, 1.0), (-0.1,) * 3, (0.1,) * 3, (0.4,) * 3))
        self.model.set_scale(1.0, 0.0)
        if armed:
            self.model.observe_operator("teleop_joystick", True)
        self.joystick = Joystick(self.model, mapping, **options)
        self.t, self.axes, self.pressed, self.buttons = 0.0, [0.0] * 8, set(), 11

    def work(self, seconds=PERIOD, is_plugged=True, **axes):
        """Let time go; returns all effects."""
        for name, deflection in axes.items():
            self.axes[int(name[1:])] = deflection
        out = []
        for _ in range(max(round(seconds / PERIOD), 1)):
            self.t += PERIOD
            if is_plugged:
                buttons = [int(number in self.pressed) for number in range(self.buttons)]
                out += self.joystick.receive(self.axes, buttons, self.t)
            out += self.joystick.watch(self.t)
            out += self.model.tick(self.t) if self.model.active else []
        return out

    def press(self, *numbers):
        self.pressed = set(numbers)
        return self.work()


@pytest.fixture
def rig(teleop_config):
    rig = Rig(teleop_config, JoystickMapping.from_mapping(document()))
    rig.work()
    return rig


def of(effects, kind):
    return [effect for effect in effects if isinstance(effect, kind)]


def twists(effects):
    return [(twist.x, twist.y, twist.yaw) for twist in of(effects, PublishTwist)]


def texts(effects):
    return " ".join(notice.text for notice in of(effects, Notice))


# ------------------------------------------------------------------- the mapping file


def test_the_shipped_mapping_has_a_dead_man_a_stop_and_every_mode_but_those_of_other_robots():
    mapping = JoystickMapping.load(package_file("shellbot_teleop", "config/joystick.yaml"))
    assert mapping.has_dead_man
    assert {entry.action for entry in mapping.axes} >= {"drive.forward", "drive.left", "drive.turn_left"}
    bound = {button.action for button in mapping.buttons}
    assert {"mode.hexapod", "mode.shell", "mode.sit", "gait.next", "control.give_up", "safety.rearm"} <= bound


@pytest.mark.parametrize(
    "axes, buttons, changes, words",
    [
        ([{"axis": 5, "action": "drive.fly"}], [], {}, ["axes[3].action is 'drive.fly'", "drive.forward"]),
        ([{"axis": 5, "action": "mode.stand"}], [], {}, ["axes[3].action is 'mode.stand'"]),
        ([{"axis": -1, "action": "drive.left"}], [], {}, ["axes[3].axis is -1", "from 0 to 255"]),
        ([{"axis": 1, "action": "drive.left"}], [], {}, ["axes[3]: axis 1 is used twice"]),
        ([{"axis": 5, "action": "drive.left", "scale": 0}], [], {}, ["axes[3].scale is 0"]),
        ([{"axis": 5, "action": "drive.left", "dead_zone": 1}], [], {}, ["axes[3].dead_zone is 1", "0.01 to 0.9"]),
        ([{"axis": 5, "action": "drive.left", "scale": math.nan}], [], {}, ["axes[3].scale is nan"]),
        ([], [{"button": 9, "name": "Z", "action": "dance"}], {}, ["buttons[4].action is 'dance'"]),
        ([], [{"button": 9, "name": "Z", "action": "help.keys"}], {}, ["buttons[4].action is 'help.keys'"]),
        ([], [{"button": 9, "name": "Z", "action": "actions.show"}], {}, ["buttons[4].action is 'actions.show'"]),
        ([], [{"button": 3, "name": "Z", "action": "mode.sit"}], {}, ["buttons: Z uses button 3, which is used"]),
        ([], [{"axis": 2, "side": 1, "name": "Z", "action": "mode.sit"}], {}, ["Z uses axis 2, which is used"]),
        ([], [{"axis": 5, "name": "Z", "action": "mode.sit"}], {}, ["buttons[4].button is None, axis 5, side 0"]),
        ([], [{"button": 9, "name": "A", "action": "mode.sit"}], {}, ["the name 'A' is used twice"]),
        ([], [{"button": 9, "name": "Z", "action": "gait.request"}], {}, ["buttons[4].argument is the gait"]),
        ([], [], {"silence": 5}, ["silence is 5", "0.1 to 1 s"]),
        ([], [], {"buttons": SAFE[:1]}, ["none does control.take, safety.emergency_stop, safety.rearm"]),
    ],
)
def test_a_wrong_mapping_is_named_with_the_choices(axes, buttons, changes, words):
    with pytest.raises(MappingError) as caught:
        JoystickMapping.from_mapping(document(axes, buttons, changes))
    assert all(word in str(caught.value) for word in words), str(caught.value)


# -------------------------------------------------------------------------- driving


def test_a_stick_drives_by_degrees_from_the_edge_of_its_dead_zone_and_ends_with_one_zero(rig):
    assert twists(rig.work(a0=0.2)) == []
    assert twists(rig.work(a0=0.6))[0] == pytest.approx((0.5, 0.0, 0.0))
    assert twists(rig.work(a0=-1.0))[0] == pytest.approx((-1.0, 0.0, 0.0))
    assert twists(rig.work(a0=0.0, a1=1.0))[0] == pytest.approx((0.0, 0.0, -1.0))
    assert twists(rig.work(1.0, a1=0.05)) == [(0.0, 0.0, 0.0)]


def test_two_axes_of_one_velocity_are_not_faster_than_one(teleop_config):
    rig = Rig(teleop_config, JoystickMapping.from_mapping(document([{"axis": 5, "action": "drive.backward"}])))
    rig.work()
    assert twists(rig.work(a0=1.0, a5=-1.0))[0] == (1.0, 0.0, 0.0)
    assert twists(rig.work(a5=1.0))[0] == (0.0, 0.0, 0.0)


def test_an_axis_tilts_the_body_at_a_fraction_of_the_rate_and_it_stays_there(rig, teleop_config):
    out = rig.work(1.0, a2=1.0)
    pitch = of(out, PublishBodyPose)[-1].pose[4]
    assert pitch == pytest.approx(-0.5 * teleop_config.tilt_rate, rel=0.1) and twists(out) == []
    assert of(rig.work(1.0, a2=0.0), PublishBodyPose) == []
    assert "pitch is at its limit" in texts(rig.work(5.0, a2=1.0) + rig.work(a2=0.0) + rig.work(a2=1.0))


def test_an_axis_pushes_in_the_direction_of_its_action(teleop_config):
    axes = [{"axis": 5, "action": "pose.lower"}, {"axis": 6, "action": "pose.roll_left", "scale": -1.0}]
    rig = Rig(teleop_config, JoystickMapping.from_mapping(document(axes)))
    rig.work()
    pose = of(rig.work(0.5, a5=1.0, a6=1.0), PublishBodyPose)[-1].pose
    assert pose[2] == pytest.approx(-0.5 * teleop_config.shift_rate, rel=0.1)
    assert pose[3] == pytest.approx(0.5 * teleop_config.tilt_rate, rel=0.1)


def test_a_stick_that_is_pushed_at_the_start_commands_nothing_until_it_was_centred(teleop_config):
    rig = Rig(teleop_config, JoystickMapping.from_mapping(document()))
    assert rig.work(1.0, a0=1.0, a2=1.0) == []
    assert twists(rig.work(a1=1.0)) == [(0.0, 0.0, -1.0)]  # this one was centred
    rig.work(a1=0.0)
    assert not rig.model.held
    rig.work(a0=0.0, a2=0.0)
    assert twists(rig.work(a0=1.0))[0][0] > 0.0


def test_a_button_that_is_down_at_the_start_does_nothing_until_it_was_released(teleop_config):
    mapping = JoystickMapping.from_mapping(document(buttons=[{"button": 9, "name": "Z", "action": "mode.stand"}]))
    rig = Rig(teleop_config, mapping)
    assert rig.press(9) == []
    assert rig.press() == []
    assert of(rig.press(9), RequestMode) == [RequestMode("stand")]
    assert of(rig.work(1.0), RequestMode) == []  # held


def test_buttons_and_a_cross_do_what_keys_do(teleop_config):
    buttons = [
        {"axis": 7, "side": -1, "name": "cross down", "action": "gait.next"},
        {"button": 8, "name": "Z", "action": "gait.request", "argument": "wave"},
        {"button": 9, "name": "L", "action": "drive.left"},
    ]
    rig = Rig(teleop_config, JoystickMapping.from_mapping(document(buttons=buttons)))
    rig.work()
    assert of(rig.work(a7=1.0), PublishGait) == []
    assert of(rig.work(a7=-1.0), PublishGait) == [PublishGait(teleop_config.gaits[0])]
    assert of(rig.press(8), PublishGait) == [PublishGait("wave")]
    assert twists(rig.press(9))[0] == (0.0, 1.0, 0.0)
    assert twists(rig.press()) == [(0.0, 0.0, 0.0)]


# ----------------------------------------------------------------------------- safety


def test_without_the_dead_man_nothing_is_commanded_and_letting_go_stops(teleop_config):
    rig = Rig(teleop_config, JoystickMapping.from_mapping(document(buttons=[DEAD_MAN])))
    rig.work()
    out = rig.work(0.5, a0=1.0)
    assert twists(out) == [] and texts(out) == "Hold the dead-man switch (LB) to command the robot."
    rig.work(a0=0.0)
    rig.press(4)
    assert twists(rig.work(a0=1.0))[0][0] == 1.0
    out = rig.press()
    assert twists(out) == [(0.0, 0.0, 0.0)] and "released: stopped" in texts(out)
    rig.press(4)
    assert twists(rig.work(0.5)) == []  # the stick must be centred first
    rig.work(a0=0.0)
    assert twists(rig.work(a0=1.0))[0][0] == 1.0


def test_an_unplugged_controller_stops_the_robot_once_and_control_is_given_up(rig):
    rig.work(a0=1.0, a2=1.0)
    assert all(twist[0] == 1.0 for twist in twists(rig.work(0.13, is_plugged=False)))
    out = rig.work(0.1, is_plugged=False)
    assert twists(out)[-1] == (0.0, 0.0, 0.0) and "silent for 0.15 s" in texts(out) and rig.joystick.is_lost
    assert rig.work(1.5, is_plugged=False) == [], "it may be plugged in again"
    out = rig.work(0.5, is_plugged=False)
    assert twists(out) == [] and of(out, TakeControl) == [TakeControl(False)] and "is gone" in texts(out)
    out = rig.work(1.0)  # plugged in again, its sticks still pushed
    assert twists(out) == [] and of(out, PublishBodyPose) == [] and not rig.joystick.is_lost


def test_a_joystick_that_came_back_in_time_has_control_and_what_was_pressed_meanwhile_does_nothing(teleop_config):
    mapping = JoystickMapping.from_mapping(document(buttons=[{"button": 9, "name": "Z", "action": "mode.stand"}]))
    rig = Rig(teleop_config, mapping)
    rig.work()
    rig.work(a0=1.0)
    assert "silent for 0.15 s" in texts(rig.work(0.3, is_plugged=False))
    rig.pressed = {9}
    out = rig.work(a0=0.0) + rig.work(3.0, is_plugged=False)
    assert of(out, RequestMode) == [] and of(out, TakeControl) == [], "at rest silence is no fault"
    rig.press()
    assert of(rig.press(9), RequestMode) == [RequestMode("stand")]


def test_a_misfit_is_named_again_after_a_while(rig):
    rig.axes = []
    assert texts(rig.work(11.0)).count("drives nothing") == 3
    rig.axes = [1.0] * 8
    assert twists(rig.work(0.5)) == [], "it must be centred first"


def test_full_deflection_is_all_and_a_trigger_that_is_no_number_is_not_released():
    assert Axis(0, "drive.forward").fraction(1.0009) == 1.0
    trigger = Button("RT", "mode.sit", axis=0, side=-1)
    assert [trigger.is_pressed([value], []) for value in (-1.0, 1.0, math.nan)] == [True, False, None]


def test_silence_while_nothing_is_driven_is_no_fault(rig):
    assert rig.work(5.0, is_plugged=False) == []


def test_a_program_that_stood_still_stops_before_it_goes_on(rig):
    rig.work(a0=1.0)
    rig.t += 1.0
    out = rig.work(a0=0.5)
    assert twists(out) == [(0.0, 0.0, 0.0)] and "stood still" in texts(out)
    assert twists(rig.work(0.5)) == []


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda rig: rig.axes.__setitem__(1, math.nan), "axis 1 of the mapping's axes[1] (drive.turn_right) is nan"),
        (lambda rig: rig.axes.__setitem__(0, 1.1), "axis 0 of the mapping's axes[0] (drive.forward) is 1.1"),
        (
            lambda rig: rig.axes.__delitem__(slice(2, None)),
            "axes[2] (pose.pitch_forward) is axis 2, but it has axes 0 to 1",
        ),
        (lambda rig: rig.axes.clear(), "axes[0] (drive.forward) is axis 0, but it has no axes"),
        (lambda rig: setattr(rig, "buttons", 3), "Y (control.take) is button 3, but it has buttons 0 to 2"),
    ],
)
def test_a_message_that_does_not_fit_stops_and_is_named_and_the_emergency_stop_still_acts(rig, change, words):
    rig.work(a0=1.0, a2=0.5)
    change(rig)
    out = rig.work(1.0)
    assert twists(out) == [(0.0, 0.0, 0.0)] and of(out, PublishBodyPose) == []
    assert words in texts(out) and len(of(out, Notice)) == 1
    assert rig.press(2) == [], "rearmed"
    assert of(rig.press(1), EmergencyStop) == [EmergencyStop()]
    rig.axes, rig.buttons, rig.pressed = [1.0] * 8, 11, set()
    assert twists(rig.work(0.5)) == []  # it fits again, and must be centred
    rig.axes = [0.0] * 8
    rig.work()
    assert twists(rig.work(a0=1.0))[0][0] > 0.0


def test_a_stop_holds_while_the_stick_is_still_pushed(rig):
    rig.work(a0=1.0, a2=1.0)
    assert twists(rig.press(0)) == [(0.0, 0.0, 0.0)]
    rig.pressed = set()
    out = rig.work(1.0)
    assert twists(out) == [] and of(out, PublishBodyPose) == []


def test_the_first_message_takes_control_where_the_operator_said_so(teleop_config):
    mapping = JoystickMapping.from_mapping(document())
    rig = Rig(teleop_config, mapping, armed=False, takes_at_once=True)
    assert of(rig.work(1.0), TakeControl) == [TakeControl()]
    rig = Rig(teleop_config, mapping, armed=True, takes_at_once=True)
    assert rig.work(1.0) == [], "it is in control already"
    rig = Rig(teleop_config, mapping, armed=False)
    assert rig.work(1.0) == []
    out = rig.work(1.0, a0=1.0, a2=1.0)
    assert twists(out) == [] and "Y takes control" in texts(out) and len(of(out, Notice)) == 2
    assert of(rig.press(3), TakeControl) == [TakeControl()]


def test_only_what_is_held_is_pushed_by_an_axis(rig):
    for name, fraction in (("mode.stand", 0.5), ("pose.raise", math.nan)):
        with pytest.raises(ValueError, match=name):
            rig.model.push_axis("axis 9", name, fraction, 0.0)
