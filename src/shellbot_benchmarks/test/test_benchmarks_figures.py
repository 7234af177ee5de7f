# SPDX-License-Identifier: MIT
"""From arrival times to latencies, and the tables and verdicts of the benches."""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from robot_evaluation.bench_report import report
from robot_evaluation.errors import EvaluationError
from shellbot_benchmarks import bench_chain as bench_chain_module
from shellbot_benchmarks import bench_cli, bench_dynamics
from shellbot_benchmarks.bench_chain import ChainSpeed, bench_chain, fast_enough, feed_forward_us
from shellbot_benchmarks.bench_ros import ros_text
from shellbot_benchmarks.bench_teleop import teleop_text
from shellbot_benchmarks.bench_workers import bench_workers
from shellbot_benchmarks.cpu_meter import CpuMeter
from shellbot_benchmarks.gain_change import change_seen
from shellbot_benchmarks.latency import ChangeWatch, latency_row, spread_waits, worst_factor
from shellbot_benchmarks.launching import Launch


def test_watch_finds_the_first_vector_that_differs_by_more_than_the_noise():
    watch = ChangeWatch()
    watch.feed([1.0, 2.0], now=0.0)
    watch.wait_still(0.1, 1.0, noise=0.01)
    watch.arm()
    watch.feed([1.0, 2.005], now=10.0)
    watch.feed([1.0, 2.02], now=10.5)
    watch.feed([1.0, 3.0], now=11.0)
    assert watch.wait_change(0.1) == 10.5


def test_watch_gives_up_with_a_sentence():
    watch = ChangeWatch()
    with pytest.raises(EvaluationError, match="not at rest within"):
        watch.wait_still(0.1, 0.1)
    watch.feed([1.0], now=0.0)
    watch.wait_still(0.1, 1.0)
    watch.arm()
    with pytest.raises(EvaluationError, match="nothing answered"):
        watch.wait_change(0.1)


def test_latency_row_has_percentiles_that_were_measured():
    row = latency_row("key", [0.010] * 99 + [0.5])
    assert (row["p50_ms"], row["p99_ms"], row["max_ms"]) == (10.0, 10.0, 500.0)
    assert latency_row("key", [0.010] * 98 + [0.5] * 2)["p99_ms"] == 500.0
    waits = spread_waits(10, 0.01)
    assert sorted(waits) == pytest.approx(np.arange(0.0005, 0.01, 0.001)) and list(waits) != sorted(waits)


def test_worst_second_is_found_though_the_mean_is_fine():
    rows = [(0.01 * i, 0.01 * i) for i in range(300)]
    rows += [(3.0 + 0.01 * i, 2.99 + 0.005 * i) for i in range(101)]  # a second at half the speed
    rows += [(4.01 + 0.01 * i, 3.5 + 0.02 * i) for i in range(300)]
    assert worst_factor(rows) == pytest.approx(0.5, abs=0.01)
    assert worst_factor([(0.0, 0.0), (0.5, 0.4)]) == pytest.approx(0.8)


def test_ros_table_has_a_row_a_launch_and_a_line_a_node():
    launch = {
        "rtf": 1.0,
        "real_time_factor": 1.0,
        "worst_second": 0.97,
        "start_s": 6.5,
        "latencies_s": [0.004, 0.012],
        "cpu_fraction": {"simulator": 0.14, "kinematics": 0.05},
        "gains": {},
    }
    fast = {**launch, "rtf": 0.0, "real_time_factor": 2.5, "cpu_fraction": {"simulator": 0.31, "odometry": 0.4}}
    text, met = ros_text([launch, fast])
    lines = text.splitlines()
    assert lines[2].split()[1:6:2] == ["1", "1.00", "0.97"]
    assert "as fast as possible" in lines[3] and "12.00" in lines[3]
    nodes = [line.split("|")[1].strip() for line in lines[7:]]
    assert met and nodes[:2] == ["simulator", "kinematics"] and "odometry" in nodes
    for worst, is_met in ((0.1, True), (0.101, False)):
        change = {"latencies_s": [0.02, 0.03, worst], "beyond_n_m": 0.004, "joints": 6}
        text, met = ros_text([{**launch, "gains": {"femur_p": change}}, fast])
        row = [cell.strip() for cell in text.splitlines()[7].split("|")[1:-1]]
        assert row == ["1", "femur_p", "6", "3", "30", f"{1e3 * worst:.0f}", "100", "0.004"] and met is is_met


def test_a_change_of_gains_is_seen_when_the_last_loaded_joint_gives_its_torque():
    command, old, new = np.array([0.1, -0.2, 0.3, 0.05]), np.full(4, 20.0), np.array([10.0, 10.0, 10.0, 20.0])
    carried = np.array([0.01, -0.02, 0.0, 0.01])  # rad; the third carries nothing, the fourth does not change

    def state(when, stiffness, error, jump=0.0):
        return when, tuple(command - error), tuple(stiffness * error + jump)

    states = [state(1.0, old, carried), state(1.01, np.array([10.0, 20.0, 20.0, 20.0]), carried)]
    seen, beyond, joints = change_seen(states, old, new)
    assert np.isnan(seen) and beyond == pytest.approx(0.0, abs=1e-9) and joints == 2
    states += [state(1.02, new, 1.2 * carried), state(1.03, new, 1.5 * carried, jump=0.03)]
    assert change_seen(states, old, new) == (1.02, pytest.approx(0.03), 2)
    assert np.isnan(change_seen(states, old, old)[0])


@pytest.mark.parametrize("press, release, is_met", [(29.0, 49.0, True), (31.0, 10.0, False), (10.0, 51.0, False)])
def test_key_latencies_are_judged_by_the_required_limits(press, release, is_met):
    def figure(p99):
        return {"samples": 100, "p50_ms": 5.0, "p90_ms": 8.0, "p99_ms": p99, "max_ms": 120.0}

    figures = {
        "key press to cmd_vel": figure(19.0),
        "key press to first changed joint target": figure(press),
        "key release to zero cmd_vel": figure(release),
    }
    text, verdict = teleop_text(figures)
    assert verdict is is_met and f"{press:.1f}" in text
    for load, is_light in (((0.34, 199.0), is_met), ((0.36, 199.0), False), ((0.34, 201.0), False)):
        text, verdict = teleop_text({**figures, "window": dict(zip(("cores", "memory_mb"), load))})
        assert verdict is is_light and f"{load[1]:.0f} MB of 200" in text
    for cores, is_light in ((0.24, is_met), (0.26, False)):
        text, verdict = teleop_text({**figures, "page": {"cores": cores}})
        assert verdict is is_light and f"{cores:.0%} of a core of 25%" in text
    for pictures, is_fast in ((15.1, is_met), (14.0, False)):
        text, verdict = teleop_text({**figures, "pictures": {"per_core_s": pictures}})
        assert verdict is is_fast and f"{pictures:.0f} a second of one core" in text
    del figures["key release to zero cmd_vel"]
    text, verdict = teleop_text(figures)
    assert verdict is False and "not measured: key release to zero cmd_vel" in text


def test_each_situation_is_judged_by_its_own_speed():
    def speed(situation, times):
        return ChainSpeed(situation, 1.0, 1.0, 1.0, times, times, 1.0, 1.0)

    ball = [speed("simulator alone, ball at rest", 10.1), speed("simulator alone, rolling", 6.1)]
    assert fast_enough([speed("chain, walking", 8.5), speed("simulator alone, standing", 1.0), *ball])
    assert not fast_enough([speed("simulator alone, ball at rest", 9.9)])
    assert not fast_enough([speed("simulator alone, rolling", 5.9)])
    assert not fast_enough([speed("chain, walking", 7.9), speed("chain, standing", 12.0)])


def test_bench_measures_every_situation():
    """How fast is the bench's to say (fast_enough); on a busy machine it says nothing."""
    results = bench_chain(seconds=0.2)
    assert [result.situation.split(",")[0] for result in results] == ["chain"] * 3 + ["simulator alone"] * 3
    for result in results:
        assert result.physics_steps_per_s == pytest.approx(500.0 * result.times_real_time)
        assert result.times_real_time_cpu == pytest.approx(0.2 / result.cpu_s)


def test_torques_fed_forward_take_time_of_the_action_manager_and_of_the_rest():
    longer = feed_forward_us(seconds=2.0)
    assert set(longer) == {"manager", "all"} and np.isfinite(list(longer.values())).all()


def test_a_figure_that_is_too_great_or_was_not_measured_is_not_met(monkeypatch):
    fast = [ChainSpeed("chain, walking", 1.0, 1.0, 1.0, 9.0, 9.0, 1.0, 1.0)]
    monkeypatch.setattr(bench_chain_module, "bench_chain", lambda *_: fast)
    for manager, met in ((14.9, True), (15.1, False)):
        monkeypatch.setattr(bench_chain_module, "feed_forward_us", lambda _, us=manager: {"manager": us, "all": 30.0})
        assert bench_cli._chain(Namespace(seconds=1.0, timestep=0.002))[2] is met
    arguments = Namespace(peers_env=Path("peers"), rounds=1, seconds=1.0)
    every = {**{name: goal for name, (_, goal) in bench_dynamics.RATIOS.items()}, "batch_rnea_m_per_s": 50.0}
    every.update({bench_dynamics.TOOLBOX[0]: 600.0, bench_dynamics.STRAIGHT[0]: 1.6})
    for ratios, met in ((every, True), ({"batch_rnea_m_per_s": 50.0}, False)):
        monkeypatch.setattr(
            bench_dynamics, "bench_dynamics", lambda *_, found=ratios: ([{"case": "x", "ours": 1.0}], found, "")
        )
        text, _, is_met = bench_cli._dynamics(arguments)
        assert is_met is met and ("rtb_urdf not measured (required: 500)" in text) is not met


def test_bench_of_workers_compares_the_same_runs():
    one, two = bench_workers(seeds=1, rounds=1, distance_m=0.2)
    assert (one["workers"], two["workers"]) == (1, 2)
    assert np.isnan(one["speed_up"]) and two["speed_up"] == pytest.approx(one["wall_s"] / two["wall_s"])
    for row in (one, two):
        assert 0.0 < row["cpu_s"] < 2.0 * row["wall_s"], "of a run, in whatever process it is"


def test_a_page_does_not_show_where_the_files_of_its_bench_went(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: bench-x -->\n<!-- end: bench-x -->\n")
    command = f"scripts/bench x --logs {tmp_path}/a --samples 5 --json={tmp_path}/b.json --write {page}"
    report(Namespace(json=None, write=page), "x", command, "a table\n", {})
    assert "Made by `scripts/bench x --samples 5` on" in page.read_text()


def test_cpu_meter_reports_fractions_of_a_core_and_drops_ended_processes():
    spin = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(spin) as busy, subprocess.Popen(["sleep", "99"]) as idle:
        try:
            meter = CpuMeter({"busy": busy.pid, "idle": idle.pid, "no process": 2**22 + 1})
            idle.kill()
            idle.wait()
            fractions, end = {"busy": 0.0}, time.monotonic() + 60.0
            while not fractions["busy"] and time.monotonic() < end:
                time.sleep(0.1)
                fractions = meter.fractions()
        finally:
            busy.kill()
    assert list(fractions) == ["busy"] and 0.0 < fractions["busy"] < 1.5


def test_only_benches_that_launch_something_take_a_folder_for_logs(capsys):
    for what in ("ros", "teleop", "operator"):
        assert bench_cli.parser().parse_args([what, "--logs", "a"]).logs.name == "a"
    for what in ("chain", "workers", "actions", "dynamics"):
        with pytest.raises(SystemExit):
            bench_cli.parser().parse_args([what, "--logs", "a"])
        assert "unrecognized arguments: --logs" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given, words",
    [
        (["workers", "--rounds", "0"], "--rounds is 0; give 1 or more"),
        (["dynamics", "--seconds", "nan"], "--seconds is nan; give 0.01 or more"),
        (["teleop", "--samples", "-1"], "--samples is -1; give 1 or more"),
        (["ros", "--rtf", "1", "-2"], "--rtf is -2; give 0 or more"),
    ],
)
def test_numbers_that_measure_nothing_are_refused_before_anything_starts(given, words, capsys):
    assert bench_cli.main(given) == 2
    assert words in capsys.readouterr().err


def test_a_launch_that_ends_too_early_shows_its_last_words(tmp_path):
    program = tmp_path / "roslaunch"
    program.write_text("#!/bin/sh\necho no such file\nexit 1\n")
    program.chmod(0o755)
    words = "the launch has ended; its last words .*\nno such file"
    launch = Launch({}, tmp_path / "log", {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    with pytest.raises(EvaluationError, match=words), launch:
        while True:
            launch.check()
            time.sleep(0.01)
