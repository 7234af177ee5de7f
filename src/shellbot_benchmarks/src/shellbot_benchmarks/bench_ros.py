# SPDX-License-Identifier: MIT
"""The real launch, headless, measured by a probe: real-time factor, latencies, processor load, time to standing.

The launch file is that of shellbot_bringup.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from robot_evaluation.errors import EvaluationError
from robot_evaluation.tables import markdown_table

from .latency import latency_row
from .launching import Launch

HEADLESS = {"gui": "false", "teleop": "none", "rviz": "false"}
GAIN_CHANGES, GAINS_MS = 20, 100.0  # of each kind; allowed until every joint gives the torque of its new gains


def run_probe(module: str, launch: Launch, arguments: Sequence[str], limit_s: float) -> str:
    """Run a probe of this package against a launch; returns what it printed.

    Raises
    ------
    EvaluationError
        With the probe's sentence and the launch's last words if it does not succeed in time.
    """
    command = [sys.executable, "-m", f"shellbot_benchmarks.{module}", *arguments]
    environment = {**os.environ, "ROS_MASTER_URI": launch.master_uri}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise EvaluationError(f"the probe did not end within {limit_s:g} s; log:\n{launch.last_words()}") from error
    if done.returncode != 0:
        output = done.stderr.strip()[-800:]
        raise EvaluationError(f"the probe failed: {output}\nend of the launch's log:\n{launch.last_words()}")
    return done.stdout


def bench_ros(rtf: float, seconds: float, samples: int, log_folder: Path) -> Dict[str, Any]:
    """Launch sim.launch headless with a real-time factor (0: as fast as possible) and measure it."""
    log = log_folder / f"bench_ros_rtf{rtf:g}.log"
    with Launch({**HEADLESS, "rtf": rtf}, log) as launch:
        changes = 0 if rtf == 0 else GAIN_CHANGES  # a time to wait for by the clock on the wall means nothing there
        arguments = ["--started", repr(launch.started), "--seconds", str(seconds), "--samples", str(samples)]
        arguments += ["--gain-changes", str(changes)]
        printed = run_probe("ros_probe_node", launch, arguments, 180.0 + seconds + 6.0 * (samples + 2 * changes))
        figures: Dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
        launch.check()
    figures["rtf"] = rtf
    return figures


def ros_text(results: Sequence[Mapping[str, Any]]) -> Tuple[str, bool]:
    """Return the Markdown of the measurements, one launch a row, changes of gains and load; whether gains are met."""
    rows: List[Dict[str, object]] = []
    names: List[str] = []
    for figures in results:
        latency = latency_row("cmd_vel to joint_targets", figures["latencies_s"])
        rows.append(
            {
                "rtf requested": "as fast as possible" if figures["rtf"] == 0 else f"{figures['rtf']:g}",
                "real-time factor": figures["real_time_factor"],
                "worst second": figures["worst_second"],
                "standing after s": figures["start_s"],
                "latency p50 ms": latency["p50_ms"],
                "latency p99 ms": latency["p99_ms"],
                "samples": latency["samples"],
            }
        )
        names += [name for name in figures["cpu_fraction"] if name not in names]
    gains = [
        {
            "rtf requested": f"{figures['rtf']:g}",
            "changed on the page of gains": name,
            "loaded joints": figure["joints"],
            "times": len(figure["latencies_s"]),
            "median ms": 1e3 * statistics.median(figure["latencies_s"]),
            "worst ms": 1e3 * max(figure["latencies_s"]),
            "required ms": GAINS_MS,
            "torque beyond N m": figure["beyond_n_m"],
        }
        for figures in results
        for name, figure in figures["gains"].items()
    ]
    fractions: List[Dict[str, object]] = []
    for name in names:
        fractions.append({"node": name})
        for figures in results:
            head = "rtf 0: cores" if figures["rtf"] == 0 else f"rtf {figures['rtf']:g}: cores"
            fractions[-1][head] = float(figures["cpu_fraction"].get(name, float("nan")))
    fractions.sort(key=lambda row: -float(list(row.values())[1]))  # type: ignore[arg-type]
    digits = {key: 2 for row in rows + fractions for key in row}
    tables = [markdown_table(rows, digits=digits), markdown_table(fractions, digits=digits)]
    if gains:
        by_name = {"median ms": 0, "worst ms": 0, "required ms": 0, "torque beyond N m": 3}
        tables.insert(1, markdown_table(gains, digits=by_name))
    return "\n".join(tables), all(row["worst ms"] <= GAINS_MS for row in gains)
