# SPDX-License-Identifier: MIT
"""Faults and host stalls in real time: what is planned, recorded and counted, and that no process is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ax_bus import protocol
from ax_bus.protocol import BROADCAST_ID, Instruction
from ax_emulator import FaultInjector, ServoBehaviour
from shellbot_benchmarks.bus_campaign import cli as bus_faults
from shellbot_benchmarks.bus_campaign.stalls import cli, run, score
from shellbot_benchmarks.bus_campaign.stalls.emulator import WitnessedChain, shifted
from shellbot_benchmarks.bus_campaign.stalls.plan import STALLS, make_plan
from shellbot_benchmarks.bus_campaign.stalls.score import Stopped
from shellbot_benchmarks.bus_campaign.stalls.truth import Arrivals, Truth, WitnessedServo
from shellbot_benchmarks.bus_campaign.stalls.walk import Claim, Gait, Given, Log, Sample
from shellbot_common.testing import PATIENCE, wait_until
from shellbot_motor_driver import Phase, ServoMap

SUMMARY = {"false_torque_off", "stale_reported_good", "goal_steps_beyond_limit", "unreported_stops", "worst_stop_s"}
SUMMARY |= {"runs", "seconds", "stops", "stalls", "faults"}
IDS = range(19)


# -- plan ------------------------------------------------------------------------------------------------------------


def test_a_plan_repeats_with_its_seed_and_has_everything():
    plan = make_plan(7, 60.0, IDS)
    assert plan == make_plan(7, 60.0, IDS) != make_plan(8, 60.0, IDS)
    plans = [make_plan(seed, 60.0, IDS) for seed in range(20)]
    assert {plan.goal_enables_torque for plan in plans} == {True, False}
    assert {stall.target for stall in plan.stalls} == set(STALLS)
    assert min(len(plan.orders) for plan in plans) > 5 and min(len(plan.faults) for plan in plans) > 15
    for stall in plan.stalls:
        row = STALLS[stall.target]
        assert row.shortest <= stall.duration <= row.longest and (1 <= stall.hogs <= 4) == (stall.target == "hog")
    stopped = [stall for stall in plan.stalls if stall.target == "bus"]
    assert all(one.start + one.duration < other.start for one, other in zip(stopped, stopped[1:]))
    hit = [any(s.start <= o.start < s.start + s.duration for s in p.stalls if s.target == "bus")
           for p in plans for o in p.orders]  # fmt: skip
    assert 0.4 < np.mean(hit) < 0.8, "about every second stop goes to a bus process that hangs"


def test_some_servo_starts_or_comes_back_at_an_implausible_voltage():
    faults = [slot.fault for seed in range(20) for slot in make_plan(seed, 60.0, IDS).faults]
    low = [fault for fault in faults if fault.kind == "voltage" and fault.servo is not None]
    assert any(fault.start == 0.0 for fault in low) and all(fault.value < 6.0 for fault in low)
    reboots = {(fault.servo, fault.start) for fault in faults if fault.kind == "reboot"}
    assert all((fault.servo, fault.start) in reboots for fault in low if fault.start > 0.0)


def test_the_gait_keeps_limits_of_position_and_speed():
    servo_map = ServoMap.load("walker")
    limits, gait = servo_map.robot.limits, Gait(servo_map.joint_names)
    targets = np.array([gait(0.01 * i) for i in range(300)])
    assert (targets > limits.lower).all() and (targets < limits.upper).all()
    assert (np.abs(np.diff(targets, axis=0)) < 0.01 * 0.3 * limits.velocity).all()
    assert np.ptp(targets, axis=0).min() > 0.09
    servo_map.reduce(targets[7])  # all fans alike


# -- ground truth ----------------------------------------------------------------------------------------------------


class Line:
    """One witnessed servo, ID 1, on a chain whose time is given."""

    def __init__(self, position=512, faults=(), **behaviour):
        self.truth, self.arrivals, self.time = Truth(), Arrivals(), 100.0
        behaviour = ServoBehaviour(interrupts=False, **behaviour)
        self.servo = WitnessedServo(0, self.truth, self.arrivals, 1, position=position, behaviour=behaviour)
        self.chain = WitnessedChain([self.servo], self.arrivals, FaultInjector(faults), (), self.time)
        self.wait(0.2)

    def wait(self, seconds):
        end = self.time + seconds
        while self.time < end - 1e-9:  # as PtyServer looks at the line
            self.time = min(end, self.time + 0.005)
            self.chain.advance(self.time)
        return self

    def send(self, *packets, after=0.01):
        self.chain.transmit(self.time, b"".join(packets))
        return self.wait(after)

    def incidents(self):
        return score.goal_steps_beyond_limit(self.truth, np.array([1200.0]))


def write(address, *data):
    return protocol.packet(1, Instruction.WRITE, bytes((address, *data)))


def goal(steps):
    return protocol.packet(BROADCAST_ID, Instruction.SYNC_WRITE, bytes((30, 2, 1, steps & 255, steps >> 8)))


TORQUE_ON, TORQUE_OFF, READ = write(24, 1), write(24, 0), protocol.packet(1, Instruction.READ, bytes((36, 8)))


def test_torque_replies_and_silence_are_written_down():
    line = Line().send(goal(512), TORQUE_ON).send(READ, after=0.1).send(TORQUE_OFF)
    (on, off), (reply,) = line.truth.table("torque"), line.truth.table("replies")
    assert on[1:].tolist() == [0.0, 1.0] and off[1:].tolist() == [0.0, 0.0]
    assert 100.2 < on[0] < reply[0] < off[0] and reply[1] == 1.0
    line.servo.reboot(line.time)
    line.wait(0.5)
    begin, end = line.truth.table("silence")
    assert begin[2] == 1.0 and end[2] == 0.0 and 0.15 < end[0] - begin[0] < 0.3
    times = score.torque_times(line.truth, 2)
    assert times[0].at(on[0]) == (on[0], off[0]) and times[0].at(off[0]) is None and times[1].at(on[0]) is None


def test_a_goal_at_the_speed_limit_is_no_step_and_a_faster_one_is():
    line = Line().send(goal(512), TORQUE_ON)
    for i in range(1, 30):
        line.send(goal(512 + 12 * i))
    assert line.incidents() == [], "12 steps in 10 ms are 1200 steps/s"
    line.send(goal(512 + 12 * 29 + 60))
    (found,) = line.incidents()
    assert found["servos"] == [0] and found["how"] == "1 goals" and 20.0 < found["beyond"] < 60.0
    line = Line().send(goal(512), TORQUE_ON)
    for i in range(1, 20):  # much too fast, but by little at a time
        line.send(goal(512 + 20 * i))
    (found,) = line.incidents()
    assert found["how"] == f"{score.SPAN} goals"


def test_torque_with_a_goal_where_the_servo_is_not_is_a_step():
    line = Line(position=300).send(goal(512), TORQUE_ON)
    (found,) = line.incidents()
    assert found["how"] == "torque on" and found["horn"] == [300.0, 300.0] and found["beyond"] == 202.0
    assert Line(position=300).send(goal(305), TORQUE_ON).incidents() == []
    for alone in (True, False):  # whether the goal itself switches torque on, as on some servos
        line = Line(position=300, goal_enables_torque=True).send(goal(512), *(() if alone else (TORQUE_ON,)))
        assert len(line.incidents()) == 1


def test_a_rebooted_servo_that_is_shot_to_its_old_goal_is_a_step():
    line = Line(goal_enables_torque=True).send(goal(512))
    for i in range(1, 41):
        line.send(goal(512 + 5 * i))
    assert line.incidents() == []
    line.servo.reboot(line.time)
    line.wait(1.5)  # limp, it goes where the robot lies
    line.send(goal(712))
    (found,) = line.incidents()
    assert found["how"] == "torque on" and found["beyond"] > 50.0


def test_an_alarm_that_is_taken_back_counts_as_torque_on():
    line = Line().send(goal(512), TORQUE_ON)
    for i in range(1, 41):
        line.send(goal(512 + 5 * i))
    line.send(write(34, 0, 0), after=1.5)  # as a shutdown by alarm: torque limit 0
    line.send(write(34, 255, 3))
    assert [found["how"] for found in line.incidents()] == ["torque on"]


def test_goals_that_were_read_late_are_judged_by_when_they_can_have_left():
    line = Line().send(goal(512), TORQUE_ON)
    line.time += 0.4  # the emulator is stopped; the host goes on
    line.send(*(goal(512 + 10 * i) for i in range(1, 41)), after=0.1)
    for i in range(41, 60):
        line.send(goal(512 + 10 * i))
    assert line.incidents() == []


def test_late_goals_that_do_not_fit_one_read_are_judged_alike():
    line = Line().send(goal(512), TORQUE_ON)
    line.time += 0.4
    data = b"".join(goal(512 + 10 * i) * 12 for i in range(1, 41))
    assert len(data) > 4096
    line.send(data[:4096], after=0.001).send(data[4096:], after=0.1)
    assert line.incidents() == []


def test_torque_that_comes_on_elsewhere_begins_a_new_path():
    line = Line().send(goal(512), TORQUE_ON)
    for i in range(1, 41):
        line.send(goal(512 + 5 * i))
    line.send(TORQUE_OFF, after=1.5)
    line.send(goal(line.servo.motor.steps), TORQUE_ON).send(goal(line.servo.motor.steps))
    assert line.servo.motor.steps < 640 and line.incidents() == []


def test_a_torque_jump_inside_the_servo_is_not_the_drivers():
    line = Line().send(goal(512), TORQUE_ON)
    line.servo.table["goal_position"] = 812
    line.wait(0.1).send(goal(513))
    assert line.incidents() == []


def test_goals_for_the_servo_whose_id_it_has_taken_are_not_judged_but_torque_is():
    line = Line().send(goal(512), TORQUE_ON)
    line.servo.table["id"] = 2
    for_2 = protocol.packet(BROADCAST_ID, Instruction.SYNC_WRITE, bytes((30, 2, 2, 44, 1)))
    line.send(for_2)
    line.servo.table["id"] = 1
    line.send(goal(513))
    assert line.servo.table["goal_position"] == 513 and line.incidents() == []
    line.send(TORQUE_OFF)
    line.servo.table["id"] = 2
    line.send(for_2, protocol.packet(2, Instruction.WRITE, bytes((24, 1))))
    assert [found["how"] for found in line.incidents()] == ["torque on"]


def test_a_technician_repairs():
    plan = make_plan(3, 60.0, IDS)
    faults, repairs = shifted(plan, 1000.0)
    assert len(faults) == len(repairs) == len(plan.faults) and min(fault.start for fault in faults) >= 1000.0
    truth, arrivals = Truth(), Arrivals()
    servo = WitnessedServo(0, truth, arrivals, 1)
    chain = WitnessedChain([servo], arrivals, FaultInjector(), [1001.0], 1000.0)
    servo.table["id"] = 33
    chain.advance(1000.9)
    assert servo.servo_id == 33
    chain.advance(1001.1)
    assert servo.servo_id == 1


def test_truth_and_log_are_read_as_written(tmp_path):
    truth = Truth()
    truth.add("torque", 1.0, 3, 1)
    truth.save(tmp_path / "truth.npz")
    assert Truth.load(tmp_path / "truth.npz").rows["torque"] == [(1.0, 3.0, 1.0)]
    log = told([Claim.NONE, Claim.PENDING], orders=[Given(1.0, 1.1, "rearm", False, "why")])
    log.events.append((1.5, "words"))
    log.save(tmp_path)
    again = Log.load(tmp_path)
    assert again.samples == log.samples and again.orders == log.orders and again.events == log.events
    assert np.array_equal(again.good, log.good) and np.array_equal(again.stamps, log.stamps)


# -- counts ----------------------------------------------------------------------------------------------------------


def told(claims, orders=(), begin=10.0, age=0.02, good=True):
    """Return a log with a look each 10 ms, of two servos."""
    log = Log(orders=list(orders))
    for i, claim in enumerate(claims):
        now = begin + 0.01 * i
        log.samples.append(Sample(now, now + 0.001, now - 0.005, int(Phase.OFF), int(claim)))
        log.stamps.append([now - age] * 2)
        log.good.append([good] * 2)
    return log


def torque(*changes):
    """Return truth of (time, servo, on); servos 1 and 2 of two answer all the time."""
    truth = Truth()
    for change in changes:
        truth.add("torque", *change)
    for i in range(1000):
        for servo_id in (1, 2):
            truth.add("replies", 9.0 + 0.01 * i, servo_id)
    return truth


def false_off(truth, log):
    return score.false_torque_off(score.torque_times(truth, 2), log)


OFF_AT_10 = [(9.0, 0, 1), (9.0, 1, 1), (10.02, 0, 0), (10.02, 1, 0)]
STOP = Given(10.0, 10.0, "emergency_stop", True)


def test_confirmed_torque_off_that_is_true_is_no_incident():
    assert false_off(torque(*OFF_AT_10), told([0, 0, 1, 2, 2, 2], [STOP])) == []
    assert false_off(torque((9.0, 0, 1)), told([0, 1, 1, 3, 3], [STOP])) == [], "nobody said that it is off"


def test_confirmed_torque_off_while_one_servo_has_torque_is_false():
    (found,) = false_off(torque(*OFF_AT_10[:3]), told([0, 1, 2, 2, 2, 0, 0], [STOP]))
    assert found["servos"] == [1] and found["looks"] == 3 and found["order"] == "state"
    assert found["time"] == pytest.approx(10.02)
    assert len(false_off(torque(*OFF_AT_10[:3]), told([2, 2, 0, 2, 2], [STOP]))) == 2


def test_torque_that_comes_back_by_itself_makes_the_report_false():
    truth = torque(*OFF_AT_10, (10.06, 1, 1))
    (found,) = false_off(truth, told([0, 0, 1] + [2] * 8, [STOP]))
    assert found["servos"] == [1] and 10.05 < found["time"] < 10.08


def test_a_report_may_be_half_a_second_old_after_torque_was_wanted_again():
    truth = torque(*OFF_AT_10, (10.30, 1, 1))
    rearm = Given(10.25, 10.28, "rearm", True)
    assert false_off(truth, told([1, 1, 1] + [2] * 70, [STOP, rearm])) == []
    (found,) = false_off(truth, told([1, 1, 1] + [2] * 90, [STOP, rearm]))
    assert found["time"] > 10.78


def test_a_shutdown_that_returns_as_if_torque_were_off_is_counted():
    end = Given(11.0, 12.0, "shutdown", True)
    log = told([0], [end])
    log.shutdown_claim = int(Claim.CONFIRMED)
    (found,) = false_off(torque((9.0, 1, 1)), log)
    assert found["order"] == "shutdown" and found["servos"] == [1]
    log.shutdown_claim = int(Claim.UNCONFIRMED)
    assert false_off(torque((9.0, 1, 1)), log) == []


def test_an_old_reading_that_is_shown_as_good_is_counted():
    truth = torque()
    assert score.stale_reported_good(truth, told([0] * 5, age=0.45), (1, 2)) == []
    assert score.stale_reported_good(truth, told([0] * 5, age=0.55, good=False), (1, 2)) == []
    (found,) = score.stale_reported_good(truth, told([0] * 5, age=0.55), (1, 2))
    assert found["servos"] == [0, 1] and found["looks"] == 5 and found["age"] == pytest.approx(0.55)


def test_a_young_stamp_of_a_servo_that_is_silent_is_counted():
    truth = torque()
    truth.rows["replies"] = [row for row in truth.rows["replies"] if row[1] == 1 or row[0] < 10.0]
    (found,) = score.stale_reported_good(truth, told([0] * 70), (1, 2))
    assert found["servos"] == [1] and 10.5 < found["time"] < 10.53


def stops(truth, log, stopped=()):
    return score.judged_stops(score.torque_times(truth, 2), log, stopped)


def test_a_stop_is_confirmed_or_reported_in_time_or_counted():
    truth = torque(*OFF_AT_10)
    for claims, how, in_time in (
        ([1] * 20 + [2] * 80, "confirmed", True),
        ([1] * 40 + [2] * 60, "confirmed", False),
        ([1] * 45 + [3] * 60, "unconfirmed", True),
        ([1] * 55 + [3] * 60, "unconfirmed", False),
        ([0] * 100, "nothing", False),
    ):
        (found,) = stops(truth, told(claims, [STOP]))
        assert (found["how"], found["in_time"]) == (how, in_time)
    assert found["took"] == pytest.approx(0.991) and found["torque_off_after"] == pytest.approx(0.02)


def test_a_false_confirmation_is_no_report():
    (found,) = stops(torque(*OFF_AT_10[:3]), told([1, 1, 1] + [2] * 80, [STOP]))
    assert found["how"] == "nothing" and not found["in_time"] and found["torque_off_after"] is None


def test_time_in_which_the_parent_was_stopped_does_not_count():
    log = told([1] * 45 + [2] * 40, [STOP])
    stopped = [Stopped("parent", 10.1, 10.3), Stopped("bus", 10.3, 10.4), Stopped("parent", 10.6, 10.7)]
    (found,) = stops(torque(*OFF_AT_10), log, stopped)
    assert found["took"] == pytest.approx(0.251) and found["in_time"]


def test_a_stop_that_is_taken_back_at_once_is_not_judged():
    log = told([1] * 100, [STOP, Given(10.4, 10.5, "rearm", True)])
    assert stops(torque(*OFF_AT_10), log) == []


def test_the_speed_limits_are_the_servos():
    speeds = score.speed_limits()
    assert speeds.shape == (19,) and speeds[1] == pytest.approx(6.178 / 0.005118, rel=1e-3)
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-3), "the fan's gear doubles the joint's half"


# -- command line and processes --------------------------------------------------------------------------------------


def test_wrong_arguments_and_help(capsys):
    assert bus_faults.main(["--stalls", "--seeds", "x"]) == 2
    for option, value in (*(("seconds", x) for x in ("1", "nan", "inf")), ("latency-ms", "-1"), ("latency-ms", "nan")):
        assert bus_faults.main(["--stalls", f"--{option}={value}"]) == 2
        assert f"--{option} is {value}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        bus_faults.main(["--stalls", "--help"])
    words = capsys.readouterr().out
    assert all(name in words for name in SUMMARY - {"runs", "seconds", "stops", "stalls", "faults"})


def test_a_summary_adds_up_and_a_failed_run_is_no_good_one(tmp_path, monkeypatch, capsys):
    good = {**dict.fromkeys(SUMMARY, 0), "seed": 0, "seconds": 60.0, "stops": 5, "worst_stop_s": 0.2}
    worse = {**good, "seed": 1, "unreported_stops": 2, "worst_stop_s": 0.7}
    total = cli.summarise([good, worse, {"seed": 2, "seconds": 60.0, "error": "x"}])
    assert set(total) == SUMMARY and total["runs"] == 2 and total["seconds"] == 120.0 and total["stops"] == 10
    assert total["unreported_stops"] == 2 and total["worst_stop_s"] == 0.7
    for results, status in (([good], 0), ([worse], 1), ([{"seed": 2, "seconds": 60.0, "error": "x"}], 1)):
        monkeypatch.setattr(cli, "map_jobs", lambda *_, results=results: results)
        assert cli.main(["--stalls", "--json", str(tmp_path / "x" / "f.json")]) == status
        assert json.loads((tmp_path / "x" / "f.json").read_text())["runs"] == results


def started(folder):
    """Start a campaign of one run that takes longer than anybody waits; return it once its bus process runs."""
    command = [sys.executable, "-m", "shellbot_benchmarks.bus_campaign.cli", "--stalls"]
    command += ["--seeds", "1", "--seconds", "600", "--keep", str(folder)]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    here = folder / "seed-0"
    wait_until(lambda: any(b"bus_worker" in command_of(pid) for pid in run.leftovers(here)))
    return process, here


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_short_run_has_truth_log_and_result_and_leaves_nothing(tmp_path):
    target = tmp_path / "stalls.json"
    options = ["--stalls", "--seeds", "0:1", "--seconds", "6", "--json", str(target), "--keep", str(tmp_path / "runs")]
    assert bus_faults.main([*options, "--latency-ms", "20"]) in (0, 1)
    content = json.loads(target.read_text())
    assert set(content["summary"]) == SUMMARY and content["summary"]["runs"] == 1, content["runs"][0].get("error")
    (result,) = content["runs"]
    assert result["seed"] == 0 and result["seconds"] == 6.0 and set(result["incidents"]) == set(score.COUNTS)
    assert result["schedule"]["faults"] and result["schedule"]["orders"] and result["events"]
    here = tmp_path / "runs" / "seed-0"
    assert run.leftovers(here) == []
    truth, log = Truth.load(here / "truth.npz"), Log.load(here)
    assert log.orders[-1].kind == "shutdown" and truth.rows["replies"]
    if (result["started_after_s"] or np.inf) < 4.0:  # a loaded machine may need longer, or not start in time at all
        assert log.samples and truth.rows["torque"] and truth.rows["goals"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_ends_the_campaign_leaves_no_process_behind(tmp_path, number):
    process, here = started(tmp_path)
    pids = run.leftovers(here)
    walker = next(pid for pid in pids if b"stalls.walk" in command_of(pid))
    os.kill(walker, signal.SIGSTOP)  # also one that is stopped
    process.send_signal(number)
    process.wait(PATIENCE)
    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    wait_until(lambda: not run.leftovers(here))


def test_a_run_whose_own_process_is_killed_is_a_failed_one(tmp_path):
    process, here = started(tmp_path)
    guardian = next(pid for pid in pids_of(b"stalls.run") if str(here).encode() in command_of(pid))
    os.kill(guardian, signal.SIGKILL)
    process.wait(PATIENCE)
    assert process.returncode == 1 and run.leftovers(here) == []


def pids_of(words):
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and words in command_of(int(p.name))]
