# SPDX-License-Identifier: MIT
"""Torque and motion by hand: no jump, no motion that was not requested, and off whatever else fails."""

from __future__ import annotations

import math

import pytest
from servo_bench import Bench

from ax_bus import Timeouts
from ax_bus.registers import RAD_PER_STEP
from ax_tools import motion, torque
from ax_tools.errors import ToolError
from ax_tools.motion import Motion


def centre(bus, ids, how=None):
    goals = motion.targets(bus, ids, "0deg")
    motion.start(bus, goals, how or Motion())
    return motion.wait(bus, goals, how or Motion()), goals


def test_centre_moves_slowly_and_only_on_demand():
    bench = Bench(ids=(1, 2))
    bench.servo(1).motor.position = 1.0
    bench.port.sleep(0.01)
    text = motion.plan(bench.bus, motion.targets(bench.bus, (1, 2), "0deg"), Motion())
    assert "servo 1: from 195 to 512 steps (+93 degrees)" in text and "nothing has moved, add --go" in text
    assert bench.servo(1).table["torque_enable"] == 0
    start = bench.port.now()
    assert "2 servo(s) at 512" in motion.arrival(*centre(bench.bus, (1, 2)))
    way = 1.618  # rad from 1.0 to the middle, at 10 rpm
    assert bench.port.now() - start == pytest.approx(way / (10.0 * 3.1416 / 30.0), rel=0.15)
    assert bench.servo(1).table["torque_limit"] == round(0.3 * 1023)


def test_a_motion_does_not_begin_with_a_jump_to_an_old_goal():
    bench = Bench(ids=(1,))
    bench.fault("torque_jump", value=400)
    bench.port.sleep(0.01)
    fastest, goals_at_torque_on, read, write = 0.0, [], bench.bus.read, bench.bus.write

    def watch_read(*args, **options):
        nonlocal fastest
        fastest = max(fastest, abs(bench.servo(1).motor.velocity))
        return read(*args, **options)

    def watch_write(servo_id, address, *args, **options):
        if address == 24:
            goals_at_torque_on.append(bench.servo(servo_id).table["goal_position"])
        return write(servo_id, address, *args, **options)

    bench.bus.read, bench.bus.write = watch_read, watch_write
    bench.servo(1).motor.position = 1.5
    centre(bench.bus, (1,))
    assert fastest < 1.3  # rad/s; 10 rpm is 1.05, a jump 6
    assert goals_at_torque_on == [round(1.5 / RAD_PER_STEP)]


def test_torque_on_holds_where_the_horn_is_now():
    bench = Bench(ids=(1, 2))
    bench.fault("torque_jump", value=400)
    bench.port.sleep(0.01)
    bench.servo(1).motor.position = 1.5
    failures = torque.on(bench.bus, (1, 9, 2))
    assert list(failures) == [9] and bench.servo(2).table["torque_enable"] == 1
    bench.port.sleep(1.0)
    assert bench.position(1) == pytest.approx(1.5 / RAD_PER_STEP, abs=2)
    bench.servo(2).table["torque_limit"] = 0
    assert "after an alarm shutdown" in torque.on(bench.bus, (2,))[2]


def test_one_reading_does_not_decide_where_torque_comes_on():
    """A garbled one has a right checksum in one of 252 cases; some firmwares move when they get a goal."""
    bench = Bench(ids=(1, 2))
    position, goals, reads = bench.servo(2).motor.steps, [], [900]
    read, write = bench.bus.read_register, bench.bus.write_register

    def watch_read(servo_id, row, *args, **options):
        return reads.pop() if reads and row.name == "present_position" else read(servo_id, row, *args, **options)

    def watch_write(servo_id, row, number, *args, **options):
        goals.extend([number] if row.name == "goal_position" else [])
        write(servo_id, row, number, *args, **options)

    bench.bus.read_register, bench.bus.write_register = watch_read, watch_write
    assert torque.hold(bench.bus, 2) == position and goals == [position]
    reads[:] = [100, 900, 100, 900]
    with pytest.raises(ToolError, match="servo 1 reports a position that changes from READ to READ"):
        torque.hold(bench.bus, 1)
    assert bench.servo(1).table["torque_enable"] == 0 and goals == [position]


def test_a_blocked_servo_is_reported_and_a_wheel_refused():
    bench = Bench(ids=(1,))
    bench.servo(1).motor.position = 1.0
    bench.servo(1).motor.load_torque = -0.9
    with pytest.raises(ToolError, match="1 is at .*, not 512; something blocks it"):
        motion.arrival(*centre(bench.bus, (1,), Motion(time_limit=1.0)))
    wheel = Bench(ids=(1,))
    wheel.servo(1).table["ccw_angle_limit"] = 0
    with pytest.raises(ToolError, match="wheel mode"):
        motion.targets(wheel.bus, (1,), "512")
    assert "wheel mode" in torque.on(wheel.bus, (1,))[1]
    assert wheel.servo(1).table["torque_enable"] == 0
    for wrong in ({"speed_rpm": 0.0}, {"torque": 2.0}):
        with pytest.raises(ToolError, match="give"):
            Motion(**wrong)


def test_positions_are_steps_or_degrees_within_the_angle_limits():
    bench = Bench(ids=(1, 2))
    bench.servo(2).table["ccw_angle_limit"] = 600
    assert motion.targets(bench.bus, (1,), "30deg") == {1: 614} and motion.targets(bench.bus, (2,), "600") == {2: 600}
    for text, words in (
        ("30deg", "servo 2 takes 0 to 600 steps .*, not 614; nothing has moved"),
        ("151deg", "-150.0deg to 150.0deg"),
        ("30", None),
        ("30rpm", "not a value of goal_position"),
        ("much", "not a value of goal_position"),
    ):
        if words is not None:
            with pytest.raises(ToolError, match=words):
                motion.targets(bench.bus, (1, 2), text)
        else:
            assert motion.targets(bench.bus, (1, 2), text) == {1: 30, 2: 30}


def test_nothing_moves_if_one_servo_is_missing():
    bench = Bench(ids=(1, 2, 3))
    goals = motion.targets(bench.bus, (1, 2, 3), "700")
    bench.servo(3).is_dead = True
    with pytest.raises(ToolError, match="nothing has moved.*servo 3"):
        motion.start(bench.bus, goals, Motion())
    bench.port.sleep(1.0)
    assert [bench.position(i) for i in (1, 2)] == [512, 512]


def test_ctrl_c_stops_servos_where_they_are(capsys):
    bench = Bench(ids=(1, 2))
    sleeps = []

    def interrupt(duration, sleep=bench.port.sleep):
        sleeps.append(duration)
        if len(sleeps) == 10:
            raise KeyboardInterrupt
        sleep(duration)

    goals = motion.targets(bench.bus, (1, 2), "60deg")
    motion.start(bench.bus, goals, Motion())
    sleep, bench.port.sleep = bench.port.sleep, interrupt
    with pytest.raises(KeyboardInterrupt), motion.stoppable(bench.bus, goals):
        motion.wait(bench.bus, goals, Motion())
    bench.port.sleep = sleep
    there = bench.position(1)
    assert 520 < there < 650 and "stopped where they are" in capsys.readouterr().err
    bench.port.sleep(2.0)
    assert abs(bench.position(1) - there) <= 6 and bench.servo(2).table["torque_enable"] == 1


def test_a_servo_that_falls_silent_on_its_way_is_not_reported_as_arrived():
    bench = Bench(ids=(1, 2))
    goals = motion.targets(bench.bus, (1, 2), "514")
    motion.start(bench.bus, goals, Motion())
    bench.servo(2).is_dead = True
    with pytest.raises(ToolError, match="2 does not answer"):
        motion.arrival(motion.wait(bench.bus, goals, Motion(time_limit=0.5)), goals)


def test_torque_off_reaches_all_and_lists_who_was_not_confirmed():
    bench = Bench(ids=(1, 2, 3, 4))
    assert not torque.on(bench.bus, (1, 2, 3, 4))
    bench.servo(1).is_dead = True  # the first: the others must have their turn all the same
    bench.fault("lost_reply", servo=3)  # hears, but cannot be heard
    powered, write = [], bench.bus.write

    def watch(servo_id, *args, **options):
        powered.append([bench.servo(i).table["torque_enable"] for i in (2, 3, 4)])
        return write(servo_id, *args, **options)

    bench.bus.write = watch
    failures = torque.off(bench.bus, (1, 2, 3, 4))
    bench.bus.write = write
    assert powered[-1] == [0, 0, 0] and powered[1] == [0, 0, 0]  # nobody waits for the time-outs of the first
    assert sorted(failures) == [1, 3] and all("switch its power off" in text for text in failures.values())
    assert [bench.servo(i).table["torque_enable"] for i in (1, 2, 3, 4)] == [1, 0, 0, 0]
    bench.servo(1).is_dead = False
    torque.all_off(bench.bus)
    assert bench.servo(1).table["torque_enable"] == 0


def test_time_allowed_grows_with_the_way_and_the_speed():
    bench = Bench(ids=(1,))
    how = Motion(speed_rpm=1.0)
    bench.servo(1).motor.position = 0.2
    goals = motion.targets(bench.bus, (1,), "100deg")
    start = bench.port.now()
    motion.start(bench.bus, goals, how)
    motion.arrival(motion.wait(bench.bus, goals, how), goals)
    assert bench.port.now() - start > math.radians(230.0) / (math.pi / 30.0)  # longer than any fixed limit was


@pytest.mark.parametrize("after_us", range(0, 800, 20))
def test_ctrl_c_within_a_read_stops_them_where_they_are(after_us):
    """What the broken-off READ still brings must neither collide with the stop nor pass for an answer to it."""
    bench = Bench(ids=(1,), return_delay=100, timeouts=Timeouts(link_latency=2e-3))
    goals, read = {1: 900}, bench.port.read
    motion.start(bench.bus, goals, Motion())
    bench.port.sleep(0.5)

    def interrupted(timeout):
        if timeout <= 0.0:
            return read(timeout)
        bench.port.read = read
        bench.port.sleep(after_us * 1e-6)
        raise KeyboardInterrupt

    bench.port.read = interrupted
    with pytest.raises(KeyboardInterrupt), motion.stoppable(bench.bus, goals):
        motion.wait(bench.bus, goals, Motion())
    assert abs(bench.servo(1).table["goal_position"] - bench.servo(1).motor.steps) < 20
