# SPDX-License-Identifier: MIT
"""Command line of scripts/bench bus."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any, Dict, List, Optional, Tuple

from ax_emulator import LatencyTimerChain
from robot_evaluation.bench_report import add_report_options, report
from robot_evaluation.console import Progress, run_tool
from robot_evaluation.errors import DefinitionError
from robot_evaluation.tables import markdown_table
from shellbot_motor_driver.map.servo_map import ServoMap

from .driver_bench import LoopFigures, in_real_time, in_virtual_time
from .exchange_bench import ExchangeFigures, exchanges

VARIANTS = {19: "walker", 31: "full"}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/bench bus",
        description="The servo bus on an emulated chain: the driver's own process on a pty with emulated wire time, "
        "the same driver in virtual time at 80 us of host time per READ, the bare exchanges beside dynamixel-sdk.",
        epilog="The emulated chain spins on a core of its own: run it on a quiet machine with two cores or more.",
    )
    add_report_options(p, "bus")
    p.add_argument("--seconds", type=float, default=20.0, help="of each run of the driver (default 20)")
    p.add_argument("--ticks", type=int, default=1000, help="of the bare exchanges, each library (default 1000)")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns the exit status: 1 if a goal is not met."""
    arguments = parser().parse_args(argv)
    words = " ".join(["bus", *(sys.argv[1:] if argv is None else argv)])
    return run_tool(lambda: _run(arguments, f"scripts/bench {words}"))


def _run(arguments: argparse.Namespace, command: str) -> int:
    if not 0.5 <= arguments.seconds <= 3600.0:
        raise DefinitionError(f"--seconds is {arguments.seconds:g}; give 0.5 to 3600 s")
    if arguments.ticks < 10:
        raise DefinitionError(f"--ticks is {arguments.ticks}; measure at least 10 ticks")
    figures, rows, loops, bare = measure(arguments.seconds, arguments.ticks)
    met = all(row["met"] for row in rows)
    plain = {
        "loops": {name: asdict(loop) for name, loop in loops.items()},
        "exchanges": [asdict(each) for each in bare],
    }
    text = _text(rows, loops, bare)
    report(arguments, "bus", command, text, {**figures, "goals": rows, **plain, "met": met})
    return 0 if met else 1


def measure(
    seconds: float, ticks: int
) -> Tuple[Dict[str, float], List[Dict[str, Any]], Dict[str, LoopFigures], List[ExchangeFigures]]:
    """Measure everything; returns the figures, the goals, the loops and the bare exchanges."""
    loops: Dict[str, LoopFigures] = {}
    progress = Progress(5)
    for servos, variant in VARIANTS.items():
        loops[f"{servos} servos, pty"] = in_real_time(variant, seconds)
        progress.step(f"driver's process, {servos} servos")
        loops[f"{servos} servos, virtual time, 80 µs host"] = in_virtual_time(variant, min(seconds, 10.0))
        loops[f"{servos} servos, virtual time, latency timer of 1 ms"] = in_virtual_time(
            variant, min(seconds, 10.0), LatencyTimerChain
        )
        progress.step(f"driver in virtual time, {servos} servos")
    ids = ServoMap.load("walker").servo_ids
    bare = exchanges("walker", ids, ticks)
    progress.step("exchanges beside dynamixel-sdk")
    real = {servos: loops[f"{servos} servos, pty"] for servos in VARIANTS}
    virtual = {servos: loops[f"{servos} servos, virtual time, 80 µs host"] for servos in VARIANTS}
    timer = {servos: loops[f"{servos} servos, virtual time, latency timer of 1 ms"] for servos in VARIANTS}
    ours, sdk, floor = bare
    ratio = sdk.cpu_ms_per_tick / ours.cpu_ms_per_tick
    # the driver reads fewer than all in a tick: the SDK's cost for as many
    sdk_alike = sdk.cpu_ms_per_tick * real[19].reads_per_tick / ours.servos
    figures = {
        "tick_hz_19": real[19].tick_hz,
        "tick_hz_31": real[31].tick_hz,
        "feedback_hz_19": real[19].feedback_hz,
        "feedback_hz_31": real[31].feedback_hz,
        "overhead_us_per_read": real[19].overhead_p50,
        "cpu_ms_per_tick_19": real[19].cpu_ms_per_tick,
        "cpu_ratio_vs_sdk": ratio,
        "cpu_ratio_vs_system_calls": ours.cpu_ms_per_tick / floor.cpu_ms_per_tick,
        "cpu_ratio_vs_sdk_whole_driver": sdk_alike / real[19].cpu_ms_per_tick,
        "virtual_tick_hz_19": virtual[19].tick_hz,
        "virtual_tick_hz_31": virtual[31].tick_hz,
        "virtual_feedback_hz_19": virtual[19].feedback_hz,
        "virtual_feedback_hz_31": virtual[31].feedback_hz,
        "latency_timer_feedback_hz_19": timer[19].feedback_hz,
        "latency_timer_feedback_hz_31": timer[31].feedback_hz,
    }
    return figures, goals(figures), loops, bare


def goals(figures: Dict[str, float]) -> List[Dict[str, Any]]:
    """Return rows of what is required and what was measured."""

    def least(what: str, key: str, bound: float, unit: str) -> Dict[str, Any]:
        value = figures[key]
        return {
            "goal": what,
            "required": f"≥ {bound:g} {unit}",
            "measured": f"{value:.1f} {unit}",
            "met": value >= bound,
        }

    def most(what: str, key: str, bound: float, unit: str) -> Dict[str, Any]:
        value = figures[key]
        return {
            "goal": what,
            "required": f"≤ {bound:g} {unit}",
            "measured": f"{value:.2f} {unit}",
            "met": value <= bound,
        }

    # a tick left out in a thousand is the machine's, not the loop's
    return [
        least("tick rate, 19 servos", "tick_hz_19", 99.5, "Hz"),
        least("tick rate, 31 servos", "tick_hz_31", 99.5, "Hz"),
        least("feedback of each of 19 servos", "feedback_hz_19", 40.0, "Hz"),
        least("feedback of each of 31 servos", "feedback_hz_31", 25.0, "Hz"),
        least("the same at 80 µs host time, 19", "virtual_feedback_hz_19", 40.0, "Hz"),
        least("the same at 80 µs host time, 31", "virtual_feedback_hz_31", 25.0, "Hz"),
        least("the same behind a latency timer of 1 ms, 19", "latency_timer_feedback_hz_19", 30.0, "Hz"),
        least("the same behind a latency timer of 1 ms, 31", "latency_timer_feedback_hz_31", 15.0, "Hz"),
        most("overhead of a READ over wire time, median", "overhead_us_per_read", 100.0, "µs"),
        most("CPU of a tick, 19 servos, whole driver", "cpu_ms_per_tick_19", 1.0, "ms"),
        least("CPU of dynamixel-sdk over ours, equal exchanges", "cpu_ratio_vs_sdk", 8.0, "×"),
        most("our CPU over that of the system calls alone", "cpu_ratio_vs_system_calls", 2.0, "×"),
    ]


def _text(rows: List[Dict[str, Any]], loops: Dict[str, LoopFigures], bare: List[ExchangeFigures]) -> str:
    text = markdown_table(rows, {"goal": "goal", "required": "required", "measured": "measured", "met": "met"})
    text += "\nThe driver's loop at 100 Hz: goals to all servos, moving speeds twice a second, scheduled READs:\n\n"
    heads = {
        "name": "run",
        "tick_hz": "ticks / Hz",
        "feedback_hz": "feedback / Hz",
        "reads_per_tick": "READs per tick",
        "late_ticks_percent": "late ticks / %",
        "lateness": "lateness p50, p99, p99.9 / µs",
        "round_trip": "round trip p50, p99 / µs",
        "overhead": "overhead p50, p99 / µs",
        "cpu_ms_per_tick": "CPU per tick / ms",
    }
    table = [
        {
            **asdict(loop),
            "name": name,
            "lateness": f"{loop.lateness_p50:.0f}, {loop.lateness_p99:.0f}, {loop.lateness_p999:.0f}",
            "round_trip": f"{loop.round_trip_p50:.0f}, {loop.round_trip_p99:.0f}",
            "overhead": f"{loop.overhead_p50:.0f}, {loop.overhead_p99:.0f}",
        }
        for name, loop in loops.items()
    ]
    digits = {"tick_hz": 2, "feedback_hz": 1, "reads_per_tick": 1, "late_ticks_percent": 2, "cpu_ms_per_tick": 2}
    text += markdown_table(table, heads, digits)
    text += (
        "\nBare exchanges on one pty, 19 servos: SYNC WRITE to all, a READ of 8 bytes of each, 100 times a second:\n\n"
    )
    heads = {
        "library": "library",
        "round_trip": "round trip p50, p99 / µs",
        "overhead": "overhead p50, p99 / µs",
        "tick_ms_p50": "tick p50 / ms",
        "tick_ms_p99": "p99 / ms",
        "cpu_ms_per_tick": "CPU per tick / ms",
        "lost": "lost replies",
    }
    table = [
        {
            **asdict(each),
            "round_trip": f"{each.round_trip_p50:.0f}, {each.round_trip_p99:.0f}",
            "overhead": f"{each.overhead_p50:.0f}, {each.overhead_p99:.0f}",
        }
        for each in bare
    ]
    return text + markdown_table(table, heads, {"tick_ms_p50": 2, "tick_ms_p99": 2, "cpu_ms_per_tick": 2})


if __name__ == "__main__":
    sys.exit(main())
