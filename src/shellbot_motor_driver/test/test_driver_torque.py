# SPDX-License-Identifier: MIT
"""Never wrong about torque: no torque without a position that can be true, none lost or kept against the request."""

from __future__ import annotations

import numpy as np
import pytest
from driver_bench import DriverBench
from test_driver_faults import sway

from ax_bus import PortLostError
from ax_bus.registers import RAD_PER_STEP
from ax_emulator import EmulatedServo, ServoBehaviour
from shellbot_motor_driver import Compliance, Condition, Phase, Reaction, StartError
from shellbot_motor_driver.driving.servo_state import TRANSITIONS, Event, ServoState


def on(bench):
    return [servo.servo_id for servo in bench.chain.servos if servo.table["torque_enable"]]


# -- states of a servo ------------------------------------------------------------------------------------------------


def test_torque_is_only_raised_from_limp_and_goals_only_follow_a_read():
    for condition, row in TRANSITIONS.items():
        for event, after in row.items():
            if event is Event.RAISED:
                assert condition is Condition.LIMP and not after.gets_goals, "read back before goals"
            if after.gets_goals and not condition.gets_goals:
                assert event in (Event.STEADY, Event.RAMPING, Event.UNREADABLE), "a READ of the settings"
            if event in (Event.MISSED, Event.AGED, Event.DIFFERS, Event.SILENT, Event.RESTARTED):
                assert not after.gets_goals


def test_no_sequence_of_events_leads_past_the_table():
    rng = np.random.default_rng(5)
    state, events = ServoState(), list(Event)
    for _ in range(2000):
        event = events[rng.integers(len(events) - 1)]
        before, after = state.on(event)
        assert after is TRANSITIONS[before].get(event, before)


# -- plausible, fresh position ----------------------------------------------------------------------------------------


def test_a_servo_that_reports_an_impossible_voltage_at_start_gets_no_torque():
    bench = DriverBench(start=False)
    bench.servo(5).voltage = 5.5
    bench.servo(5).motor.position = 300 * RAD_PER_STEP
    with pytest.raises(StartError, match=r"servo 5 \(lower_2_femur\) reports 5.5 V .* check its supply"):
        bench.driver.start()
    assert not on(bench) and abs(bench.servo(5).motor.steps - 300) <= 1


def test_a_servo_that_returns_from_a_brown_out_with_too_little_voltage_stays_limp_until_it_is_right():
    bench = DriverBench().ready()
    bench.fault("reboot", servo=5)
    bench.fault("dead", servo=5, stop=0.8)
    bench.run(0.02)
    bench.servo(5).voltage = 5.7
    bench.servo(5).motor.position -= 150 * RAD_PER_STEP  # it sagged
    where = bench.servo(5).motor.steps
    seen = []
    bench.run(3.0, until=lambda: seen.append((5 in on(bench), abs(bench.servo(5).motor.steps - where))) and False)
    assert not any(torque for torque, _ in seen[2:]) and max(distance for _, distance in seen[2:]) <= 3
    assert bench.phase is Phase.HOLDING and not bench.driver.rearm()
    assert "reports 5.7 V" in bench.ladder.rung("implausible").text
    bench.servo(5).voltage = 12.0
    bench.run(2.5)
    assert 5 in on(bench) and abs(bench.servo(5).motor.steps - where) <= 3, "goal := present"
    assert bench.reading(5).condition is Condition.GOOD and bench.ladder.rung("implausible") is None
    assert bench.driver.rearm()


def test_a_joint_beyond_its_limits_is_held_where_it_is():
    bench = DriverBench(start=False)
    bench.servo(1).motor.position = 950 * RAD_PER_STEP  # 2.24 rad; the coxa's limit is 1.9
    bench.driver.start()
    bench.run(2.0, None)
    assert abs(bench.servo(1).motor.steps - 950) <= 2 and bench.phase is Phase.WAITING
    bench.targets = np.zeros(24)
    bench.run(0.5)
    bench.run(0.15, None)  # decelerates on the way: nobody is carried to a limit at once
    assert bench.phase is Phase.HOLDING and bench.largest_step() <= 1.0


# -- silence, restarts, goals -----------------------------------------------------------------------------------------


def test_silence_of_the_data_line_costs_no_torque():
    """0.8 s without any reply while a robot stands: on return nobody is switched off, nothing moves."""
    bench = DriverBench().ready()
    moving = sway(bench)
    bench.run(0.7, moving)
    bench.fault("stuck_line", stop=0.8)
    shares, goals = [], []

    def look():
        shares.append((len(on(bench)), bench.servo(5).table["torque_limit"]))
        goals.append([servo.table["goal_position"] for servo in bench.chain.servos])

    bench.run(3.0, moving, until=look)
    assert set(shares) == {(19, 983)}
    assert np.abs(np.diff(goals, axis=0)).max() <= 12, "goals go on from where they stood"
    assert all(servo.condition is Condition.GOOD for servo in bench.driver.state().servos)
    assert bench.phase is Phase.HOLDING and bench.driver.rearm()


class Spy:
    """Notes the goals that reach a servo while its settings were not read since it restarted."""

    def __init__(self, bench, servo_id):
        self.bench, self.servo, self.goals = bench, bench.servo(servo_id), []
        write = self.servo.table.write

        def noted(address, data):
            if address <= 30 < address + len(data) and not self.servo.table["lock"]:
                self.goals.append((bench.port.now(), int.from_bytes(data[30 - address :][:2], "little")))
            return write(address, data)

        self.servo.table.write = noted


def test_a_servo_that_restarted_gets_no_old_goal():
    """Firmware that switches torque on with a goal: none may come before torque comes up where the servo stands."""
    bench = DriverBench(behaviour=ServoBehaviour(goal_enables_torque=True)).ready()
    bench.run(1.0, sway(bench))
    spy = Spy(bench, 5)
    servo = bench.servo(5)
    bench.fault("reboot", servo=5)
    bench.run(0.02, sway(bench))
    servo.motor.position, servo.motor.velocity = 300 * RAD_PER_STEP, 0.0  # it sags at once
    steps = []
    bench.run(3.0, sway(bench), until=lambda: steps.append(servo.motor.steps) and False)
    assert not spy.goals, "locked and placed first"
    assert max(abs(s - 300) for s in steps) <= 3 and servo.table["torque_enable"]


def test_a_servo_that_just_missed_gets_no_goal_until_its_settings_were_read():
    bench = DriverBench().ready()
    bench.run(0.5)
    sent = []
    write = bench.port.write

    def noted(data):
        sent.append(bytes(data))
        write(data)

    bench.port.write = noted
    bench.fault("lost_reply", servo=5, times=2)  # the READ and its repetition
    bench.run(0.2, until=lambda: bench.reading(5).condition is Condition.SUSPECT)
    del sent[:]
    bench.run(0.0051)
    goals = [p for p in sent if p[4] == 0x83 and p[5] == 30]
    assert goals and all(5 not in p[7 :: p[6] + 1] for p in goals[:1])
    bench.run(0.05)
    assert bench.reading(5).condition is Condition.GOOD


# -- age of readings --------------------------------------------------------------------------------------------------


def stalls(bench, count, duration, gap):
    for k in range(count):
        bench.fault("host_stall", after=k * gap, stop=k * gap + 0.001, value=duration)


def test_late_wake_ups_never_make_the_driver_deaf():
    """Five stalls of 8 ms within 50 ms drove the booked cost over the tick, and nothing was read ever again."""
    bench = DriverBench("full").ready()
    bench.fault("host_stall", stop=0.6, probability=0.2, value=0.008)
    bench.run(0.6)
    bench.fault("dead", servo=3)
    bench.servo(9).motor.temperature = 80.0
    bench.run(1.0)
    assert bench.reading(3).condition is Condition.LOST and bench.ladder.rung("servo_lost") is not None
    assert bench.ladder.rung("heat_shutdown") is not None, "a servo made hot is noticed"


@pytest.mark.parametrize("latency", [0.004, 0.008, 0.012])
def test_every_servo_is_read_whatever_the_load(latency):
    """`DriverBench` asserts after each tick that no reading is older than 0.5 s while targets are followed."""
    bench = DriverBench(latency=0.02).ready()
    bench.fault("link_latency", value=latency)
    bench.fault("host_stall", probability=0.05, value=0.015)
    bench.run(4.0, sway(bench))
    ages = [servo.age for servo in bench.driver.state().servos]
    assert max(ages) <= 0.5 or bench.phase is not Phase.FOLLOWING


def test_readings_that_are_too_old_hold_the_robot_and_are_not_good():
    bench = DriverBench().ready()
    moving = sway(bench)
    asked = bench.driver._watch._read_in_turn
    bench.driver._watch._read_in_turn = lambda *_: False  # a scheduler that never reads, whatever its reasons
    held = bench.run(1.0, moving, until=lambda: bench.phase is Phase.HOLDING)
    assert held is not None and "not read for 0.5 s" in bench.ladder.rung("feedback").text
    bench.run(0.1, moving)
    assert {servo.condition for servo in bench.driver.state().servos} == {Condition.SUSPECT}
    bench.driver._watch._read_in_turn = asked
    bench.run(0.5, moving)
    assert bench.phase is Phase.HOLDING, "not before readings were young for a second"
    bench.run(1.5, moving)
    assert bench.phase is Phase.FOLLOWING and "read in time again" in bench.words("feedback")


# -- stops ------------------------------------------------------------------------------------------------------------


def test_strangers_on_the_bus_are_named_and_stopped():
    bench = DriverBench(start=False)
    stranger = EmulatedServo(42)
    stranger.table["torque_enable"] = 1
    bench.chain.servos.append(stranger)
    bench.chain.__init__(bench.chain.servos, faults=bench.faults)
    report = bench.driver.start()
    assert "servos 42 are on the bus but not in the servo map" in report.text
    bench.run(0.2, None)
    assert stranger.table["torque_enable"]
    bench.driver.emergency_stop()
    bench.port.sleep(0.01)
    assert not stranger.table["torque_enable"] and not on(bench)


def test_an_emergency_stop_is_a_burst():
    bench = DriverBench().ready()
    bench.port.sleep(0.01)
    sent = []
    write = bench.port.write
    bench.port.write = lambda data: (sent.append(bytes(data)), write(data))
    bench.driver.emergency_stop()
    assert sum(p[4] == 0x83 and p[5] == 24 for p in sent) == 3, "nobody acknowledges"
    assert sum(p[2] == 254 and p[4] == 3 and p[5] == 24 and p[6] == 0 for p in sent) == 3, "the broadcast, too"


def test_silence_of_the_targets_while_the_bus_is_down_ends_in_torque_off():
    bench = DriverBench(config={"setpoint": {"off_after": 4.0}}).ready()
    bench.fault("port_error", stop=8.0)
    bench.run(7.0, None)
    assert bench.phase is Phase.OFF and "bus is down" in bench.ladder.rung("setpoint").text
    bench.run(3.0, None)
    assert not on(bench), "as soon as the port is back"
    assert bench.driver.state().torque_off.is_confirmed


# -- what is said -----------------------------------------------------------------------------------------------------


def test_alarms_that_persist_without_a_register_are_said():
    bench = DriverBench().ready()
    bench.fault("error_bit", servo=5, value=32, stop=12.0)
    bench.run(9.5)
    assert bench.ladder.rung("alarms") is None
    bench.run(1.5)
    rung = bench.ladder.rung("alarms")
    assert rung.reaction is Reaction.WARN and "servo 5 (lower_2_femur) (overload)" in rung.text
    assert bench.phase is Phase.FOLLOWING and not bench.reading(5).alarms
    bench.run(2.0)
    assert bench.ladder.rung("alarms") is None


@pytest.mark.parametrize("probability", [0.4, 0.7])
def test_lost_packets_are_not_called_a_status_level(probability):
    for seed in range(6):
        bench = DriverBench(seed=seed, start=False, config={"start": {"ping_tries": 1}})
        bench.fault("lost_reply", servo=6, probability=probability)
        try:
            bench.driver.start()
        except StartError as error:
            assert "status return level is 0" not in str(error)


def test_two_servos_of_one_id_are_named_when_they_appear_while_driving():
    bench = DriverBench().ready()
    bench.servo(9).motor.position = 2.0
    bench.fault("change_id", servo=9, value=4)
    bench.run(3.0)
    text = bench.ladder.rung("servo_lost").text
    assert "servo 4 (lower_2_coxa) sends garbled replies: two servos with one ID" in text


def test_a_roll_call_is_a_few_sentences():
    bench = DriverBench("full").ready()
    for servo in range(31):
        bench.fault("dead", servo=servo)
    bench.run(3.0)
    said = [notice for notice in bench.said if notice.key in ("servo_lost", "bus_down")]
    assert 2 <= len(said) <= 12, [notice.text[:60] for notice in said]


# -- rules that nothing else tests ------------------------------------------------------------------------------------


def test_the_battery_is_the_median_of_the_servos():
    bench = DriverBench().ready()
    for servo in bench.chain.servos[:9]:
        servo.voltage = 9.4  # long cables: 9 of 19 are below the limit of sitting, the battery is not
    bench.run(4.0)
    assert bench.driver.state().supply.filtered == pytest.approx(bench.servo(18).voltage, abs=0.06)
    assert bench.ladder.rung("voltage") is None


def test_a_servo_of_a_hot_leg_that_restarts_stays_limp():
    bench = DriverBench().ready()
    bench.fault("overheat", servo=5, value=80.0)
    bench.run(1.0)
    assert not {4, 5, 6} & set(on(bench))
    bench.fault("reboot", servo=4)
    bench.fault("dead", servo=4, stop=1.0)
    back = []
    bench.run(4.0, until=lambda: back.append(4 in on(bench)) and False)
    assert not any(back) and bench.reading(4).condition is Condition.LIMP


def test_a_second_overload_counts_until_the_end_of_its_window():
    bench = DriverBench(config={"overload": {"window": 8.0}}).ready()
    bench.fault("overload", servo=5)
    bench.run(7.0)
    assert bench.phase is Phase.FOLLOWING
    bench.fault("overload", servo=5)
    bench.run(4.0)
    assert "overloaded again" in bench.ladder.text and 5 not in on(bench)


def test_torque_comes_up_on_a_link_too_slow_to_read_everybody_in_time():
    """Readings that are always too old must not keep limp servos from their turn."""
    bench = DriverBench(latency=0.03).ready()
    bench.fault("link_latency", value=0.025)
    bench.run(2.0)
    assert bench.phase is Phase.HOLDING and "not read for 0.5 s" in bench.ladder.rung("feedback").text
    bench.driver.emergency_stop()
    bench.run(2.0)
    assert not on(bench) and bench.driver.rearm()
    bench.run(4.0)
    assert len(on(bench)) == 19 and len(bench.words("suspect")) < 500


@pytest.mark.parametrize("seed", range(4))
def test_torque_never_comes_on_with_another_goal_on_a_line_that_garbles_orders(seed):
    """Whatever packet of the way up is lost: a servo with torque has a goal near where it stood."""
    bench = DriverBench(seed=seed).ready()
    bench.driver.emergency_stop()
    bench.run(0.3, None)
    where = {}
    for servo in bench.chain.servos:
        servo.motor.position += 0.5 * (-1) ** servo.servo_id  # it sagged, far from the goal in its register
        where[servo.servo_id] = servo.motor.steps
    bench.fault("garbled_instruction", probability=0.3)
    assert bench.driver.rearm()
    wrong = []

    def look():
        for servo in bench.chain.servos:
            if servo.table["torque_enable"] and abs(servo.table["goal_position"] - where[servo.servo_id]) > 10:
                wrong.append((servo.servo_id, servo.table["goal_position"], where[servo.servo_id]))

    bench.run(1.0, None, until=look)
    assert not wrong and len(on(bench)) > 10, wrong[:3]


def test_goals_after_a_stall_between_a_tick_and_its_goals_are_no_larger_than_their_time():
    bench = DriverBench().ready()
    bench.targets = bench.targets + np.array([0.0 if name.endswith("fan") else 1.2 for name in bench.map.joint_names])
    bench.run(0.3)
    send, goals = bench.driver._link.send_goals, []

    def stalled(angles, speeds, indices):
        if len(goals) == 1:
            bench.port.sleep(0.4)
        goals.append((bench.port.now(), angles.copy()))
        send(angles, speeds, indices)

    bench.driver._link.send_goals = stalled
    bench.run(0.5)
    limits = bench.driver.limits.velocity[bench.map.joint_of_servo]
    for (before, a), (after, b) in zip(goals, goals[1:]):
        assert (np.abs(b - a) <= limits * (after - before + 0.003)).all(), (after - before, np.abs(b - a).max())


@pytest.mark.parametrize("at_start", [True, False])
def test_one_garbled_position_with_a_right_checksum_decides_about_no_torque(at_start):
    bench = DriverBench(start=False)
    servo = bench.servo(5)
    servo.motor.position = 955 * RAD_PER_STEP
    read, lies = servo.table.read, []

    def lying(address, count):
        data = bytearray(read(address, count))
        if lies and address <= 36 and count == 24:
            lies.pop()
            data[36 - address : 38 - address] = (443).to_bytes(2, "little")
        return bytes(data)

    servo.table.read = lying
    if at_start:
        lies.extend([1])
    bench.driver.start()
    if not at_start:
        bench.driver.emergency_stop()
        bench.run(0.3, None)
        assert bench.driver.rearm()
        bench.port.sleep(0.2)  # so long that 443 could be true
        lies.extend([1])
    goals = []
    bench.run(
        0.5, None, until=lambda: goals.append((servo.table["torque_enable"], servo.table["goal_position"])) and False
    )
    assert not lies and {goal for torque, goal in goals if torque} <= set(range(945, 966)) and goals[-1][0]


def test_nothing_is_followed_while_a_servo_that_should_hold_is_limp():
    bench = DriverBench(config={"start": {"torque_ramp": 0.1}}).ready()
    bench.driver.emergency_stop()
    bench.servo(5).motor.position = 200 * RAD_PER_STEP
    bench.run(0.5)
    servo, phases = bench.servo(5), set()
    start = bench.port.now()

    def swing():
        servo.motor.position = (200 + 1200 * (bench.port.now() - start)) * RAD_PER_STEP
        phases.add(bench.phase)

    bench.run(0.1, until=swing)
    phases.clear()
    assert bench.driver.rearm()
    bench.run(0.4, until=swing)
    assert phases == {Phase.STARTING} and 5 not in on(bench) and len(on(bench)) == 18, (
        "no torque on a joint that swings"
    )
    bench.run(1.0)
    assert bench.phase is Phase.FOLLOWING and 5 in on(bench)


@pytest.mark.parametrize("stall", [0.3, 0.7])
def test_a_servo_that_restarted_while_the_host_stood_still_gets_no_old_goal(stall):
    bench = DriverBench(behaviour=ServoBehaviour(goal_enables_torque=True)).ready()
    servo = bench.servo(5)
    servo.table["torque_enable"] = 0  # as after a reboot of 0.2 s that nobody could see
    for name, value in (("lock", 0), ("cw_compliance_slope", 32), ("ccw_compliance_slope", 32)):
        servo.table[name] = value
    servo.motor.position, servo.motor.velocity = 300 * RAD_PER_STEP, 0.0
    bench.port.sleep(stall)
    steps = []
    bench.run(2.0, until=lambda: steps.append(servo.motor.steps) and False)
    assert max(abs(step - 300) for step in steps) <= 4 and servo.table["torque_enable"]


def gains(bench, slope):
    return bench.driver.set_compliance({kind: Compliance(slope, 1, 32) for kind in ("coxa", "femur", "tibia")})


@pytest.mark.parametrize("silence", ["port_error", "stuck_line", "dead"])
def test_gains_that_change_while_servos_are_silent_cost_no_torque(silence):
    bench = DriverBench().ready()
    bench.fault(silence, stop=1.0, **({"servo": 5} if silence == "dead" else {}))
    bench.run(0.7)
    assert gains(bench, 64)
    least = []
    bench.run(3.0, until=lambda: least.append(len(on(bench))) and False)
    assert min(least) == 19
    assert {servo.table["cw_compliance_slope"] for servo in bench.chain.servos[1:]} == {64}


def test_silence_while_torque_rises_costs_no_torque():
    bench = DriverBench()
    bench.run(0.3, None)
    bench.fault("stuck_line", stop=0.8)
    least = []
    bench.run(4.0, None, until=lambda: least.append(len(on(bench))) and False)
    assert min(least) == 19 and {s.table["torque_limit"] for s in bench.chain.servos} == {1023, 983}


def test_a_garbled_goal_register_moves_nothing():
    bench = DriverBench().ready()
    servo = bench.servo(5)
    read, lies = servo.table.read, [1]

    def lying(address, count):
        data = bytearray(read(address, count))
        if lies and address == 24 and count == 24:
            lies.pop()
            data[6:8] = (320).to_bytes(2, "little")
        return bytes(data)

    bench.fault("lost_reply", servo=5, times=2)
    servo.table.read = lying
    goals = []
    bench.run(0.5, until=lambda: goals.append(servo.table["goal_position"]) and False)
    assert not lies and set(goals) == {goals[0]}


def test_a_hot_leg_goes_limp_although_the_port_goes_with_its_order():
    bench = DriverBench().ready()
    bench.fault("overheat", servo=5, value=80.0)
    off = bench.driver._link.torque_off

    def lost(indices, times=1):
        if indices:
            bench.driver._link.torque_off = off
            bench.fault("port_error", stop=0.5)
            raise PortLostError("gone")

    bench.driver._link.torque_off = lost
    bench.run(3.0)
    assert not {4, 5, 6} & set(on(bench)) and bench.ladder.rung("heat_shutdown") is not None


def test_derating_reaches_a_servo_that_was_silent_when_it_was_decided():
    bench = DriverBench().ready()
    bench.run(1.0)
    bench.fault("dead", servo=5, stop=4.0)
    bench.chain.set_supply(9.8)
    bench.run(7.0)
    assert bench.servo(5).table["torque_limit"] == round(0.7 * 983) and 5 in on(bench)


def test_a_servo_whose_readings_cannot_be_true_holds_the_robot():
    bench = DriverBench().ready()
    bench.servo(5).voltage = 5.8
    bench.run(1.0, sway(bench))
    assert bench.phase is Phase.HOLDING and "reports 5.8 V" in bench.ladder.rung("implausible").text
    bench.servo(5).voltage = 12.0
    bench.run(1.0)
    assert bench.ladder.rung("implausible") is None


def test_the_fan_is_told_to_stop_until_it_has():
    bench = DriverBench(start=False)
    bench.servo(0).table["cw_angle_limit"] = bench.servo(0).table["ccw_angle_limit"] = 0
    bench.driver.start()
    bench.targets = bench.driver.state().command.copy()
    bench.run(1.3)
    assert bench.driver.drive_fan(0.5)
    bench.run(0.45)
    bench.fault("stuck_line", stop=0.15)
    bench.run(0.2)
    bench.run(2.0)
    assert bench.servo(0).table["moving_speed"] == 0
