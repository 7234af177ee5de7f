# SPDX-License-Identifier: MIT
"""Goals without moving speeds: only while every servo addressed has its speed; nothing else differs on the wire."""

from __future__ import annotations

import dynamixel_sdk as sdk
import numpy as np
import pytest
from driver_bench import SHIPPED, DriverBench
from servo_bench import Bench
from test_ax_sdk import Tape
from test_driver_faults import rates, sway

from ax_bus.protocol import BROADCAST_ID, Instruction
from ax_emulator import LatencyTimerChain, ServoBehaviour
from shellbot_motor_driver import DriverConfig, DriverConfigError, Phase
from shellbot_motor_driver.driving.goal_writer import GoalWriter
from shellbot_motor_driver.driving.servo_link import Outcome
from shellbot_motor_driver.driving.servo_table import Row

GOAL, SPEED = 30, 32
REGISTERS = ("goal_position", "moving_speed", "torque_enable", "torque_limit", "lock", "punch", "cw_compliance_slope")


class Listener:
    """Hears every packet that the driver sends; compares what servos have when they are sent goals without speeds."""

    def __init__(self, bench):
        self.bench, self.packets = bench, []
        self.told = {}
        self.wrong = []
        write = bench.port.write

        def heard(data):
            self.look(bytes(data))
            write(data)

        bench.port.write = heard

    def look(self, packet):
        is_sync = packet[2] == BROADCAST_ID and packet[4] == Instruction.SYNC_WRITE
        address, count = (packet[5], packet[6]) if is_sync else (-1, 0)
        self.packets.append((self.bench.port.now(), packet, address, count))
        if not is_sync:
            return
        for at in range(7, len(packet) - 1, count + 1):
            servo_id, data = packet[at], packet[at + 1 : at + 1 + count]
            if address <= SPEED < address + count:
                self.told[servo_id] = int.from_bytes(data[SPEED - address :][:2], "little")
            elif address == GOAL:
                servo = next((s for s in self.bench.chain.servos if s.servo_id == servo_id), None)
                has = servo.table["moving_speed"] if servo is not None else None
                # one whose power broke in is limp: goals do nothing until it was found out
                if servo is None or (has != self.told.get(servo_id) and servo.table["torque_enable"]):
                    self.wrong.append((self.bench.port.now(), servo_id, has, self.told.get(servo_id)))

    def goals(self, since=0.0):
        """Return the bytes a servo of the goal packets since a time: 2; 4 with speeds; 6 with torque limits, too."""
        return [count for time, _, address, count in self.packets if address == GOAL and time >= since]


@pytest.mark.parametrize("variant", ["walker", "full"])
def test_the_sdk_makes_the_same_packets_of_goals_with_and_without_speeds(variant):
    bench = DriverBench(variant).ready()
    bench.run(0.5, sway(bench))
    listener = Listener(bench)
    seen = {2: [], 4: []}
    handler = sdk.Protocol1PacketHandler()
    moving = sway(bench)
    for _ in range(51):
        del listener.packets[:]
        bench.run(0.005, moving)
        goals = {servo.servo_id: servo.goal for servo in bench.driver.state().servos}
        sent = [(packet, count) for _, packet, address, count in listener.packets if address == GOAL]
        asked = []
        for packet, count in sent:
            group = sdk.GroupSyncWrite(tape := Tape(), handler, GOAL, count)
            for servo_id in packet[7 : -1 : count + 1]:
                words = (goals[servo_id], bench.servo(servo_id).table["moving_speed"])[: count // 2]
                group.addParam(servo_id, [byte for word in words for byte in word.to_bytes(2, "little")])
                asked.append(servo_id)
            group.txPacket()
            assert packet == tape.sent and len(packet) <= 143
            seen[count].append(len(packet))
        assert asked == list(bench.map.servo_ids)
    packets_with_speeds = {"walker": 1, "full": 2}[variant]
    assert len(seen[2]) >= 45 and 1 <= len(seen[4]) <= 2 * packets_with_speeds
    assert set(seen[2]) == {{"walker": 65, "full": 101}[variant]}


def story(interval):
    """Return all goals that servos got, tick by tick: start, walk, silence, sit, off, rearm, stop, walk."""
    bench = DriverBench(config={"tick": {"speed_interval": interval}, "setpoint": {"off_after": 6.0}})
    listener = Listener(bench)
    tables, steady, moving = [], [], sway(bench)

    def look():
        tables.append([[servo.table[name] for name in REGISTERS] for servo in bench.chain.servos])
        shares = bench.driver.snapshot().table[Row.TORQUE_FRACTION]
        steady.append(shares.min() == shares.max() and shares.max() == 1.0)

    bench.run(3.0, moving, until=look)
    bench.run(8.0, None, until=look)
    assert bench.phase is Phase.OFF
    assert bench.driver.rearm()
    bench.run(2.0, until=look)
    assert bench.phase is Phase.FOLLOWING
    bench.driver.emergency_stop()
    bench.run(0.3, until=look)
    assert bench.driver.rearm()
    bench.run(2.0, moving, until=look)
    return np.array(tables), np.array(steady), np.array(bench.commands), listener


def test_servos_get_the_same_numbers_in_the_same_ticks():
    tables, steady, commands, always = story(0.0)
    others, other_steady, other_commands, now_and_then = story(0.5)
    assert np.allclose(commands, other_commands, atol=0.006), (
        "torque comes on a tick earlier where READs have more room"
    )
    same = steady & other_steady
    assert same.mean() > 0.4
    for i, name in enumerate(REGISTERS):
        step = {"goal_position": 1, "torque_limit": 60}.get(name, 0)  # a rounding, a step of the ramp
        assert np.abs(tables[same, :, i] - others[same, :, i]).max() <= step, name
    assert 2 not in always.goals() and len(always.goals()) == len(now_and_then.goals())
    assert now_and_then.goals().count(4) < 0.4 * len(now_and_then.goals()) and not now_and_then.wrong


def test_speeds_are_repeated_twice_a_second():
    bench = DriverBench().ready()
    bench.run(1.0, sway(bench))
    listener = Listener(bench)
    bench.run(5.0, sway(bench))
    assert listener.goals().count(4) == 10 and listener.goals().count(2) == 490


def test_a_speed_that_changes_is_sent_until_every_servo_has_said_that_it_has_it():
    bench = DriverBench().ready()
    bench.run(1.0, sway(bench))
    bench.run(2.05, None)
    assert bench.phase is Phase.SITTING
    listener = Listener(bench)
    bench.run(1.5, None)
    goals = listener.goals()
    assert goals.count(2) > 100, "sitting, too"
    assert bench.driver.rearm()
    since = bench.port.now()
    bench.run(0.05)
    assert set(listener.goals(since)) == {4}, "who sat slowly is told the full speed"
    bench.run(1.0)
    assert 2 in listener.goals(since) and not listener.wrong


def interrupted(name, bench):
    """Do something after which no servo is sure to have its speed; return when."""
    now = bench.port.now()
    if name == "rearm":
        bench.driver.emergency_stop()
        bench.run(0.1)
        now = bench.port.now()
        assert bench.driver.rearm()
    elif name == "rearm while holding":
        bench.fault("dead", servo=5, stop=0.8)
        bench.run(4.0)
        now = bench.port.now()
        assert bench.driver.rearm()
    elif name == "replug":
        bench.fault("port_error", stop=0.3)
        bench.run(0.3)
        now = bench.port.now()
    elif name == "torque":
        bench.driver.torque(False)
        bench.run(0.1)
        now = bench.port.now()
        assert bench.driver.torque(True)
    elif name == "restart of the driver":
        bench.new_driver()
        now = bench.port.now()
        bench.driver.start()
    return now


@pytest.mark.parametrize("name", ["rearm", "rearm while holding", "replug", "torque", "restart of the driver"])
def test_goals_begin_with_speeds_after(name):
    bench = DriverBench(config=SHIPPED).ready()
    bench.run(1.0, sway(bench))
    listener = Listener(bench)
    listener.told = {servo.servo_id: servo.table["moving_speed"] for servo in bench.chain.servos}
    since = interrupted(name, bench)
    bench.run(2.0)
    goals = listener.goals(since)
    assert next(count for count in goals if count != 6) == 4 and 2 in goals and not listener.wrong


@pytest.mark.parametrize("goal_enables_torque", [False, True])
def test_a_servo_that_lost_power_gets_its_speed_before_a_goal(goal_enables_torque):
    """Deaf while it starts anew it misses READs; also where a goal switches the torque on it never runs free."""
    bench = DriverBench(behaviour=ServoBehaviour(goal_enables_torque=goal_enables_torque)).ready()
    bench.run(1.0, sway(bench))
    listener = Listener(bench)
    listener.told = {servo.servo_id: servo.table["moving_speed"] for servo in bench.chain.servos}
    table = bench.servo(5).table
    free = []
    bench.fault("reboot", servo=5)
    bench.run(2.5, sway(bench), until=lambda: free.append(bool(table["torque_enable"]) and table["moving_speed"] == 0))
    assert bench.faults.struck["reboot"] == 1 and "servo 5" in bench.words("servo_lost")
    assert not any(free) and not listener.wrong
    assert table["torque_enable"] and table["moving_speed"] > 0
    listener.look_after = bench.port.now()
    assert bench.driver.rearm()
    bench.run(1.5, sway(bench))
    assert bench.phase is Phase.FOLLOWING and 2 in listener.goals(listener.look_after)


def test_a_restart_too_short_to_be_missed_is_limp_until_it_has_its_speed():
    bench = DriverBench(behaviour=ServoBehaviour(boot_time=1e-3)).ready()
    bench.run(1.0, sway(bench))
    listener = Listener(bench)
    listener.told = {servo.servo_id: servo.table["moving_speed"] for servo in bench.chain.servos}
    table = bench.servo(5).table
    free = []
    bench.fault("reboot", servo=5)
    bench.run(2.5, sway(bench), until=lambda: free.append(bool(table["torque_enable"]) and table["moving_speed"] == 0))
    assert "restarted" in bench.words("restarted") and not any(free) and not listener.wrong
    assert table["torque_enable"] and table["moving_speed"] > 0


def test_a_speed_that_a_servo_forgets_by_itself_is_told_again():
    """Somebody else's write, a bit that flips in its memory: the next READ of its settings shows it."""
    bench = DriverBench().ready()
    bench.run(1.0, sway(bench))
    good = bench.servo(5).table["moving_speed"]
    bench.servo(5).table["moving_speed"] = 1023
    back = bench.run(0.6, sway(bench), until=lambda: bench.servo(5).table["moving_speed"] == good)
    assert back is not None


def test_speeds_go_with_every_goal_where_nothing_is_read():
    bench = DriverBench(start=False, reads_trusted=False, config={"start": {"allow_write_only": True}})
    bench.driver.start()
    bench.targets = bench.driver.state().command.copy()
    listener = Listener(bench)
    bench.run(1.0)
    assert set(listener.goals()) == {4}


@pytest.mark.parametrize("seed", range(2))
def test_no_goal_without_speed_reaches_a_servo_that_has_another(seed):
    """Lost replies, garbled orders, restarts, a replugged port, stalls, stops: compared with what servos have."""
    bench = DriverBench(seed=seed).ready()
    listener = Listener(bench)
    listener.told = {servo.servo_id: servo.table["moving_speed"] for servo in bench.chain.servos}
    bench.fault("lost_reply", probability=0.02)
    bench.fault("bit_flip", probability=0.002, value=12)
    bench.fault("garbled_instruction", probability=0.01)
    bench.fault("host_stall", probability=0.0005, value=0.03)
    rng = np.random.default_rng(seed)
    moving = sway(bench)
    for kind in ("reboot", "port_error", "dead", "reboot"):
        servo = int(rng.integers(1, 19))
        bench.fault(kind, after=float(rng.uniform(0.1, 0.4)), stop=0.8, **({} if "port" in kind else {"servo": servo}))
        bench.run(4.5, moving)
        bench.run(0.3, None)  # silence: hold
        bench.driver.rearm()
        bench.run(0.7, moving)
        bench.driver.emergency_stop("test")
        bench.run(0.2, moving)
        bench.driver.rearm()
        bench.run(1.5, moving)
    goals = listener.goals()
    assert goals.count(2) > 300 and goals.count(4) > 100 and not listener.wrong, listener.wrong[:3]
    assert bench.largest_step() <= 60.0 and bench.faults.struck["garbled_instruction"] > 50


@pytest.mark.parametrize(("variant", "least"), [("walker", 29.9), ("full", 15.0)])
def test_a_latency_timer_that_keeps_step_with_the_ticks(variant, least):
    found = []
    for phase in (0.0, 0.5):
        bench = DriverBench(variant, latency=1e-3, chain=LatencyTimerChain)
        bench.chain.frame, bench.chain.phase = 1e-3, phase * 1e-3
        bench.ready().run(1.0)
        got, late = rates(bench, 1.0)
        found.append(round(min(got), 1))
        assert late == 0 and bench.driver.state().timing.booked_fraction <= 0.7
    assert min(found) >= least, found


def test_lost_replies_behind_a_latency_timer_cost_few_speeds():
    """Who was not heard has its settings read in its next turn; then goals go without speeds again."""
    bench = DriverBench(latency=1e-3, chain=LatencyTimerChain, seed=4).ready()
    bench.fault("lost_reply", probability=0.01)
    listener = Listener(bench)
    got, late = rates(bench, 4.0)
    assert min(got) >= 27.0 and late == 0
    assert listener.goals().count(4) < 0.45 * len(listener.goals())


def test_the_interval_is_checked():
    with pytest.raises(DriverConfigError, match="tick.speed_interval is -1"):
        DriverConfig.from_mapping({"tick": {"speed_interval": -1}})


def goal_writer(n=3, interval=10.0):
    bench = Bench(tuple(range(1, n + 1)))
    sent = []
    bench.bus.send = sent.append
    writer = GoalWriter(bench.bus, tuple(range(1, n + 1)), interval)

    def send(speed, now=0.0, who=tuple(range(n))):
        del sent[:]
        writer.send(np.full(n, 500), np.full(n, speed), who, now)
        return sent[0][6]

    return writer, send


def test_who_was_told_another_speed_must_say_so_before_it_counts():
    writer, send = goal_writer()
    assert send(100) == 4
    for i in range(3):
        assert send(100) == 4, "told is not held"
        writer.note_speed(i, 100)
    assert send(100) == 2
    assert send(50) == 4 and send(100) == 4, "what they said before they were told 50 is void"
    for i in range(3):
        writer.note_speed(i, 100)
    assert send(100) == 2
    writer.note_speed(1, 0)  # it has lost its speed
    assert send(100, who=(0, 2)) == 2 and send(100) == 4
    writer.note_speed(1, 100)
    assert send(100) == 2
    writer.doubt([2])
    assert send(100, who=(0, 1)) == 2 and send(100) == 4
    writer.note_speed(2, 100)
    assert send(100, now=9.9) == 2 and send(100, now=11.0) == 4 and send(100, now=12.0) == 2


def test_an_interval_of_zero_sends_speeds_with_every_goal():
    writer, send = goal_writer(interval=0.0)
    for i in range(3):
        writer.note_speed(i, 100)
    assert [send(100, now=0.01 * k) for k in range(5)] == [4] * 5


@pytest.mark.parametrize("what", ["torque_up", "missed", "impossible"])
def test_what_else_makes_a_speed_unsure(what):
    bench = DriverBench().ready()
    bench.run(1.0)
    link = bench.driver._link
    track = link.tracks[5]
    if what == "torque_up":
        angles = link.map.angles(link.table[Row.STEPS])
        link.torque_off([5])
        link.torque_up(angles, link.map.to_speeds(np.full(19, 0.1)), [5], bench.port.now())
    elif what == "missed":
        bench.fault("dead", servo=5, stop=0.0101)
        assert link.query(track, False, bench.port.now(), 0)[0] is Outcome.MISSED
        bench.port.sleep(0.01)
    else:
        bench.servo(5).motor.position += 1.5  # nobody turns so fast
        assert link.query(track, False, bench.port.now(), 0)[0] is Outcome.MISSED
    assert track.state.checked == -np.inf, "its settings are looked at next"
    listener = Listener(bench)
    bench.run(0.015)
    assert listener.goals()[-1] == 4, "with the first goals that it gets again"
