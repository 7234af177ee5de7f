# SPDX-License-Identifier: MIT
"""What the node motor_driver decides, without ROS: parameters, targets, stamps, battery, health, starts."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ax_bus import ErrorFlags, NoReplyError, PortError
from ax_bus.errors import PortMissingError
from ax_tools.errors import ToolError
from shellbot_common import Level, LogThrottle, Notice
from shellbot_control import EffortOffset, Gains, GainTable
from shellbot_description import JOINT_CLASSES, driven_joint_names, named_pose_array
from shellbot_motor_driver import (
    BusProcessError,
    Condition,
    DriverConfig,
    DriverConfigError,
    Ladder,
    Phase,
    Reaction,
    Rung,
    ServoMap,
    ServoReading,
    StartError,
    StartReport,
    Supply,
)
from shellbot_motor_driver.driving.driver_config import ComplianceStart
from shellbot_motor_driver.driving.driver_state import DriverState
from shellbot_motor_driver.driving.timing import BINS, BusTiming, Histogram
from shellbot_motor_driver.map.compliance import Compliance, springs
from shellbot_motor_driver.map.shellbot import shellbot
from shellbot_motor_driver.node.bus_plot import plot
from shellbot_motor_driver.node.gains_page import GainsPage
from shellbot_motor_driver.node.node_parameters import NodeParameters
from shellbot_motor_driver.node.stamp_clock import StampClock
from shellbot_motor_driver.node.start_policy import StartFailure, retry_after
from shellbot_motor_driver.node.target_gate import TargetGate
from shellbot_motor_driver.safety.battery_estimate import CURVE, charge_estimate
from shellbot_motor_driver.safety.health import Health, health, is_stopped

NAMES = driven_joint_names("walker")
STAND = named_pose_array("stand", "walker")


def state(**changes):
    """A robot that walks and is well."""
    servos = tuple(
        ServoReading(
            e.servo_id, e.joint, Condition.GOOD, 10.0, 0.01, False, 512, 0.0, 0.0, 0.0, 0.0, 11.8, 31.0,
            ErrorFlags(0), True, 1.0, 0, 1000, 3, 0, 512, 1.0,
        )
        for e in ServoMap.load("walker").entries
    )  # fmt: skip
    n = len(NAMES)
    values = {
        "stamp": 10.0, "tick": 1000, "joint_names": NAMES, "position": STAND, "velocity": np.zeros(n),
        "effort": np.zeros(n), "is_measured": np.ones(n, bool), "command": STAND, "servos": servos,
        "ladder": Ladder(Phase.FOLLOWING, Reaction.NONE, (), 1.0, False, ""),
        "supply": Supply(11.8, 11.8, 11.7, 18, 33.0, 3, 0.1),
        "timing": BusTiming(ticks=1000, late_ticks=2, feedback_hz=60.0, used_fraction=0.6),
    }  # fmt: skip
    return DriverState(**{**values, **changes})


def with_servo(index, **changes):
    servos = list(state().servos)
    servos[index] = servos[index]._replace(**changes)
    return state(servos=tuple(servos))


def line(lines, name):
    (found,) = [entry for entry in lines if entry.name == name]
    return found


# ---------------------------------------------------------------------------------------------------------- targets


def test_targets_in_any_order_pass():
    gate = TargetGate(NAMES, 0.5)
    wanted, notices = gate.pass_on(100.0, NAMES[::-1], STAND[::-1], 100.01)
    np.testing.assert_array_equal(wanted, STAND)
    assert notices == ()
    assert gate.age(100.25) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("stamp", "names", "position", "words"),
    [
        (100.0, NAMES[:-1], STAND[:-1], "no value for lower_6_tibia"),
        (100.0, NAMES, STAND[:-1], "24 names but 23 positions"),
        (100.0, ("nobody", *NAMES[1:]), STAND, "unknown joints nobody"),
        (100.0, NAMES, np.where(np.arange(24) == 5, math.nan, STAND), "not a finite number"),
        (99.4, NAMES, STAND, "0.60 s old on arrival"),
        (101.0, NAMES, STAND, "1.00 s ahead; is use_sim_time true"),
    ],
)
def test_bad_targets_are_refused_in_words_and_good_ones_are_said(stamp, names, position, words):
    gate = TargetGate(NAMES, 0.5)
    gate.pass_on(99.9, NAMES, STAND, 99.9)
    wanted, notices = gate.pass_on(stamp, names, position, 100.0)
    assert wanted is None
    assert words in notices[0].text
    assert gate.text == notices[0].text
    assert gate.age(100.0) == pytest.approx(0.1), "the bad ones do not count"
    _, notices = gate.pass_on(100.1, NAMES, STAND, 100.1)
    assert [n.key for n in notices] == ["resumed"]
    assert gate.pass_on(100.2, NAMES, STAND, 100.2)[1] == (), "said once"
    assert gate.text == ""


def test_torques_become_angles_by_the_compliance_in_force():
    femur, effort = NAMES.index("lower_1_femur"), np.zeros(24)
    effort[femur] = 0.9
    efforts = EffortOffset(shellbot("walker").limits)
    gate = TargetGate(NAMES, 0.5, efforts)
    for slope, margin in ((16, 0), (32, 2)):
        servos = dict.fromkeys(("fan", "coxa", "femur", "tibia"), Compliance(slope, margin))
        efforts.set_stiffness(*springs(servos, shellbot("walker")))
        for k in range(60):
            wanted, notices = gate.pass_on(100.0 + slope + 0.01 * k, NAMES, STAND, 100.0 + slope + 0.01 * k, effort)
        step = math.radians(300.0 / 1023.0)  # of an AX-18A with a stall torque of 1.8 N m
        assert wanted[femur] - STAND[femur] == pytest.approx(step * (0.5 * slope + margin), rel=0.02)
        assert not notices
        np.testing.assert_array_equal(np.delete(wanted, femur), np.delete(STAND, femur))
    np.testing.assert_array_equal(gate.requested, STAND)


def test_a_clock_that_is_set_back_neither_keeps_torques_nor_makes_old_targets_fresh():
    efforts = EffortOffset(shellbot("walker").limits)
    efforts.set_stiffness(*springs(dict.fromkeys(("fan", "coxa", "femur", "tibia"), Compliance()), shellbot("walker")))
    gate = TargetGate(NAMES, 0.5, efforts)
    for k in range(60):
        gate.pass_on(1000.0 + 0.01 * k, NAMES, STAND, 1000.0 + 0.01 * k, np.full(24, 0.5))
    assert gate.age(900.6) == math.inf, "how old they are is not known"
    for k in range(60):  # without torques, by the clock that was set back
        wanted, _ = gate.pass_on(900.6 + 0.01 * k, NAMES, STAND, 900.6 + 0.01 * k)
    np.testing.assert_array_equal(wanted, STAND)
    assert gate.age(950.0) == pytest.approx(950.0 - 901.19)
    gate.pass_on(901.16, NAMES, STAND, 901.2)
    assert gate.age(901.2) == pytest.approx(0.01), "who is a little late is no set clock"


def test_late_targets_change_nothing():
    """The rule of all nodes (docs/architecture.md, Time): older by up to 50 ms is late, by more a reset."""
    gate = TargetGate(NAMES, 0.5)
    gate.pass_on(100.02, NAMES, STAND, 100.02)
    assert gate.pass_on(100.01, NAMES, STAND + 0.1, 100.03) == (None, ())
    np.testing.assert_array_equal(gate.requested, STAND)
    assert gate.pass_on(100.02, NAMES, STAND + 0.2, 100.03)[0] is not None, "repeated is not late"


def test_targets_without_a_stamp_count_as_new():
    wanted, _ = TargetGate(NAMES, 0.5).pass_on(0.0, NAMES, STAND, 1.7e9)
    assert wanted is not None


def test_no_targets_are_infinitely_old():
    assert math.isinf(TargetGate(NAMES, 0.5).age(5.0))


# ---------------------------------------------------------------------------------------------------------- stamps


def test_stamps_keep_the_ticks_even_between_looks_and_never_fall():
    clock = StampClock()
    assert clock.look(10.0, 1000.0) == ""
    stamps = [clock.stamp(10.0 + 0.01 * k) for k in range(5)]
    np.testing.assert_allclose(np.diff(stamps), 0.01, atol=1e-9)
    assert clock.look(10.05, 1000.05 - 0.0005) == "", "slewed: followed silently"
    assert clock.stamp(10.04) >= stamps[-1], "but no stamp falls"


@pytest.mark.parametrize("step", [-3600.0, 86400.0, 0.06])
def test_a_wall_clock_that_is_set_is_followed_and_said(step):
    clock = StampClock()
    clock.look(10.0, 1000.0)
    clock.stamp(10.0)
    words = clock.look(11.0, 1001.0 + step)
    assert f"{step:+.2f} s" in words
    assert clock.stamp(11.0) == pytest.approx(1001.0 + step)


class Interrupted(float):
    """A time at whose use another thread runs."""

    thread = None

    def __add__(self, other):
        self.thread.start()
        self.thread.join(0.1)
        return float(self) + other


def test_a_look_in_the_midst_of_a_stamp_is_not_undone_by_it():
    clock, time = StampClock(), Interrupted(11.0)
    clock.look(10.0, 1000.0)
    time.thread = threading.Thread(target=clock.look, args=(11.0, 901.0))
    clock.stamp(10.9)
    clock.stamp(time)
    time.thread.join()
    assert clock.stamp(11.01) == pytest.approx(901.01), "the stamps before it was set back are forgotten"


def test_stamps_need_a_look():
    with pytest.raises(RuntimeError, match="look"):
        StampClock().stamp(1.0)


# --------------------------------------------------------------------------------------------------------- battery


def test_charge_follows_the_curve_and_its_ends():
    assert charge_estimate(12.6) == 1.0
    assert charge_estimate(13.5) == 1.0
    assert charge_estimate(8.0) == 0.0
    assert charge_estimate(3 * 3.82) == pytest.approx(0.5)
    assert charge_estimate(2 * 3.82, cells=2) == pytest.approx(0.5)
    volts, charges = zip(*CURVE)
    assert np.all(np.diff(volts) > 0) and np.all(np.diff(charges) > 0)
    assert math.isnan(charge_estimate(math.nan))


# ---------------------------------------------------------------------------------------------------------- health


def test_a_robot_that_is_well():
    lines = health(state(), 0)
    assert {entry.name for entry in lines} == {"safety ladder", "bus", "servos", "battery"}
    assert all(entry.level is Health.OK for entry in lines)
    assert line(lines, "servos").message == "all 19 servos OK"
    assert "at 60 Hz or more" in line(lines, "bus").message
    assert line(lines, "battery").message.startswith("11.8 V, about")
    assert dict(line(lines, "bus").values)["lateness_us_p99"]


def test_servos_in_trouble_are_named():
    said = line(health(with_servo(7, condition=Condition.LOST), 0), "servos")
    assert said.level is Health.ERROR
    assert "7 lower_3_coxa (lost)" in said.message
    said = line(health(with_servo(3, alarms=ErrorFlags.OVERHEATING), 0), "servos")
    assert said.level is Health.WARN
    assert "3 lower_1_tibia (overheating)" in said.message


def test_the_ladder_tells_its_rungs():
    rung = Rung("voltage", Reaction.DERATE, 3.0, False, "battery at 9.8 V: torque limited; charge it")
    weak = state(ladder=Ladder(Phase.FOLLOWING, Reaction.DERATE, (rung,), 0.7, False, rung.text))
    lines = health(weak, 0)
    assert line(lines, "safety ladder").level is Health.WARN
    assert line(lines, "safety ladder").message == rung.text
    assert ("rung voltage", rung.text) in line(lines, "safety ladder").values
    assert line(lines, "battery").level is Health.WARN
    assert rung.text in line(lines, "battery").message
    sits = rung._replace(reaction=Reaction.SIT_AND_OFF)
    assert line(
        health(state(ladder=Ladder(Phase.SITTING, sits.reaction, (sits,), 0.7, True, "")), 0), "battery"
    ).level is (Health.ERROR)


def test_a_bus_that_is_late_or_down_or_deaf():
    late = state(timing=BusTiming(ticks=100, late_ticks=10))
    assert "10 % of the ticks begin late" in line(health(late, 0), "bus").message
    down = state(ladder=Ladder(Phase.BUS_DOWN, Reaction.HOLD, (), 0.0, True, "bus down"))
    assert line(health(down, 0), "bus").level is Health.ERROR
    assert line(health(state(is_write_only=True), 0), "bus").level is Health.WARN
    assert dict(line(health(state(), 3), "bus").values)["bus process restarts"] == "3"


def test_slow_feedback_is_said_where_the_robot_moves():
    slow, walks = BusTiming(ticks=1000, feedback_hz=2.6), Ladder(Phase.FOLLOWING, Reaction.NONE, (), 1.0, False, "")
    said = line(health(state(timing=slow, ladder=walks), 0), "bus")
    assert said.level is Health.WARN and "only 2.6 Hz" in said.message
    waits = Ladder(Phase.WAITING, Reaction.NONE, (), 1.0, False, "")
    assert line(health(state(timing=slow, ladder=waits), 0), "bus").level is Health.OK
    fine = BusTiming(ticks=1000, feedback_hz=40.0)
    assert line(health(state(timing=fine, ladder=walks), 0), "bus").level is Health.OK
    fresh = BusTiming(ticks=50, feedback_hz=0.0)
    assert line(health(state(timing=fresh, ladder=walks), 0), "bus").level is Health.OK


def test_an_unknown_battery_is_no_battery():
    assert line(health(state(supply=Supply()), 0), "battery").level is Health.STALE


@pytest.mark.parametrize(
    ("phase", "needs_rearm", "stopped"),
    [
        (Phase.FOLLOWING, False, False),
        (Phase.HOLDING, False, False),
        (Phase.STARTING, False, False),
        (Phase.WAITING, False, False),
        (Phase.HOLDING, True, True),
        (Phase.OFF, False, True),
        (Phase.BUS_DOWN, False, True),
    ],
)
def test_when_walking_must_stop(phase, needs_rearm, stopped):
    ladder = Ladder(phase, Reaction.NONE, (), 1.0, needs_rearm, "")
    assert is_stopped(state(ladder=ladder)) is stopped


# ---------------------------------------------------------------------------------------------------------- starts


def start_error(answered):
    error = StartError("servos missing")
    error.report = StartReport("/dev/x", answered=answered, missing=(7,))
    return error


def test_a_port_or_power_that_comes_later_is_taken_but_hands_in_the_robot_are_not_surprised():
    assert retry_after(PortError("not there")) is not None
    assert retry_after(BusProcessError("does not answer")) is not None
    assert retry_after(start_error(())) is not None, "servos without power"
    assert retry_after(start_error((0, 1, 2))) is None
    assert retry_after(start_error((0, 1, 2)), retry_missing=True) is not None, "emulated: no hands in the robot"
    assert retry_after(NoReplyError("odd")) is None


def test_each_reason_is_said_once_and_a_port_that_comes_later_is_waited_for_first():
    failure, missing = StartFailure(), PortMissingError("port /dev/x does not exist")
    first = failure.note(missing, 100.0)
    assert first.level is Level.INFO and "to appear" in first.text and "does not exist" in failure.words
    assert [failure.note(missing, 100.0 + t) for t in (1.0, 5.0, 9.9)] == [None] * 3
    late = failure.note(missing, 110.1)
    assert late.level is Level.WARN and "/dev/x does not exist; trying again every 1 s" in late.text
    assert failure.note(missing, 111.0) is None
    in_use = failure.note(PortError("port /dev/x is in use"), 112.0)
    assert in_use.level is Level.WARN and "in use" in in_use.text
    assert failure.note(PortError("port /dev/x is in use"), 113.0) is None
    hands = failure.note(start_error((0, 1)), 114.0)
    assert hands.level is Level.ERROR and "; then call rearm to try again" in hands.text
    failure.clear()
    assert failure.words == "" and failure.note(missing, 200.0).level is Level.INFO


# ---------------------------------------------------------------------------------------------------------------- log


def test_a_new_sentence_is_logged_at_once_and_the_same_one_seldom():
    throttle = LogThrottle()
    down, unplugged = Notice("bus_down", Level.ERROR, "7 lost"), Notice("bus_down", Level.ERROR, "the port is gone")
    assert throttle.pass_on([down], 100.0) == (down,)
    assert throttle.pass_on([down, unplugged], 100.1) == (unplugged,), "the same kind, but another sentence"
    assert [throttle.pass_on([down], 100.0 + t) for t in (1.0, 3.0, 4.9)] == [()] * 3
    assert throttle.pass_on([down], 105.0) == (down,)
    slow = [Notice("feedback", Level.WARN, f"read at only {hz:.1f} Hz") for hz in (4.0, 4.1)]
    assert throttle.pass_on(slow, 110.0) == (slow[0],), "another measured value is no other sentence"


def test_a_warning_that_goes_on_is_said_less_and_less_often_but_an_error_is_not():
    throttle = LogThrottle()
    slow, off = Notice("feedback", Level.WARN, "read at only 4.0 Hz"), Notice("torque", Level.ERROR, "may be on")
    said = [(t, notice.key) for t in range(200) for notice in throttle.pass_on([slow, off], 100.0 + t)]
    assert [t for t, key in said if key == "feedback"] == [0, 5, 15, 35, 75, 135, 195]
    assert [t for t, key in said if key == "torque"] == list(range(0, 200, 5))
    assert not throttle.pass_on([slow], 304.0) and throttle.pass_on([slow], 311.0), "once it has ended it is new"


def test_a_flood_is_cut_and_its_end_is_told_with_a_count():
    throttle = LogThrottle()
    flood = [Notice("lost", Level.ERROR, f"servo {i} lost") for i in range(45)]
    other = Notice("port", Level.ERROR, "the port is gone")
    assert throttle.pass_on([*flood, other], 100.0) == (*flood[:3], other)
    assert throttle.pass_on([], 100.9) == ()
    (last,) = throttle.pass_on([], 101.0)
    assert last == Notice("lost", Level.ERROR, "servo 44 lost (and 41 more like this)")
    assert throttle.pass_on([], 110.0) == (), "nothing more to say"
    said = [throttle.pass_on([Notice("lost", Level.ERROR, f"{i} again")], 200.0 + 0.01 * i) for i in range(1000)]
    assert sum(map(len, said)) <= 3 * 11, "ten seconds"


# -------------------------------------------------------------------------------------------------------- parameters


def test_parameters_reach_the_bus_process():
    given = {
        "port": "/dev/ttyUSB3", "variant": "full", "baud": 500000, "direction": "gpio", "gpio": "/dev/gpiochip1:7",
        "latency_ms": 3, "priority": 40, "setpoint": {"hold_after": 0.3}, "servo_map": "", "cpu": -1, "config": "",
    }  # fmt: skip
    settings = NodeParameters.from_mapping(given).bus_settings(shellbot("full"))
    assert (settings.port, settings.robot.profile.variant, settings.baud) == ("/dev/ttyUSB3", "full", 500000)
    assert settings.direction_options == {"chip": "/dev/gpiochip1", "line": 7, "is_usb": True}
    assert settings.link_latency == pytest.approx(0.003)
    assert settings.priority == 40
    assert settings.config == replace(
        DriverConfig.load(), setpoint=replace(DriverConfig.load().setpoint, hold_after=0.3)
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prot": "/dev/x"}, "~prot does not exist; is port meant"),
        ({"port": ""}, "~port"),
        ({"variant": "simulation"}, "walker, full"),
        ({"direction": "left"}, "auto, rs485"),
        ({"direction": "gpio"}, "CHIP:LINE"),
        ({"baud": 3}, "~baud is 3"),
        ({"baud": 57600.5}, "~baud"),
        ({"latency_ms": math.nan}, "~latency_ms"),
        ({"priority": True}, "~priority"),
        ({"at_end": "fall"}, "sit, hold, off"),
        ({"setpoint": {"hold_after": -1.0}}, "~setpoint.hold_after is -1.0; give"),
        ({"setpoint": {"hold_aftr": 1.0}}, "~setpoint.hold_aftr does not exist; is hold_after meant"),
        ({"setpoint": 3}, "give a mapping"),
        ({"config": "/nowhere/driver.yaml"}, "cannot read /nowhere"),
    ],
)
def test_bad_parameters_are_told_with_the_choices(given, words):
    with pytest.raises(DriverConfigError, match=words):
        NodeParameters.from_mapping(given)


# ------------------------------------------------------------------------------------------------------------- gains


def test_the_page_becomes_compliance_of_the_classes_that_are_there():
    page = GainTable({name: Gains(18.5) for name in JOINT_CLASSES}).to_page()
    gains, sent = GainsPage(shellbot("walker"), ComplianceStart()), []
    servos = SimpleNamespace(set_compliance=lambda table: (sent.append(table) is None, "set"))
    for gains.values in (page, {**page, "stiffness": 0.5}):
        assert gains.send(servos) is None and gains.line.level is Health.OK
    table, softer = sent
    assert set(table) == {"fan", "coxa", "femur", "tibia"}
    assert table["coxa"].slope == 16
    assert softer["coxa"].slope == 32
    gains.values = {"coxa_p": 1.0}
    assert "lacks" in gains.send(servos).text and len(sent) == 2


# -------------------------------------------------------------------------------------------------------------- plot


def test_the_plot_is_a_picture_that_shows_the_counts(tmp_path):
    from PIL import Image

    full = {"lateness": [0] * BINS, "tick_time": [0] * BINS}
    full["lateness"][30] = 1000
    other = {"lateness": [0] * BINS}
    other["lateness"][30], other["lateness"][10] = 700, 300
    figures = {"ticks": 1000}
    pictures = []
    for name, counts in (("full", full), ("other", other), ("empty", {})):
        plot(counts, figures, tmp_path / f"{name}.png")
        with Image.open(tmp_path / f"{name}.png") as picture:
            pictures.append(np.asarray(picture.convert("RGB").resize((600, 400))))
    one, two, none = pictures
    # the same percentiles and total, another shape
    assert np.any(one[:200, :300] != two[:200, :300])
    assert np.any(one != none)
    assert Histogram(tuple(full["lateness"])).total == 1000
    with pytest.raises(ToolError, match="--output"):
        plot(full, {}, tmp_path / "no folder" / "x.png")
